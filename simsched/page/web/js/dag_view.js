// What the drawings of the graph have in common: what they are given, and what they can do.

import { itemOf, pairsOf } from "./dag_scene.js";

/**
 * @typedef {object} DagView
 * @property {Element} element
 * @property {(ops: Iterable<Op>) => void} recolour The states of operators have changed.
 * @property {() => void} moved The drawing has been moved or enlarged.
 * @property {() => void} highlight What is hovered, selected, or on its way has changed.
 * @property {() => void} refresh The theme, the language, the run in focus or the outlines have changed.
 */

/**
 * An edge drawn once more; `edge` is false where the two are not joined by one.
 * @typedef {{ source: number, target: number, look: "near" | "selected" | "copy" | "realised", edge: boolean }} Mark
 */

/**
 * @typedef {object} DagContext
 * @property {import("./app.js").App} app
 * @property {import("./dag_scene.js").Scene} scene
 * @property {import("./dag_shape.js").Shape} shape
 * @property {import("./pan_zoom.js").PanZoom} panZoom
 * @property {string} font Family of fonts.
 * @property {Uint8Array} states By operator, as drawn.
 * @property {Set<number>} critical Items without slack.
 * @property {Set<number>} criticalEdges Indices of edges.
 * @property {{ critical: boolean, realised: boolean }} marks Which outlines are shown.
 * @property {() => Mark[]} markedEdges
 * @property {(items: number[], scale?: number) => void} reveal Bring items into view, at a scale.
 * @property {() => string} label Of the whole, for screen readers.
 * @property {(item: number, lines: string[] | null) => void} tip Lines to show about an item.
 * @property {(text: string) => void} announce
 * @property {(group: number) => void} openGroup
 */

/** Edges to draw once more: those of the hovered and the selected item, copies on their way, the realised path. @param {DagContext} context @returns {Mark[]} */
export function marksNow({ app, scene, marks }) {
  const { graph, replay, state } = app;
  /** @type {Mark[]} */
  const found = [];
  const joined = (/** @type {number} */ source, /** @type {number} */ target) => scene.after[source].includes(target);
  if (marks.realised && replay) {
    for (const pair of pairsOf(replay.run.path)) {
      const [source, target] = pair.map((op) => itemOf(graph, op));
      if (source !== target) found.push({ source, target, look: "realised", edge: joined(source, target) });
    }
  }
  for (const index of replay?.copying ?? []) {
    const [source, target] = replay?.run.transfers[index].slice(0, 2).map((op) => itemOf(graph, op)) ?? [];
    if (source !== target) found.push({ source, target, look: "copy", edge: joined(source, target) });
  }
  for (const [op, look] of /** @type {[Op | null, "near" | "selected"][]} */ ([[state.selected, "selected"], [state.hovered, "near"]])) {
    if (op === null) continue;
    const item = itemOf(graph, op);
    for (const source of scene.before[item]) found.push({ source, target: item, look, edge: true });
    for (const target of scene.after[item]) found.push({ source: item, target, look, edge: true });
  }
  return found;
}
