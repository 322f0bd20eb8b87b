// A step curve over time on two canvases: what has been, filled, and what is to come, as a line.

import { make, setText } from "./dom.js";
import { lastAtOrBefore } from "./replay.js";
import { clearCanvas, clipBefore, describeCanvas, makeCanvas } from "./time_canvas.js";
import { attachPointer } from "./time_pointer.js";

/**
 * What a chart shows.
 * @typedef {object} Curve
 * @property {Steps} steps
 * @property {number} until The end of the run.
 * @property {number} top The largest value that has a place.
 * @property {string} colour Its name.
 * @property {[number, string][]} levels Values with a faint line, and what stands at it.
 * @property {{ value: number, text: string, colour: string } | null} limit A dashed line.
 * @property {{ value: number, text: string } | null} peak A mark where this value is first reached.
 */

/** @typedef {{ fill: number, line: number }} CurveStyle */
/** @type {CurveStyle} */
const CURVE_AFTERWARDS = { fill: 0.4, line: 1 };
/** @type {CurveStyle} */
const CURVE_TO_COME = { fill: 0.08, line: 0.5 };

const ROOM_ABOVE = 7;

export class Chart {
  /** @param {import("./time_view.js").TimeView} view @param {Curve} curve */
  constructor(view, curve) {
    this.view = view;
    this.curve = curve;
    this.height = 40;
    this.large = false;
    this.name = make("span", { class: "lane-name" });
    this.value = make("span", { class: "lane-now" });
    this.base = makeCanvas("base");
    this.past = makeCanvas("past");
    this.plot = make("div", { class: "time-plot" }, this.base, this.past);
    this.element = make("div", { class: "time-track" }, make("div", { class: "track-head" }, this.name, " ", this.value), this.plot);
    attachPointer(this.plot, view, { pick: () => -1, hover: () => {}, leave: () => {} });
  }

  /** @param {number} height @param {boolean} large */
  layout(height, large) {
    this.height = height;
    this.large = large;
    this.element.style.height = `${height}px`;
  }

  /** @param {string} label Of the picture. */
  paint(label) {
    for (const [canvas, style] of /** @type {[HTMLCanvasElement, CurveStyle][]} */ ([[this.base, CURVE_TO_COME], [this.past, CURVE_AFTERWARDS]])) {
      paintCurve(clearCanvas(canvas, this.view.window.width, this.height), this, style);
    }
    describeCanvas(this.base, label);
  }

  /** @param {string} value In words. */
  step(value) {
    const { window, app } = this.view;
    clipBefore(this.past, window.x(app.state.time), window.width);
    setText(this.value, value);
  }
}

/** @param {Chart} chart @param {number} value */
function heightOf({ height, curve }, value) {
  return height - 1 - ((height - ROOM_ABOVE - 1) * Math.min(value, curve.top)) / (curve.top || 1);
}

/** @param {CanvasRenderingContext2D} context @param {Chart} chart @param {CurveStyle} style */
function paintCurve(context, chart, style) {
  const { view, curve, height } = chart;
  const { window } = view;
  const colours = view.app.colours();
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, window.width, height);
  paintLevels(context, chart, colours);
  const points = curvePoints(chart);
  context.strokeStyle = context.fillStyle = colours[curve.colour];
  if (points.length) {
    tracePoints(context, points);
    context.lineTo(points[points.length - 2], height - 1);
    context.lineTo(points[0], height - 1);
    context.globalAlpha = style.fill;
    context.fill();
    tracePoints(context, points);
    context.globalAlpha = style.line;
    context.lineWidth = 1.5;
    context.stroke();
  }
  context.globalAlpha = 1;
  paintLimit(context, chart, colours);
  paintPeak(context, chart, colours);
}

/** @param {CanvasRenderingContext2D} context @param {number[]} points x and y by turns. */
function tracePoints(context, points) {
  context.beginPath();
  context.moveTo(points[0], points[1]);
  for (let at = 2; at < points.length; at += 2) context.lineTo(points[at], points[at + 1]);
}

/** Corners of the curve within the window; of steps within one pixel only the lowest, the highest and the last. @param {Chart} chart */
function curvePoints(chart) {
  const { steps, until } = chart.curve;
  const { window } = chart.view;
  const [from, to] = window.seen;
  const end = Math.min(until, to);
  const begin = Math.max(0, from);
  /** @type {number[]} */
  const points = [];
  if (!steps.time.length || end <= begin) return points;
  let at = lastAtOrBefore(steps.time, begin);
  let y = heightOf(chart, at < 0 ? 0 : steps.value[at]);
  points.push(window.x(begin), y);
  let x = -Infinity;
  for (at += 1; at < steps.time.length && steps.time[at] <= end; at += 1) {
    const next = heightOf(chart, steps.value[at]);
    const here = Math.max(window.x(begin), window.x(steps.time[at]));
    if (here - x >= 0.75) {
      points.push(here, y, here, next);
      x = here;
    } else points.push(x, next);
    y = next;
  }
  points.push(window.x(end), y);
  return points;
}

/** @param {CanvasRenderingContext2D} context @param {Chart} chart @param {Record<string, string>} colours */
function paintLevels(context, chart, colours) {
  const { view, curve, height } = chart;
  context.fillStyle = colours.line;
  for (const tick of view.axis().ticks) context.fillRect(Math.round(view.window.x(tick)), 0, 1, height);
  context.fillRect(0, height - 1, view.window.width, 1);
  context.font = `10px ${view.font}`;
  for (const [value, text] of chart.large ? curve.levels : []) {
    const y = Math.round(heightOf(chart, value));
    context.fillStyle = colours.line;
    context.fillRect(0, y, view.window.width, 1);
    if (curve.limit && Math.abs(y - heightOf(chart, curve.limit.value)) < 14) continue;
    context.fillStyle = colours.muted;
    haloText(context, text, view.window.width - 2, y + 1, colours, "right");
  }
}

/** @param {CanvasRenderingContext2D} context @param {Chart} chart @param {Record<string, string>} colours */
function paintLimit(context, chart, colours) {
  const { limit, top } = chart.curve;
  if (!limit || limit.value > top) return;
  const { width } = chart.view.window;
  const y = Math.round(heightOf(chart, limit.value)) + 0.5;
  context.strokeStyle = context.fillStyle = colours[limit.colour];
  context.lineWidth = 1.5;
  context.setLineDash([6, 3]);
  context.beginPath();
  context.moveTo(0, y);
  context.lineTo(width, y);
  context.stroke();
  context.setLineDash([]);
  if (!chart.large) return;
  haloText(context, limit.text, width - 3, y + 3, colours, "right");
}

/** @param {CanvasRenderingContext2D} context @param {Chart} chart @param {Record<string, string>} colours */
function paintPeak(context, chart, colours) {
  const { peak, steps, colour } = chart.curve;
  const at = peak ? steps.value.indexOf(peak.value) : -1;
  if (!peak || at < 0) return;
  const { window } = chart.view;
  const x = window.x(steps.time[at]);
  const y = heightOf(chart, peak.value);
  if (x < 0 || x > window.width) return;
  context.fillStyle = colours[colour];
  context.beginPath();
  context.arc(x, y, 3.5, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = colours.panel;
  context.lineWidth = 1;
  context.stroke();
  if (!chart.large) return;
  context.fillStyle = colours.ink;
  const right = x + 8 + context.measureText(peak.text).width <= window.width;
  haloText(context, peak.text, right ? x + 7 : x - 7, y + 4, colours, right ? "left" : "right");
}

/** Text with the ground around it, so that lines do not cross it; it hangs from `y`. @param {CanvasRenderingContext2D} context @param {string} text @param {number} x @param {number} y @param {Record<string, string>} colours @param {CanvasTextAlign} align */
function haloText(context, text, x, y, colours, align) {
  context.textAlign = align;
  context.textBaseline = "top";
  context.strokeStyle = colours.panel;
  context.lineWidth = 3;
  context.strokeText(text, x, y);
  context.fillText(text, x, y);
  context.textAlign = "left";
}
