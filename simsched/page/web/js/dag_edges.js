// Edges on a canvas of their own, below the operators: drawn again only when the drawing moves.

import { EDGE_COLOURS, drawnKind } from "./dag_scene.js";
import { drawWay } from "./dag_shape.js";
import { make } from "./dom.js";

/** @typedef {import("./dag_view.js").DagContext} DagContext */

/** By kind of edge: its dashes. @type {Record<string, number[]>} */
const DAG_EDGE_DASHES = { data: [], control: [6, 4], order: [2, 3] };

/** Give a canvas the size of the view in device pixels. @param {HTMLCanvasElement} canvas @param {import("./pan_zoom.js").PanZoom} panZoom @param {number} density */
export function fitCanvas(canvas, panZoom, density) {
  const [width, height] = [Math.round(panZoom.width * density), Math.round(panZoom.height * density)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

/** @param {DagContext} context */
export function edgeLayer(context) {
  const canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { class: "dag-layer dag-layer-edges", "aria-hidden": "true" }));
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const frames = dagEdgeFrames(context);
  return {
    canvas,
    draw: () => {
      fitCanvas(canvas, context.panZoom, devicePixelRatio);
      pen.setTransform(1, 0, 0, 1, 0, 0);
      pen.clearRect(0, 0, canvas.width, canvas.height);
      strokeDagEdges(context, pen, devicePixelRatio, frames);
    },
  };
}

/** By edge: left, top, right and bottom of its way on the drawing. @param {DagContext} context */
function dagEdgeFrames({ scene, shape }) {
  const frames = new Float64Array(4 * scene.edges.length);
  scene.edges.forEach(([source, target], index) => {
    const xs = [shape.x[source], shape.x[target]];
    const ys = [shape.y[source], shape.y[target]];
    const route = scene.routes.get(source * scene.count + target) ?? [];
    for (let at = 2; at < route.length; at += 2) {
      const [across, along] = shape.place(route[at], route[at + 1]);
      xs.push(shape.sideways ? along : across);
      ys.push(shape.sideways ? across : along);
    }
    frames.set([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)], 4 * index);
  });
  return frames;
}

/** @param {DagContext} context @param {CanvasRenderingContext2D} pen @param {number} density @param {Float64Array} frames */
function strokeDagEdges(context, pen, density, frames) {
  const { app, panZoom, scene } = context;
  const { scale } = panZoom;
  const [left, top] = [-panZoom.x / scale, -panZoom.y / scale];
  const [right, bottom] = [left + panZoom.width / scale, top + panZoom.height / scale];
  const seen = scene.edges.map((_, index) => index).filter((index) => frames[4 * index] < right && frames[4 * index + 1] < bottom && frames[4 * index + 2] > left && frames[4 * index + 3] > top);
  const colours = app.colours();
  pen.setTransform(density * scale, 0, 0, density * scale, density * panZoom.x, density * panZoom.y);
  const crowded = seen.length > 1500;
  if (context.marks.critical) {
    pen.beginPath();
    for (const index of seen) if (context.criticalEdges.has(index)) traceDagEdge(context, pen, scene.edges[index][0], scene.edges[index][1]);
    pen.strokeStyle = colours.critical;
    pen.globalAlpha = 0.5;
    pen.lineWidth = (crowded ? 3 : 5) / scale;
    pen.stroke();
  }
  for (const [kind, dashes] of Object.entries(DAG_EDGE_DASHES)) {
    pen.beginPath();
    for (const index of seen) {
      const [source, target, kinds] = scene.edges[index];
      if (drawnKind(kinds) === kind) traceDagEdge(context, pen, source, target);
    }
    pen.strokeStyle = colours[EDGE_COLOURS[kind]];
    pen.globalAlpha = crowded ? 0.28 : 0.85;
    pen.lineWidth = (crowded ? 0.7 : 1.2) / scale;
    pen.setLineDash(crowded ? [] : dashes.map((dash) => dash / scale));
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

/** Draw the way of an edge. @param {DagContext} context @param {CanvasRenderingContext2D} pen @param {number} source @param {number} target */
export function traceDagEdge({ scene, shape }, pen, source, target) {
  drawWay(pen, shape, scene.layout, scene.routes.get(source * scene.count + target), source, target);
}
