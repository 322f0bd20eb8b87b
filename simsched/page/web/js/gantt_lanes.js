// The heads of the rows of a Gantt chart: their names, and in words what goes on in them now.

import { make, makeButton, setAttributes } from "./dom.js";
import { formatTime } from "./format.js";
import { QUEUED, valueAt } from "./replay.js";
import { settledTime } from "./time_settled.js";
import { t } from "./words.js";

/** What a row does now: words, the name in them that may be shortened, the operator that they are about or -1, and its state. @typedef {{ text: string, name: string, op: Op, state: "running" | "queued" | "idle" }} LaneNow */

/** Stands in words for a name that comes later. */
const NAME_PLACE = "\u0001";

/** What goes on, by stream. @typedef {{ running: Int32Array, queued: Map<number, Op> }} NowByStream */

/** @param {import("./replay.js").Replay} replay @returns {NowByStream} */
export function nowByStream(replay) {
  const { stream, start } = replay.run;
  /** @type {Map<number, Op>} */
  const queued = new Map();
  for (const op of replay.inState(QUEUED)) {
    const before = queued.get(stream[op]);
    if (before === undefined || start[op] < start[before]) queued.set(stream[op], op);
  }
  return { running: replay.running, queued };
}

/** @param {import("./app.js").App} app @param {import("./replay.js").Replay} replay @param {import("./gantt_rows.js").GanttRow} row @param {NowByStream} now @returns {LaneNow} */
function laneNow(app, replay, row, now) {
  if (row.kind === "stream") return streamNow(app, replay, row.index, now);
  const [text, name] = { copies: copiesNow, host: hostNow, sms: smsNow }[row.kind](app, replay, row);
  return { text: text || t("time_idle"), name, op: -1, state: text ? "running" : "idle" };
}

/** @param {import("./app.js").App} app @param {import("./replay.js").Replay} replay @param {number} stream @param {NowByStream} now @returns {LaneNow} */
function streamNow(app, replay, stream, { running, queued }) {
  const { names, unit } = app.graph;
  const runs = running[stream];
  if (runs >= 0) {
    const text = t("time_runs", { name: NAME_PLACE, time: formatTime(replay.run.end[runs], unit) });
    return { text, name: names[runs], op: runs, state: "running" };
  }
  const holds = queued.get(stream);
  if (holds !== undefined) return { text: t("time_holds", { name: NAME_PLACE }), name: names[holds], op: holds, state: "queued" };
  return { text: t("time_idle"), name: "", op: -1, state: "idle" };
}

/** @param {import("./app.js").App} app @param {import("./replay.js").Replay} replay @param {import("./gantt_rows.js").GanttRow} row @returns {[text: string, name: string]} */
function copiesNow(app, replay, row) {
  const moves = [...replay.copying].map((index) => replay.run.transfers[index]);
  const [move] = moves.filter((each) => each[2] === row.device && each[3] === row.index);
  if (!move) return ["", ""];
  return [t("time_copies", { name: NAME_PLACE, time: formatTime(move[5], app.graph.unit) }), app.graph.tensors.names[move[7]]];
}

/** @param {import("./app.js").App} app @param {import("./replay.js").Replay} replay @returns {[text: string, name: string]} */
function hostNow(app, replay) {
  const { launched } = replay.run;
  const coming = replay.inState(QUEUED).filter((op) => launched[op] > app.state.time);
  if (!coming.length) return ["", ""];
  const next = coming.reduce((first, op) => (launched[op] < launched[first] ? op : first));
  return [t("time_launches", { name: NAME_PLACE, time: formatTime(launched[next], app.graph.unit) }), app.graph.names[next]];
}

/** @param {import("./app.js").App} app @param {import("./replay.js").Replay} replay @param {import("./gantt_rows.js").GanttRow} row @returns {[text: string, name: string]} */
function smsNow(app, replay, row) {
  const usage = replay.run.usage.find(({ what, device }) => what === "sms" && device === row.device);
  const used = usage ? valueAt(usage, settledTime(replay, app.state.time)) : 0;
  return [used ? t("time_of", { value: used, all: usage?.capacity ?? row.lanes }) : "", ""];
}

/** @param {import("./replay.js").Replay} replay @param {import("./gantt_rows.js").GanttRow} row */
export function laneName(replay, row) {
  const { devices, streams } = replay.machine;
  if (row.kind === "stream") return streams[row.index];
  if (row.kind === "host") return t("time_host");
  if (row.kind === "sms") return t("time_sms_of", { device: devices[row.device].name });
  return `${devices[row.device].name} → ${devices[row.index].name}`;
}

/** One head of a row. */
export class LaneHead {
  /** @param {import("./app.js").App} app @param {import("./replay.js").Replay} replay @param {import("./gantt_rows.js").GanttRow} row @param {number} number */
  constructor(app, replay, row, number) {
    this.app = app;
    this.replay = replay;
    this.row = row;
    /** @type {LaneNow | null} */
    this.now = null;
    this.name = make("span", { class: "lane-name" });
    this.words = make("span", { class: "lane-now" });
    const place = row.kind === "stream" ? `lane-${replay.index}-${row.index}` : `${row.kind}-${replay.index}-${number}`;
    this.element = makeButton("", () => this.choose(), { class: "lane-head", "data-testid": place });
    this.element.append(this.name, " ", this.words);
  }

  /** Select the operator that the row is about now. */
  choose() {
    if (this.now && this.now.op >= 0) this.app.set({ selected: this.now.op });
  }

  label() {
    // Narrow pages leave the device out where the stream says it all the same.
    const [, device, rest] = /^(.*\/)?(.*)$/su.exec(laneName(this.replay, this.row)) ?? [];
    const single = this.replay.machine.devices.length === 1 && device;
    this.name.replaceChildren(make("span", { class: single ? "lane-device" : null }, device ?? ""), rest ?? "");
    this.now = null;
  }

  /** Whether the words about a stream are still right: texts cost more than numbers. @param {NowByStream} byStream */
  saysStill({ running, queued }) {
    const runs = running[this.row.index];
    const op = runs >= 0 ? runs : (queued.get(this.row.index) ?? -1);
    return this.now?.op === op && (op < 0 || (this.now.state === "running") === runs >= 0);
  }

  /** @param {NowByStream} byStream */
  step(byStream) {
    if (this.row.kind === "stream" && this.saysStill(byStream)) return;
    const now = laneNow(this.app, this.replay, this.row, byStream);
    if (this.now?.text === now.text && this.now.name === now.name) return;
    this.now = now;
    const [before, after] = now.text.split(NAME_PLACE);
    this.words.replaceChildren(before, ...(after === undefined ? [] : [make("span", { class: "lane-op" }, now.name), after]));
    setAttributes(this.element, { "data-state": now.state, title: `${laneName(this.replay, this.row)}: ${this.words.textContent}` });
  }
}
