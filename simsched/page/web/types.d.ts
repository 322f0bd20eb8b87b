// Shapes that the page's scripts share. Ambient, so that no script imports them; checked by `tsc`, never loaded.

/** Nanoseconds, or ticks for graphs in ticks. */
type Time = number;
/** Index of an operator, tensor, device, stream or run in its list. */
type Op = number;

interface PageData {
  simsched_page: 1;
  version: string;
  scene: PageDocument;
  lessons: Lesson[];
  live: LiveFiles | null;
}

/** Runs of one graph; what `simsched.page.document` writes. */
interface PageDocument {
  title: string;
  graph: GraphPart;
  machines: Machine[];
  runs: RunPart[];
  failures: { label: string; message: string }[];
  /** What a rerun needs; null where the page is only a replay. */
  problem: LiveProblem | null;
}

interface GraphPart {
  name: string;
  unit: "ns" | "tick";
  /** Of operators, in topological order: edges go from lower numbers to higher ones. */
  names: string[];
  /** Distinct operator types, and each operator's as an index into them. */
  types: string[];
  type: number[];
  /** By type: index of its fill colour, 0 to 8; 8 is the grey of all others. */
  fills: number[];
  /** Distinct (source, target, kinds), ascending: kinds is a sum of 1 data, 2 control, 4 order of buffer accesses. */
  edges: [Op, Op, number][];
  /** `producer` is -1 where none makes the tensor. */
  tensors: { names: string[]; bytes: number[]; producer: Op[]; consumers: Op[][]; kind: string[] };
  layout: Layout;
  /** Present from some thousands of operators on: the graph drawn as groups of operators. */
  groups: Groups | null;
}

interface Layout {
  /** Centres; one unit of x is the room of one operator, levels grow downwards. */
  x: number[];
  level: number[];
  levels: number;
  /** [source, target, x1, level1, x2, level2, ...] for edges that pass other levels. */
  routes: number[][];
}

interface Groups {
  names: string[];
  /** By operator: its group. */
  of: number[];
  /** [source group, target group, number of edges], ascending. */
  edges: [number, number, number][];
  layout: Layout;
}

interface Machine {
  name: string;
  devices: DevicePart[];
  streams: string[];
  stream_device: number[];
  /** Shortest estimated duration of each operator, its slack on the longest path, both without any limit. */
  duration: Time[];
  slack: Time[];
  bounds: { name: string; ns: Time; kind: "lower" | "upper" | "model"; statement: string }[];
}

interface DevicePart {
  name: string;
  model: "lanes" | "sm_share" | "blocks";
  /** null where the device has none. */
  sms: number | null;
  /** Usable bytes; null is unlimited. */
  capacity: number | null;
}

interface RunPart {
  label: string;
  canonical: string;
  machine: number;
  memory: "unbounded" | "block" | "strict";
  makespan: Time;
  valid: boolean | null;
  violations: string[];
  figures: Figures;
  stream: number[];
  dispatch: Time[];
  ready: Time[];
  start: Time[];
  end: Time[];
  /** When each came through the host; empty where launches cost nothing. */
  launched: Time[];
  /** Operators in the order of their dispatches. */
  order: Op[];
  /** By operator: why the scheduler chose it, where it said so. */
  reasons: Record<string, string>;
  /** Operators on the realised critical path, in order of time. */
  path: Op[];
  /**
   * By operator: every stretch of its time from 0 to its end, with a reason; null for graphs too large for it. In large
   * runs a wait for the dispatch has the reason "undispatched", where others say "no_stream", "passed_over" or "held".
   */
  parts: Part[][] | null;
  /** By device: live bytes after each change. */
  memory_steps: Steps[];
  /** [tensor, device, begin, end] of every stay in memory of a tensor that has bytes. Workspaces are not among them. */
  spans: [number, number, Time, Time][];
  usage: Usage[];
  /** Blocks placed together, on devices of model `blocks`: [operator, wave, start, end, [[sm, blocks], ...]]. */
  cohorts: [Op, number, Time, Time, [number, number][]][];
  /** [source, target, from device, to device, start, end, bytes, tensor, asked]; tensor is -1 for a pure delay. */
  transfers: number[][];
  work: Work;
}

interface Figures {
  speedup: number | null;
  gap: number | null;
  utilisation: number | null;
  sm_utilisation: number | null;
  bandwidth_utilisation: number | null;
  lower_bound: Time;
  lower_bound_name: string;
  peak_bytes: number;
}

/** Times ascend; one may come twice where a value was reached within an instant only: the later one holds. */
interface Steps {
  time: Time[];
  value: number[];
}

/** Use of something over time: `value[i]` of `capacity` from `time[i]` on, 0 before. */
interface Usage extends Steps {
  /** "streams" (those that run something), "bandwidth" (bytes per second), or the name of a resource, e.g. "sms". */
  what: string;
  device: number;
  capacity: number;
}

/** Of each operator, on the device that ran it. `bound` is an index into `bounds`. */
interface Work {
  flops: number[];
  bytes: number[];
  sms: number[];
  compute: Time[];
  memory: Time[];
  /** Estimated duration, and the actual one without others beside it. */
  estimate: Time[];
  alone: Time[];
  bounds: string[];
  bound: number[];
}

/** One stretch of an operator's time; see `simsched.analysis.parts.Part`. What is at its default is left out. */
interface Part {
  kind: "wait" | "run";
  reason: string;
  start: Time;
  end: Time;
  culprit?: Op;
  device?: number;
  /** [resource, needs, free]. */
  short?: [string, number, number][];
  /** Who held what was short: [operator, units]. */
  holders?: [Op, number][];
  /** The largest tensors where memory was short: [name, bytes]. */
  tensors?: [string, number][];
  ahead?: number;
  speed?: number;
  /** With whom it shared what slowed it: [operator, share]. */
  sharers?: [Op, number][];
  copy?: number;
  /** The device was short of places for blocks, not of units. */
  room?: true;
  /** What was taken changed before the part ended: `holders`, `short` and `tensors` are those of its beginning. */
  changed?: true;
  /** Copies that it was behind, that had the engines, or that shared the links: indices into the run's transfers. */
  copies?: number[];
  /** Thread of the host, where the host has several. */
  thread?: number;
  /** Of a `transfer`: bytes, and how long they are on the way. */
  bytes?: number;
  moving?: Time;
}

/** What `simsched.page.live` needs to run again, and gives back changed. */
interface LiveProblem {
  graph: Record<string, any>;
  hardware: Record<string, any>;
  schedulers: LiveScheduler[];
  memory: "unbounded" | "block" | "strict";
  seed: number;
  /** Operators that take another time than the cost model says: its factor, as "3/2". */
  scales?: Record<string, string>;
}

/** A spec such as "greedy_ready:spt", or a class written in the page. */
interface LiveScheduler {
  spec: string;
  code?: string;
}

/** Where a live page finds its files, relative to itself. */
interface LiveFiles {
  pyodide: string;
  worker: string;
  bundle: string;
  catalogue: string;
}

interface Text {
  en: string;
  zh: string;
}

interface Lesson {
  id: "loop" | "strategies" | "critical_path";
  title: Text;
  introduction: Text;
  controls: Control[];
  /** What the settings show, each part once. */
  graphs: GraphPart[];
  machines: Machine[];
  runs: RunPart[];
  problems: LiveProblem[];
  /** What each setting shows, by the values of all controls joined with "|". */
  variants: Record<string, Variant>;
  questions: Question[];
}

/** A document in indices into the parts of its lesson. */
interface Variant {
  title: string;
  graph: number;
  machines: number[];
  /** [run, its machine among `machines`]. */
  runs: [number, number][];
  problem: number | null;
}

interface Control {
  id: string;
  label: Text;
  values: { value: string; label: Text }[];
  initial: string;
}

interface Question {
  id: string;
  text: Text;
  kind: "choice" | "number" | "reach";
  /** Of a choice. */
  options?: Text[];
  /** Index of the right option, or the right number; both taken from simulated runs. */
  answer?: number;
  /** Of `reach`: the settings that answer it. */
  reached?: string[];
  hint: Text;
  /** Said after the right answer. */
  lesson: Text;
}
