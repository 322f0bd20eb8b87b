// Boxes on a canvas: operators, and groups of them.

import { detailStep, roomForName, scaleOfStep } from "./dag_detail.js";
import { fittedName, fittedType, groupLines, nameFont, operatorLines, showsTypes, sizeForNames, sortedWidths, stateWord, textWidth } from "./dag_text.js";
import { canvasPatterns, signOfState } from "./patterns.js";
import { STATES, WAITING } from "./replay.js";

/** A box on the screen, in CSS pixels. @typedef {{ x: number, y: number, width: number, height: number }} Box */

/**
 * @typedef {object} Painter
 * @property {(context: CanvasRenderingContext2D, item: number, box: Box, detail: import("./dag_detail.js").Detail) => void} paint
 * @property {(item: number) => string[]} lines About an item.
 * @property {() => void} refresh Read colours again.
 * @property {(ops: Iterable<Op>) => Iterable<number>} changed Items to be painted again.
 */

/** @typedef {import("./dag_view.js").DagContext} DagContext */

/** What all boxes need to be painted. @param {DagContext} context @param {number} density */
function readDagInks(context, density) {
  const colours = context.app.colours();
  const scratch = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  return { colours, states: STATES.map((state) => colours[state]), patterns: canvasPatterns(scratch, colours["on-state"], density) };
}

/** @typedef {ReturnType<typeof readDagInks>} Inks */

/** @param {DagContext} context @returns {Painter} */
export function operatorPainter(context) {
  const { app } = context;
  const { graph } = app;
  const typed = showsTypes(graph);
  const names = new FittedNames(context);
  let inks = readDagInks(context, devicePixelRatio);
  return {
    refresh: () => (inks = readDagInks(context, devicePixelRatio)),
    changed: (ops) => ops,
    lines: (op) => operatorLines(app, op),
    paint: (pen, op, box, detail) => {
      const state = context.states[op];
      paintDagBox(pen, box, inks.states[state]);
      if (detail.far) {
        if (context.marks.critical && context.critical.has(op)) paintDagDot(pen, box, inks.colours.critical);
        else if (state === WAITING) paintDagOutline(pen, box, detail, inks, false);
        return;
      }
      const pattern = inks.patterns[state];
      if (pattern) paintDagBox(pen, box, pattern);
      if (typed && detail.strip) paintDagStrip(pen, box, detail, inks.colours[`fill-${graph.fills[graph.type[op]]}`]);
      paintDagOutline(pen, box, detail, inks, context.marks.critical && context.critical.has(op));
      if (detail.sign) paintDagSign(pen, box, detail, state, inks.colours["on-state"]);
      if (detail.lines) {
        const name = names.of(op, context.panZoom.scale, roomForName(box.width, detail), detail.nameSize);
        const lines = [typed ? graph.types[graph.type[op]] : "", stateWord(state)];
        paintDagTexts(pen, box, detail, name, lines, context.font, inks.colours["on-state"]);
      }
    },
  };
}

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {string | CanvasPattern} fill */
function paintDagBox(pen, box, fill) {
  pen.fillStyle = fill;
  if (box.height < 12) pen.fillRect(box.x, box.y, box.width, box.height);
  else {
    pen.beginPath();
    pen.roundRect(box.x, box.y, box.width, box.height, Math.min(8, box.height * 0.18));
    pen.fill();
  }
}

/** The longest path from far away: the left third of a box. @param {CanvasRenderingContext2D} pen @param {Box} box @param {string} colour */
function paintDagDot(pen, box, colour) {
  pen.fillStyle = colour;
  pen.fillRect(box.x, box.y, Math.max(1, box.width / 3), box.height);
}

/** The outline lies inside the box, so that painting the box again covers it. @param {CanvasRenderingContext2D} pen @param {Box} box @param {import("./dag_detail.js").Detail} detail @param {Inks} inks @param {boolean} critical */
function paintDagOutline(pen, box, detail, inks, critical) {
  const thick = critical ? Math.min(3.5, Math.max(1.6, box.height * 0.12)) : detail.outline;
  pen.strokeStyle = critical ? inks.colours.critical : inks.colours.edge;
  pen.lineWidth = thick;
  const inset = thick / 2;
  if (box.height < 12) {
    pen.strokeRect(box.x + inset, box.y + inset, box.width - thick, box.height - thick);
    return;
  }
  pen.beginPath();
  pen.roundRect(box.x + inset, box.y + inset, box.width - thick, box.height - thick, Math.min(8, box.height * 0.18));
  pen.stroke();
}

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {import("./dag_detail.js").Detail} detail @param {string} colour */
function paintDagStrip(pen, box, detail, colour) {
  const bar = Math.max(2, box.height * 0.12);
  pen.fillStyle = colour;
  pen.fillRect(box.x + bar * 0.7, box.y + bar, detail.strip, box.height - 2 * bar);
}

/** @type {Path2D[]} */
const dagSignPaths = [];

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {import("./dag_detail.js").Detail} detail @param {number} state @param {string} colour */
function paintDagSign(pen, box, detail, state, colour) {
  const side = detail.sign;
  const middle = box.y + box.height * (detail.lines === 2 ? 0.3 : 0.5);
  const x = detail.lines ? box.x + box.width - side - detail.pad * 0.6 : box.x + (box.width - side) / 2;
  dagSignPaths[state] ??= new Path2D(signOfState(state).d);
  pen.save();
  pen.translate(x, middle - side / 2);
  pen.scale(side / 10, side / 10);
  if (signOfState(state).filled) {
    pen.fillStyle = colour;
    pen.fill(dagSignPaths[state]);
  } else {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.6;
    pen.stroke(dagSignPaths[state]);
  }
  pen.restore();
}

/** Names as fitted, kept while the scale is about the same. */
class FittedNames {
  /** @param {DagContext} context */
  constructor({ scene, font }) {
    this.names = scene.names;
    this.family = font;
    this.widths = sortedWidths(scene.names, font);
    this.step = NaN;
    /** @type {Map<number, string>} */
    this.fitted = new Map();
  }

  /** @param {number} item @param {number} scale @param {number} room On the screen. @param {number} wanted Size of letters. */
  of(item, scale, room, wanted) {
    const step = detailStep(scale);
    if (step !== this.step) this.fitted.clear();
    this.step = step;
    // It must fit at the smallest scale of the step as well.
    const least = (room * scaleOfStep(step - 0.5)) / scale;
    const font = nameFont(sizeForNames(this.widths, least, wanted), this.family);
    let text = this.fitted.get(item);
    if (text === undefined) {
      text = fittedName(this.names[item], least, font);
      this.fitted.set(item, text);
    }
    return { text, font };
  }
}

/** Name above, type and state below where there are two lines. @param {CanvasRenderingContext2D} pen @param {Box} box @param {import("./dag_detail.js").Detail} detail @param {{ text: string, font: string }} name @param {string[]} lines @param {string} family @param {string} colour */
function paintDagTexts(pen, box, detail, name, [type, word], family, colour) {
  const { pad, noteSize } = detail;
  const two = detail.lines === 2;
  pen.fillStyle = colour;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.font = name.font;
  pen.fillText(name.text, box.x + pad, box.y + box.height * (two ? 0.3 : 0.5));
  if (!two) return;
  const font = `400 ${noteSize}px ${family}`;
  const room = box.width - pad * 1.6;
  const wordWidth = textWidth(word, font);
  pen.font = font;
  const y = box.y + box.height * 0.75;
  const left = type ? fittedType(type, room - wordWidth - 6, font) : "";
  pen.fillText(left, box.x + pad, y);
  pen.textAlign = "right";
  if (wordWidth <= room) pen.fillText(word, box.x + box.width - pad * 0.6, y);
}

// --- groups ----------------------------------------------------------------------------------------------------------

/** In a bar: what has come furthest first. */
const GROUP_BAR_ORDER = [4, 3, 2, 1, 0];

/** How many operators of each group are in each state. @param {DagContext} context @param {number} group */
function groupCounts(context, group) {
  const counts = [0, 0, 0, 0, 0];
  for (const op of context.scene.members?.[group] ?? []) counts[context.states[op]] += 1;
  return counts;
}

/** @param {DagContext} context @returns {Painter} */
export function groupPainter(context) {
  const { app, scene } = context;
  const members = scene.members ?? [];
  const names = new FittedNames(context);
  let inks = readDagInks(context, devicePixelRatio);
  return {
    refresh: () => (inks = readDagInks(context, devicePixelRatio)),
    changed: (ops) => new Set(Array.from(ops, (op) => /** @type {Groups} */ (app.graph.groups).of[op])),
    lines: (group) => groupLines(scene.names[group], groupCounts(context, group), members[group].length),
    paint: (pen, group, box, detail) => {
      const counts = groupCounts(context, group);
      const bar = detail.lines ? { ...box, y: box.y + box.height * 0.56, height: box.height * 0.44 } : box;
      if (detail.lines) paintDagBox(pen, box, inks.colours.panel);
      paintGroupBar(pen, bar, counts, members[group].length, inks);
      if (!detail.far) paintDagOutline(pen, box, detail, inks, context.marks.critical && context.critical.has(group));
      if (detail.lines) paintGroupTexts(pen, box, group, context, names, inks.colours.ink);
    },
  };
}

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {number[]} counts @param {number} total @param {Inks} inks */
function paintGroupBar(pen, box, counts, total, inks) {
  let x = box.x;
  for (const state of GROUP_BAR_ORDER) {
    const width = (box.width * counts[state]) / total;
    if (!width) continue;
    pen.fillStyle = inks.states[state];
    pen.fillRect(x, box.y, width, box.height);
    const pattern = inks.patterns[state];
    if (pattern && width >= 3) {
      pen.fillStyle = pattern;
      pen.fillRect(x, box.y, width, box.height);
    }
    x += width;
  }
}

/** @param {CanvasRenderingContext2D} pen @param {Box} box @param {number} group @param {DagContext} context @param {FittedNames} names @param {string} colour */
function paintGroupTexts(pen, box, group, { scene, panZoom, font }, names, colour) {
  const size = Math.max(9, Math.min(16, box.height * 0.32));
  const count = String(scene.members?.[group].length);
  const pad = Math.max(4, box.width * 0.05);
  const y = box.y + box.height * 0.3;
  pen.font = `600 ${size}px ${font}`;
  pen.fillStyle = colour;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  pen.fillText(count, box.x + box.width - pad, y);
  pen.textAlign = "left";
  const name = names.of(group, panZoom.scale, box.width - 3 * pad - textWidth(count, pen.font), size);
  pen.font = name.font;
  pen.fillText(name.text, box.x + pad, y);
}
