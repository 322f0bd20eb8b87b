// How the states of operators look besides their colour: a pattern and a sign, in SVG and on a canvas.

import { makeSvg } from "./dom.js";
import { STATES } from "./replay.js";

/** Side of a tile in CSS pixels. */
const PATTERN_TILE = 8;

/** Shapes on a tile, by state; a state without an entry is plain. @type {Record<string, { d: string, stroke: number, opacity: number }>} */
const PATTERN_SHAPES = {
  ready: { d: "M2 0v0M6 4v0M2 8v0", stroke: 2.1, opacity: 0.42 },
  queued: { d: "M-1 -1L9 9M-1 7L1 9M7 -1L9 1", stroke: 0.9, opacity: 0.34 },
  running: { d: "M-2 10L10 -2M-2 2L2 -2M6 10L10 6", stroke: 2.9, opacity: 0.2 },
};

/** Signs in a box of 10 by 10, by state. @type {Record<string, { d: string, filled: boolean }>} */
const SIGNS_OF_STATES = {
  waiting: { d: "", filled: false },
  ready: { d: "M5 1.8a3.2 3.2 0 1 0 .01 0z", filled: true },
  queued: { d: "M2 1h6L2 9h6z", filled: false },
  running: { d: "M2 1l7 4-7 4z", filled: true },
  done: { d: "M1 5.4l3 3L9 1.8", filled: false },
};

/** The sign of a state. @param {number} state Index into STATES. */
export function signOfState(state) {
  return SIGNS_OF_STATES[STATES[state]];
}

/** SVG patterns of the states, with ids `prefix-ready` and so on; coloured by the class `dag-tile`. @param {string} prefix */
export function patternDefs(prefix) {
  const patterns = Object.entries(PATTERN_SHAPES).map(([state, { d, stroke, opacity }]) =>
    makeSvg(
      "pattern",
      { id: `${prefix}-${state}`, width: PATTERN_TILE, height: PATTERN_TILE, patternUnits: "userSpaceOnUse" },
      makeSvg("path", { d, class: "dag-tile", fill: "none", "stroke-width": stroke, "stroke-linecap": "round", "stroke-opacity": opacity }),
    ),
  );
  return makeSvg("defs", {}, ...patterns);
}

/** Keep the patterns of `patternDefs` at their size on the screen. @param {SVGElement} defs @param {number} scale */
export function scalePatterns(defs, scale) {
  for (const pattern of defs.children) pattern.setAttribute("patternTransform", `scale(${1 / scale})`);
}

/**
 * Patterns for a canvas, by state; null is plain.
 * @param {CanvasRenderingContext2D} context
 * @param {string} colour
 * @param {number} density Device pixels in a CSS pixel.
 */
export function canvasPatterns(context, colour, density) {
  return STATES.map((state) => {
    const shape = PATTERN_SHAPES[state];
    if (!shape) return null;
    const side = Math.max(PATTERN_TILE, Math.round(PATTERN_TILE * density));
    const tile = document.createElement("canvas");
    tile.width = side;
    tile.height = side;
    const ink = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
    ink.scale(side / PATTERN_TILE, side / PATTERN_TILE);
    ink.strokeStyle = colour;
    ink.globalAlpha = shape.opacity;
    ink.lineWidth = shape.stroke;
    ink.lineCap = "round";
    ink.stroke(new Path2D(shape.d));
    const pattern = context.createPattern(tile, "repeat");
    pattern?.setTransform(new DOMMatrix().scale(PATTERN_TILE / side));
    return pattern;
  });
}

/** A swatch for legends. @param {number} state Index into STATES. @param {string} prefix Of the ids of `patternDefs`. */
export function stateSwatch(state, prefix) {
  const word = STATES[state];
  const sign = signOfState(state);
  const box = { x: 1, y: 1, width: 26, height: 16, rx: 4 };
  return makeSvg(
    "svg",
    { class: "dag-swatch", viewBox: "0 0 28 18", width: 28, height: 18, "aria-hidden": "true", "data-state": word },
    makeSvg("rect", { ...box, class: "dag-swatch-box" }),
    makeSvg("rect", { ...box, fill: PATTERN_SHAPES[word] ? `url(#${prefix}-${word})` : "none" }),
    makeSvg("path", { d: sign.d, class: sign.filled ? "dag-swatch-sign filled" : "dag-swatch-sign", transform: "translate(9 4)" }),
  );
}
