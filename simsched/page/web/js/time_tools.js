// The buttons over the runs, and what the colours mean.

import { make, makeButton, setAttributes, setText } from "./dom.js";
import { hasSms } from "./gantt_sms.js";
import { typesByFill } from "./types_legend.js";
import { t } from "./words.js";

/** Buttons that stay down: id, key, whether it is down, what it chooses. @typedef {[string, string, (options: import("./time_view.js").TimeOptions) => boolean, (options: import("./time_view.js").TimeOptions) => Partial<import("./time_view.js").TimeOptions>]} Toggle */

/** @type {Toggle[]} */
const CHART_TOGGLES = [
  ["show-gantt", "time_show_gantt", (o) => o.gantt, (o) => ({ gantt: !o.gantt })],
  ["show-memory", "time_show_memory", (o) => o.memory, (o) => ({ memory: !o.memory })],
  ["show-usage", "time_show_usage", (o) => o.usage, (o) => ({ usage: !o.usage })],
];
/** @type {Toggle[]} */
const ROW_TOGGLES = [
  ["by-stream", "time_by_stream", (o) => o.by === "stream", () => ({ by: "stream" })],
  ["by-sm", "time_by_sm", (o) => o.by === "sm", () => ({ by: "sm" })],
];
/** @type {Toggle[]} */
const MORE_TOGGLES = [
  ["all-bounds", "time_all_bounds", (o) => o.bounds, (o) => ({ bounds: !o.bounds })],
  ["queues", "time_queues", (o) => o.queues, (o) => ({ queues: !o.queues })],
  ["all-large", "time_all_large", (o) => o.large, (o) => ({ large: !o.large })],
];
/** Buttons that act: id, key, sign. @type {[string, string, string, (view: import("./time_view.js").TimeView) => void][]} */
const ZOOM_BUTTONS = [
  ["earlier", "time_earlier", "◀", (view) => view.pan(-0.5)],
  ["zoom-out", "time_zoom_out", "−", (view) => view.zoom(0.5)],
  ["zoom-fit", "time_zoom_fit", "↔", (view) => view.fit()],
  ["zoom-in", "time_zoom_in", "+", (view) => view.zoom(2)],
  ["later", "time_later", "▶", (view) => view.pan(0.5)],
];

export class TimeTools {
  /** @param {import("./time_view.js").TimeView} view */
  constructor(view) {
    this.view = view;
    this.toggles = [CHART_TOGGLES, ROW_TOGGLES, MORE_TOGGLES].map((group) =>
      group.map((toggle) => ({ toggle, button: makeButton("", () => view.choose(toggle[3](view.options)), { "data-testid": toggle[0] }) })),
    );
    this.zooms = ZOOM_BUTTONS.map(([id, key, sign, action]) => ({ id, key, button: makeButton(sign, () => action(view), { "data-testid": id, class: "icon" }) }));
    this.groups = [...this.toggles, this.zooms].map((group) => make("div", { class: "time-group", role: "group" }, ...group.map(({ button }) => button)));
    this.legend = make("ul", { class: "time-legend" });
    this.element = make("div", { class: "time-tools" }, ...this.groups);
  }

  /** What there is to choose depends on the document. */
  fill() {
    const { replays } = this.view.app;
    const runs = replays.map(({ run }) => run);
    const [[, memory]] = this.toggles;
    memory.button.hidden = !runs.some((run) => run.memory_steps.some(({ time }) => time.length));
    this.groups[1].hidden = !replays.some(hasSms);
    const [, queues, large] = this.toggles[2];
    queues.button.hidden = !runs.some((run) => run.start.some((start, op) => start > run.dispatch[op]));
    large.button.hidden = runs.length < 2;
  }

  label() {
    ["time_charts", "time_rows", "time_more", "time_zoom"].forEach((key, number) => setAttributes(this.groups[number], { "aria-label": t(key) }));
    for (const { toggle, button } of this.toggles.flat()) setText(button, t(toggle[1]));
    for (const { key, button } of this.zooms) setAttributes(button, { "aria-label": t(key), title: t(key) });
    this.fillLegend();
  }

  /** Which buttons are down, and which of them can do anything. */
  update() {
    const { options, window } = this.view;
    for (const { toggle, button } of this.toggles.flat()) setAttributes(button, { "aria-pressed": String(toggle[2](options)) });
    for (const { id, button } of this.zooms) {
      const idle = { earlier: window.from <= 0, later: window.to >= window.end, "zoom-out": window.whole, "zoom-fit": window.whole }[id];
      /** @type {HTMLButtonElement} */ (button).disabled = Boolean(idle);
    }
    this.fillLegend();
  }

  fillLegend() {
    const { app, options } = this.view;
    const entries = typesByFill(app.graph).map(([fill, name]) => legendEntry(`--chip:var(--fill-${fill})`, "", name));
    const runs = app.document.runs;
    const marks = [
      ["critical", "time_legend_critical", runs.some(({ path }) => path.length)],
      ["running", "time_legend_running", true],
      ["idle", "time_legend_idle", true],
      ["copy", "time_legend_copy", runs.some(({ transfers }) => transfers.length) && options.by === "stream"],
      ["launch", "time_legend_launch", runs.some(({ launched }) => launched.length) && options.by === "stream"],
      ["queue", "time_legend_queue", options.queues && options.by === "stream"],
      ["wave", "time_legend_wave", options.by === "sm" && runs.some(({ cohorts }) => cohorts.length)],
    ].filter(([, , shown]) => shown);
    this.legend.replaceChildren(...entries, ...marks.map(([kind, key]) => legendEntry("", String(kind), t(String(key)))));
    this.legend.hidden = !options.gantt || !runs.length;
  }
}

/** @param {string} style @param {string} kind @param {string} text */
function legendEntry(style, kind, text) {
  return make("li", {}, make("i", { class: `chip ${kind}`, style: style || null, "aria-hidden": "true" }), text);
}
