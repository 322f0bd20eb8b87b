// The graph as SVG: an element for each operator, up to some hundreds or a thousand of them.

import { detailAt, detailStep, roomForName, scaleOfStep } from "./dag_detail.js";
import { edgeLayer } from "./dag_edges.js";
import { drawnKind, itemByKey } from "./dag_scene.js";
import { SvgWay, drawWay } from "./dag_shape.js";
import { drawNodeText, makeNode, showNodeState } from "./dag_svg_node.js";
import { operatorLabel, sizeForNames, sortedWidths } from "./dag_text.js";
import { make, makeSvg, setAttributes } from "./dom.js";
import { patternDefs, scalePatterns } from "./patterns.js";

/** More edges than this are drawn on a canvas: SVG would be slow with them. */
const DAG_MOST_PATHS = 400;
const DAG_TIP = 7;

/** @typedef {import("./dag_view.js").DagView} DagView */
/** @typedef {import("./dag_view.js").DagContext} DagContext */

/** @param {DagContext} context @returns {DagView} */
export function svgView(context) {
  const { app, scene, shape } = context;
  const defs = patternDefs("dag");
  const layer = scene.edges.length > DAG_MOST_PATHS ? edgeLayer(context) : null;
  const edges = makeSvg("g", { class: "dag-edges", "aria-hidden": "true" }, ...(layer ? [] : dagEdgePaths(context)));
  const marked = makeSvg("g", { "aria-hidden": "true" });
  const nodes = scene.names.map((_, op) => makeNode(app.graph, shape, op));
  const above = makeSvg("g", {}, ...nodes.map((node) => node.element));
  const world = makeSvg("g", {}, edges, marked, above);
  const svg = makeSvg("svg", { class: "dag-svg", role: "application", "data-testid": "dag-svg", "aria-describedby": "dag-keys" }, defs, world);
  const widths = sortedWidths(scene.names, context.font);
  let step = NaN;
  /** By operator: the step of scale that its texts are fitted to. */
  const fittedAt = new Float64Array(scene.count).fill(NaN);
  let stop = 0;
  /** @type {number | null} */
  let pressed = null;
  /** @type {Element[]} */
  let near = [];

  const recolour = (/** @type {Iterable<number>} */ ops) => {
    for (const op of ops) {
      showNodeState(nodes[op], context.states[op]);
      setAttributes(nodes[op].element, { "aria-label": operatorLabel(app, op, context.states[op]) });
    }
  };
  // Boxes out of sight wait until they are seen.
  const fitTexts = () => {
    const scale = scaleOfStep(step);
    const detail = detailAt(shape.box, scale);
    const nameSize = sizeForNames(widths, roomForName(shape.box.width * scale, detail), detail.nameSize);
    for (const op of seenOps(context)) {
      if (fittedAt[op] === step) continue;
      fittedAt[op] = step;
      drawNodeText(nodes[op], app.graph, op, shape.box, detail, nameSize, scale, context.font, context.states[op]);
    }
  };
  const press = (/** @type {number | null} */ op) => {
    if (pressed !== null) setAttributes(nodes[pressed].element, { "aria-pressed": "false" });
    if (op !== null) setAttributes(nodes[op].element, { "aria-pressed": "true" });
    pressed = op;
  };
  const makeStop = (/** @type {number} */ op) => {
    nodes[stop].element.setAttribute("tabindex", "-1");
    nodes[op].element.setAttribute("tabindex", "0");
    stop = op;
  };
  // Listeners for focus would make the SVG element itself a stop of the Tab key in Chromium.
  const element = make("div", { class: "dag-layers" }, layer?.canvas, svg);
  listenToDagNodes(context, element, nodes, makeStop);
  makeStop(0);

  return {
    element,
    recolour,
    moved: () => {
      const { x, y, scale } = context.panZoom;
      world.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${scale.toFixed(5)})`);
      const now = detailStep(scale);
      if (now !== step) {
        step = now;
        setAttributes(svg, { "data-lines": detailAt(shape.box, scaleOfStep(step)).lines });
        scalePatterns(defs, scaleOfStep(step));
      }
      fitTexts();
      layer?.draw();
    },
    highlight: () => {
      const { hovered, selected } = app.state;
      for (const element of near) element.classList.remove("near", "hovered");
      const around = hovered === null ? [] : [hovered, ...scene.before[hovered], ...scene.after[hovered]];
      near = around.map((op) => nodes[op].element);
      for (const element of near) element.classList.add("near");
      if (hovered !== null) nodes[hovered].element.classList.add("hovered");
      press(selected);
      element.classList.toggle("dimmed", hovered !== null);
      marked.replaceChildren(...context.markedEdges().map((mark) => dagMarkedPath(context, mark)));
      if (selected !== null && !svg.contains(document.activeElement)) makeStop(selected);
    },
    refresh: () => {
      setAttributes(svg, { "aria-label": context.label() });
      svg.classList.toggle("show-critical", context.marks.critical);
      svg.classList.toggle("show-realised", context.marks.realised);
      const realised = new Set(app.replay?.run.path ?? []);
      nodes.forEach(({ element }, op) => {
        element.classList.toggle("critical", context.critical.has(op));
        element.classList.toggle("realised", realised.has(op));
      });
      layer?.draw();
      edges.querySelector(".dag-critical-edges")?.setAttribute("d", dagCriticalWay(context));
      fittedAt.fill(NaN);
      fitTexts();
      recolour(scene.names.keys());
    },
  };
}

/** Operators whose boxes are in view. @param {DagContext} context */
function* seenOps({ shape, panZoom }) {
  const { x, y, scale, width, height } = panZoom;
  const [halfWidth, halfHeight] = [(shape.box.width * scale) / 2, (shape.box.height * scale) / 2];
  for (let op = 0; op < shape.x.length; op += 1) {
    const [left, top] = [x + shape.x[op] * scale, y + shape.y[op] * scale];
    if (left > -halfWidth && top > -halfHeight && left < width + halfWidth && top < height + halfHeight) yield op;
  }
}

/** @param {DagContext} context @param {number} source @param {number} target */
function dagWayOf({ scene, shape }, source, target) {
  const way = new SvgWay();
  drawWay(way, shape, scene.layout, scene.routes.get(source * scene.count + target), source, target);
  return way.d;
}

/** Edges in one path for each kind, those of the longest path once more, as a broad line below. @param {DagContext} context */
function dagEdgePaths(context) {
  const { scene, shape } = context;
  /** @type {Map<string, { way: string, tips: string }>} */
  const kinds = new Map();
  for (const [source, target, bits] of scene.edges) {
    const kind = drawnKind(bits);
    const drawn = kinds.get(kind) ?? { way: "", tips: "" };
    drawn.way += dagWayOf(context, source, target);
    drawn.tips += dagTipAt(shape, target);
    kinds.set(kind, drawn);
  }
  const thin = scene.count > 300 ? " thin" : "";
  const paths = [...kinds].flatMap(([kind, drawn]) => [
    makeSvg("path", { class: `dag-edge dag-edge-${kind}${thin}`, "data-testid": `edges-${kind}`, d: drawn.way }),
    makeSvg("path", { class: `dag-arrow dag-arrow-${kind}`, d: drawn.tips }),
  ]);
  return [makeSvg("path", { class: `dag-critical-edges${thin}` }), ...paths];
}

/** @param {DagContext} context */
function dagCriticalWay(context) {
  return [...context.criticalEdges].map((index) => dagWayOf(context, context.scene.edges[index][0], context.scene.edges[index][1])).join("");
}

/** The tip of an edge where it arrives. @param {import("./dag_shape.js").Shape} shape @param {number} target */
function dagTipAt(shape, target) {
  const [x, y] = [shape.x[target], shape.y[target]];
  if (shape.sideways) {
    const left = x - shape.box.width / 2;
    return `M${left} ${y}l${-DAG_TIP} ${-DAG_TIP / 2}v${DAG_TIP}z`;
  }
  const top = y - shape.box.height / 2;
  return `M${x} ${top}l${-DAG_TIP / 2} ${-DAG_TIP}h${DAG_TIP}z`;
}

/** @param {DagContext} context @param {import("./dag_view.js").Mark} mark */
function dagMarkedPath(context, { source, target, look, edge }) {
  const { shape } = context;
  const straight = `M${shape.x[source]} ${shape.y[source]}L${shape.x[target]} ${shape.y[target]}`;
  return makeSvg("path", { class: `dag-mark dag-mark-${look}`, d: edge ? dagWayOf(context, source, target) : straight });
}

/** @param {DagContext} context @param {HTMLElement} root @param {import("./dag_svg_node.js").NodeParts[]} nodes @param {(op: number) => void} makeStop */
function listenToDagNodes(context, root, nodes, makeStop) {
  const { app, scene, shape } = context;
  const opOf = (/** @type {Event} */ event) => {
    const node = /** @type {Element} */ (event.target).closest(".dag-node");
    return node ? Number(node.getAttribute("data-op")) : -1;
  };
  const select = (/** @type {number} */ op) => app.set({ selected: app.state.selected === op ? null : op });
  root.addEventListener("pointerover", (event) => {
    const op = opOf(event);
    app.set({ hovered: op < 0 ? null : op });
  });
  root.addEventListener("pointerleave", () => app.set({ hovered: null }));
  root.addEventListener("click", (event) => {
    const op = opOf(event);
    if (context.panZoom.dragged) return;
    if (op < 0) app.set({ selected: null });
    else {
      makeStop(op);
      select(op);
    }
  });
  root.addEventListener("focusin", (event) => {
    const op = opOf(event);
    if (op < 0) return;
    makeStop(op);
    if (nodes[op].element.matches(":focus-visible")) {
      app.set({ hovered: op });
      context.reveal([op]);
    }
  });
  root.addEventListener("focusout", () => app.set({ hovered: null }));
  root.addEventListener("keydown", (event) => {
    const op = opOf(event);
    if (op < 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key === "Enter" || event.key === " ") select(op);
    else if (event.key.startsWith("Arrow")) {
      const next = itemByKey(scene, shape.sideways, op, event.key);
      if (next >= 0) nodes[next].element.focus({ preventScroll: true });
    } else return;
    // The player has uses of its own for these keys.
    event.preventDefault();
    event.stopPropagation();
  });
}
