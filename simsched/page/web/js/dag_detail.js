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
 * @property {boolean} far Too small for more than a colour.
 */

const dagBounded = (/** @type {number} */ value, /** @type {number} */ low, /** @type {number} */ high) => Math.max(low, Math.min(high, value));

/** @param {import("./dag_shape.js").Size} box At scale 1. @param {number} scale @returns {Detail} */
export function detailAt(box, scale) {
  const [width, height] = [box.width * scale, box.height * scale];
  const lines = width < 34 || height < 12 ? 0 : height < 31 ? 1 : 2;
  const nameSize = lines === 2 ? dagBounded(height * 0.34, 11, 26) : dagBounded(height * 0.5, 9, 14);
  const sign = height < 7 || width < 12 ? 0 : lines ? dagBounded(nameSize * 0.8, 7, 18) : dagBounded(height * 0.62, 5, 10);
  const strip = width < 16 || height < 9 ? 0 : dagBounded(width * 0.05, 3, 9);
  return {
    lines,
    nameSize,
    noteSize: dagBounded(height * 0.25, 9.5, 18),
    sign,
    strip,
    pad: strip + dagBounded(width * 0.07, 4, 12),
    outline: height < 9 ? 0.5 : 1.2,
    far: width < 8 || height < 5,
  };
}

/** Room for a name in a box. @param {number} width On the screen. @param {Detail} detail */
export function roomForName(width, { pad, sign }) {
  return width - pad - sign - Math.min(pad, 6);
}

/** Scales between which the detail stays as it is; a new one begins every fifth. @param {number} scale */
export function detailStep(scale) {
  return Math.round(Math.log(scale) / Math.log(1.2));
}

/** The scale for which a step's detail is made. @param {number} step */
export function scaleOfStep(step) {
  return 1.2 ** step;
}

/**
 * Sizes of boxes to choose from, the best to read first: wide enough for most names (and types, in a small graph).
 * @param {string[]} names @param {string[]} types @param {boolean} groups
 * @returns {import("./dag_shape.js").Size[]}
 */
export function boxSizes(names, types, groups) {
  if (groups) return [{ width: 112, height: 52 }];
  const name = dagMostLetters(names);
  if (names.length > 40) return [{ width: dagBounded(name * 7.5 + 34, 72, 116), height: 34 }];
  const wide = Math.max(name * 9 + 46, types.length > 1 ? dagMostLetters(types) * 7 + 92 : 0);
  return [dagBounded(wide, 136, 216), dagBounded(name * 9 + 46, 136, 180), 136].map((width) => ({ width, height: 50 }));
}

/** Letters of nine in ten texts. @param {string[]} texts */
function dagMostLetters(texts) {
  const letters = texts.map((text) => text.length).sort((a, b) => a - b);
  return letters[Math.ceil(letters.length * 0.9) - 1] ?? 6;
}
