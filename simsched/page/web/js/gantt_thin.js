// Bars thinner than a pixel: a column of pixels is as strong as it is busy, in the colour of who has most of it.

import { colourOfBar } from "./gantt_boxes.js";

export class ThinBars {
  /**
   * @param {CanvasRenderingContext2D} context
   * @param {import("./gantt_boxes.js").GanttPicture} picture
   * @param {import("./gantt_paint.js").BarStyle} style
   * @param {{ top: number, height: number }} place
   */
  constructor(context, picture, style, place) {
    this.context = context;
    this.picture = picture;
    this.style = style;
    this.place = place;
    this.column = NaN;
    this.busy = 0;
    this.longest = -1;
    this.length = 0;
    /** Columns with an operator of the critical path. @type {Set<number>} */
    this.critical = new Set();
  }

  /** Bars come in the order of their starts. @param {number} bar */
  add(bar) {
    const { model, window, critical } = this.picture;
    const left = window.x(model.start[bar]);
    const width = window.x(model.end[bar]) - left;
    const column = Math.floor(left + width / 2);
    if (column !== this.column) {
      this.finish();
      this.column = column;
    }
    this.busy += width;
    if (width > this.length) {
      this.length = width;
      this.longest = bar;
    }
    if (model.kind[bar] === 0 && critical[model.item[bar]]) this.critical.add(column);
  }

  /** Paint the column that is open. */
  finish() {
    if (this.longest < 0) return;
    this.context.fillStyle = colourOfBar(this.picture, this.longest);
    this.context.globalAlpha = this.style.alpha * (0.3 + 0.7 * Math.min(1, this.busy));
    this.context.fillRect(this.column, this.place.top, 1, this.place.height);
    this.context.globalAlpha = 1;
    this.busy = this.length = 0;
    this.longest = -1;
  }

  paintCritical() {
    this.context.fillStyle = this.picture.colours.realised;
    this.context.globalAlpha = this.style.criticalAlpha;
    for (const column of this.critical) this.context.fillRect(column, this.place.top + this.place.height - 2, 1, 2);
    this.context.globalAlpha = 1;
  }
}
