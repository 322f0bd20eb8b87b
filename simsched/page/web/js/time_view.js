// What all charts of all runs share: the window of time, what is folded, colours, ticks.

import { multiplesIn, niceStep, timeUnit } from "./axis.js";
import { TimeWindow } from "./time_window.js";

/**
 * @typedef {object} TimeOptions
 * @property {boolean} gantt Which charts are shown.
 * @property {boolean} memory
 * @property {boolean} usage
 * @property {"stream" | "sm"} by
 * @property {boolean} large Whether all runs are large, not only the one in focus.
 * @property {boolean} bounds Whether all bounds are drawn, not only the best lower one.
 * @property {boolean} queues
 */

/** One strip of a run under the common axis. @typedef {{ element: HTMLElement, layout: (large: boolean) => void, paint: () => void, step: () => void }} Track */

const PIXELS_PER_TICK = 76;

export class TimeView {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.window = new TimeWindow();
    /** @type {TimeOptions} */
    this.options = { gantt: true, memory: true, usage: true, by: "stream", large: false, bounds: false, queues: false };
    this.font = "sans-serif";
  }

  /** Show all of the document. */
  fit() {
    this.window.fit(this.end());
    this.app.touch("window");
  }

  /** The last instant that is worth to be seen: of a run, of its best lower bound, of all bounds where they are drawn and not far off. */
  end() {
    const { runs, machines } = this.app.document;
    const last = Math.max(0, ...runs.flatMap((run) => [run.makespan, run.figures.lower_bound]));
    const bounds = this.options.bounds ? machines.flatMap((machine) => machine.bounds.map(({ ns }) => ns)) : [];
    return Math.max(last, ...bounds.filter((ns) => ns <= 2.5 * last));
  }

  /** @param {number} factor @param {number} [around] */
  zoom(factor, around = this.app.state.time) {
    const { from, to, span } = this.window;
    this.window.zoom(factor, around >= from && around <= to ? around : from + span / 2);
    this.app.touch("window");
  }

  /** @param {number} share */
  pan(share) {
    this.window.pan(share);
    this.app.touch("window");
  }

  /** @param {Partial<TimeOptions>} patch */
  choose(patch) {
    Object.assign(this.options, patch);
    if ("bounds" in patch && this.window.whole) this.window.fit(this.end());
    this.app.touch("time_options");
  }

  /** Ticks of the axis, their distance, and the unit they are written in. */
  axis() {
    const { from, to, span, width } = this.window;
    const { unit } = this.app.graph;
    const [name, factor] = timeUnit(to, unit);
    const step = niceStep(span, Math.max(2, Math.floor(width / PIXELS_PER_TICK)));
    return { ticks: multiplesIn(from, Math.min(to, this.window.time(width)), step), step, name, factor };
  }
}
