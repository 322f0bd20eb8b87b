// All runs of a document under one cursor: their events merged by time.

import { Replay, lastAtOrBefore } from "./replay.js";

export class Timeline {
  /** @param {PageDocument} document */
  constructor(document) {
    this.replays = document.runs.map((run, index) => new Replay(run, index, document.machines[run.machine]));
    this.end = Math.max(0, ...document.runs.map((run) => run.makespan));
    const total = this.replays.reduce((sum, replay) => sum + replay.events.length, 0);
    /** Run of each merged event, its time, and its number among the events of its run. */
    this.run = new Int32Array(total);
    this.time = new Float64Array(total);
    this.#merge();
    /** Number of merged events that have happened. */
    this.cursor = 0;
  }

  get length() {
    return this.time.length;
  }

  #merge() {
    const next = this.replays.map(() => 0);
    for (let place = 0; place < this.length; place += 1) {
      let first = -1;
      for (let run = 0; run < next.length; run += 1) {
        if (next[run] < this.replays[run].events.length && (first < 0 || this.#before(run, first, next))) first = run;
      }
      this.run[place] = first;
      this.time[place] = this.replays[first].events.time[next[first]];
      next[first] += 1;
    }
  }

  /** Whether the next event of one run comes before that of another. @param {number} a @param {number} b @param {number[]} next */
  #before(a, b, next) {
    const one = this.replays[a].events;
    const other = this.replays[b].events;
    const time = one.time[next[a]] - other.time[next[b]];
    return time < 0 || (time === 0 && one.kind[next[a]] < other.kind[next[b]]);
  }

  /** Bring all runs to the point at which so many merged events have happened. @param {number} cursor */
  goto(cursor) {
    const target = Math.max(0, Math.min(cursor, this.length));
    const happened = this.replays.map((replay) => replay.position);
    for (let place = this.cursor; place < target; place += 1) happened[this.run[place]] += 1;
    for (let place = target; place < this.cursor; place += 1) happened[this.run[place]] -= 1;
    this.cursor = target;
    this.replays.forEach((replay, index) => replay.goto(happened[index]));
  }

  /** Cursor after everything that happens up to and at a time. @param {number} time */
  cursorAt(time) {
    return lastAtOrBefore(this.time, time) + 1;
  }

  /** Cursor after the next event of a run; the end where there is none. @param {number} run */
  after(run) {
    for (let place = this.cursor; place < this.length; place += 1) if (this.run[place] === run) return place + 1;
    return this.length;
  }

  /** Cursor before the last event of a run; 0 where there is none. @param {number} run */
  before(run) {
    for (let place = this.cursor - 1; place >= 0; place -= 1) if (this.run[place] === run) return place;
    return 0;
  }

  /** Cursor after the whole next instant at which something happens to a run. @param {number} run */
  afterInstant(run) {
    const next = this.after(run);
    return this.cursorAt(this.time[next - 1] ?? 0);
  }

  /** Cursor after the instant before the current one of a run. @param {number} run */
  beforeInstant(run) {
    let place = this.cursor - 1;
    while (place >= 0 && this.run[place] !== run) place -= 1;
    const now = place >= 0 ? this.time[place] : 0;
    while (place >= 0 && (this.run[place] !== run || this.time[place] >= now)) place -= 1;
    return place < 0 ? 0 : this.cursorAt(this.time[place]);
  }

  /** Time of the last event that has happened; 0 at the beginning. */
  now() {
    return this.cursor ? this.time[this.cursor - 1] : 0;
  }
}
