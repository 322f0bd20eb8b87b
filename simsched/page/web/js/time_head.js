// The head line of a run: what it is called, how long it took, how far that is from the best, what it holds now.

import { mainLoss } from "./account.js";
import { make, makeButton, setAttributes, setText } from "./dom.js";
import { formatPercent, formatTime } from "./format.js";
import { memoryNow } from "./memory_view.js";
import { runColour } from "./time_colour.js";
import { t } from "./words.js";

const SHOWN_VIOLATIONS = 20;

/** The shortest run; of valid ones where there are any. @param {RunPart[]} runs */
function shortestRun(runs) {
  const valid = runs.filter((run) => run.valid !== false);
  return (valid.length ? valid : runs).reduce((least, each) => (each.makespan < least.makespan ? each : least));
}

export class RunHead {
  /** @param {import("./app.js").App} app @param {import("./replay.js").Replay} replay */
  constructor(app, replay) {
    const { index } = replay;
    this.app = app;
    this.replay = replay;
    this.label = make("span", {});
    this.name = makeButton("", () => app.set({ focus: index }), { class: "run-name", "data-testid": `run-focus-${index}` });
    this.name.append(make("i", { class: "run-swatch", style: `background:${runColour(index)}`, "aria-hidden": "true" }), this.label);
    this.makespan = make("strong", { "data-testid": `makespan-${index}` });
    this.gap = make("span", { class: "run-gap", "data-testid": `gap-${index}` });
    this.valid = make("span", { class: "run-valid" });
    this.bytesWord = make("span", {});
    this.bytes = make("span", { "data-testid": `memory-${index}` });
    this.memory = make("span", { class: "run-bytes" }, this.bytesWord, " ", this.bytes);
    this.problems = make("ul", { class: "run-problems" });
    const line = make("div", { class: "run-head" }, make("h3", {}, this.name), this.makespan, this.gap, this.valid, this.memory);
    this.element = make("div", {}, line, this.problems);
  }

  /** @param {boolean} inFocus */
  layout(inFocus) {
    setAttributes(this.name, { "aria-pressed": String(inFocus) });
  }

  paint() {
    const { app, replay } = this;
    const { run } = replay;
    const best = shortestRun(app.document.runs);
    setText(this.label, run.label);
    setAttributes(this.name, { title: t("time_focus_on", { run: run.label }) });
    setText(this.makespan, formatTime(run.makespan, app.graph.unit));
    const isBest = run.makespan === best.makespan && run.valid !== false;
    setText(this.gap, app.replays.length < 2 ? "" : isBest ? t("time_best") : this.#overBest(best));
    setAttributes(this.gap, { title: isBest ? null : this.#overBest(best, "_long") });
    this.gap.classList.toggle("best", isBest);
    const valid = run.valid === null ? "unchecked" : run.valid ? "valid" : "invalid";
    setText(this.valid, t(`time_${valid}`));
    setAttributes(this.valid, { "data-state": valid });
    setText(this.bytesWord, t("time_memory_now"));
    this.memory.hidden = !run.memory_steps.some(({ time }) => time.length);
    this.problems.replaceChildren(...run.violations.slice(0, SHOWN_VIOLATIONS).map((text) => make("li", {}, text)));
    this.problems.hidden = run.violations.length === 0;
  }

  /** How much longer than the shortest run, and what most of that is due to. @param {RunPart} best @param {"" | "_long"} [long] */
  #overBest(best, long = "") {
    if (best.makespan <= 0 || this.replay.run.makespan < best.makespan) return "";
    const { app, replay } = this;
    const gap = formatPercent(replay.run.makespan / best.makespan - 1);
    const loss = mainLoss(app.graph, replay.run, best);
    return loss && loss !== "run" ? t(`time_over_best_why${long}`, { gap, kind: t(`account_${loss}`) }) : t("time_over_best", { gap });
  }

  step() {
    setText(this.bytes, memoryNow(this.app, this.replay));
  }
}
