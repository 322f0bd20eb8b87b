// The controls of a lesson, and what the setting that they make comes to.

import { make, makeButton, setText } from "./dom.js";
import { formatPercent, formatSize, formatTime } from "./format.js";
import { settingDocument } from "./lesson_progress.js";
import { language, t } from "./words.js";

/** Up to so many letters, the values of a control stand side by side; above, they are a list to choose from. */
const LETTERS_SIDE_BY_SIDE = 40;

/** A text of a lesson in the language of the page. @param {Text} text */
export function inLanguage(text) {
  return text[language()];
}

/**
 * @param {import("./lesson_progress.js").LessonProgress} progress
 * @param {(control: string | null, value?: string) => void} change
 */
export function lessonControls(progress, change) {
  const { lesson } = progress;
  const controls = lesson.controls.map((control) => {
    const letters = control.values.reduce((sum, { label }) => sum + inLanguage(label).length, 0);
    const current = progress.values.get(control.id) ?? control.initial;
    const build = letters > LETTERS_SIDE_BY_SIDE ? controlList : controlRow;
    return build(control, current, (value) => change(control.id, value));
  });
  const first = makeButton(t("lessons_first"), () => change(null), { "data-testid": "first-setting", class: "lesson-first" });
  const outcome = make("div", { class: "lesson-outcome scroll-x" });
  const root = make("section", { class: "lesson-controls", "aria-label": t("lessons_setting") });
  root.append(make("div", { class: "lesson-head" }, make("h3", {}, t("lessons_setting")), first), ...controls.map(({ root: each }) => each), outcome);
  const show = () => {
    for (const { id, show: showValue } of controls) showValue(progress.values.get(id) ?? "");
    outcome.replaceChildren(outcomeTable(progress));
  };
  return { root, show };
}

/** @param {Control} control @param {string} current @param {(value: string) => void} change */
function controlRow(control, current, change) {
  const inputs = control.values.map(({ value }) => {
    const input = /** @type {HTMLInputElement} */ (
      make("input", { type: "radio", name: `control-${control.id}`, value, checked: value === current, "data-testid": `control-${control.id}-${value}` })
    );
    input.addEventListener("change", () => change(value));
    return input;
  });
  const labels = control.values.map(({ label }, index) => make("label", {}, inputs[index], make("span", {}, inLanguage(label))));
  const root = make("fieldset", { class: "lesson-control", "data-testid": `control-${control.id}` });
  root.append(make("legend", {}, inLanguage(control.label)), make("div", { class: "lesson-row" }, ...labels));
  const show = (/** @type {string} */ value) => {
    for (const input of inputs) input.checked = input.value === value;
  };
  return { id: control.id, root, show };
}

/** @param {Control} control @param {string} current @param {(value: string) => void} change */
function controlList(control, current, change) {
  const select = /** @type {HTMLSelectElement} */ (make("select", { "data-testid": `control-${control.id}` }));
  for (const { value, label } of control.values) select.append(make("option", { value, selected: value === current }, inLanguage(label)));
  select.addEventListener("change", () => change(select.value));
  const root = make("label", { class: "lesson-control" }, make("span", {}, inLanguage(control.label)), select);
  const show = (/** @type {string} */ value) => {
    select.value = value;
  };
  return { id: control.id, root, show };
}

// --- what comes of it ----------------------------------------------------------------------------------------------

/** @param {import("./lesson_progress.js").LessonProgress} progress */
function outcomeTable(progress) {
  const { graph, runs } = settingDocument(progress.lesson, progress.setting);
  const before = progress.before === null ? [] : settingDocument(progress.lesson, progress.before).runs;
  const memory = runs.some((run) => run.figures.peak_bytes > 0);
  const columns = ["run", "ends", "before", "idle", ...(memory ? ["peak"] : [])];
  const head = make("tr", {}, ...columns.map((name) => make("th", { scope: "col" }, t(`lessons_${name}`))));
  const rows = runs.map((run) => {
    const earlier = before.find((each) => each.label === run.label);
    const cells = [
      make("td", { class: "lesson-end", "data-testid": `outcome-${run.label}` }, formatTime(run.makespan, graph.unit)),
      make("td", {}, earlier ? formatTime(earlier.makespan, graph.unit) : "–"),
      make("td", {}, run.figures.utilisation === null ? "–" : formatPercent(1 - run.figures.utilisation)),
    ];
    if (memory) cells.push(make("td", {}, formatSize(run.figures.peak_bytes)));
    return make("tr", {}, make("th", { scope: "row" }, ...brokenLabel(run.label)), ...cells);
  });
  const table = make("table");
  table.append(make("caption", { class: "hidden-text" }, t("lessons_outcome")), make("thead", {}, head), make("tbody", {}, ...rows));
  return table;
}

/** The name of a run, which may be broken before what is in brackets. @param {string} label */
function brokenLabel(label) {
  const at = label.indexOf("(");
  return at < 0 ? [label] : [label.slice(0, at), make("wbr"), label.slice(at)];
}

/** The line that says how far a learner is. @param {Element} line @param {HTMLProgressElement} bar @param {import("./lesson_progress.js").LessonProgress} progress */
export function showProgress(line, bar, progress) {
  const done = progress.solved.size;
  const all = progress.lesson.questions.length;
  setText(line, t("lessons_progress", { done, all }));
  bar.max = all;
  bar.value = done;
}
