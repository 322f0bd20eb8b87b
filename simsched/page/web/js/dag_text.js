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

/** Letters of a name from which on its middle can be left out; of a shorter one the last part says more. */
const NAME_FEW_LETTERS = 8;

/**
 * A name that fits. Its middle is left out, or, where little fits, the parts before its last ones ("mb2/conv/relu").
 * Empty where nothing of use fits.
 * @param {string} name @param {number} room @param {string} font
 */
export function fittedName(name, room, font) {
  const short = nameWithoutMiddle(name, room, font);
  if (short === name || short.length >= NAME_FEW_LETTERS) return short;
  const parts = name.split(/(?<=[/.:])/u);
  for (let from = 1; from < parts.length; from += 1) {
    const last = parts.slice(from).join("");
    if (last.length > 1 && textWidth(last, font) <= room) return last;
  }
  return nameWithoutMiddle(parts[parts.length - 1], room, font);
}

/** @param {string} name @param {number} room @param {string} font */
function nameWithoutMiddle(name, room, font) {
  const width = textWidth(name, font);
  if (width <= room) return name;
  let most = Math.floor((Array.from(name).length * room) / width) + 1;
  for (; most >= 3; most -= 1) {
    const short = shortName(name, most);
    if (textWidth(short, font) <= room) return short;
  }
  return "";
}

/** The word for a state. @param {number} state Index into STATES. */
export function stateWord(state) {
  return t(`dag_${STATES[state]}`);
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
