// Lines across a Gantt chart: its end, and what nobody can beat, promise or expect.

import { make } from "./dom.js";
import { formatTime } from "./format.js";
import { runColour } from "./time_colour.js";
import { t } from "./words.js";

/** @typedef {{ time: Time, kind: string, text: string, title: string, main: boolean }} BoundLine */

const LABEL_HEIGHT = 17;

/** Lines of a run; bounds of one kind at one instant are one line. @param {import("./time_view.js").TimeView} view @param {import("./replay.js").Replay} replay @returns {BoundLine[]} */
function linesOf(view, replay) {
  const { run, machine } = replay;
  const { unit } = view.app.graph;
  const time = (/** @type {number} */ each) => formatTime(each, unit);
  const end = { time: run.makespan, kind: "makespan", text: t("time_makespan_line", { time: time(run.makespan) }), title: "", main: true };
  const best = machine.bounds.filter(({ kind, ns, name }) => kind === "lower" && name === run.figures.lower_bound_name && ns === run.figures.lower_bound);
  /** @type {Map<string, { ns: number, kind: string, names: string[], title: string[] }>} */
  const found = new Map();
  for (const { name, ns, kind, statement } of view.options.bounds ? machine.bounds : best) {
    const key = `${kind} ${ns}`;
    const group = found.get(key) ?? { ns, kind, names: [], title: [] };
    group.names.push(name);
    group.title.push(`${name}: ${statement}`);
    found.set(key, group);
  }
  const bounds = [...found.values()].map(({ ns, kind, names, title }) => {
    return { time: ns, kind, text: t(`time_${kind}_line`, { names: names.join(", "), time: time(ns) }), title: title.join("\n"), main: kind === "lower" && ns === run.figures.lower_bound };
  });
  return [end, ...bounds].sort((a, b) => a.time - b.time);
}

/**
 * Places for labels beside their lines, right of them where there is room, in as few rows as they need.
 * @param {{ x: number, width: number }[]} labels
 * @param {number} room
 */
function placeLabels(labels, room) {
  /** @type {[number, number][][]} */
  const rows = [];
  return labels.map(({ x, width }) => {
    const left = Math.max(0, x + 5 + width <= room ? x + 5 : x - 5 - width);
    const free = (/** @type {[number, number][]} */ taken) => taken.every(([begin, end]) => left + width + 8 <= begin || end + 8 <= left);
    let row = rows.findIndex(free);
    if (row < 0) row = rows.push([]) - 1;
    rows[row].push([left, left + width]);
    return { left, row };
  });
}

export class BoundLines {
  /** @param {import("./time_view.js").TimeView} view @param {import("./replay.js").Replay} replay */
  constructor(view, replay) {
    this.view = view;
    this.replay = replay;
    this.large = false;
    this.element = make("div", { class: "time-lines" });
  }

  /** @param {boolean} large */
  layout(large) {
    this.large = large;
  }

  paint() {
    const { window } = this.view;
    const lines = linesOf(this.view, this.replay).filter(({ time }) => window.x(time) >= 0 && window.x(time) <= window.width);
    const labels = lines.map(({ text, kind, title }) => make("span", { class: `time-line-label ${kind}`, title: title || null }, text));
    const strokes = lines.map(({ kind }) => make("i", { class: `time-line ${kind}`, style: kind === "makespan" ? `border-color:${runColour(this.replay.index)}` : null }));
    const labelled = lines.map((_, number) => number).filter((number) => this.large && (lines[number].main || this.inFocus));
    this.element.replaceChildren(...strokes, ...labelled.map((number) => labels[number]));
    const sizes = labelled.map((number) => ({ x: window.x(lines[number].time), width: labels[number].offsetWidth }));
    const places = placeLabels(sizes, window.width);
    const rows = Math.max(0, ...places.map(({ row }) => row + 1));
    this.element.style.height = `${rows * LABEL_HEIGHT}px`;
    // The lowest row is the first, so that few labels are close to their chart.
    const tops = places.map(({ row }) => (rows - 1 - row) * LABEL_HEIGHT);
    lines.forEach(({ time }, number) => {
      strokes[number].style.transform = `translateX(${window.x(time).toFixed(1)}px)`;
      strokes[number].style.top = `${rows * LABEL_HEIGHT}px`;
    });
    labelled.forEach((number, place) => {
      labels[number].style.transform = `translate(${places[place].left}px, ${tops[place]}px)`;
      strokes[number].style.top = `${tops[place]}px`;
    });
  }

  get inFocus() {
    return this.view.app.state.focus === this.replay.index;
  }
}
