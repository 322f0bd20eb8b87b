// One operator as SVG elements.

import { roomForName } from "./dag_detail.js";
import { fittedName, fittedType, nameFont, showsTypes, stateWord, textWidth } from "./dag_text.js";
import { makeSvg, setAttributes, setText } from "./dom.js";
import { signOfState } from "./patterns.js";
import { STATES } from "./replay.js";

/** @typedef {{ element: SVGElement, pattern: SVGElement, strip: SVGElement, name: SVGElement, note: SVGElement, word: SVGElement, sign: SVGElement, look: WordLook }} NodeParts */

/** Room and font of the word of the state, kept from the last fitting. @typedef {{ room: number, font: string }} WordLook */

/** @param {GraphPart} graph @param {import("./dag_shape.js").Shape} shape @param {Op} op @returns {NodeParts} */
export function makeNode(graph, shape, op) {
  const { width, height } = shape.box;
  const around = (/** @type {number} */ by, /** @type {string} */ name) =>
    makeSvg("rect", { class: name, x: -width / 2 - by, y: -height / 2 - by, width: width + 2 * by, height: height + 2 * by, rx: 8 + by });
  const fill = graph.fills[graph.type[op]];
  const parts = {
    pattern: around(0, "dag-pattern"),
    strip: makeSvg("rect", { class: "dag-strip", display: showsTypes(graph) ? null : "none", style: `fill: var(--fill-${fill})` }),
    name: makeSvg("text", { class: "dag-name" }),
    note: makeSvg("text", { class: "dag-note" }),
    word: makeSvg("text", { class: "dag-word" }),
    sign: makeSvg("path", { class: "dag-sign" }),
    look: { room: 0, font: "" },
  };
  const element = makeSvg(
    "g",
    { class: "dag-node", role: "button", tabindex: -1, "aria-pressed": "false", "data-testid": `node-${op}`, "data-op": op, transform: `translate(${shape.x[op].toFixed(1)} ${shape.y[op].toFixed(1)})` },
    around(6, "dag-ring"), around(3.5, "dag-realised"), around(0, "dag-box"),
    parts.pattern, parts.strip, parts.sign, parts.name, parts.note, parts.word,
  );
  return { element, ...parts };
}

/** @param {NodeParts} node @param {number} state Index into STATES. */
export function showNodeState(node, state) {
  const word = STATES[state];
  const sign = signOfState(state);
  setAttributes(node.element, { "data-state": word });
  const plain = word === "waiting" || word === "done";
  setAttributes(node.pattern, plain ? { display: "none", fill: null } : { display: null, fill: `url(#dag-${word})` });
  setAttributes(node.sign, { d: sign.d, class: sign.filled ? "dag-sign filled" : "dag-sign" });
  showNodeWord(node, state);
}

/** @param {NodeParts} node @param {number} state */
function showNodeWord(node, state) {
  const word = stateWord(state);
  setText(node.word, textWidth(word, node.look.font) <= node.look.room ? word : "");
}

/**
 * Fit the texts of a box to a scale.
 * @param {NodeParts} node
 * @param {GraphPart} graph
 * @param {Op} op
 * @param {import("./dag_shape.js").Size} box
 * @param {import("./dag_detail.js").Detail} detail
 * @param {number} nameSize
 * @param {number} scale
 * @param {string} family
 * @param {number} state
 */
export function drawNodeText(node, graph, op, box, detail, nameSize, scale, family, state) {
  const [width, height] = [box.width * scale, box.height * scale];
  const { lines, pad, noteSize } = detail;
  const font = nameFont(nameSize, family);
  const name = lines ? fittedName(graph.names[op], roomForName(width, detail), font) : "";
  // A whole name says more than the sign beside it, which the pattern and the colour say as well.
  const crowded = name !== graph.names[op] && textWidth(graph.names[op], font) <= width - 1.4 * pad;
  const sign = lines && crowded ? 0 : detail.sign;
  const unit = 1 / scale;
  const left = -width / 2;
  const bar = Math.max(2, height * 0.12);
  setAttributes(node.strip, { x: (left + bar * 0.7) * unit, y: (-height / 2 + bar) * unit, width: detail.strip * unit, height: Math.max(0, height - 2 * bar) * unit, rx: 1.5 * unit });
  const nameY = lines === 2 ? -height * 0.2 : 0;
  const signX = lines ? width / 2 - sign - pad * 0.6 : -sign / 2;
  const signY = lines ? nameY - sign / 2 : -sign / 2;
  setAttributes(node.sign, { transform: `translate(${signX * unit} ${signY * unit}) scale(${(sign / 10) * unit})`, display: sign ? null : "none" });
  setText(node.name, lines && crowded ? graph.names[op] : name);
  setAttributes(node.name, { x: (left + pad) * unit, y: nameY * unit, "font-size": nameSize * unit });
  const noteY = height * 0.25;
  const noteFont = `400 ${noteSize}px ${family}`;
  const room = width - pad * 1.6;
  const type = lines === 2 && showsTypes(graph) ? graph.types[graph.type[op]] : "";
  const note = type && fittedType(type, room - widestState(noteFont) - 6, noteFont);
  setText(node.note, note);
  setAttributes(node.note, { x: (left + pad) * unit, y: noteY * unit, "font-size": noteSize * unit });
  node.look = { room: lines === 2 ? room - (note ? textWidth(note, noteFont) + 6 : 0) : 0, font: noteFont };
  setAttributes(node.word, { x: (width / 2 - pad * 0.6) * unit, y: noteY * unit, "font-size": noteSize * unit });
  showNodeWord(node, state);
}

/** Width of the longest word for a state: it decides, so that types do not move from state to state. @param {string} font */
function widestState(font) {
  return Math.max(...STATES.map((_, state) => textWidth(stateWord(state), font)));
}
