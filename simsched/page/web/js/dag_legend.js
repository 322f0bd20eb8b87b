// What colours, patterns, lines and outlines mean, with how many operators are in each state.

import { kindsThatOccur } from "./dag_scene.js";
import { showsTypes, stateWord } from "./dag_text.js";
import { make, makeSvg, setText } from "./dom.js";
import { patternDefs, stateSwatch } from "./patterns.js";
import { STATES } from "./replay.js";
import { typesByFill } from "./types_legend.js";
import { t } from "./words.js";

/**
 * @param {HTMLElement} root
 * @param {import("./dag_view.js").DagContext} context
 * @param {() => void} onMarks When other outlines are asked for.
 * @returns {(change: import("./app.js").Change) => void}
 */
export function mountDagLegend(root, context, onMarks) {
  const { app } = context;
  const states = mountDagStates(root);
  const more = make("div", { class: "dag-legend" });
  root.append(more);
  return (change) => {
    if (change.has("document") || change.has("lang")) {
      more.replaceChildren(dagMarksLegend(context, onMarks), dagEdgesLegend(app), ...dagTypesLegend(app.graph));
    }
    if (["document", "lang", "focus", "cursor"].some((what) => change.has(what))) {
      states(app.replay?.counts ?? [app.graph.names.length, 0, 0, 0, 0]);
    }
  };
}

/** @param {HTMLElement} root @returns {(counts: number[]) => void} */
function mountDagStates(root) {
  const defs = makeSvg("svg", { width: 0, height: 0, class: "dag-defs", "aria-hidden": "true" }, patternDefs("dag-legend"));
  const items = STATES.map((state, index) => {
    const words = make("span");
    const count = make("strong");
    return { words, count, item: make("li", { "data-testid": `count-${state}` }, stateSwatch(index, "dag-legend"), words, " ", count) };
  });
  const list = make("ul", { class: "dag-states", "data-testid": "dag-states" }, ...items.map(({ item }) => item));
  root.append(defs, list);
  return (counts) => {
    list.setAttribute("aria-label", t("dag_states"));
    items.forEach(({ words, count }, index) => {
      setText(words, stateWord(index));
      setText(count, String(counts[index]));
    });
  };
}

/** @param {string} className */
function dagLineSwatch(className) {
  return makeSvg("svg", { class: "dag-swatch", viewBox: "0 0 28 18", width: 28, height: 18, "aria-hidden": "true" }, makeSvg("path", { class: className, d: "M1 9h26" }));
}

/** @param {string} title @param {string} testId @param {...Node} items */
function dagLegendRow(title, testId, ...items) {
  return make("div", { class: "dag-row", role: "group", "aria-label": title, "data-testid": testId }, ...items);
}

/** @param {import("./dag_view.js").DagContext} context @param {() => void} onMarks */
function dagMarksLegend(context, onMarks) {
  const boxes = /** @type {("critical" | "realised")[]} */ (["critical", "realised"]).map((mark) => {
    const box = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", checked: context.marks[mark], "data-testid": `mark-${mark}` }));
    box.addEventListener("change", () => {
      context.marks[mark] = box.checked;
      onMarks();
    });
    const swatch = makeSvg("svg", { class: "dag-swatch", viewBox: "0 0 28 18", width: 28, height: 18, "aria-hidden": "true" }, makeSvg("rect", { class: `dag-swatch-${mark}`, x: 2.5, y: 2.5, width: 23, height: 13, rx: 4 }));
    return make("label", { class: "dag-check" }, box, swatch, t(`dag_${mark}`));
  });
  return dagLegendRow(t("dag_marks"), "legend-marks", ...boxes);
}

/** @param {import("./app.js").App} app */
function dagEdgesLegend(app) {
  const kinds = kindsThatOccur(app.graph).map((kind) => make("span", { class: "dag-key" }, dagLineSwatch(`dag-edge dag-edge-${kind}`), t(`dag_${kind}`)));
  const copies = app.document.runs.some((run) => run.transfers.length);
  if (copies) kinds.push(make("span", { class: "dag-key" }, dagLineSwatch("dag-mark dag-mark-copy"), t("dag_copy")));
  return dagLegendRow(t("dag_edges"), "legend-edges", ...kinds);
}

/** @param {GraphPart} graph */
function dagTypesLegend(graph) {
  if (!showsTypes(graph) || graph.groups) return [];
  const chips = typesByFill(graph).map(([fill, name]) => make("span", { class: "dag-key" }, make("i", { class: "dag-chip", style: `background: var(--fill-${fill})` }), name));
  return [dagLegendRow(t("dag_types"), "legend-types", ...chips)];
}
