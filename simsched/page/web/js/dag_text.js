// Words and fitted names on the graph.

import { formatPercent, formatTime, shortName } from "./format.js";
import { STATES } from "./replay.js";
import { t, tCount } from "./words.js";

/** @type {CanvasRenderingContext2D | null} */
let rulerContext = null;
/** Width of a letter by font, for the letters of most names. @type {Map<string, Float64Array>} */
const letterWidths = new Map();

/** Width of a text in pixels. @param {string} text @param {string} font */
export function textWidth(text, font) {
  rulerContext ??= /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  let widths = letterWidths.get(font);
  if (!widths) {
    rulerContext.font = font;
    widths = Float64Array.from({ length: 127 }, (_, code) => (code < 32 ? 0 : /** @type {CanvasRenderingContext2D} */ (rulerContext).measureText(String.fromCharCode(code)).width));
    letterWidths.set(font, widths);
  }
  let total = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 127) total += widths[code];
    else {
      rulerContext.font = font;
      return rulerContext.measureText(text).width;
    }
  }
  return total;
}

/** From so many letters on a name without its middle says enough; below it the last of its parts say more. */
const NAME_FEW_LETTERS = 8;
const SMALLEST_NAME = 9;
/** How many of the names have to fit before letters are made smaller. */
const MOST_NAMES = 0.85;

/** Font of names. @param {number} size In pixels. @param {string} family */
export function nameFont(size, family) {
  return `600 ${size}px ${family}`;
}

/** Widths of names for letters of one pixel, ascending. @param {string[]} names @param {string} family */
export function sortedWidths(names, family) {
  return Float64Array.from(names, (name) => textWidth(name, nameFont(100, family)) / 100).sort();
}

/** The size, at most `size` and not much smaller, in which most names fit. @param {Float64Array} widths Of `sortedWidths`. @param {number} room @param {number} size */
export function sizeForNames(widths, room, size) {
  const usual = widths[Math.floor((widths.length - 1) * MOST_NAMES)];
  return Math.max(Math.min(size, SMALLEST_NAME), size * 0.64, Math.min(size, (0.99 * room) / usual));
}

/**
 * A name that fits: without its middle, or, where little fits, its last parts ("1x1/relu"). Empty where nothing of use fits.
 * @param {string} name @param {number} room @param {string} font
 */
export function fittedName(name, room, font) {
  const short = fittedText(name, room, font);
  if (short === name || short.length >= NAME_FEW_LETTERS) return short;
  const parts = name.match(/[^/.:]*[/.:]+|[^/.:]+$/gu) ?? [name];
  for (let from = 1; from < parts.length; from += 1) {
    const last = parts.slice(from).join("");
    if (last.length > 1 && textWidth(last, font) <= room) return last;
  }
  return fittedText(parts[parts.length - 1], room, font);
}

/** A text that fits: its middle is left out, or its end where few letters are left, without a sign for it where very few are. @param {string} text @param {number} room @param {string} font */
function fittedText(text, room, font) {
  const width = textWidth(text, font);
  if (width <= room) return text;
  let most = Math.floor((Array.from(text).length * room) / width) + 1;
  for (; most >= 3; most -= 1) {
    const short = most > 6 ? shortName(text, most) : beginningOf(text, most);
    if (textWidth(short, font) <= room) return short;
  }
  return "";
}

/** The first letters of a text; a number is never cut without a sign that it goes on. @param {string} text @param {number} most */
function beginningOf(text, most) {
  const letters = Array.from(text);
  const inNumber = /[0-9]/u.test(letters[most - 1]) && /[0-9]/u.test(letters[most] ?? "");
  return most < 6 && !inNumber ? letters.slice(0, most).join("") : `${letters.slice(0, most - 1).join("")}…`;
}

/** A type that fits in full or nearly so; its colour says as much as a few letters would. @param {string} type @param {number} room @param {string} font */
export function fittedType(type, room, font) {
  const text = fittedText(type, room, font);
  return text === type || text.length > 5 ? text : "";
}

/** The word for a state. @param {number} state Index into STATES. */
export function stateWord(state) {
  return t(`state_${STATES[state]}`);
}

/** Whether types tell operators apart, and are worth showing. @param {GraphPart} graph */
export function showsTypes(graph) {
  return graph.types.length > 1;
}

/** The estimate of an operator's time, on the machine of the run in focus. @param {import("./app.js").App} app @param {Op} op */
function dagDurationText(app, op) {
  const machine = app.replay?.machine ?? app.document.machines[0];
  return machine ? formatTime(machine.duration[op], app.graph.unit) : "";
}

/** What a screen reader says of an operator. @param {import("./app.js").App} app @param {Op} op @param {number} state */
export function operatorLabel(app, op, state) {
  const { graph } = app;
  const type = showsTypes(graph) ? `${graph.types[graph.type[op]]}, ` : "";
  return t("dag_node_label", { name: graph.names[op], type, state: stateWord(state), duration: dagDurationText(app, op) });
}

/** Lines about an operator for the one who points at it. @param {import("./app.js").App} app @param {Op} op */
export function operatorLines(app, op) {
  const { graph } = app;
  const machine = app.replay?.machine ?? app.document.machines[0];
  const state = stateWord(app.replay?.state(op) ?? 0);
  const slack = machine?.slack[op] ?? 0;
  return [
    graph.names[op],
    showsTypes(graph) ? `${graph.types[graph.type[op]]} · ${state}` : state,
    t("dag_takes", { duration: dagDurationText(app, op) }),
    slack ? t("dag_slack", { slack: formatTime(slack, graph.unit) }) : t("dag_on_longest"),
  ];
}

/** Lines about a group. @param {string} name @param {number[]} counts By state. @param {number} size */
export function groupLines(name, counts, size) {
  const shares = counts.map((count, state) => ({ count, state })).filter(({ count }) => count);
  return [name, tCount("dag_operators", size, { count: size }), ...shares.map(({ count, state }) => `${stateWord(state)} ${count} (${formatPercent(count / size)})`)];
}

/** What the drawing as a whole says: counts by state. @param {import("./app.js").App} app */
export function graphLabel(app) {
  const counts = app.replay?.counts ?? [app.graph.names.length, 0, 0, 0, 0];
  const states = counts.map((count, state) => `${stateWord(state)} ${count}`).join(", ");
  const { name, names, edges } = app.graph;
  const counted = (/** @type {string} */ key, /** @type {number} */ count) => tCount(key, count, { count });
  return t("dag_label", { name, operators: counted("dag_operators", names.length), edges: counted("dag_edge_count", edges.length), states });
}
