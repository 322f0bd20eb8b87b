// The figures of all runs side by side, the bounds, and the runs that failed.

import { makeAccounts } from "./account_view.js";
import { make, makeButton, setAttributes } from "./dom.js";
import { makeBounds } from "./bounds_list.js";
import { formatGap, formatPercent, formatSize, formatTime } from "./format.js";
import { runColour } from "./time_colour.js";
import { t } from "./words.js";

/**
 * A column: key of its name, its number of a run (null where it has none), the number as text, and whether more is better.
 * @typedef {object} SummaryColumn
 * @property {string} key
 * @property {(run: RunPart) => number | null} value
 * @property {(value: number, unit: string) => string} text
 * @property {1 | -1 | 0} better 0 where neither is.
 */

/** @type {SummaryColumn[]} */
const SUMMARY_COLUMNS = [
  { key: "summary_makespan", value: (run) => run.makespan, text: formatTime, better: -1 },
  { key: "summary_speedup", value: (run) => run.figures.speedup, text: (value) => `${value.toFixed(2)}×`, better: 1 },
  { key: "summary_gap", value: (run) => run.figures.gap, text: formatGap, better: -1 },
  { key: "summary_peak", value: (run) => run.figures.peak_bytes || null, text: formatSize, better: -1 },
  { key: "summary_use", value: (run) => run.figures.utilisation, text: formatPercent, better: 0 },
  { key: "summary_sms", value: (run) => run.figures.sm_utilisation, text: formatPercent, better: 0 },
  { key: "summary_bandwidth", value: (run) => run.figures.bandwidth_utilisation, text: formatPercent, better: 0 },
];

/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function mountSummary(root, app) {
  const panel = make("div", { class: "summary", "data-testid": "summary" });
  root.append(panel);
  app.subscribe((change) => {
    if (change.has("document") || change.has("lang")) drawSummary(panel, app);
    if (change.has("document") || change.has("lang") || change.has("focus")) markFocus(panel, app);
  });
}

/** @param {HTMLElement} panel @param {import("./app.js").App} app */
function drawSummary(panel, app) {
  const { runs, failures } = app.document;
  const parts = [
    ...(runs.length ? [make("div", { class: "scroll-x" }, makeFigures(app)), makeAccounts(app)] : []),
    ...failures.map(({ label, message }) => make("p", { class: "summary-failure" }, make("b", {}, t("summary_failed", { name: label })), " ", message)),
    ...runs.filter((run) => run.violations.length).map(makeViolations),
    ...app.document.machines.map((machine, index) => makeBounds(app, machine, index)),
  ];
  panel.replaceChildren(...parts.filter((part) => part !== null));
}

/** @param {RunPart} run */
function makeViolations(run) {
  const lines = run.violations.map((text) => make("li", { lang: "en" }, text));
  return make("div", { class: "summary-failure" }, make("b", {}, t("summary_violations", { name: run.label })), make("ul", {}, ...lines));
}

/** @param {import("./app.js").App} app */
function makeFigures(app) {
  const { runs, machines } = app.document;
  const columns = SUMMARY_COLUMNS.filter(({ value }) => runs.some((run) => value(run) !== null));
  const names = ["summary_scheduler", ...(machines.length > 1 ? ["summary_machine"] : []), "summary_valid", ...columns.map(({ key }) => key)];
  const head = names.map((key) => make("th", { scope: "col", title: hint(key), class: columns.some((each) => each.key === key) ? "summary-number" : null }, t(key)));
  const best = columns.map((column) => bestOf(column, runs));
  const rows = runs.map((run, index) => figuresRow(app, run, index, columns, best));
  return make("table", { class: "summary-table" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}

/** @param {string} key */
function hint(key) {
  return t(`${key}_hint`);
}

/** The best number of a column; null where all are alike, or none is better. @param {SummaryColumn} column @param {RunPart[]} runs */
function bestOf({ value, better }, runs) {
  const values = runs.filter((run) => run.valid !== false).map(value).filter((each) => each !== null);
  if (!better || values.length < 2) return null;
  const most = Math.max(...values);
  const least = Math.min(...values);
  return most === least ? null : better > 0 ? most : least;
}

/** @param {import("./app.js").App} app @param {RunPart} run @param {number} index @param {SummaryColumn[]} columns @param {(number | null)[]} best */
function figuresRow(app, run, index, columns, best) {
  const { machines } = app.document;
  const button = makeButton(run.label, () => app.set({ focus: index }), { class: "summary-run", title: run.canonical });
  const cells = columns.map((column, place) => figureCell(column, run, app.graph.unit, best[place]));
  return make(
    "tr",
    { "data-run": index },
    make("th", { scope: "row" }, make("span", { class: "summary-key", style: `background:${runColour(index)}`, "aria-hidden": "true" }), button),
    ...(machines.length > 1 ? [make("td", {}, machines[run.machine].name)] : []),
    make("td", { class: run.valid === false ? "summary-invalid" : null }, t(`summary_valid_${run.valid ?? "unknown"}`)),
    ...cells,
  );
}

/** @param {SummaryColumn} column @param {RunPart} run @param {string} unit @param {number | null} best */
function figureCell({ value, text }, run, unit, best) {
  const number = value(run);
  if (number === null) return make("td", { class: "summary-number" }, "–");
  const isBest = best !== null && number === best && run.valid !== false;
  return make("td", { class: `summary-number${isBest ? " summary-best" : ""}` }, text(number, unit), isBest ? make("span", { class: "summary-mark" }, t("summary_best")) : null);
}

/** @param {HTMLElement} panel @param {import("./app.js").App} app */
function markFocus(panel, app) {
  for (const row of panel.querySelectorAll("[data-run]")) {
    const inFocus = Number(row.getAttribute("data-run")) === app.state.focus;
    setAttributes(row, { "data-focus": inFocus });
    setAttributes(/** @type {Element} */ (row.querySelector(".summary-run")), { "aria-pressed": String(inFocus) });
  }
}
