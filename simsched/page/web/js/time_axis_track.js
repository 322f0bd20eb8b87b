// The axis of time: round numbers, the unit, and where the cursor stands.

import { tickText } from "./axis.js";
import { make, setText } from "./dom.js";
import { formatPlace } from "./format.js";
import { attachPointer } from "./time_pointer.js";
import { t } from "./words.js";

export class AxisTrack {
  /** @param {import("./time_view.js").TimeView} view */
  constructor(view) {
    this.view = view;
    this.unit = make("span");
    this.now = make("span", { class: "axis-now" });
    this.ticks = make("div", { class: "axis-ticks" });
    this.plot = make("div", { class: "time-plot" }, this.ticks, this.now);
    this.element = make("div", { class: "time-track axis", "aria-hidden": "true" }, make("div", { class: "track-head" }, this.unit), this.plot);
    attachPointer(this.plot, view, { pick: () => -1, hover: () => {}, leave: () => {} });
  }

  paint() {
    const { window, app } = this.view;
    const { ticks, step, name, factor } = this.view.axis();
    setText(this.unit, app.graph.unit === "tick" ? t("time_axis_ticks") : t("time_axis", { unit: name }));
    this.ticks.replaceChildren(
      ...ticks.map((tick) => {
        const label = make("span", { class: "tick" }, tickText(tick, step, factor));
        label.style.transform = `translateX(${window.x(tick).toFixed(1)}px) translateX(-50%)`;
        return label;
      }),
    );
  }

  step() {
    const { window, app } = this.view;
    const { time } = app.state;
    setText(this.now, formatPlace(time, app.graph.unit, app.timeline.end));
    const half = 4 * (this.now.textContent?.length ?? 0) + 4;
    const x = Math.max(half, Math.min(window.width - half, window.x(time)));
    this.now.style.transform = `translateX(${x.toFixed(1)}px) translateX(-50%)`;
  }
}
