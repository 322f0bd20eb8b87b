// Why an operator does not run at an instant.

import { formatTime } from "./format.js";
import { partWords } from "./part_words.js";
import { t } from "./words.js";

/** Index of the part that holds at a time; the last one after the end, -1 where there are none. @param {Part[]} parts @param {Time} time */
export function partAt(parts, time) {
  let at = parts.length - 1;
  while (at >= 0 && parts[at].start > time) at -= 1;
  return at;
}

/**
 * Say why an operator that is ready or queued waits at a time; empty where it starts at that time.
 * @param {GraphPart} graph
 * @param {import("./replay.js").Replay} replay
 * @param {Op} op
 * @param {Time} time
 */
export function waitWords(graph, replay, op, time) {
  const { run } = replay;
  if (run.start[op] <= time) return "";
  if (!run.parts) return plainWait(graph, replay, op, time);
  const part = run.parts[op][partAt(run.parts[op], time)];
  return part && part.kind === "wait" && part.reason !== "dependency" ? partWords(graph, replay, op, part) : "";
}

/** What can be said without the parts: as `simsched run --steps` does. @param {GraphPart} graph @param {import("./replay.js").Replay} replay @param {Op} op @param {Time} time */
function plainWait(graph, replay, op, time) {
  const { run } = replay;
  if (run.dispatch[op] > time) return t("wait_undispatched");
  if (run.launched.length && run.launched[op] > time) return t("wait_launch", { time: formatTime(run.launched[op], graph.unit) });
  const before = beforeInStream(run)[op];
  if (before < 0 || run.end[before] <= time) return t("wait_device");
  return t("part_stream", { name: graph.names[before], more: "", stream: replay.streamName(op) });
}

/** @type {WeakMap<RunPart, Int32Array>} */
const beforeInStreams = new WeakMap();

/** By operator: the one just before it in its stream, or -1. @param {RunPart} run */
function beforeInStream(run) {
  let found = beforeInStreams.get(run);
  if (!found) {
    found = new Int32Array(run.stream.length).fill(-1);
    /** @type {Map<number, Op>} */
    const last = new Map();
    for (const op of run.order) {
      found[op] = last.get(run.stream[op]) ?? -1;
      last.set(run.stream[op], op);
    }
    beforeInStreams.set(run, found);
  }
  return found;
}
