// Where the bars of a Gantt chart are, and in which colour.

import { COPY_BAR, DELAY_BAR, LAUNCH_BAR } from "./gantt_rows.js";

/**
 * @typedef {object} GanttPicture
 * @property {import("./gantt_rows.js").GanttModel} model
 * @property {import("./time_window.js").TimeWindow} window
 * @property {{ top: number, height: number }[]} places Of rows.
 * @property {number} height
 * @property {RunPart} run
 * @property {GraphPart} graph
 * @property {Uint8Array} critical By operator.
 * @property {Record<string, string>} colours
 * @property {string} font Its family.
 * @property {number[]} ticks
 * @property {boolean} queues Whether lines say since when operators have been in a queue.
 */

/** Left, top, width and height of a bar. @param {GanttPicture} picture @param {number} row @param {number} bar @returns {[number, number, number, number]} */
export function boxOfBar({ model, window, places }, row, bar) {
  const left = Math.max(-4, window.x(model.start[bar]));
  const right = Math.min(window.width + 4, window.x(model.end[bar]));
  const { top, height } = places[row];
  const upper = top + height * model.low[bar];
  const lower = top + height * model.high[bar];
  return [left, upper, Math.max(0.75, right - left), Math.max(0.75, lower - upper)];
}

/** @param {GanttPicture} picture @param {number} bar */
export function colourOfBar({ model, graph, colours }, bar) {
  const kind = model.kind[bar];
  if (kind === COPY_BAR || kind === DELAY_BAR) return colours.edge;
  if (kind === LAUNCH_BAR) return colours["edge-control"];
  return colours[`fill-${graph.fills[graph.type[model.item[bar]]]}`];
}

/** @param {GanttPicture} picture @param {number} bar */
export function rowOfBar({ model }, bar) {
  let row = 0;
  while (model.first[row + 1] <= bar) row += 1;
  return row;
}

const NEAR_PIXELS = 4;

/** The bar at a place: the narrowest of those under it, else the nearest within some pixels; -1 for none. @param {GanttPicture} picture @param {number} x @param {number} y */
export function barAt(picture, x, y) {
  const { places, model, window } = picture;
  const row = places.findIndex(({ top, height }) => y >= top && y < top + height);
  if (row < 0) return -1;
  const share = (y - places[row].top) / places[row].height;
  let found = -1;
  let best = Infinity;
  for (let bar = model.first[row]; bar < model.first[row + 1]; bar += 1) {
    if (share < model.low[bar] || share > model.high[bar]) continue;
    const left = window.x(model.start[bar]);
    const right = window.x(model.end[bar]);
    const off = Math.max(left - x, x - right, 0);
    if (off > NEAR_PIXELS) continue;
    // A wide bar that is hit loses to a mark of no width close to the pointer.
    const score = off * 2 + Math.min(right - left, 12);
    if (score < best) [best, found] = [score, bar];
  }
  return found;
}
