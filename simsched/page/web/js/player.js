// Play, pause, step and scrub: the buttons, the keys, and the clock.

import { make, makeButton, makeSvg, setAttributes, setText } from "./dom.js";
import { formatPlace, formatTime } from "./format.js";
import { t } from "./words.js";

const WHOLE_RUN_MS = 20_000;
const SPEEDS = [0.125, 0.25, 0.5, 1, 2, 4, 8];
const SCRUBBER_STEPS = 10_000;

/** Buttons: test id, key of their label, what they do. @type {[string, string, (app: import("./app.js").App) => void][]} */
const BUTTONS = [
  ["to-start", "to_start", (app) => app.toStart()],
  ["instant-back", "instant_back", (app) => app.instantBack()],
  ["step-back", "step_back", (app) => app.stepBack()],
  ["play", "play", (app) => togglePlay(app)],
  ["step-forward", "step_forward", (app) => app.stepForward()],
  ["instant-forward", "instant_forward", (app) => app.instantForward()],
  ["to-end", "to_end", (app) => app.toEnd()],
];
const SIGNS = /** @type {Record<string, string>} */ ({
  "to-start": "M5 4v12M16 4L8 10l8 6z", "instant-back": "M10 4L3 10l7 6zM17 4l-7 6 7 6z", "step-back": "M14 4L6 10l8 6z",
  "play": "M5 3l12 7-12 7z", "pause": "M5 3h3.5v14H5zM11.5 3H15v14h-3.5z", "step-forward": "M6 4l8 6-8 6z",
  "instant-forward": "M10 4l7 6-7 6zM3 4l7 6-7 6z", "to-end": "M15 4v12M4 4l8 6-8 6z",
});

/** @param {import("./app.js").App} app */
function togglePlay(app) {
  if (!app.state.playing && app.state.time >= app.timeline.end) app.toStart();
  app.set({ playing: !app.state.playing });
}

/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function mountPlayer(root, app) {
  const buttons = BUTTONS.map(([id, key, action]) => {
    const button = makeButton("", () => act(app, id, action), { "data-testid": id, class: "icon" });
    button.append(iconOf(id));
    return { id, key, button };
  });
  const scrubber = /** @type {HTMLInputElement} */ (
    make("input", { type: "range", min: 0, max: SCRUBBER_STEPS, value: 0, step: 1, "data-testid": "scrubber" })
  );
  scrubber.addEventListener("input", () => {
    app.seek((Number(scrubber.value) / SCRUBBER_STEPS) * app.timeline.end);
    app.touch("time"); // also where there is no time to go to: it must not stay where it was pulled
  });
  const time = make("span", { class: "time", "data-testid": "time" });
  const speed = /** @type {HTMLSelectElement} */ (make("select", { "data-testid": "speed" }));
  for (const each of SPEEDS) speed.append(make("option", { value: each }, `${each}×`));
  speed.addEventListener("change", () => app.set({ speed: Number(speed.value) }));
  const speedLabel = make("label", { class: "speed" }, make("span", { class: "hidden-text" }), speed);
  root.append(make("div", { class: "buttons" }, ...buttons.map(({ button }) => button)), scrubber, time, speedLabel);

  app.subscribe((change) => {
    if (change.has("lang") || change.has("document") || change.has("playing")) {
      for (const { id, key, button } of buttons) nameButton(button, id, key, app.state.playing);
      setAttributes(scrubber, { "aria-label": t("scrubber") });
      setText(/** @type {Element} */ (speedLabel.firstChild), t("speed"));
    }
    if (change.has("speed") || change.has("document")) speed.value = String(app.state.speed);
    if (change.has("playing") && app.state.playing) startClock(app);
    if (change.has("time") || change.has("document") || change.has("lang")) showTime(app, scrubber, time);
  });
  document.addEventListener("keydown", (event) => onKey(app, event));
}

/** @param {HTMLElement} button @param {string} id @param {string} key @param {boolean} playing */
function nameButton(button, id, key, playing) {
  const label = t(id === "play" && playing ? "pause" : key);
  setAttributes(button, { "aria-label": label, title: label, "aria-pressed": id === "play" ? String(playing) : null });
  if (id === "play") button.replaceChildren(iconOf(playing ? "pause" : "play"));
}

/** @param {string} id */
function iconOf(id) {
  const path = makeSvg("path", { d: SIGNS[id], fill: "currentColor", stroke: "currentColor", "stroke-width": 1.5, "stroke-linejoin": "round" });
  return makeSvg("svg", { viewBox: "0 0 20 20", width: 20, height: 20, "aria-hidden": "true" }, path);
}

/** @param {import("./app.js").App} app @param {HTMLInputElement} scrubber @param {HTMLElement} output */
function showTime(app, scrubber, output) {
  const { end } = app.timeline;
  const unit = app.graph.unit;
  scrubber.value = String(end ? Math.round((app.state.time / end) * SCRUBBER_STEPS) : 0);
  const now = formatPlace(app.state.time, unit, end);
  setAttributes(scrubber, { "aria-valuetext": now });
  setText(output, `${now} / ${formatTime(end, unit)}`);
}

/** Whatever a person does with the cursor ends the play, except to play. @param {import("./app.js").App} app @param {string} id @param {(app: import("./app.js").App) => void} action */
function act(app, id, action) {
  if (id !== "play") app.set({ playing: false });
  action(app);
}

/** Move the cursor with the clock for as long as it plays. @param {import("./app.js").App} app */
function startClock(app) {
  const jumps = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const { timeline } = app;
  let before = performance.now();
  let time = app.state.time;
  const tick = () => {
    if (!app.state.playing || app.timeline !== timeline) return;
    const now = performance.now();
    time += ((now - before) / WHOLE_RUN_MS) * app.state.speed * timeline.end;
    before = now;
    if (time >= timeline.end) {
      app.toEnd();
      app.set({ playing: false });
      return;
    }
    const cursor = timeline.cursorAt(time);
    if (!jumps || cursor !== timeline.cursor) app.goto(cursor, jumps ? undefined : time);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

/** Keys, by `event.key`, with "Shift+" where it is held. @type {Record<string, (app: import("./app.js").App) => void>} */
const KEYS = {
  ArrowRight: (app) => app.stepForward(),
  ArrowLeft: (app) => app.stepBack(),
  "Shift+ArrowRight": (app) => app.instantForward(),
  "Shift+ArrowLeft": (app) => app.instantBack(),
  Home: (app) => app.toStart(),
  End: (app) => app.toEnd(),
  "[": (app) => moveFocus(app, -1),
  "]": (app) => moveFocus(app, 1),
  Escape: (app) => app.set({ selected: null }),
};

/** @param {import("./app.js").App} app @param {number} by */
function moveFocus(app, by) {
  const count = app.replays.length;
  if (count) app.set({ focus: (app.state.focus + by + count) % count });
}

/** @param {import("./app.js").App} app @param {KeyboardEvent} event */
function onKey(app, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.closest("input:not([type=checkbox], [type=radio], [type=range]), select, textarea, dialog")) return;
  if (event.key === " ") {
    if (target.closest("button, [role=button], summary, a, input, [role=tab]")) return;
    event.preventDefault();
    togglePlay(app);
    return;
  }
  // Ranges, radio buttons and tabs have uses of their own for arrows.
  if (target.closest("input, [role=tab]") && !["[", "]", "Escape"].includes(event.key)) return;
  const action = KEYS[(event.shiftKey && event.key.startsWith("Arrow") ? "Shift+" : "") + event.key];
  if (!action) return;
  event.preventDefault();
  if (!["[", "]", "Escape"].includes(event.key)) app.set({ playing: false });
  action(app);
}
