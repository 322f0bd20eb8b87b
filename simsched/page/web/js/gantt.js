// The Gantt chart of one run: heads of rows as elements, bars on canvases, of which only the uppermost changes with the cursor.

import { make, setAttributes } from "./dom.js";
import { barAt } from "./gantt_boxes.js";
import { LaneHead, laneName, nowByStream } from "./gantt_lanes.js";
import { paintChosen, paintDependencies, paintRunning } from "./gantt_live.js";
import { AFTERWARDS, TO_COME, paintGantt } from "./gantt_paint.js";
import { COPY_BAR, DELAY_BAR, modelByStream } from "./gantt_rows.js";
import { hasSms, modelBySm } from "./gantt_sms.js";
import { clearCanvas, clipBefore, describeCanvas, makeCanvas } from "./time_canvas.js";
import { BoundLines } from "./time_lines.js";
import { attachPointer } from "./time_pointer.js";
import { copyFacts, operatorFacts } from "./time_tip.js";
import { t, tCount } from "./words.js";

const MOST_CANVAS_PIXELS = 7000;
const ROW_GAP = 4;

/** Height of a row by its kind, in large and in small charts. @type {Record<string, [number, number]>} */
const ROW_HEIGHTS = { stream: [30, 17], copies: [20, 13], host: [16, 11], sms: [0, 0] };

export class Gantt {
  /** @param {import("./time_view.js").TimeView} view @param {import("./replay.js").Replay} replay @param {import("./time_tip.js").TimeTip} tip */
  constructor(view, replay, tip) {
    this.view = view;
    this.replay = replay;
    this.tip = tip;
    this.large = false;
    /** Models by how their rows are chosen, made when they are first wanted. @type {Map<string, import("./gantt_rows.js").GanttModel>} */
    this.models = new Map();
    /** @type {LaneHead[]} */
    this.lanes = [];
    this.lines = new BoundLines(view, replay);
    this.heads = make("div", { class: "lane-heads", role: "group" });
    this.base = makeCanvas("base");
    this.past = makeCanvas("past");
    this.live = makeCanvas("live");
    this.plot = make("div", { class: "time-plot" }, this.live, this.base, this.past);
    this.scroll = make("div", { class: "gantt-scroll" }, this.heads, this.plot);
    this.note = make("p", { class: "time-note" });
    this.element = make("div", {}, make("div", { class: "gantt" }, this.lines.element, this.scroll), this.note);
    this.critical = new Uint8Array(replay.run.start.length);
    for (const op of replay.run.path) this.critical[op] = 1;
    this.picture = this.newPicture();
    attachPointer(this.plot, view, {
      pick: (x, y) => this.pick(x, y),
      hover: (x, y, event) => this.hover(x, y, event),
      leave: () => this.leave(),
    });
    /** Kept, because to ask for it in every step would make the browser lay out the page. */
    this.scrolled = 0;
    this.scroll.addEventListener("scroll", () => {
      this.scrolled = this.scroll.scrollTop;
      this.paintLive();
    });
    this.heads.addEventListener("keydown", (event) => this.moveFocus(event));
  }

  /** Pixels; what is higher scrolls. The uppermost canvas is no higher than that. */
  get seenHeight() {
    return this.large ? 460 : 230;
  }

  get by() {
    return this.view.options.by === "sm" && hasSms(this.replay) ? "sm" : "stream";
  }

  model() {
    const known = this.models.get(this.by);
    const model = known ?? (this.by === "sm" ? modelBySm(this.replay) : modelByStream(this.replay));
    this.models.set(this.by, model);
    return model;
  }

  /** @returns {import("./gantt_boxes.js").GanttPicture} */
  newPicture() {
    const { app, window, font, options } = this.view;
    const model = this.model();
    const places = ganttPlaces(model.rows, this.large);
    const last = places.at(-1);
    return {
      model,
      window,
      places,
      height: last ? last.top + last.height + ROW_GAP : 0,
      run: this.replay.run,
      graph: app.graph,
      critical: this.critical,
      colours: app.colours(),
      font,
      ticks: this.view.axis().ticks,
      queues: options.queues,
    };
  }

  /** @param {boolean} large */
  layout(large) {
    this.large = large;
    this.picture = this.newPicture();
    const { app } = this.view;
    this.lanes = this.picture.model.rows.map((row, number) => new LaneHead(app, this.replay, row, number));
    this.lanes.forEach((lane, number) => {
      const { top, height } = this.picture.places[number];
      setAttributes(lane.element, { style: `top:${top}px;height:${height}px`, tabindex: number ? -1 : 0 });
      lane.element.classList.toggle("tall", height >= 28);
      lane.label();
    });
    this.heads.replaceChildren(...this.lanes.map((lane) => lane.element));
    this.scroll.classList.toggle("scrolls", this.picture.height > this.seenHeight);
    this.scroll.style.maxHeight = `${this.seenHeight}px`;
    setAttributes(this.heads, { "aria-label": t("time_lanes_of", { run: this.replay.run.label }), style: `height:${this.picture.height}px` });
    this.plot.style.height = `${this.picture.height}px`;
    this.lines.layout(large);
    this.sayWhatIsHidden();
  }

  /** Streams that ran nothing have no row where there are many. */
  sayWhatIsHidden() {
    const shown = this.picture.model.rows.filter(({ kind }) => kind === "stream").length;
    const hidden = this.by === "stream" ? this.replay.machine.streams.length - shown : 0;
    this.note.hidden = hidden === 0 || !this.large;
    this.note.textContent = hidden ? tCount("time_hidden_streams", hidden, { count: hidden }) : "";
  }

  paint() {
    this.picture = this.newPicture();
    const { height, window, model } = this.picture;
    paintGantt(clearCanvas(this.base, window.width, height), this.picture, TO_COME);
    paintGantt(clearCanvas(this.past, window.width, height), this.picture, AFTERWARDS);
    const rows = model.rows.map((row) => laneName(this.replay, row)).slice(0, 12).join(", ");
    describeCanvas(this.base, t("time_gantt_label", { run: this.replay.run.label, rows }));
    this.lines.paint();
  }

  step() {
    const { app, window } = this.view;
    clipBefore(this.past, window.x(app.state.time), window.width);
    const now = nowByStream(this.replay);
    for (const lane of this.lanes) lane.step(now);
    this.paintLive();
  }

  paintLive() {
    const { app, window } = this.view;
    const { selected, hovered, time } = app.state;
    const { colours } = this.picture;
    const context = clearCanvas(this.live, window.width, Math.min(this.picture.height, this.seenHeight));
    context.translate(0, -this.scrolled);
    paintRunning(context, this.picture, this.replay, time);
    const shown = hovered ?? selected;
    if (shown !== null && this.large && shown < this.critical.length) paintDependencies(context, this.picture, shown);
    if (selected !== null) paintChosen(context, this.picture, selected, colours.accent);
    if (hovered !== null && hovered !== selected) paintChosen(context, this.picture, hovered, colours.ink);
  }

  /** @param {number} x @param {number} y */
  pick(x, y) {
    const bar = barAt(this.picture, x, y);
    if (bar < 0) return -1;
    const { kind, item } = this.picture.model;
    return kind[bar] === COPY_BAR || kind[bar] === DELAY_BAR ? this.replay.run.transfers[item[bar]][1] : item[bar];
  }

  /** @param {number} x @param {number} y @param {PointerEvent} event */
  hover(x, y, event) {
    const bar = barAt(this.picture, x, y);
    if (bar < 0) {
      this.leave();
      return;
    }
    const { app } = this.view;
    const { kind, item } = this.picture.model;
    const isCopy = kind[bar] === COPY_BAR || kind[bar] === DELAY_BAR;
    app.set({ hovered: isCopy ? null : item[bar] });
    const facts = isCopy ? copyFacts(app, this.replay.run, item[bar]) : operatorFacts(app, this.replay.run, item[bar]);
    this.tip.show(facts, event.clientX, event.clientY);
    this.plot.style.cursor = "pointer";
  }

  leave() {
    if (this.tip.element.hidden) return;
    this.tip.hide();
    this.plot.style.cursor = "";
    this.view.app.set({ hovered: null });
  }

  /** Up and down go from row to row. @param {KeyboardEvent} event */
  moveFocus(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = this.lanes.findIndex(({ element }) => element === document.activeElement);
    if (!by || at < 0) return;
    event.preventDefault();
    const next = this.lanes[Math.max(0, Math.min(this.lanes.length - 1, at + by))];
    for (const lane of this.lanes) lane.element.tabIndex = lane === next ? 0 : -1;
    next.element.focus();
  }
}

/** Where rows are: lower where there are many, so that a canvas can hold them. @param {import("./gantt_rows.js").GanttRow[]} rows @param {boolean} large */
function ganttPlaces(rows, large) {
  const crowded = rows.length > 60 ? 0.6 : rows.length > 16 ? 0.8 : 1;
  const most = MOST_CANVAS_PIXELS / Math.max(1, rows.length) - ROW_GAP;
  let top = ROW_GAP;
  return rows.map(({ kind, lanes }) => {
    const [tall, low] = ROW_HEIGHTS[kind];
    const wanted = kind === "sms" ? smsHeight(lanes, large) : Math.max((large ? tall : low) * crowded, lanes * (large ? 9 : 6));
    const place = { top, height: Math.max(3, Math.round(Math.min(wanted, most))) };
    top += place.height + ROW_GAP;
    return place;
  });
}

/** @param {number} sms @param {boolean} large */
function smsHeight(sms, large) {
  return large ? Math.max(120, Math.min(324, sms * 26)) : Math.max(64, Math.min(132, sms * 12));
}
