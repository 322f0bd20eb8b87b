// Live bytes of each device over time, on one scale for all runs.

import { byteStep, multiplesIn } from "./axis.js";
import { Chart } from "./chart.js";
import { make, setText } from "./dom.js";
import { formatSize } from "./format.js";
import { valueAt } from "./replay.js";
import { settledTime } from "./time_settled.js";
import { t } from "./words.js";

const LARGE_MEMORY = 84;
const SMALL_MEMORY = 34;
/** Capacities above so many times the peak would press the curve flat; then words say them. */
const CAPACITY_WITHIN = 3;

/** Highest number of live bytes of a device in any run. @param {PageDocument} document @param {number} device */
function highestBytes(document, device) {
  const values = document.runs.map((run) => maximumOf(run.memory_steps[device]?.value ?? []));
  return Math.max(0, ...values);
}

/** @param {number[]} values */
function maximumOf(values) {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/** What is live now in words, all devices that hold anything. @param {import("./app.js").App} app @param {import("./replay.js").Replay} replay */
export function memoryNow(app, replay) {
  const { run, machine } = replay;
  const devices = run.memory_steps.map((steps, device) => ({ steps, device })).filter(({ steps }) => steps.time.length);
  const texts = devices.map(({ steps, device }) => {
    const text = formatSize(valueAt(steps, settledTime(replay, app.state.time)));
    return devices.length > 1 ? `${machine.devices[device].name} ${text}` : text;
  });
  return texts.join(", ") || formatSize(0);
}

/** @param {PageDocument} document @param {import("./replay.js").Replay} replay @param {number} device @returns {import("./chart.js").Curve} */
function memoryCurve(document, replay, device) {
  const { run, machine } = replay;
  const { capacity } = machine.devices[device];
  const highest = highestBytes(document, device);
  const limited = capacity !== null && capacity <= CAPACITY_WITHIN * highest;
  const top = 1.02 * (limited ? Math.max(capacity, highest) : highest);
  const step = byteStep(top, 3);
  const peak = maximumOf(run.memory_steps[device].value);
  return {
    steps: run.memory_steps[device],
    until: run.makespan,
    top,
    colour: "memory",
    levels: multiplesIn(step, top, step).map((value) => [value, formatSize(value)]),
    limit: limited ? { value: capacity, text: capacityText(replay, capacity), colour: "capacity" } : null,
    peak: { value: peak, text: t("time_peak", { size: formatSize(peak) }) },
  };
}

/** @param {import("./replay.js").Replay} replay @param {number} capacity */
function capacityText(replay, capacity) {
  return t(replay.run.memory === "unbounded" ? "time_capacity_unbounded" : "time_capacity", { size: formatSize(capacity) });
}

/** The memory of one device in one run. */
class MemoryTrack {
  /** @param {import("./time_view.js").TimeView} view @param {import("./replay.js").Replay} replay @param {number} device */
  constructor(view, replay, device) {
    this.view = view;
    this.replay = replay;
    this.device = device;
    this.chart = new Chart(view, memoryCurve(view.app.document, replay, device));
    this.element = this.chart.element;
    this.more = make("span", { class: "lane-more" });
    this.chart.value.after(" ", this.more);
  }

  /** Whether this run ever holds anything there. */
  get used() {
    return this.replay.run.memory_steps[this.device].time.length > 0;
  }

  /** @param {boolean} large */
  layout(large) {
    this.chart.layout(large ? LARGE_MEMORY : SMALL_MEMORY, large);
    this.more.hidden = !large;
  }

  paint() {
    const { document } = this.view.app;
    this.chart.curve = memoryCurve(document, this.replay, this.device);
    const { name, capacity } = this.replay.machine.devices[this.device];
    const { value: peak } = this.chart.curve.peak ?? { value: 0 };
    setText(this.chart.name, this.replay.machine.devices.length > 1 ? t("time_memory_of", { device: name }) : t("time_memory"));
    const limit = capacity === null ? t("time_no_capacity") : capacityText(this.replay, capacity);
    setText(this.more, `${t("time_peak", { size: formatSize(peak) })}; ${limit}`);
    this.chart.paint(t("time_memory_label", { run: this.replay.run.label, device: name, size: formatSize(peak), limit }));
  }

  step() {
    const { capacity } = this.replay.machine.devices[this.device];
    const now = formatSize(valueAt(this.chart.curve.steps, settledTime(this.replay, this.view.app.state.time)));
    this.chart.step(this.chart.curve.limit && capacity !== null ? t("time_of", { value: now, all: formatSize(capacity) }) : now);
  }
}

/** A track for each device that holds anything in any run. @param {import("./time_view.js").TimeView} view @param {import("./replay.js").Replay} replay */
export function memoryTracks(view, replay) {
  const { document } = view.app;
  return replay.run.memory_steps
    .map((_, device) => device)
    .filter((device) => highestBytes(document, device) > 0)
    .map((device) => new MemoryTrack(view, replay, device));
}
