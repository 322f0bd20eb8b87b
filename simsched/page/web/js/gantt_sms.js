// A Gantt chart by SM: who was on which SMs when. One row per device; the height of a bar is the part of its SMs.

import { OPERATOR_BAR, ganttModel, packed } from "./gantt_rows.js";

/** Whether a run has anything to be drawn by SM. @param {import("./replay.js").Replay} replay */
export function hasSms(replay) {
  return replay.run.cohorts.length > 0 || replay.machine.devices.some((device) => device.model === "sm_share" && device.sms);
}

/** @param {import("./replay.js").Replay} replay */
export function modelBySm(replay) {
  const { run, machine } = replay;
  /** @type {import("./gantt_rows.js").GanttRow[]} */
  const rows = [];
  /** @type {import("./gantt_rows.js").GanttBar[][]} */
  const bars = [];
  machine.devices.forEach(({ sms, model }, device) => {
    if (!sms || model === "lanes") return;
    const own = model === "blocks" ? barsOfBlocks(replay, device, sms) : barsOfShares(replay, device, sms);
    if (!own.length) return;
    rows.push({ kind: "sms", device, index: 0, lanes: sms });
    bars.push(own);
  });
  return ganttModel(rows, bars, run.start.length);
}

/**
 * Operators that hold SMs, each on the lowest free ones: on neighbours where enough are free, else on several pieces.
 * The device does not say which SMs they are, only how many. They stand on the foot of the row, so that its outline is
 * the number of SMs in use.
 * @param {import("./replay.js").Replay} replay @param {number} device @param {number} sms
 */
function barsOfShares(replay, device, sms) {
  const { run } = replay;
  const free = new Float64Array(sms);
  const own = run.start.map((_, op) => op).filter((op) => replay.device(op) === device && run.work.sms[op] > 0 && run.end[op] > run.start[op]);
  own.sort((a, b) => run.start[a] - run.start[b] || a - b);
  /** @type {import("./gantt_rows.js").GanttBar[]} */
  const bars = [];
  for (const op of own) {
    for (const [low, high] of lowestFree(free, run.start[op], run.work.sms[op])) {
      free.fill(run.end[op], low, high);
      bars.push([run.start[op], run.end[op], op, OPERATOR_BAR, 1 - high / sms, 1 - low / sms, 0]);
    }
  }
  return bars;
}

/** Pieces [first, behind the last] of free SMs. @param {Float64Array} free By SM, when it is. @param {number} now @param {number} wanted @returns {[number, number][]} */
function lowestFree(free, now, wanted) {
  /** @type {[number, number][]} */
  const pieces = [];
  for (let sm = 0; sm < free.length; sm += 1) {
    if (free[sm] > now) continue;
    const last = pieces.at(-1);
    if (last && last[1] === sm) last[1] = sm + 1;
    else pieces.push([sm, sm + 1]);
  }
  const whole = pieces.find(([low, high]) => high - low >= wanted);
  if (whole) return [[whole[0], whole[0] + wanted]];
  let missing = wanted;
  return pieces.filter((piece) => {
    piece[1] = Math.min(piece[1], piece[0] + missing);
    missing -= piece[1] - piece[0];
    return piece[1] > piece[0];
  });
}

/** One stay of blocks on one SM. @typedef {{ start: number, end: number, cohort: number, lane: number, of: number }} Stay */

/** @param {import("./replay.js").Replay} replay @param {number} device @param {number} sms */
function barsOfBlocks(replay, device, sms) {
  const { cohorts } = replay.run;
  /** @type {Stay[][]} */
  const stays = Array.from({ length: sms }, () => []);
  cohorts.forEach(([op, , start, end, places], cohort) => {
    if (replay.device(op) !== device || end <= start) return;
    for (const [sm] of places) stays[sm].push({ start, end, cohort, lane: 0, of: 1 });
  });
  /** Last bar of a cohort that takes whole SMs, to be continued by the next SM. @type {Map<number, import("./gantt_rows.js").GanttBar>} */
  const open = new Map();
  /** @type {import("./gantt_rows.js").GanttBar[]} */
  const bars = [];
  stays.forEach((own, sm) => {
    shareSm(own);
    for (const stay of own) {
      const before = open.get(stay.cohort);
      if (stay.of === 1 && before && Math.abs(before[5] - sm / sms) < 1e-9) {
        before[5] = (sm + 1) / sms;
        continue;
      }
      const [op, wave] = cohorts[stay.cohort];
      /** @type {import("./gantt_rows.js").GanttBar} */
      const bar = [stay.start, stay.end, op, OPERATOR_BAR, (sm + stay.lane / stay.of) / sms, (sm + (stay.lane + 1) / stay.of) / sms, wave % 2];
      if (stay.of === 1) open.set(stay.cohort, bar);
      bars.push(bar);
    }
  });
  return bars;
}

/** Give blocks that are on an SM at the same time equal parts of its height. @param {Stay[]} stays */
function shareSm(stays) {
  stays.sort((a, b) => a.start - b.start || a.cohort - b.cohort);
  for (let first = 0; first < stays.length; ) {
    let until = stays[first].end;
    let behind = first + 1;
    while (behind < stays.length && stays[behind].start < until) until = Math.max(until, stays[behind++].end);
    const together = stays.slice(first, behind);
    const { lanes, count } = packed(together.map(({ start, end }) => [start, end]));
    together.forEach((stay, number) => Object.assign(stay, { lane: lanes[number], of: count }));
    first = behind;
  }
}
