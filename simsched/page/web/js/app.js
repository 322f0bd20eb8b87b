// What the page shows, in one place. Views subscribe; whatever changes is told once a frame.

import { holdFocus } from "./focus.js";
import { Timeline } from "./timeline.js";
import { STATES } from "./replay.js";
import { setLanguage } from "./words.js";

/**
 * @typedef {object} AppState
 * @property {string} mode "replay", a lesson's id, or "live".
 * @property {"en" | "zh"} lang
 * @property {"light" | "dark"} theme
 * @property {boolean} playing
 * @property {number} speed Times the usual one.
 * @property {number} focus The run that the graph, the lists and the words are about.
 * @property {number} time Where the cursor stands; between two events while it plays.
 * @property {Op | null} selected
 * @property {Op | null} hovered
 */

/** Names of what has changed: those of the state, "document", "cursor". @typedef {Set<string>} Change */

export class App {
  /** @param {PageData} data @param {Pick<AppState, "lang" | "theme">} look */
  constructor(data, look) {
    this.data = data;
    this.document = data.scene;
    this.timeline = new Timeline(this.document);
    /** @type {AppState} */
    this.state = { mode: "replay", playing: false, speed: 1, focus: 0, time: 0, selected: null, hovered: null, ...look };
    /** @type {((change: Change) => void)[]} */
    this.listeners = [];
    /** @type {Change} */
    this.changed = new Set();
    this.frame = 0;
    /** @type {Record<string, string>} */
    this.palette = {};
    setLanguage(look.lang);
  }

  // --- what there is ---------------------------------------------------------------------------------------------

  get graph() {
    return this.document.graph;
  }

  /** All runs, under the cursor. */
  get replays() {
    return this.timeline.replays;
  }

  /** The run in focus; undefined where every run failed. */
  get replay() {
    return /** @type {import("./replay.js").Replay | undefined} */ (this.timeline.replays[this.state.focus]);
  }

  /** Colours by the names of the custom properties of base.css, without the dashes. */
  colours() {
    if (!this.palette.ink) {
      const style = getComputedStyle(document.documentElement);
      for (const name of PALETTE) this.palette[name] = style.getPropertyValue(`--${name}`).trim();
    }
    return this.palette;
  }

  // --- changes ---------------------------------------------------------------------------------------------------

  /** Be told of changes, at most once a frame. @param {(change: Change) => void} listener */
  subscribe(listener) {
    this.listeners.push(listener);
  }

  /** @param {Partial<AppState>} patch */
  set(patch) {
    for (const [key, value] of Object.entries(patch)) {
      const state = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (this.state));
      if (state[key] !== value) {
        state[key] = value;
        this.touch(key);
      }
    }
    if (patch.lang) setLanguage(patch.lang);
    if (patch.theme) this.palette = {};
  }

  /** Note that something has changed. @param {string} what */
  touch(what) {
    this.changed.add(what);
    if (!this.frame) this.frame = requestAnimationFrame(() => this.flush());
  }

  /** Tell the views now. */
  flush() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (!this.changed.size) return;
    const change = this.changed;
    this.changed = new Set();
    const giveFocusBack = holdFocus();
    for (const listener of this.listeners) {
      try {
        listener(change);
      } catch (error) {
        reportError(error); // to the console; the other views go on
      }
    }
    giveFocusBack();
  }

  /** Show another document from its beginning; the run of the same name stays in focus. @param {PageDocument} document */
  load(document) {
    const label = this.replay?.run.label;
    const name = this.state.selected === null ? null : this.graph.names[this.state.selected];
    this.document = document;
    this.timeline = new Timeline(document);
    const focus = Math.max(0, document.runs.findIndex((run) => run.label === label));
    const selected = name === null ? -1 : document.graph.names.indexOf(name);
    this.set({ focus, playing: false, time: 0, selected: selected < 0 ? null : selected, hovered: null });
    this.touch("document");
    this.touch("cursor");
    // At once: until then views would speak of operators that are no longer there.
    this.flush();
  }

  /** Show another document with the cursor where it was: at the start, at the end, or at the same share of the time. @param {PageDocument} document */
  loadInPlace(document) {
    const { cursor, length, end } = this.timeline;
    const share = end ? this.state.time / end : 0;
    this.load(document);
    if (cursor === 0) this.toStart();
    else if (cursor === length) this.toEnd();
    else this.seek(share * this.timeline.end);
    // The views must not stay a frame behind: a panel may change the room that they have, and they would draw the old runs in it.
    this.flush();
  }

  // --- the cursor ------------------------------------------------------------------------------------------------

  /** @param {number} cursor @param {number} [time] */
  goto(cursor, time) {
    this.timeline.goto(cursor);
    this.set({ time: time ?? this.timeline.now() });
    this.touch("cursor");
  }

  /** Show everything that has happened up to and at a time. @param {number} time */
  seek(time) {
    const clamped = Math.max(0, Math.min(time, this.timeline.end));
    this.goto(this.timeline.cursorAt(clamped), clamped);
  }

  stepForward() {
    this.goto(this.timeline.after(this.state.focus));
  }

  stepBack() {
    this.goto(this.timeline.before(this.state.focus));
  }

  /** One whole instant of the run in focus. */
  instantForward() {
    this.goto(this.timeline.afterInstant(this.state.focus));
  }

  instantBack() {
    this.goto(this.timeline.beforeInstant(this.state.focus));
  }

  toStart() {
    this.goto(0, 0);
  }

  toEnd() {
    this.goto(this.timeline.length, this.timeline.end);
  }

  // --- for tests and the console ---------------------------------------------------------------------------------

  /** What is shown, as plain data. */
  report() {
    this.flush();
    const replay = this.replay;
    const states = Object.fromEntries(
      this.replays.map((each) => [each.run.label, this.graph.names.map((_, op) => STATES[each.state(op)])]),
    );
    const named = (/** @type {number} */ state) => replay?.inState(state).map((op) => this.graph.names[op]) ?? [];
    return {
      ...this.state,
      graph: this.graph.name,
      cursor: this.timeline.cursor,
      end: this.timeline.end,
      run: replay?.run.label ?? "",
      states,
      ready: named(STATES.indexOf("ready")),
      running: named(STATES.indexOf("running")),
      words: document.querySelector("[data-testid=words]")?.textContent ?? "",
    };
  }
}

const PALETTE = [
  "paper", "panel", "ink", "muted", "line", "accent", "on-accent", "focus-ring", "critical", "realised", "bound", "capacity", "cursor", "idle",
  "waiting", "ready", "queued", "running", "done", "on-state", "memory", "usage", "edge", "edge-control", "edge-order",
  "fill-0", "fill-1", "fill-2", "fill-3", "fill-4", "fill-5", "fill-6", "fill-7", "fill-8", "on-fill",
  "run-0", "run-1", "run-2", "run-3", "run-4", "run-5", "run-6", "good", "bad",
];
