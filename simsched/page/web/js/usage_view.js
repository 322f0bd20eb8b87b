// How much of its streams, SMs, bandwidth and other resources a run uses over time.

import { Chart } from "./chart.js";
import { setText } from "./dom.js";
import { formatCount } from "./format.js";
import { valueAt } from "./replay.js";
import { settledTime } from "./time_settled.js";
import { t } from "./words.js";

const USAGE_HEIGHT = 38;
/** Resources with words of their own; others go by their names. */
const KNOWN_USAGE = ["streams", "sms", "bandwidth"];

/** @param {Usage} usage @param {number} value */
function amountText({ what }, value) {
  return what === "bandwidth" ? formatCount(value, "B/s") : String(value);
}

/** The use of one thing in one run. */
class UsageTrack {
  /** @param {import("./time_view.js").TimeView} view @param {import("./replay.js").Replay} replay @param {Usage} usage */
  constructor(view, replay, usage) {
    this.view = view;
    this.replay = replay;
    this.usage = usage;
    const top = usage.value.reduce((most, value) => Math.max(most, value), usage.capacity);
    this.chart = new Chart(view, { steps: usage, until: replay.run.makespan, top, colour: "usage", levels: [], limit: null, peak: null });
    this.element = this.chart.element;
    this.element.dataset.testid = `usage-${replay.index}-${usage.device}-${usage.what}`;
  }

  name() {
    const { what, device } = this.usage;
    const word = KNOWN_USAGE.includes(what) ? t(`time_usage_${what}`) : what;
    const { devices } = this.replay.machine;
    return devices.length > 1 ? `${devices[device].name}: ${word}` : word;
  }

  /** @param {boolean} large */
  layout(large) {
    this.chart.layout(USAGE_HEIGHT, large);
  }

  paint() {
    setText(this.chart.name, this.name());
    this.chart.paint(t("time_usage_label", { run: this.replay.run.label, what: this.name(), all: amountText(this.usage, this.usage.capacity) }));
  }

  /** Streams are known between the events of an instant too. */
  streamsBusy() {
    const { running, machine } = this.replay;
    return running.reduce((busy, op, stream) => busy + Number(op >= 0 && machine.stream_device[stream] === this.usage.device), 0);
  }

  step() {
    const value = this.usage.what === "streams" ? this.streamsBusy() : valueAt(this.usage, settledTime(this.replay, this.view.app.state.time));
    this.chart.step(t("time_of", { value: amountText(this.usage, value), all: amountText(this.usage, this.usage.capacity) }));
  }
}

/** A track for everything that is used at all. @param {import("./time_view.js").TimeView} view @param {import("./replay.js").Replay} replay */
export function usageTracks(view, replay) {
  return replay.run.usage.filter(({ time }) => time.length).map((usage) => new UsageTrack(view, replay, usage));
}
