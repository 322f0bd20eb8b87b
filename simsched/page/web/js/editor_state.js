// What has been changed in the editor: a problem, the edits of it, and the way back.

/**
 * @typedef {object} Edits As simsched/page/changed.py takes them.
 * @property {Record<string, string>} durations
 * @property {Record<string, string>} tensors
 * @property {string[]} remove_operators
 * @property {[string, string][]} remove_edges
 * @property {{name: string, duration: string, after: string[]}[]} add_operators
 * @property {({from: string, to: string, bytes?: string} | [string, string])[]} add_edges
 * @property {Record<string, string>} hardware
 * @property {LiveProblem["memory"]} memory
 * @property {LiveScheduler[]} schedulers
 */

/** Names of the catalogue where graph and hardware come from it; empty where they are the page's own. @typedef {{graph: string, hardware: string}} Source */

const MOST_UNDONE = 200;
/** The graph and the hardware that the page came with. */
export const NO_SOURCE = { graph: "", hardware: "" };
/** @type {LiveScheduler[]} */
export const DEFAULT_SCHEDULERS = ["topological", "critical_path", "greedy_ready", "memory_aware", "pipeline"].map((spec) => ({ spec }));

export class LiveState {
  /** @param {LiveProblem} base @param {Source} source */
  constructor(base, source) {
    this.base = base;
    this.source = source;
    this.edits = unedited(base);
    /** @type {string[]} */
    this.past = [];
  }

  /** Change the edits; `undo` takes it back. @param {(edits: Edits) => void} change */
  change(change) {
    const before = JSON.stringify(this.edits);
    change(this.edits);
    if (JSON.stringify(this.edits) === before) return false;
    this.past.push(before);
    if (this.past.length > MOST_UNDONE) this.past.shift();
    return true;
  }

  undo() {
    const before = this.past.pop();
    if (before !== undefined) this.edits = JSON.parse(before);
  }

  /** Take all edits back, in one step that can be undone. */
  reset() {
    this.change((edits) => Object.assign(edits, unedited(this.base)));
  }

  get changed() {
    return JSON.stringify(this.edits) !== JSON.stringify(unedited(this.base));
  }

  /** @param {Edits} [edits] */
  request(edits = this.edits) {
    return JSON.stringify({ kind: "run", problem: this.base, edits });
  }
}

/** @param {LiveProblem} base @returns {Edits} */
function unedited(base) {
  const schedulers = base.schedulers.map((each) => ({ ...each }));
  return {
    durations: {}, tensors: {}, remove_operators: [], remove_edges: [], add_operators: [], add_edges: [], hardware: {}, memory: base.memory, schedulers,
  };
}

/** @param {Edits["add_edges"][number]} edge @returns {[string, string]} */
function endsOfEdge(edge) {
  return Array.isArray(edge) ? edge : [edge.from, edge.to];
}

/** Take an operator out, with the edits that name it. @param {Edits} edits @param {string} name */
export function dropOperator(edits, name) {
  const added = edits.add_operators.some((each) => each.name === name);
  edits.add_operators = edits.add_operators.filter((each) => each.name !== name);
  for (const each of edits.add_operators) each.after = each.after.filter((other) => other !== name);
  edits.add_edges = edits.add_edges.filter((edge) => !endsOfEdge(edge).includes(name));
  edits.remove_edges = edits.remove_edges.filter((edge) => !edge.includes(name));
  delete edits.durations[name];
  if (!added) edits.remove_operators.push(name);
}

/** Take an edge out: an added one for good, one of the graph as an edit. @param {Edits} edits @param {string} from @param {string} to */
export function dropEdge(edits, from, to) {
  const before = edits.add_edges.length;
  edits.add_edges = edits.add_edges.filter((edge) => endsOfEdge(edge).join("\n") !== `${from}\n${to}`);
  const target = edits.add_operators.find((each) => each.name === to);
  if (target?.after.includes(from)) target.after = target.after.filter((name) => name !== from);
  else if (edits.add_edges.length === before) edits.remove_edges.push([from, to]);
}

/** Give an operator another duration; an empty text gives it its own again. @param {Edits} edits @param {string} name @param {string} text */
export function setDuration(edits, name, text) {
  const added = edits.add_operators.find((each) => each.name === name);
  if (added) added.duration = text || added.duration;
  else if (text) edits.durations[name] = text;
  else delete edits.durations[name];
}

/** Change a figure of the hardware; an empty text gives it back. A capacity matters only where runs heed it. @param {Edits} edits @param {string} figure @param {string} text */
export function setFigure(edits, figure, text) {
  if (text) edits.hardware[figure] = text;
  else delete edits.hardware[figure];
  if (text && figure.endsWith("memory_capacity") && edits.memory === "unbounded") edits.memory = "block";
}

const GPU_FOR_ESTIMATES = "a100_sxm_80gb";

/**
 * The hardware of the catalogue that a newly chosen graph needs: one whose devices it names, or one with peaks where the
 * graph leaves durations to the cost model. Null where what is chosen will do.
 * @param {LiveProblem["graph"]} graph @param {LiveProblem["hardware"] | undefined} hardware
 */
export function fittingHardware(graph, hardware) {
  const operators = /** @type {{duration?: number | Record<string, number>}[]} */ (graph.operators);
  const devices = /** @type {{name: string, peaks?: object}[]} */ (hardware?.devices ?? []);
  const named = operators.map((row) => row.duration).filter((time) => time !== undefined && typeof time !== "number");
  const lacking = named.some((times) => !devices.some((device) => device.name in /** @type {object} */ (times)));
  if (lacking) return `procs:${Object.keys(/** @type {object} */ (named[0])).length}`;
  const estimated = operators.some((row) => row.duration === undefined);
  return estimated && !devices.some((device) => Object.keys(device.peaks ?? {}).length) ? GPU_FOR_ESTIMATES : null;
}

/** The edits without schedulers that somebody has written, which the reader has not agreed to run. @param {Edits} edits @returns {Edits} */
export function withoutCode(edits) {
  const schedulers = edits.schedulers.filter((each) => each.code === undefined);
  return { ...edits, schedulers: schedulers.length ? schedulers : DEFAULT_SCHEDULERS };
}
