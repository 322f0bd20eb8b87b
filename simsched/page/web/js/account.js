// Where a makespan went along the chain to the last end: the rows of simsched.analysis.account, in fewer kinds.

import { dependencyChain, lostBySharing } from "./chain.js";

/** Kinds in the order in which they are shown. "run" is what operators take alone. */
export const ACCOUNT_KINDS = ["run", "shared", "host", "streams", "policy", "device", "copy", "unknown"];

/** By reason of a wait, and of a launch: its kind; dependencies are left out. @type {Record<string, string>} */
const ACCOUNT_KIND_OF = {
  launch: "host", host: "host", host_sync: "host", host_launch: "host", host_graph: "host", event: "host",
  no_stream: "streams", stream: "streams",
  held: "policy",
  passed_over: "device", resource: "device", room: "device", memory: "device", queue: "device", priority: "device",
  delay: "copy", transfer: "copy", copy: "copy", copy_engine: "copy", copy_queue: "copy", copy_memory: "copy", copy_latency: "copy",
};

/** The kind of a wait, or of a launch. @param {string} reason */
export function kindOfReason(reason) {
  return ACCOUNT_KIND_OF[reason] ?? "unknown";
}

/** The longest wait of a chain. @typedef {{ op: Op, start: Time, length: Time }} LongestWait */
/** The makespan by kind, and the longest wait on the way. @typedef {{ times: Map<string, Time>, longest: LongestWait | null }} Account */

/** @type {WeakMap<RunPart, Account>} */
const accountsOfRuns = new WeakMap();

/** Where the makespan of a run went; null for runs without parts. @param {GraphPart} graph @param {RunPart} run */
export function accountOf(graph, run) {
  if (!run.parts) return null;
  let found = accountsOfRuns.get(run);
  if (!found) {
    found = makeAccount(graph, run, run.parts);
    accountsOfRuns.set(run, found);
  }
  return found;
}

/** The kind that takes so much more time in a run than in a shorter one; null where none is known. @param {GraphPart} graph @param {RunPart} run @param {RunPart} shorter */
export function mainLoss(graph, run, shorter) {
  const [more, less] = [accountOf(graph, run), accountOf(graph, shorter)];
  if (!more || !less) return null;
  const longer = ACCOUNT_KINDS.map((kind) => (more.times.get(kind) ?? 0) - (less.times.get(kind) ?? 0));
  return ACCOUNT_KINDS[longer.indexOf(Math.max(...longer))];
}

/** @param {GraphPart} graph @param {RunPart} run @param {Part[][]} parts @returns {Account} */
function makeAccount(graph, run, parts) {
  const times = new Map(ACCOUNT_KINDS.map((kind) => [kind, 0]));
  const add = (/** @type {string} */ kind, /** @type {Time} */ time) => times.set(kind, (times.get(kind) ?? 0) + time);
  /** @type {LongestWait | null} */
  let longest = null;
  for (const op of dependencyChain(graph, run)) {
    const lost = lostBySharing(run, op);
    let launch = 0;
    for (const { kind, reason, start, end } of parts[op]) {
      const length = end - start;
      if (kind === "run" && reason === "launch") launch += length;
      if (kind === "run" || reason === "dependency") continue;
      add(kindOfReason(reason), length);
      if (length > (longest?.length ?? 0)) longest = { op, start, length };
    }
    add("host", launch);
    add("shared", lost);
    add("run", run.end[op] - run.start[op] - launch - lost);
  }
  return { times, longest };
}
