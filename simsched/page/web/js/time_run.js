// One run: its head line, and its charts under the cursor.

import { make, setAttributes } from "./dom.js";
import { Gantt } from "./gantt.js";
import { memoryTracks } from "./memory_view.js";
import { AliveList } from "./time_alive.js";
import { AxisTrack } from "./time_axis_track.js";
import { RunHead } from "./time_head.js";
import { usageTracks } from "./usage_view.js";

export class RunBlock {
  /** @param {import("./time_view.js").TimeView} view @param {import("./replay.js").Replay} replay @param {import("./time_tip.js").TimeTip} tip */
  constructor(view, replay, tip) {
    this.view = view;
    this.replay = replay;
    this.head = new RunHead(view.app, replay);
    this.gantt = new Gantt(view, replay, tip);
    this.axis = new AxisTrack(view);
    this.memory = memoryTracks(view, replay);
    this.usage = usageTracks(view, replay);
    this.alive = replay.run.spans.length ? new AliveList(view, replay) : null;
    this.cursor = make("div", { class: "time-cursor" });
    const over = make("div", { class: "time-over", "aria-hidden": "true" }, this.cursor);
    const charts = [this.gantt, ...this.memory, ...this.usage].map(({ element }) => element);
    const body = make("div", { class: "run-body" }, ...charts, over);
    this.element = make("section", { class: "run", "data-testid": `run-${replay.index}` }, this.head.element, body, this.axis.element, this.alive?.element);
  }

  get inFocus() {
    return this.view.app.state.focus === this.replay.index;
  }

  layout() {
    const { options, app } = this.view;
    const large = options.large || this.inFocus;
    this.element.classList.toggle("in-focus", this.inFocus && app.replays.length > 1);
    this.gantt.element.hidden = !options.gantt;
    for (const track of this.memory) track.element.hidden = !options.memory || !track.used;
    for (const track of this.usage) track.element.hidden = !options.usage || !large;
    this.axis.element.hidden = !large || !this.shown().length;
    if (this.alive) this.alive.element.hidden = !this.inFocus || !options.memory;
    this.head.layout(this.inFocus);
    for (const track of this.shown()) track.layout(large);
  }

  /** Charts that are not folded. @returns {import("./time_view.js").Track[]} */
  shown() {
    return [this.gantt, ...this.memory, ...this.usage].filter(({ element }) => !element.hidden);
  }

  paint() {
    setAttributes(this.element, { "aria-label": this.replay.run.label });
    this.head.paint();
    for (const track of this.shown()) track.paint();
    if (!this.axis.element.hidden) this.axis.paint();
  }

  step() {
    const { window, app } = this.view;
    const x = window.x(app.state.time);
    this.cursor.hidden = x < 0 || x > window.width;
    this.cursor.style.transform = `translateX(${x.toFixed(1)}px)`;
    this.head.step();
    for (const track of this.shown()) track.step();
    if (!this.axis.element.hidden) this.axis.step();
    if (this.alive && !this.alive.element.hidden) this.alive.step();
  }

  /** Who is chosen or under the pointer has changed. */
  mark() {
    if (!this.gantt.element.hidden) this.gantt.paintLive();
  }
}
