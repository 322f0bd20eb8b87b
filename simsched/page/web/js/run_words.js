// What will happen before a run begins, what came out at its end, and who waits meanwhile.

import { boundName } from "./bounds_list.js";
import { formatGap, formatTime, formatWhole } from "./format.js";
import { neighbours } from "./neighbours.js";
import { IS_READY, QUEUED } from "./replay.js";
import { waitWords } from "./waits.js";
import { language, listed, t, tCount } from "./words.js";

const ROOTS_SHOWN = 4;
/** Waiting operators that are looked at; the others are only counted. */
const WAITS_LOOKED_AT = 24;

/** Say what is about to run. @param {GraphPart} graph @param {import("./replay.js").Replay} replay */
export function beginSentence(graph, replay) {
  const { pred } = neighbours(graph);
  const roots = graph.names.filter((_, op) => !pred[op].length);
  const { streams } = replay.machine;
  return t("step_begin", {
    run: replay.run.label,
    operators: tCount("count_operators", graph.names.length, { count: formatWhole(graph.names.length) }),
    edges: tCount("count_dependencies", graph.edges.length, { count: formatWhole(graph.edges.length) }),
    streams: tCount("count_streams", streams.length, { count: formatWhole(streams.length) }),
    roots: tCount("step_begin_roots", roots.length, { list: listed(roots, ROOTS_SHOWN) }),
  });
}

/** Say what came out. @param {GraphPart} graph @param {import("./replay.js").Replay} replay */
export function endSentence(graph, replay) {
  const { makespan, figures } = replay.run;
  const bound = figures.lower_bound;
  const parameters = {
    operators: tCount("count_operators", graph.names.length, { count: formatWhole(graph.names.length) }),
    makespan: formatTime(makespan, graph.unit),
    bound: formatTime(bound, graph.unit),
    name: language() === "en" ? figures.lower_bound_name : boundName(figures.lower_bound_name),
    gap: formatGap(figures.gap ?? 0),
  };
  if (makespan === bound) return t("step_end_best", parameters);
  return t(figures.gap === null ? "step_end" : "step_end_gap", parameters);
}

/**
 * Say who is ready or queued, cannot start, and why; empty where nobody waits so.
 * @param {GraphPart} graph
 * @param {import("./replay.js").Replay} replay
 * @param {Time} time
 */
export function waitSentence(graph, replay, time) {
  const ops = [...replay.inState(IS_READY), ...replay.inState(QUEUED)];
  /** @type {Map<string, Op[]>} */
  const byReason = new Map();
  for (const op of ops.slice(0, WAITS_LOOKED_AT)) {
    const why = waitWords(graph, replay, op, time);
    if (why) byReason.set(why, [...(byReason.get(why) ?? []), op]);
  }
  const groups = [...byReason];
  if (!groups.length) return "";
  const [why, [first, ...alike]] = groups.reduce((most, group) => (group[1].length > most[1].length ? group : most));
  const others = groups.reduce((sum, group) => sum + group[1].length, 0) - 1 - alike.length;
  const unseen = Math.max(0, ops.length - WAITS_LOOKED_AT);
  const rest = others + unseen;
  return (
    t("step_waits", { name: graph.names[first], why }) +
    (alike.length ? t("step_waits_alike", { list: listed(alike.map((op) => graph.names[op]), ROOTS_SHOWN) }) : "") +
    (rest ? tCount("step_waits_others", rest, { count: rest }) : "")
  );
}
