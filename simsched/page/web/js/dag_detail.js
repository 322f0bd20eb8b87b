// How much of a box is shown at a scale: nothing but colour, a sign, a name, or two lines.

/**
 * Sizes on the screen, in CSS pixels.
 * @typedef {object} Detail
 * @property {number} lines 0 without text.
 * @property {number} nameSize
 * @property {number} noteSize
 * @property {number} sign Side of the sign; 0 is none.
 * @property {number} strip Width of the strip in the colour of the type; 0 is none.
 * @property {number} pad From the left edge to the text.
 * @property {number} outline
 */

const bounded = (/** @type {number} */ value, /** @type {number} */ low, /** @type {number} */ high) => Math.max(low, Math.min(high, value));

/** @param {import("./dag_shape.js").Size} box At scale 1. @param {number} scale @returns {Detail} */
export function detailAt(box, scale) {
  const [width, height] = [box.width * scale, box.height * scale];
  const lines = width < 34 || height < 12 ? 0 : height < 31 ? 1 : 2;
  const nameSize = lines === 2 ? bounded(height * 0.34, 11, 26) : bounded(height * 0.5, 9, 14);
  const sign = height < 7 || width < 12 ? 0 : lines ? bounded(nameSize * 0.8, 7, 18) : bounded(height * 0.62, 5, 10);
  const strip = width < 16 || height < 9 ? 0 : bounded(width * 0.05, 3, 9);
  return {
    lines,
    nameSize,
    noteSize: bounded(height * 0.25, 9.5, 18),
    sign,
    strip,
    pad: strip + bounded(width * 0.07, 4, 12),
    outline: height < 9 ? 0.6 : 1.2,
  };
}

/** Scales between which the detail stays as it is; a new one begins every fifth. @param {number} scale */
export function detailStep(scale) {
  return Math.round(Math.log(scale) / Math.log(1.2));
}

/** The scale for which a step's detail is made. @param {number} step */
export function scaleOfStep(step) {
  return 1.2 ** step;
}

/** Size of boxes: wide enough for most names of a small graph, small in a large one. @param {string[]} names @param {boolean} groups */
export function boxSize(names, groups) {
  const letters = names.map((name) => Math.min(name.length, 24)).sort((a, b) => a - b);
  const usual = letters[Math.floor(letters.length * 0.9)] ?? 6;
  if (groups) return { width: 112, height: 52 };
  if (names.length <= 40) return { width: bounded(usual * 9 + 46, 136, 196), height: 50 };
  return { width: bounded(usual * 7 + 30, 68, 112), height: 34 };
}
