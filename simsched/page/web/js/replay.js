// One run, brought to any point of its events; a step forward or back costs the same whatever the size of the run.

import { COPY_END, COPY_START, DISPATCH, FINISH, KINDS, READY, START, runEvents } from "./events.js";

export const WAITING = 0;
export const IS_READY = 1;
export const QUEUED = 2;
export const RUNNING = 3;
export const DONE = 4;
/** Words for states, as `data-state` has them. */
export const STATES = ["waiting", "ready", "queued", "running", "done"];

const HAS_READY = 1;
const HAS_DISPATCH = 2;
const HAS_START = 4;
const HAS_FINISH = 8;
/** By kind of event: the flag that it sets; 0 where it changes no operator. */
const FLAG_OF_KIND = new Uint8Array(7);
FLAG_OF_KIND[FINISH] = HAS_FINISH;
FLAG_OF_KIND[READY] = HAS_READY;
FLAG_OF_KIND[DISPATCH] = HAS_DISPATCH;
FLAG_OF_KIND[START] = HAS_START;

/** @param {number} flags */
function stateOfFlags(flags) {
  if (flags & HAS_START) return flags & HAS_FINISH ? DONE : RUNNING;
  if (flags & HAS_DISPATCH) return QUEUED;
  return flags & HAS_READY ? IS_READY : WAITING;
}

export class Replay {
  /**
   * @param {RunPart} run
   * @param {number} index Of the run in its document.
   * @param {Machine} machine
   */
  constructor(run, index, machine) {
    this.run = run;
    this.index = index;
    this.machine = machine;
    this.events = runEvents(run);
    /** Number of events that have happened. */
    this.position = 0;
    this.flags = new Uint8Array(run.start.length);
    /** How many operators are in each state. */
    this.counts = [run.start.length, 0, 0, 0, 0];
    /** By stream: the operator that runs on it, or -1. */
    this.running = new Int32Array(machine.streams.length).fill(-1);
    /** Indices of copies on their way. @type {Set<number>} */
    this.copying = new Set();
  }

  /** Bring the run to the point at which its first `position` events have happened. @param {number} position */
  goto(position) {
    while (this.position < position) this.#apply(this.position++, true);
    while (this.position > position) this.#apply(--this.position, false);
  }

  /** @param {number} number @param {boolean} forward */
  #apply(number, forward) {
    const kind = this.events.kind[number];
    const item = this.events.item[number];
    const flag = FLAG_OF_KIND[kind];
    if (flag) {
      this.counts[stateOfFlags(this.flags[item])] -= 1;
      this.flags[item] = forward ? this.flags[item] | flag : this.flags[item] & ~flag;
      const state = stateOfFlags(this.flags[item]);
      this.counts[state] += 1;
      const stream = this.run.stream[item];
      if (state === RUNNING) this.running[stream] = item;
      else if (this.running[stream] === item) this.running[stream] = -1;
    } else if (kind === COPY_START || kind === COPY_END) {
      if ((kind === COPY_START) === forward) this.copying.add(item);
      else this.copying.delete(item);
    }
  }

  /** State of an operator: an index into STATES. @param {Op} op */
  state(op) {
    return stateOfFlags(this.flags[op]);
  }

  /** Operators in one state, ascending. @param {number} state */
  inState(state) {
    const found = [];
    if (this.counts[state]) {
      for (let op = 0; op < this.flags.length; op += 1) if (stateOfFlags(this.flags[op]) === state) found.push(op);
    }
    return found;
  }

  /** Name of the device's stream that ran an operator. @param {Op} op */
  streamName(op) {
    return this.machine.streams[this.run.stream[op]];
  }

  /** The events as rows [time, kind, operator or copy, stream]; the stream of a copy is -1. */
  eventRows() {
    return Array.from({ length: this.events.length }, (_, number) => {
      const kind = KINDS[this.events.kind[number]];
      const item = this.events.item[number];
      return [this.events.time[number], kind, item, kind.startsWith("copy") ? -1 : this.run.stream[item]];
    });
  }

  /** Device that ran an operator. @param {Op} op */
  device(op) {
    return this.machine.stream_device[this.run.stream[op]];
  }
}

/** The last value of a step function at or before a time, or `before` where there is none. @param {Steps} steps @param {number} time @param {number} before */
export function valueAt(steps, time, before = 0) {
  const index = lastAtOrBefore(steps.time, time);
  return index < 0 ? before : steps.value[index];
}

/** Index of the last element of an ascending list that is not above `value`; -1 where there is none. @param {ArrayLike<number>} list @param {number} value */
export function lastAtOrBefore(list, value) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
