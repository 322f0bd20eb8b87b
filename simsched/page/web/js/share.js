// A state of the editor as a link: packed into the part of the address that no server ever sees.

import { LiveState } from "./editor_state.js";

/**
 * @typedef {object} Shared
 * @property {1} v
 * @property {string | LiveProblem["graph"]} graph The name in the catalogue, or the graph itself.
 * @property {string | LiveProblem["hardware"]} hardware
 * @property {Pick<LiveProblem, "schedulers" | "memory" | "seed" | "scales">} problem The rest of it.
 * @property {import("./editor_state.js").Edits} edits
 * @property {number} cursor
 * @property {string} focus
 * @property {"en" | "zh"} lang
 */

const SHARED_MARK = "#live=";
/** Characters of a link that programs for mail and talk still pass on whole, more or less. */
export const LONGEST_LINK = 30000;
const MOST_UNPACKED = 20_000_000;

/** What a link holds of a state: names where the catalogue has the rest. @param {LiveState} state @param {import("./app.js").App} app @returns {Shared} */
export function sharedState(state, app) {
  const { graph, hardware, ...problem } = state.base;
  const { cursor } = app.timeline;
  const focus = app.replay?.run.label ?? "";
  return { v: 1, graph: state.source.graph || graph, hardware: state.source.hardware || hardware, problem, edits: state.edits, cursor, focus, lang: app.state.lang };
}

/** @param {Shared} shared @param {LiveProblem["graph"]} graph @param {LiveProblem["hardware"]} hardware */
export function restoredState(shared, graph, hardware) {
  const name = (/** @type {unknown} */ part) => (typeof part === "string" ? part : "");
  const state = new LiveState({ ...shared.problem, graph, hardware }, { graph: name(shared.graph), hardware: name(shared.hardware) });
  state.edits = { ...state.edits, ...shared.edits };
  return state;
}

/** @param {Shared} shared @returns {Promise<string>} The whole address. */
export async function linkOf(shared) {
  const packed = await piped(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  const safe = btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/u, "");
  return `${location.href.split("#")[0]}${SHARED_MARK}${safe}`;
}

/** Whether an address holds a state. @param {string} hash */
export function isShared(hash) {
  return hash.startsWith(SHARED_MARK);
}

/** @param {string} hash @returns {Promise<Shared>} Rejected where the link is cut or changed. */
export async function sharedOf(hash) {
  const text = atob(hash.slice(SHARED_MARK.length).replaceAll("-", "+").replaceAll("_", "/"));
  const packed = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const bytes = await piped(packed, new DecompressionStream("deflate-raw"));
  const shared = JSON.parse(new TextDecoder().decode(bytes));
  if (!isState(shared)) throw new Error("not a state of this page");
  return shared;
}

/** Whether this is what the page itself reads of a state; the rest is checked where it is run. @param {any} shared */
function isState(shared) {
  const schedulers = [shared?.problem?.schedulers, shared?.edits?.schedulers ?? []];
  const written = (/** @type {any} */ each) => typeof each?.spec === "string" && ["string", "undefined"].includes(typeof each.code);
  return shared?.v === 1 && isMapping(shared.edits) && isMapping(shared.problem) && schedulers.every((list) => Array.isArray(list) && list.every(written));
}

/** @param {unknown} value */
function isMapping(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {CompressionStream | DecompressionStream} stream @returns {Promise<Uint8Array>} */
async function piped(bytes, stream) {
  const reader = new Blob([bytes]).stream().pipeThrough(/** @type {ReadableWritablePair<any, any>} */ (stream)).getReader();
  const parts = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
    if (size > MOST_UNPACKED) {
      reader.cancel().catch(() => undefined);
      throw new Error("too large");
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
