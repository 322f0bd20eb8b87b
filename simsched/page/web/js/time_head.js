// The head line of a run: what it is called, how long it took, how far that is from the best, what it holds now.

import { make, makeButton, setAttributes, setText } from "./dom.js";
import { formatPercent, formatTime } from "./format.js";
import { memoryNow } from "./memory_view.js";
import { runColour } from "./time_colour.js";
import { t } from "./words.js";

const SHOWN_VIOLATIONS = 20;

export class RunHead {
  /** @param {import("./app.js").App} app @param {import("./replay.js").Replay} replay */
  constructor(app, replay) {
    const { index } = replay;
    this.app = app;
    this.replay = replay;
    this.label = make("span", {});
    this.name = makeButton("", () => app.set({ focus: index }), { class: "run-name", "data-testid": `run-focus-${index}` });
    this.name.append(make("i", { class: "run-swatch", style: `background:${runColour(index)}`, "aria-hidden": "true" }), this.label);
    this.makespan = make("strong", { class: "run-makespan", "data-testid": `makespan-${index}` });
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
    const best = Math.min(...app.document.runs.map(({ makespan }) => makespan));
    setText(this.label, run.label);
    setAttributes(this.name, { title: t("time_focus_on", { run: run.label }) });
    setText(this.makespan, formatTime(run.makespan, app.graph.unit));
    const over = best > 0 ? t("time_over_best", { gap: formatPercent(run.makespan / best - 1) }) : "";
    setText(this.gap, app.replays.length < 2 ? "" : run.makespan === best ? t("time_best") : over);
    this.gap.classList.toggle("best", run.makespan === best);
    const valid = run.valid === null ? "unchecked" : run.valid ? "valid" : "invalid";
    setText(this.valid, t(`time_${valid}`));
    setAttributes(this.valid, { "data-state": valid });
    setText(this.bytesWord, t("time_memory_now"));
    this.memory.hidden = !run.memory_steps.some(({ time }) => time.length);
    this.problems.replaceChildren(...run.violations.slice(0, SHOWN_VIOLATIONS).map((text) => make("li", {}, text)));
    this.problems.hidden = run.violations.length === 0;
  }

  step() {
    setText(this.bytes, memoryNow(this.app, this.replay));
  }
}
