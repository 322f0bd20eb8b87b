// What decided the end of a run: the first line of `simsched explain`.

import { formatTime, percentText } from "./format.js";
import { neighbours } from "./neighbours.js";
import { t, tCount } from "./words.js";

const LOSSES = ["bandwidth", "arithmetic", "room"];

/** @type {WeakMap<RunPart, Op[]>} */
const chainsOfRuns = new WeakMap();

/** The operator that ended last, and before it each time the predecessor that ended last; in order of time. @param {GraphPart} graph @param {RunPart} run */
export function dependencyChain(graph, run) {
  let found = chainsOfRuns.get(run);
  if (!found) {
    found = followChain(graph, run);
    chainsOfRuns.set(run, found);
  }
  return found;
}

/** @param {GraphPart} graph @param {RunPart} run */
function followChain(graph, run) {
  const { pred } = neighbours(graph);
  let op = -1;
  run.end.forEach((end, each) => {
    if (end === run.makespan && (op < 0 || run.start[each] >= run.start[op])) op = each;
  });
  const chain = [];
  while (op >= 0) {
    chain.push(op);
    // Ascending, so that ties go to the lowest.
    op = pred[op].reduce((last, before) => (last < 0 || run.end[before] > run.end[last] ? before : last), -1);
  }
  return chain.reverse();
}

/** Say how much of the makespan the chain to the last end ran, and how much it waited. @param {GraphPart} graph @param {RunPart} run */
export function headline(graph, run) {
  const chain = dependencyChain(graph, run);
  if (!chain.length) return t("chain_empty");
  const names = { name: graph.names[chain[chain.length - 1]], time: formatTime(run.makespan, graph.unit) };
  if (!run.parts) return t("chain_last", names);
  let waited = 0;
  let lost = 0;
  for (const op of chain) {
    for (const part of run.parts[op]) if (part.kind === "wait" && part.reason !== "dependency") waited += part.end - part.start;
    lost += lostBySharing(run, op);
  }
  if (!waited && !lost) return t("chain_never_waited", names);
  const share = (/** @type {Time} */ time) => t("chain_share", { time: formatTime(time, graph.unit), share: percentText((100 * time) / run.makespan) });
  return tCount("chain_of", chain.length, {
    ...names,
    count: chain.length,
    ran: share(run.makespan - waited),
    lost: lost ? t("chain_lost", { lost: share(lost) }) : "",
    waited: waited ? share(waited) : t("chain_nothing"),
  });
}

/** What an operator took longer than alone, because it shared its device. @param {RunPart} run @param {Op} op */
export function lostBySharing(run, op) {
  return run.parts?.[op].some(isSlowed) ? Math.max(run.end[op] - run.start[op] - run.work.alone[op], 0) : 0;
}

/** @param {Part} part */
function isSlowed(part) {
  return part.kind === "run" && LOSSES.includes(part.reason) && (part.speed ?? 1) < 1;
}
