// What a Gantt chart draws, as plain numbers: rows, and bars in columns sorted by row and start.

export const OPERATOR_BAR = 0;
export const COPY_BAR = 1;
export const DELAY_BAR = 2;
export const LAUNCH_BAR = 3;

const MOST_IDLE_STREAMS = 4;

/**
 * @typedef {object} GanttRow
 * @property {"stream" | "copies" | "host" | "sms"} kind
 * @property {number} device
 * @property {number} index The stream, the target device of copies, or 0.
 * @property {number} lanes How many bars are on top of each other.
 */

/** One bar; `low` and `high` say which part of the row it takes. @typedef {[start: number, end: number, item: number, kind: number, low: number, high: number, shade: number]} GanttBar */

/**
 * @typedef {object} GanttModel
 * @property {GanttRow[]} rows
 * @property {Int32Array} first Of each row its first bar, and the number of all bars.
 * @property {Float64Array} start
 * @property {Float64Array} end
 * @property {Int32Array} item Operator, or of copies and delays the index of the transfer.
 * @property {Uint8Array} kind
 * @property {Float32Array} low
 * @property {Float32Array} high
 * @property {Uint8Array} shade 1 for every second wave of blocks.
 * @property {Int32Array} firstOf By operator its first bar, or -1.
 * @property {Int32Array} nextOf By bar the next one of the same operator, or -1.
 */

/** @param {GanttRow[]} rows @param {GanttBar[][]} bars By row. @param {number} operators @returns {GanttModel} */
export function ganttModel(rows, bars, operators) {
  const total = bars.reduce((sum, own) => sum + own.length, 0);
  const model = {
    rows,
    first: new Int32Array(rows.length + 1),
    start: new Float64Array(total),
    end: new Float64Array(total),
    item: new Int32Array(total),
    kind: new Uint8Array(total),
    low: new Float32Array(total),
    high: new Float32Array(total),
    shade: new Uint8Array(total),
    firstOf: new Int32Array(operators).fill(-1),
    nextOf: new Int32Array(total).fill(-1),
  };
  let place = 0;
  bars.forEach((own, row) => {
    own.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const bar of own) putBar(model, place++, bar);
    model.first[row + 1] = place;
  });
  return model;
}

/** @param {GanttModel} model @param {number} place @param {GanttBar} bar */
function putBar(model, place, [start, end, item, kind, low, high, shade]) {
  model.start[place] = start;
  model.end[place] = end;
  model.item[place] = item;
  model.kind[place] = kind;
  model.low[place] = low;
  model.high[place] = high;
  model.shade[place] = shade;
  if (kind !== OPERATOR_BAR) return;
  model.nextOf[place] = model.firstOf[item];
  model.firstOf[item] = place;
}

/** Streams, with the host above and copies below those of their device. @param {import("./replay.js").Replay} replay */
export function modelByStream(replay) {
  const { run, machine } = replay;
  /** @type {GanttBar[][]} */
  const byStream = machine.streams.map(() => []);
  run.stream.forEach((stream, op) => byStream[stream].push([run.start[op], run.end[op], op, OPERATOR_BAR, 0, 1, 0]));
  /** @type {GanttRow[]} */
  const rows = [];
  /** @type {GanttBar[][]} */
  const bars = [];
  addHostRow(run, rows, bars);
  machine.devices.forEach((_, device) => {
    for (const index of shownStreams(machine, byStream, device)) {
      rows.push({ kind: "stream", device, index, lanes: 1 });
      bars.push(byStream[index]);
    }
    addCopyRows(run, device, rows, bars);
  });
  return ganttModel(rows, bars, run.start.length);
}

/** Streams that ran something, and all where they are few. @param {Machine} machine @param {GanttBar[][]} byStream @param {number} device */
function shownStreams(machine, byStream, device) {
  const own = machine.streams.map((_, stream) => stream).filter((stream) => machine.stream_device[stream] === device);
  return machine.streams.length <= MOST_IDLE_STREAMS ? own : own.filter((stream) => byStream[stream].length);
}

/** Launches one after another: each from its dispatch, or from the end of the one before. @param {RunPart} run @param {GanttRow[]} rows @param {GanttBar[][]} bars */
function addHostRow(run, rows, bars) {
  if (!run.launched.length) return;
  let free = 0;
  /** @type {GanttBar[]} */
  const own = [];
  for (const op of [...run.order].sort((a, b) => run.launched[a] - run.launched[b])) {
    const end = run.launched[op];
    if (end > run.dispatch[op]) own.push([Math.max(free, run.dispatch[op]), end, op, LAUNCH_BAR, 0, 1, 0]);
    free = Math.max(free, end);
  }
  rows.push({ kind: "host", device: -1, index: 0, lanes: 1 });
  bars.push(own);
}

/** A row for each device to which one sends; what is on its way at the same time lies on top of each other. @param {RunPart} run @param {number} device @param {GanttRow[]} rows @param {GanttBar[][]} bars */
function addCopyRows(run, device, rows, bars) {
  const leaving = run.transfers.map((move, index) => ({ move, index })).filter(({ move }) => move[2] === device);
  for (const target of [...new Set(leaving.map(({ move }) => move[3]))].sort((a, b) => a - b)) {
    const moves = leaving.filter(({ move }) => move[3] === target).sort((a, b) => a.move[4] - b.move[4]);
    const { lanes, count } = packed(moves.map(({ move }) => [move[4], move[5]]));
    rows.push({ kind: "copies", device, index: target, lanes: count });
    bars.push(
      moves.map(({ move, index }, number) => {
        const kind = move[7] >= 0 ? COPY_BAR : DELAY_BAR;
        return [move[4], move[5], index, kind, lanes[number] / count, (lanes[number] + 1) / count, 0];
      }),
    );
  }
}

/**
 * Lanes for intervals sorted by their begin, so that none overlaps another in its lane.
 * @param {[number, number][]} intervals
 * @returns {{ lanes: number[], count: number }}
 */
export function packed(intervals) {
  /** @type {number[]} */
  const free = [];
  const lanes = intervals.map(([start, end]) => {
    const found = free.findIndex((time) => time <= start);
    const lane = found < 0 ? free.length : found;
    free[lane] = end;
    return lane;
  });
  return { lanes, count: Math.max(1, free.length) };
}
