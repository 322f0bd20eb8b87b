// The graph on canvases, for many operators or groups of them: edges below, boxes above them, what is marked on top.
// A step paints only the boxes that have changed.

import { operatorPainter, groupPainter } from "./dag_paint.js";
import { detailAt } from "./dag_detail.js";
import { listenToCanvas } from "./dag_canvas_input.js";
import { edgeLayer, fitCanvas, traceDagEdge } from "./dag_edges.js";
import { itemOf } from "./dag_scene.js";
import { make, setAttributes } from "./dom.js";

/** @typedef {import("./dag_view.js").DagContext} DagContext */
/** @typedef {import("./dag_view.js").DagView} DagView */

/** By look of a mark: colour, width, dashes. @type {Record<string, [string, number, number[]]>} */
const DAG_MARK_LOOKS = { near: ["accent", 2.2, []], selected: ["accent", 1.6, []], copy: ["run-4", 4, [6, 3]], realised: ["realised", 2.6, [9, 4]] };

/** @param {DagContext} context @returns {DagView & { current: number }} */
export function canvasView(context) {
  const { app, scene, panZoom } = context;
  const painter = scene.members ? groupPainter(context) : operatorPainter(context);
  const layers = ["boxes", "top"].map((name) => /** @type {HTMLCanvasElement} */ (make("canvas", { class: `dag-layer dag-layer-${name}`, "aria-hidden": name === "boxes" ? null : "true" })));
  const [boxes, top] = layers.map((layer) => /** @type {CanvasRenderingContext2D} */ (layer.getContext("2d")));
  setAttributes(layers[0], { role: "img", tabindex: 0, "data-testid": scene.members ? "dag-groups" : "dag-canvas", "aria-describedby": "dag-keys" });
  const edges = edgeLayer(context);
  let density = 0;

  const fitLayers = () => {
    if (density !== devicePixelRatio) painter.refresh();
    density = devicePixelRatio;
    for (const layer of layers) fitCanvas(layer, panZoom, density);
  };
  const clear = (/** @type {CanvasRenderingContext2D} */ pen) => {
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.clearRect(0, 0, panZoom.width, panZoom.height);
  };
  const paint = (/** @type {CanvasRenderingContext2D} */ pen, /** @type {Iterable<number>} */ items) => {
    const detail = detailAt(context.shape.box, panZoom.scale);
    pen.setTransform(density, 0, 0, density, 0, 0);
    for (const item of items) {
      const box = dagBoxOf(context, item, density);
      if (dagBoxIsSeen(panZoom, box)) painter.paint(pen, item, box, detail);
    }
  };
  const paintTop = () => {
    clear(top);
    const { hovered, selected } = app.state;
    if (hovered !== null || view.current >= 0) {
      top.globalAlpha = 0.6;
      top.fillStyle = app.colours().paper;
      top.fillRect(0, 0, panZoom.width, panZoom.height);
      top.globalAlpha = 1;
    }
    strokeDagMarks(context, top, density);
    const pointed = hovered === null ? view.current : itemOf(app.graph, hovered);
    if (pointed >= 0) paint(top, [pointed, ...scene.before[pointed], ...scene.after[pointed]]);
    if (pointed >= 0) strokeDagRing(context, top, density, pointed, view.current === pointed && document.activeElement === layers[0] ? "focus-ring" : "accent");
    if (selected !== null) {
      paint(top, [itemOf(app.graph, selected)]);
      strokeDagRing(context, top, density, itemOf(app.graph, selected), "accent");
    }
  };
  /** @type {DagView & { current: number }} */
  const view = {
    element: make("div", { class: "dag-layers" }, edges.canvas, ...layers),
    /** Where the pointer or the keyboard is; -1 is nowhere. */
    current: -1,
    recolour: (ops) => {
      fitLayers();
      paint(boxes, painter.changed(ops));
      setAttributes(layers[0], { "aria-label": context.label() });
      if (app.state.hovered !== null || app.state.selected !== null || view.current >= 0) paintTop();
    },
    moved: () => {
      fitLayers();
      edges.draw();
      clear(boxes);
      paint(boxes, scene.names.keys());
      paintTop();
    },
    highlight: paintTop,
    refresh: () => {
      painter.refresh();
      view.moved();
      setAttributes(layers[0], { "aria-label": context.label() });
    },
  };
  listenToCanvas(context, layers[0], view, painter);
  return view;
}

/** A box on the screen, on whole device pixels, so that painting it again covers it. @param {DagContext} context @param {number} item @param {number} density @returns {import("./dag_paint.js").Box} */
function dagBoxOf({ shape, panZoom }, item, density) {
  const snap = (/** @type {number} */ value) => Math.round(value * density) / density;
  const [halfWidth, halfHeight] = [(shape.box.width * panZoom.scale) / 2, (shape.box.height * panZoom.scale) / 2];
  const [x, y] = [panZoom.x + shape.x[item] * panZoom.scale, panZoom.y + shape.y[item] * panZoom.scale];
  const [left, top] = [snap(x - halfWidth), snap(y - halfHeight)];
  return { x: left, y: top, width: Math.max(1 / density, snap(x + halfWidth) - left), height: Math.max(1 / density, snap(y + halfHeight) - top) };
}

/** @param {import("./pan_zoom.js").PanZoom} panZoom @param {import("./dag_paint.js").Box} box */
function dagBoxIsSeen(panZoom, box) {
  return box.x < panZoom.width && box.y < panZoom.height && box.x + box.width > 0 && box.y + box.height > 0;
}

/** @param {DagContext} context @param {CanvasRenderingContext2D} pen @param {number} density */
function strokeDagMarks(context, pen, density) {
  const { app, panZoom, shape } = context;
  const { scale } = panZoom;
  pen.setTransform(density * scale, 0, 0, density * scale, density * panZoom.x, density * panZoom.y);
  for (const { source, target, look, edge } of context.markedEdges()) {
    const [colour, width, dashes] = DAG_MARK_LOOKS[look];
    pen.beginPath();
    if (edge) traceDagEdge(context, pen, source, target);
    else {
      pen.moveTo(shape.x[source], shape.y[source]);
      pen.lineTo(shape.x[target], shape.y[target]);
    }
    pen.strokeStyle = app.colours()[colour];
    pen.lineWidth = width / scale;
    pen.setLineDash(dashes.map((dash) => dash / scale));
    pen.stroke();
  }
  pen.setLineDash([]);
}

/** @param {DagContext} context @param {CanvasRenderingContext2D} pen @param {number} density @param {number} item @param {string} colour */
function strokeDagRing(context, pen, density, item, colour) {
  const box = dagBoxOf(context, item, density);
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.strokeStyle = context.app.colours()[colour];
  pen.lineWidth = 3;
  pen.strokeRect(box.x - 3, box.y - 3, box.width + 6, box.height + 6);
}
