// The events of one run in the order in which the engine saw them.

/** Kinds of events, in the order of one instant. */
export const KINDS = ["finish", "copy_end", "ready", "dispatch", "launch", "copy_start", "start"];
export const FINISH = 0;
export const COPY_END = 1;
export const READY = 2;
export const DISPATCH = 3;
export const LAUNCH = 4;
export const COPY_START = 5;
export const START = 6;

/**
 * Columns of events; `item` is an operator, or of copies an index into the run's transfers.
 * @typedef {{ length: number, time: Float64Array, kind: Uint8Array, item: Int32Array }} Events
 */

/**
 * What `Trace.events()` yields, with launches and copies where they take time.
 * @param {RunPart} run
 * @returns {Events}
 */
export function runEvents(run) {
  /** @type {[number, number, number][]} */
  const rows = [];
  for (let op = 0; op < run.start.length; op += 1) {
    rows.push([run.end[op], FINISH, op], [run.ready[op], READY, op]);
    rows.push([run.dispatch[op], DISPATCH, op], [run.start[op], START, op]);
    if (run.launched.length && run.launched[op] > run.dispatch[op]) rows.push([run.launched[op], LAUNCH, op]);
  }
  run.transfers.forEach((move, index) => {
    if (move[7] >= 0) rows.push([move[5], COPY_END, index], [move[4], COPY_START, index]);
  });
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  const events = {
    length: rows.length,
    time: new Float64Array(rows.length),
    kind: new Uint8Array(rows.length),
    item: new Int32Array(rows.length),
  };
  rows.forEach(([time, kind, item], index) => {
    events.time[index] = time;
    events.kind[index] = kind;
    events.item[index] = item;
  });
  return events;
}
