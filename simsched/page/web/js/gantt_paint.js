// Paints what of a Gantt chart does not change with the cursor: once as it is when all is over, once as what is to come.

import { boxOfBar, colourOfBar } from "./gantt_boxes.js";
import { paintGanttName } from "./gantt_names.js";
import { DELAY_BAR } from "./gantt_rows.js";
import { ThinBars } from "./gantt_thin.js";
import { hatch } from "./time_canvas.js";

/** @typedef {import("./gantt_boxes.js").GanttPicture} GanttPicture */
/** How bars look before or after they have run; a line around narrow ones would hide them. @typedef {{ alpha: number, edge: number, around: number, ink: string, critical: number[], criticalAlpha: number, idle: number }} BarStyle */

/** @type {BarStyle} */
export const AFTERWARDS = { alpha: 1, edge: 1, around: 8, ink: "on-fill", critical: [], criticalAlpha: 1, idle: 1 };
/** @type {BarStyle} */
export const TO_COME = { alpha: 0.26, edge: 0.8, around: 8, ink: "ink", critical: [3, 2], criticalAlpha: 0.75, idle: 0 };

/** @param {CanvasRenderingContext2D} context @param {GanttPicture} picture @param {BarStyle} style */
export function paintGantt(context, picture, style) {
  paintGanttGround(context, picture, style);
  if (picture.queues) paintGanttQueues(context, picture);
  for (let row = 0; row < picture.model.rows.length; row += 1) paintGanttRow(context, picture, style, row);
}

/** @param {CanvasRenderingContext2D} context @param {GanttPicture} picture @param {BarStyle} style */
function paintGanttGround(context, { window, places, height, colours, run, ticks, model }, style) {
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, window.width, height);
  const [begin, end] = [window.x(0), window.x(run.makespan)];
  places.forEach(({ top, height: high }, row) => {
    context.fillStyle = colours.idle;
    context.globalAlpha = 0.75;
    context.fillRect(begin, top, end - begin, high);
    context.globalAlpha = 0.4 * style.idle;
    if (model.rows[row].kind !== "host") {
      context.fillStyle = hatch(context, colours.muted, 7, 0.8);
      context.fillRect(begin, top, end - begin, high);
    }
    context.globalAlpha = 1;
  });
  context.fillStyle = colours.line;
  for (const tick of ticks) context.fillRect(Math.round(window.x(tick)), 0, 1, height);
}

/** From dispatch to start, above the bars. @param {CanvasRenderingContext2D} context @param {GanttPicture} picture */
function paintGanttQueues(context, { model, window, places, run, colours }) {
  context.fillStyle = colours["edge-order"];
  model.rows.forEach(({ kind }, row) => {
    if (kind !== "stream") return;
    for (let bar = model.first[row]; bar < model.first[row + 1]; bar += 1) {
      const op = model.item[bar];
      const [begin, end] = [window.x(run.dispatch[op]), window.x(run.start[op])];
      if (end - begin >= 1) context.fillRect(begin, places[row].top - 2, end - begin, 1.5);
    }
  });
}

/** @param {CanvasRenderingContext2D} context @param {GanttPicture} picture @param {BarStyle} style @param {number} row */
function paintGanttRow(context, picture, style, row) {
  const { model, window } = picture;
  const [from, to] = window.seen;
  const thin = new ThinBars(context, picture, style, picture.places[row]);
  const whole = model.rows[row].kind === "stream" || model.rows[row].kind === "host";
  const instants = [];
  const wide = [];
  for (let bar = model.first[row]; bar < model.first[row + 1] && model.start[bar] <= to; bar += 1) {
    if (model.end[bar] < from) continue;
    const width = window.x(model.end[bar]) - window.x(model.start[bar]);
    if (model.end[bar] === model.start[bar]) instants.push(bar);
    else if (width < 1.5 && whole) thin.add(bar);
    else wide.push(bar);
  }
  thin.finish();
  for (const bar of wide) paintGanttBar(context, picture, style, row, bar);
  for (const bar of wide) paintCriticalBar(context, picture, style, row, bar);
  thin.paintCritical();
  paintGanttInstants(context, picture, style, row, instants);
  context.fillStyle = picture.colours[style.ink];
  for (const bar of wide) paintGanttName(context, picture, row, bar, (text, x, y) => context.fillText(text, x, y));
}

/** @param {CanvasRenderingContext2D} context @param {GanttPicture} picture @param {BarStyle} style @param {number} row @param {number} bar */
function paintGanttBar(context, picture, style, row, bar) {
  const { model, colours } = picture;
  const [x, y, width, height] = boxOfBar(picture, row, bar);
  const gap = width > 4 ? 1 : width > 2 ? 0.5 : 0;
  const slit = height > 6 && model.high[bar] - model.low[bar] < 1 ? 0.5 : 0;
  context.fillStyle = colourOfBar(picture, bar);
  context.globalAlpha = style.alpha * (model.kind[bar] === DELAY_BAR ? 0.35 : 1);
  context.fillRect(x, y, width - gap, height - slit);
  if (model.shade[bar]) {
    context.fillStyle = colours.panel;
    context.globalAlpha = 0.3;
    context.fillRect(x, y, width - gap, height - slit);
  }
  if (width >= style.around && height > 3) {
    context.strokeStyle = colours.edge;
    context.globalAlpha = style.edge;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, width - gap - 1, height - slit - 1);
  }
  context.globalAlpha = 1;
}

/** An outline, and where a bar is too narrow for one a line along its foot. @param {CanvasRenderingContext2D} context @param {GanttPicture} picture @param {BarStyle} style @param {number} row @param {number} bar */
function paintCriticalBar(context, picture, style, row, bar) {
  const { model, critical, colours } = picture;
  if (model.kind[bar] > 0 || !critical[model.item[bar]]) return;
  const [x, y, width, height] = boxOfBar(picture, row, bar);
  context.globalAlpha = style.criticalAlpha;
  if (width < 14 || height < 5) {
    const thick = Math.min(height, height > 20 ? 3.5 : 2.5);
    context.fillStyle = colours.realised;
    context.fillRect(x, y + height - thick, width, thick);
  } else {
    context.strokeStyle = colours.realised;
    context.lineWidth = 2;
    context.setLineDash(style.critical);
    context.strokeRect(x + 1, y + 1, width - 3, height - 2);
    context.setLineDash([]);
  }
  context.globalAlpha = 1;
}

/** Operators of no length: diamonds, as large as the row allows. @param {CanvasRenderingContext2D} context @param {GanttPicture} picture @param {BarStyle} style @param {number} row @param {number[]} instants */
function paintGanttInstants(context, picture, style, row, instants) {
  const { window, places, model, colours, critical } = picture;
  const radius = Math.min(6, places[row].height / 2 - 1);
  const middle = places[row].top + places[row].height / 2;
  let before = -Infinity;
  for (const bar of instants) {
    const x = window.x(model.start[bar]);
    if (x - before < 1) continue;
    before = x;
    const marked = model.kind[bar] === 0 && critical[model.item[bar]];
    context.beginPath();
    context.moveTo(x, middle - radius);
    context.lineTo(x + radius, middle);
    context.lineTo(x, middle + radius);
    context.lineTo(x - radius, middle);
    context.closePath();
    context.fillStyle = style.alpha < 1 ? colours.panel : colourOfBar(picture, bar);
    context.fill();
    context.globalAlpha = Math.max(style.alpha, 0.7);
    context.strokeStyle = marked ? colours.realised : colours.ink;
    context.lineWidth = marked ? 1.8 : 1.2;
    context.stroke();
    context.globalAlpha = 1;
  }
}
