// Keeping in view what runs.

import { IS_READY, RUNNING } from "./replay.js";
import { itemOf } from "./dag_scene.js";

/** The part of the drawing that items take. @param {import("./dag_shape.js").Shape} shape @param {number[]} items @returns {import("./pan_zoom.js").Frame} */
export function frameOfItems(shape, items) {
  const [halfWidth, halfHeight] = [shape.box.width / 2, shape.box.height / 2];
  const frame = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const item of items) {
    frame.left = Math.min(frame.left, shape.x[item] - halfWidth);
    frame.right = Math.max(frame.right, shape.x[item] + halfWidth);
    frame.top = Math.min(frame.top, shape.y[item] - halfHeight);
    frame.bottom = Math.max(frame.bottom, shape.y[item] + halfHeight);
  }
  return frame;
}

/**
 * Items that run (are ready, where nothing runs): the one that started last, and as many others as fit into the view.
 * @param {import("./dag_view.js").DagContext} context
 * @param {import("./replay.js").Replay} replay
 * @param {number} scale
 */
export function latestTogether({ app, shape, panZoom }, replay, scale) {
  const running = replay.inState(RUNNING);
  const { start } = replay.run;
  const ops = (running.length ? running : replay.inState(IS_READY)).sort((a, b) => start[b] - start[a] || a - b);
  /** @type {number[]} */
  const chosen = [];
  for (const op of ops.slice(0, 64)) {
    const more = [...chosen, itemOf(app.graph, op)];
    const frame = frameOfItems(shape, more);
    const fits = (frame.right - frame.left) * scale < panZoom.width - 100 && (frame.bottom - frame.top) * scale < panZoom.height - 100;
    if (fits || !chosen.length) chosen.push(itemOf(app.graph, op));
  }
  return chosen;
}
