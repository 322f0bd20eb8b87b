// Paints what of a Gantt chart changes with the cursor and the pointer: who runs, who is chosen, on whom it depends.

import { EDGE_COLOURS, drawnKind } from "./dag_scene.js";
import { paintGanttName } from "./gantt_names.js";
import { COPY_BAR } from "./gantt_rows.js";
import { boxOfBar, colourOfBar, rowOfBar } from "./gantt_boxes.js";
import { hatch } from "./time_canvas.js";

/** @typedef {import("./gantt_boxes.js").GanttPicture} GanttPicture */

/** Bars of an operator. @param {GanttPicture} picture @param {Op} op */
function barsOfOperator({ model }, op) {
  const found = [];
  for (let bar = model.firstOf[op] ?? -1; bar >= 0; bar = model.nextOf[bar]) found.push(bar);
  return found;
}

/** Bars of copies on their way. @param {GanttPicture} picture @param {Set<number>} copying */
function barsOfCopies({ model }, copying) {
  const found = [];
  if (copying.size) {
    for (let bar = 0; bar < model.item.length; bar += 1) if (model.kind[bar] === COPY_BAR && copying.has(model.item[bar])) found.push(bar);
  }
  return found;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {GanttPicture} picture
 * @param {import("./replay.js").Replay} replay
 * @param {number} now
 */
export function paintRunning(context, picture, replay, now) {
  const running = [...replay.running].filter((op) => op >= 0).flatMap((op) => barsOfOperator(picture, op));
  const bars = [...running, ...barsOfCopies(picture, replay.copying)];
  const stripes = bars.length ? hatch(context, picture.colours["on-fill"], 7, 1) : "";
  for (const bar of bars) {
    const [x, y, width, height] = boxOfBar(picture, rowOfBar(picture, bar), bar);
    context.fillStyle = colourOfBar(picture, bar);
    context.fillRect(x, y, width, height);
    context.globalAlpha = 0.35;
    context.fillStyle = stripes;
    context.fillRect(x, y, Math.max(0, Math.min(width, picture.window.x(now) - x)), height);
    context.globalAlpha = 1;
    context.strokeStyle = picture.colours.ink;
    context.lineWidth = 1.5;
    context.strokeRect(x + 0.5, y + 0.5, Math.max(1, width - 1), Math.max(1, height - 1));
    context.strokeStyle = colourOfBar(picture, bar);
    context.lineWidth = 3;
    paintGanttName(context, picture, rowOfBar(picture, bar), bar, (text, left, middle) => {
      context.strokeText(text, left, middle);
      context.fillStyle = picture.colours["on-fill"];
      context.fillText(text, left, middle);
    });
  }
}

/** @param {CanvasRenderingContext2D} context @param {GanttPicture} picture @param {Op} op @param {string} colour */
export function paintChosen(context, picture, op, colour) {
  for (const bar of barsOfOperator(picture, op)) {
    const [x, y, width, height] = boxOfBar(picture, rowOfBar(picture, bar), bar);
    for (const [line, stroke] of /** @type {[number, string][]} */ ([[5, picture.colours.panel], [2.5, colour]])) {
      context.strokeStyle = stroke;
      context.lineWidth = line;
      context.strokeRect(x - 1, y, Math.max(3, width + 1), height);
    }
  }
}

/** Arrows from the operators that one reads from, and to those that read from it. @param {CanvasRenderingContext2D} context @param {GanttPicture} picture @param {Op} op */
export function paintDependencies(context, picture, op) {
  for (const [source, target, kinds] of picture.graph.edges) {
    if (source !== op && target !== op) continue;
    const [from, to] = [endOfOperator(picture, source), startOfOperator(picture, target)];
    if (from && to) paintGanttArrow(context, from, to, picture.colours[EDGE_COLOURS[drawnKind(kinds)]], picture.colours.panel);
  }
}

/** @param {GanttPicture} picture @param {Op} op @returns {[number, number] | null} */
function endOfOperator(picture, op) {
  const bar = picture.model.firstOf[op];
  if (bar < 0) return null;
  const [x, y, width, height] = boxOfBar(picture, rowOfBar(picture, bar), bar);
  return [x + width, y + height / 2];
}

/** @param {GanttPicture} picture @param {Op} op @returns {[number, number] | null} */
function startOfOperator(picture, op) {
  const bar = picture.model.firstOf[op];
  if (bar < 0) return null;
  const [x, y, , height] = boxOfBar(picture, rowOfBar(picture, bar), bar);
  return [x, y + height / 2];
}

/** @param {CanvasRenderingContext2D} context @param {[number, number]} from @param {[number, number]} to @param {string} colour @param {string} ground */
function paintGanttArrow(context, [x1, y1], [x2, y2], colour, ground) {
  const bend = Math.max(14, Math.min(60, (x2 - x1) / 2));
  // Between bars of one row it passes below those in between.
  const sag = y1 === y2 && x2 - x1 > 24 ? 26 : 0;
  for (const [line, stroke] of /** @type {[number, string][]} */ ([[4, ground], [1.75, colour]])) {
    context.strokeStyle = stroke;
    context.lineWidth = line;
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + bend, y1 + sag, x2 - bend, y2 + sag, x2 - 5, y2);
    context.stroke();
  }
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 7, y2 - 4);
  context.lineTo(x2 - 7, y2 + 4);
  context.closePath();
  context.fill();
}
