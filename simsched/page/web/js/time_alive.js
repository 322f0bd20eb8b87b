// The tensors in memory now, the largest first.

import { make, setText } from "./dom.js";
import { formatSize } from "./format.js";
import { valueAt } from "./replay.js";
import { settledTime } from "./time_settled.js";
import { t, tCount } from "./words.js";

const SHOWN_TENSORS = 8;

/** One stay. @typedef {{ tensor: number, device: number, bytes: number }} Alive */

/**
 * What is in memory at a time, the largest first. A stay ends at its end; those that end with the run are kept, unless
 * the last operators free them.
 * @param {GraphPart} graph
 * @param {RunPart} run
 * @param {number} time
 * @returns {Alive[]}
 */
function aliveAt(graph, run, time) {
  const found = [];
  for (const [tensor, device, begin, end] of run.spans) {
    const kept = end === run.makespan && graph.tensors.kind[tensor] !== "activation";
    if (begin <= time && (time < end || kept)) found.push({ tensor, device, bytes: graph.tensors.bytes[tensor] });
  }
  return found.sort((a, b) => b.bytes - a.bytes || a.tensor - b.tensor || a.device - b.device);
}

export class AliveList {
  /** @param {import("./time_view.js").TimeView} view @param {import("./replay.js").Replay} replay */
  constructor(view, replay) {
    this.view = view;
    this.replay = replay;
    this.head = make("h3", {});
    this.rows = Array.from({ length: SHOWN_TENSORS }, () => aliveRow());
    this.more = make("p", { class: "time-note" });
    this.space = make("p", { class: "time-note" });
    this.list = make("ul", { class: "alive-rows" }, ...this.rows.map((row) => row.element));
    this.element = make("div", { class: "alive", "data-testid": `alive-${replay.index}` }, this.head, this.list, this.more, this.space);
  }

  step() {
    const { graph, state } = this.view.app;
    const time = settledTime(this.replay, state.time);
    const alive = aliveAt(graph, this.replay.run, time);
    const total = alive.reduce((sum, { bytes }) => sum + bytes, 0);
    setText(this.head, tCount("time_alive", alive.length, { count: alive.length, size: formatSize(total) }));
    this.rows.forEach((row, number) => this.fill(row, alive[number], alive[0]?.bytes));
    const rest = alive.slice(SHOWN_TENSORS);
    this.more.hidden = rest.length === 0;
    const size = formatSize(rest.reduce((sum, { bytes }) => sum + bytes, 0));
    this.sayWorkspace(time, total);
    setText(this.more, tCount("time_alive_more", rest.length, { count: rest.length, size }));
  }

  /** What running operators hold besides tensors. @param {number} time @param {number} total Bytes of tensors. */
  sayWorkspace(time, total) {
    const live = this.replay.run.memory_steps.reduce((sum, steps) => sum + valueAt(steps, time), 0);
    this.space.hidden = live <= total;
    setText(this.space, t("time_workspace", { size: formatSize(live - total) }));
  }

  /** @param {ReturnType<typeof aliveRow>} row @param {Alive | undefined} alive @param {number} largest */
  fill(row, alive, largest) {
    row.element.hidden = !alive;
    if (!alive) return;
    const { devices } = this.replay.machine;
    const name = this.view.app.graph.tensors.names[alive.tensor];
    setText(row.name, devices.length > 1 ? `${name} (${devices[alive.device].name})` : name);
    setText(row.size, formatSize(alive.bytes));
    row.bar.style.transform = `scaleX(${(alive.bytes / (largest || 1)).toFixed(4)})`;
  }
}

function aliveRow() {
  const name = make("span", { class: "alive-name" });
  const size = make("span", { class: "alive-size" });
  const bar = make("i", { class: "alive-bar" });
  return { name, size, bar, element: make("li", {}, name, make("span", { class: "alive-track", "aria-hidden": "true" }, bar), size) };
}
