// What one event of a run was, in a sentence.

import { COPY_END, COPY_START, DISPATCH, FINISH, KINDS, LAUNCH, READY } from "./events.js";
import { formatSize, formatTime } from "./format.js";
import { neighbours } from "./neighbours.js";
import { reasonWords } from "./translated.js";
import { listed, t, tCount } from "./words.js";

/** Names listed before the rest is only counted. */
const EVENT_SHOWN = 4;

/** @typedef {import("./replay.js").Replay} EventReplay */

/** Say what an event was. @param {GraphPart} graph @param {EventReplay} replay @param {number} number Of the event in its run. */
export function eventSentence(graph, replay, number) {
  const kind = replay.events.kind[number];
  const item = replay.events.item[number];
  if (kind === COPY_START || kind === COPY_END) return copySentence(graph, replay, item, kind === COPY_START);
  if (kind === FINISH) return finishSentence(graph, replay, item);
  if (kind === READY) return readySentence(graph, replay, item);
  if (kind === DISPATCH) return dispatchSentence(graph, replay, item);
  if (kind === LAUNCH) return t("step_launch", placeOf(graph, replay, item, replay.run.launched[item]));
  return startSentence(graph, replay, item);
}

/** A few words for an event: its kind, and whom or what it is about. @param {GraphPart} graph @param {EventReplay} replay @param {number} number */
export function eventLabel(graph, replay, number) {
  const kind = replay.events.kind[number];
  const item = replay.events.item[number];
  const copy = kind === COPY_START || kind === COPY_END;
  const name = copy ? graph.tensors.names[replay.run.transfers[item][7]] : graph.names[item];
  return { what: t(`event_${KINDS[kind]}`), name };
}

/** @param {GraphPart} graph @param {EventReplay} replay @param {Op} op @param {Time} time */
function placeOf(graph, replay, op, time) {
  return { time: formatTime(time, graph.unit), name: graph.names[op], stream: replay.streamName(op) };
}

/** @param {GraphPart} graph @param {Op[]} ops */
function eventNames(graph, ops) {
  return listed(ops.map((op) => graph.names[op]), EVENT_SHOWN);
}

/** @param {GraphPart} graph @param {EventReplay} replay @param {Op} op */
function finishSentence(graph, replay, op) {
  const { start, end } = replay.run;
  const length = formatTime(end[op] - start[op], graph.unit);
  const key = end[op] > start[op] ? "step_finish" : "step_finish_at_once";
  return t(key, { ...placeOf(graph, replay, op, end[op]), length, rest: followers(graph, replay.run, op) });
}

/** Who can follow, or for whom they still wait. @param {GraphPart} graph @param {RunPart} run @param {Op} op */
function followers(graph, run, op) {
  const { pred, succ } = neighbours(graph);
  if (!succ[op].length) return t("step_leaf");
  const now = run.end[op];
  // Of what ends at the same instant, the lower number is told first.
  const open = (/** @type {Op} */ after) => pred[after].filter((each) => run.end[each] > now || (run.end[each] === now && each > op));
  const free = succ[op].filter((after) => !open(after).length);
  if (free.length) return t("step_follow", { list: eventNames(graph, free) });
  const next = succ[op][0];
  return t("step_still", { next: graph.names[next], list: eventNames(graph, open(next)) });
}

/** @param {GraphPart} graph @param {EventReplay} replay @param {Op} op */
function readySentence(graph, replay, op) {
  const { run } = replay;
  const before = neighbours(graph).pred[op];
  const place = placeOf(graph, replay, op, run.ready[op]);
  if (!before.length) return t("step_ready_root", place);
  const last = before.filter((each) => run.end[each] === run.ready[op]);
  if (before.length === 1) return t("step_ready_only", { ...place, before: graph.names[before[0]] });
  return tCount("step_ready", last.length, { ...place, list: eventNames(graph, last), count: before.length });
}

/** @param {GraphPart} graph @param {EventReplay} replay @param {Op} op */
function dispatchSentence(graph, replay, op) {
  const place = placeOf(graph, replay, op, replay.run.dispatch[op]);
  const reason = replay.run.reasons[String(op)];
  return reason ? t("step_dispatch_because", { ...place, reason: reasonWords(reason) }) : t("step_dispatch", place);
}

/** @param {GraphPart} graph @param {EventReplay} replay @param {Op} op */
function startSentence(graph, replay, op) {
  const { start, end, ready } = replay.run;
  const place = placeOf(graph, replay, op, start[op]);
  if (end[op] <= start[op]) return t("step_start_at_once", place);
  const waited = start[op] - ready[op];
  const key = waited > 0 ? "step_start_waited" : "step_start";
  return t(key, { ...place, end: formatTime(end[op], graph.unit), waited: formatTime(waited, graph.unit) });
}

/** @param {GraphPart} graph @param {EventReplay} replay @param {number} copy @param {boolean} begins */
function copySentence(graph, replay, copy, begins) {
  const [source, target, from, to, start, end, bytes, tensor, asked] = replay.run.transfers[copy];
  const { devices } = replay.machine;
  const waited = begins && start > asked ? t("step_copy_waited", { waited: formatTime(start - asked, graph.unit) }) : "";
  return t(begins ? "step_copy_start" : "step_copy_end", {
    time: formatTime(begins ? start : end, graph.unit),
    end: formatTime(end, graph.unit),
    tensor: graph.tensors.names[tensor],
    size: formatSize(bytes),
    source: graph.names[source],
    target: graph.names[target],
    from: devices[from].name,
    to: devices[to].name,
    waited,
  });
}
