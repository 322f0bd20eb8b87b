// The pointer over a chart: a click chooses or seeks, a drag seeks, Ctrl+wheel and two fingers zoom.

import { lastAtOrBefore } from "./replay.js";

/**
 * @typedef {object} PointerHooks
 * @property {(x: number, y: number) => Op} pick Which operator is there, or -1.
 * @property {(x: number, y: number, event: PointerEvent) => void} hover
 * @property {() => void} leave
 */

const STILL_A_CLICK = 4;
const SNAP_PIXELS = 5;

/** @param {HTMLElement} plot @param {import("./time_view.js").TimeView} view @param {PointerHooks} hooks */
export function attachPointer(plot, view, hooks) {
  plot.addEventListener("wheel", (event) => onPlotWheel(event, plot, view), { passive: false });
  /** Fingers or buttons that are down: where they came down and where they are. @type {Map<number, { from: number, x: number }>} */
  const down = new Map();
  let moved = false;
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (!down.size) moved = false;
    const { x } = pointerPlace(event, plot);
    down.set(event.pointerId, { from: x, x });
    plot.setPointerCapture(event.pointerId);
  });
  plot.addEventListener("pointermove", (event) => {
    const { x, y } = pointerPlace(event, plot);
    const held = down.get(event.pointerId);
    if (!held) {
      hooks.hover(x, y, event);
      return;
    }
    if (down.size === 2) pinchTime(view, down, event.pointerId, x);
    held.x = x;
    moved ||= down.size > 1 || Math.abs(x - held.from) > STILL_A_CLICK;
    if (moved && down.size === 1) seekToPixel(view, x);
  });
  plot.addEventListener("pointerup", (event) => {
    if (!down.delete(event.pointerId) || moved) return;
    const { x, y } = pointerPlace(event, plot);
    const op = hooks.pick(x, y);
    if (op >= 0) view.app.set({ selected: op });
    else seekToPixel(view, x);
  });
  plot.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
  plot.addEventListener("pointerleave", hooks.leave);
}

/** @param {MouseEvent} event @param {HTMLElement} plot */
function pointerPlace(event, plot) {
  const box = plot.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** An event close by is meant, rather than just before it. @param {import("./time_view.js").TimeView} view @param {number} x */
function seekToPixel(view, x) {
  const { app, window } = view;
  const { time } = app.timeline;
  const before = lastAtOrBefore(time, window.time(x));
  const near = [time[before], time[before + 1]].filter((event) => Math.abs(window.x(event) - x) <= SNAP_PIXELS);
  near.sort((a, b) => Math.abs(window.x(a) - x) - Math.abs(window.x(b) - x));
  app.set({ playing: false });
  app.seek(near[0] ?? window.time(x));
}

/** Two fingers: what is between them stays between them. @param {import("./time_view.js").TimeView} view @param {Map<number, { from: number, x: number }>} down @param {number} moving @param {number} x */
function pinchTime(view, down, moving, x) {
  const other = [...down].find(([id]) => id !== moving)?.[1];
  const before = down.get(moving);
  if (!other || !before) return;
  const [was, is] = [Math.abs(before.x - other.x), Math.abs(x - other.x)];
  if (was > 8 && is > 8) view.zoom(is / was, view.window.time(other.x));
}

/** @param {WheelEvent} event @param {HTMLElement} plot @param {import("./time_view.js").TimeView} view */
function onPlotWheel(event, plot, view) {
  const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
  if (event.ctrlKey || event.metaKey) {
    view.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 120), view.window.time(pointerPlace(event, plot).x));
  } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY) && !view.window.whole) {
    view.pan(sideways / Math.max(200, view.window.width));
  } else return;
  event.preventDefault();
}
