// Names in the bars of a Gantt chart.

import { boxOfBar } from "./gantt_boxes.js";
import { COPY_BAR, DELAY_BAR, LAUNCH_BAR } from "./gantt_rows.js";
import { fittingName } from "./time_canvas.js";

/**
 * Write the name of a bar into it, as much of it as fits into the part that is seen.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./gantt_boxes.js").GanttPicture} picture
 * @param {number} row
 * @param {number} bar
 * @param {(text: string, left: number, middle: number) => void} write
 */
export function paintGanttName(context, picture, row, bar, write) {
  const { model, run, graph, font } = picture;
  const kind = model.kind[bar];
  if (kind === LAUNCH_BAR || kind === DELAY_BAR) return;
  const [x, y, width, height] = boxOfBar(picture, row, bar);
  if (width < 22 || height < 9) return;
  const left = Math.max(0, x);
  const room = Math.min(picture.window.width, x + width) - left - 9;
  context.font = `${Math.min(13, Math.max(9, height - 5))}px ${font}`;
  const name = kind === COPY_BAR ? graph.tensors.names[run.transfers[model.item[bar]][7]] : graph.names[model.item[bar]];
  const text = fittingName(context, name, room);
  if (!text) return;
  context.textBaseline = "middle";
  write(text, left + 4 + (room - context.measureText(text).width) / 2, y + height / 2 + 0.5);
}
