// Which stretch of time is shown, and where an instant lies in it. All charts of all runs have the same.

const WINDOW_MARGIN = 7;
const AFTER_END = 1.02;

export class TimeWindow {
  constructor() {
    /** The last instant that anybody wants to see. */
    this.end = 1;
    this.from = 0;
    this.to = 1;
    /** Pixels. */
    this.width = 0;
  }

  /** Show everything up to an instant. @param {number} end */
  fit(end) {
    this.end = end > 0 ? end : 1;
    this.from = 0;
    this.to = this.end * AFTER_END;
  }

  get span() {
    return this.to - this.from;
  }

  /** Whether all of it is shown. */
  get whole() {
    return this.from <= 0 && this.to >= this.end * AFTER_END;
  }

  /** @param {number} time */
  x(time) {
    return WINDOW_MARGIN + ((time - this.from) * Math.max(1, this.width - 2 * WINDOW_MARGIN)) / this.span;
  }

  /** @param {number} x */
  time(x) {
    return this.from + ((x - WINDOW_MARGIN) * this.span) / Math.max(1, this.width - 2 * WINDOW_MARGIN);
  }

  /** First and last instant that have a place in the picture, its margins included. @returns {[number, number]} */
  get seen() {
    return [this.time(0), this.time(this.width)];
  }

  /** Show less (above 1) or more, and leave an instant where it is. @param {number} factor @param {number} around */
  zoom(factor, around) {
    const least = Math.min(this.end, Math.max(this.end * 1e-6, 4));
    const span = Math.max(least, Math.min(this.span / factor, this.end * AFTER_END));
    this.move(around - ((around - this.from) * span) / this.span, span);
  }

  /** Show what is earlier or later by a share of what is shown. @param {number} share */
  pan(share) {
    this.move(this.from + share * this.span, this.span);
  }

  /** Have an instant in sight; whether anything had to be moved for it. @param {number} time */
  reveal(time) {
    if (time >= this.from && time <= this.to) return false;
    this.move(time - 0.25 * this.span, this.span);
    return true;
  }

  /** @param {number} from @param {number} span */
  move(from, span) {
    this.from = Math.max(0, Math.min(from, this.end * AFTER_END - span));
    this.to = this.from + span;
  }
}
