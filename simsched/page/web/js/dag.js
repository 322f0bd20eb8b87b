// The graph's view: chooses how to draw it, keeps the drawing in step with the page, and frames it with its controls.

import { canvasView } from "./dag_canvas.js";
import { mountDagControls } from "./dag_controls.js";
import { boxSizes } from "./dag_detail.js";
import { frameOfItems, latestTogether } from "./dag_follow.js";
import { mountDagLegend } from "./dag_legend.js";
import { mountMembers } from "./dag_members.js";
import { criticalEdges, itemOf, sceneOf } from "./dag_scene.js";
import { arrange } from "./dag_shape.js";
import { svgView } from "./dag_svg.js";
import { graphLabel, operatorLines } from "./dag_text.js";
import { marksNow } from "./dag_view.js";
import { make, setText } from "./dom.js";
import { PanZoom } from "./pan_zoom.js";
import { t } from "./words.js";

/** Up to so many operators each has elements of its own; beyond it canvases are drawn. */
const DAG_MOST_IN_SVG = 1500;
/** Height of a box on the screen whose name can be read from afar. */
const DAG_READABLE = 36;

/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function mountDag(root, app) {
  const panel = new GraphPanel(root, app);
  app.subscribe((change) => panel.changed(change));
}

class GraphPanel {
  /** @param {HTMLElement} root @param {import("./app.js").App} app */
  constructor(root, app) {
    this.app = app;
    this.viewport = make("div", { class: "dag-view", "data-testid": "dag-view" });
    this.tip = make("div", { class: "dag-tip", "aria-hidden": "true", hidden: true });
    this.spoken = make("output", { class: "hidden-text", "data-testid": "dag-announce" });
    this.keys = make("p", { id: "dag-keys", class: "hidden-text" });
    const frame = make("div", { class: "dag-frame" }, this.viewport, this.tip);
    /** @type {import("./dag_view.js").DagView | null} */
    this.view = null;
    this.panZoom = new PanZoom(this.viewport, () => this.view?.moved());
    this.context = this.#newContext();
    this.members = mountMembers(frame, this.context);
    this.controls = mountDagControls(root, this.panZoom, () => this.#follow(true));
    root.append(frame, this.spoken, this.keys);
    this.legend = mountDagLegend(root, this.context, () => this.#refresh());
    this.hadCopies = false;
    /** The graph that is drawn. @type {GraphPart | null} */
    this.drawn = null;
    new ResizeObserver(() => this.#resized()).observe(this.viewport);
  }

  /** @returns {import("./dag_view.js").DagContext} */
  #newContext() {
    const { app, panZoom } = this;
    const scene = sceneOf(app.graph);
    /** @type {import("./dag_view.js").DagContext} */
    const context = {
      app,
      panZoom,
      scene,
      shape: bestDagShape(scene, app.graph, panZoom),
      font: getComputedStyle(document.documentElement).fontFamily,
      states: new Uint8Array(app.graph.names.length),
      critical: new Set(),
      criticalEdges: new Set(),
      marks: { critical: true, realised: false },
      markedEdges: () => marksNow(context),
      reveal: (items, scale) => {
        if (items.length) panZoom.reveal(frameOfItems(context.shape, items), scale);
      },
      label: () => graphLabel(app),
      tip: (item, lines) => {
        this.#showTip(lines);
        if (item >= 0) this.#keepTipClear(item);
      },
      announce: (text) => setText(this.spoken, text),
      openGroup: (group) => this.members.open(group),
    };
    return context;
  }

  /** @param {import("./app.js").Change} change */
  changed(change) {
    const anew = change.has("document");
    if (anew) this.#build();
    else if (["focus", "theme", "lang"].some((what) => change.has(what))) this.#refresh();
    else if (change.has("cursor")) this.view?.recolour(dagChangedStates(this.context));
    const pointed = ["hovered", "selected"].some((what) => change.has(what));
    if (pointed || (change.has("cursor") && this.#copiesChanged())) this.view?.highlight();
    if (change.has("selected") && !anew) this.#revealSelected();
    if (change.has("cursor")) this.#follow(false);
    if (pointed || change.has("cursor")) this.#tipOfHovered();
    this.legend(change);
    this.members.update(change);
    this.controls.update(change);
  }

  #build() {
    const { app, context, panZoom } = this;
    // Another run of the same graph leaves the drawing, its place, and the keyboard where they are.
    if (this.view && this.drawn && looksSame(this.drawn, app.graph)) {
      this.drawn = app.graph;
      this.#refresh();
      return;
    }
    this.drawn = app.graph;
    context.scene = sceneOf(app.graph);
    context.shape = bestDagShape(context.scene, app.graph, panZoom);
    context.states = new Uint8Array(app.graph.names.length);
    this.members.close();
    this.#draw();
  }

  #draw() {
    const { context, panZoom } = this;
    this.view = null;
    this.viewport.replaceChildren();
    if (!context.scene.count) return;
    const view = context.scene.count > DAG_MOST_IN_SVG || context.scene.members ? canvasView(context) : svgView(context);
    this.viewport.append(view.element);
    panZoom.content = context.shape.size;
    this.view = view;
    panZoom.fit();
    this.#refresh();
  }

  /** Another run, theme, language, or other outlines. */
  #refresh() {
    const { context } = this;
    dagChangedStates(context);
    findDagCritical(context);
    const { sideways } = context.shape;
    setText(this.keys, `${t(sideways ? "dag_keys_right" : "dag_keys_down")} ${context.scene.members ? t("dag_group_help") : ""}`);
    this.view?.refresh();
    this.view?.highlight();
  }

  #resized() {
    const { app, context, panZoom } = this;
    if (!this.view) return;
    const shape = panZoom.fitted ? bestDagShape(context.scene, app.graph, panZoom) : context.shape;
    const { sideways, strips, box } = context.shape;
    if (shape.sideways !== sideways || shape.strips !== strips || shape.box.width !== box.width) {
      context.shape = shape;
      this.#draw();
    } else if (panZoom.fitted) panZoom.fit();
    else this.view.moved();
  }

  /** @param {boolean} begins Whether it has just been asked for. */
  #follow(begins) {
    const { app, context, panZoom } = this;
    if (!this.controls?.following() || !app.replay || !this.view) return;
    const readable = DAG_READABLE / context.shape.box.height;
    const scale = begins ? Math.max(panZoom.scale, readable) : panZoom.scale;
    context.reveal(latestTogether(context, app.replay, scale), scale);
  }

  #revealSelected() {
    const { selected } = this.app.state;
    if (selected !== null && !this.panZoom.fitted) this.context.reveal([itemOf(this.app.graph, selected)]);
  }

  /** Whether copies are on their way, or were at the last step. */
  #copiesChanged() {
    const copies = !!this.app.replay?.copying.size;
    const changed = copies || this.hadCopies;
    this.hadCopies = copies;
    return changed;
  }

  #tipOfHovered() {
    const { hovered } = this.app.state;
    if (this.context.scene.members) return;
    this.#showTip(hovered === null ? null : operatorLines(this.app, hovered));
    if (hovered !== null) this.#keepTipClear(hovered);
  }

  /** Words about an item in the lower half are shown in the upper one. @param {number} item */
  #keepTipClear(item) {
    const { y, scale, height } = this.panZoom;
    this.tip.classList.toggle("above", y + this.context.shape.y[item] * scale > height / 2);
  }

  /** @param {string[] | null} lines */
  #showTip(lines) {
    this.tip.hidden = !lines;
    if (lines) this.tip.replaceChildren(...lines.map((line, index) => make(index ? "span" : "strong", {}, line)));
  }
}

/** Whether two graphs give the same drawing. @param {GraphPart} one @param {GraphPart} other */
function looksSame(one, other) {
  const drawn = (/** @type {GraphPart} */ { names, types, type, fills, edges, layout, groups }) => JSON.stringify([names, types, type, fills, edges, layout, groups]);
  return one === other || (one.names.length === other.names.length && drawn(one) === drawn(other));
}

/** @param {import("./dag_scene.js").Scene} scene @param {GraphPart} graph @param {PanZoom} room */
function bestDagShape(scene, graph, room) {
  return arrange(scene.layout, boxSizes(scene.names, graph.types, !!scene.members), room);
}

/** Bring the states as drawn up to date. @param {import("./dag_view.js").DagContext} context @returns {Op[]} Operators whose states have changed. */
function dagChangedStates({ app, states }) {
  const { replay } = app;
  const changed = [];
  for (let op = 0; op < states.length; op += 1) {
    const state = replay ? replay.state(op) : 0;
    if (state !== states[op]) {
      states[op] = state;
      changed.push(op);
    }
  }
  return changed;
}

/** Items and edges without slack, on the machine of the run in focus. @param {import("./dag_view.js").DagContext} context */
function findDagCritical(context) {
  const { app, scene } = context;
  const machine = app.replay?.machine ?? app.document.machines[0];
  if (!machine) return;
  const critical = app.graph.names.map((_, op) => op).filter((op) => !machine.slack[op]);
  context.critical = new Set(critical.map((op) => itemOf(app.graph, op)));
  context.criticalEdges = scene.members ? new Set() : criticalEdges(app.graph, machine);
}
