// The editor of schedulers: those to choose, and one to write.

import { make, makeButton } from "./dom.js";
import { editorSection, isWide } from "./editor_parts.js";
import { t } from "./words.js";

const FIRST_SCHEDULERS = ["serial", "topological", "critical_path", "greedy_ready", "memory_aware", "pipeline"];

const EXAMPLE_CODE = `from dataclasses import dataclass

from simsched.schedulers.listing import list_policy


@dataclass(frozen=True)
class MostSuccessors:
    """Ready operators with many successors first."""

    def start(self, problem):
        graph = problem.graph
        return list_policy(problem, [len(after) for after in graph.succ])
`;

/** @typedef {{name: string, summary: string}} KnownScheduler */

export class SchedulerEditor {
  /** @param {() => void} runCode Run what stands in the box. */
  constructor(runCode) {
    this.runCode = runCode;
    this.section = editorSection("schedulers", isWide());
    this.code = editorSection("code", false);
    /** @type {KnownScheduler[]} */
    this.known = FIRST_SCHEDULERS.map((name) => ({ name, summary: "" }));
    this.text = EXAMPLE_CODE;
    /** @type {{message: string, line?: number} | null} */
    this.fault = null;
    this.box = /** @type {HTMLTextAreaElement} */ (make("textarea", { class: "mono", rows: 13, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "data-testid": "live-code" }));
    this.gutter = make("div", { class: "live-gutter mono", "aria-hidden": "true" });
    this.said = make("p", { class: "live-fault", id: "live-code-fault", "data-testid": "live-code-fault" });
    this.box.addEventListener("input", () => this.#drawGutter());
    this.box.addEventListener("scroll", () => (this.gutter.scrollTop = this.box.scrollTop));
    this.box.addEventListener("keydown", (event) => keepIndentation(event, this.box));
  }

  get roots() {
    return [this.section.root, this.code.root];
  }

  /** @param {import("./editor_parts.js").Editing} editing */
  draw(editing) {
    const { schedulers } = editing.state.edits;
    const written = schedulers.find((each) => each.code !== undefined);
    this.section.title.textContent = t("live_schedulers");
    this.section.note.textContent = String(schedulers.length);
    const chosen = schedulers.filter((each) => each.code === undefined).map((each) => each.spec);
    const names = this.known.map((each) => each.name);
    const first = [...FIRST_SCHEDULERS, ...chosen.filter((spec) => !FIRST_SCHEDULERS.includes(spec))];
    const others = names.filter((name) => !first.includes(name));
    const rows = (/** @type {string[]} */ specs) => make("div", { class: "live-checks" }, ...specs.map((spec) => this.#check(editing, spec, chosen.includes(spec))));
    const folded = /** @type {HTMLDetailsElement | null} */ (this.section.body.querySelector("details"));
    const more = make("details", { open: folded?.open ?? false }, make("summary", {}, t("live_more_schedulers", { count: others.length })), rows(others), specForm(editing));
    this.section.body.replaceChildren(rows(first), more);
    this.#drawCode(editing, written);
  }

  /** @param {import("./editor_parts.js").Editing} editing @param {string} spec @param {boolean} checked */
  #check(editing, spec, checked) {
    const box = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", "data-testid": `live-scheduler-${spec}` }));
    box.checked = checked;
    box.addEventListener("change", () =>
      editing.change((edits) => {
        if (box.checked) edits.schedulers.push({ spec });
        else edits.schedulers = edits.schedulers.filter((each) => each.code !== undefined || each.spec !== spec);
      }),
    );
    const summary = this.known.find((each) => each.name === spec)?.summary ?? "";
    return make("label", { title: summary || null }, box, make("span", {}, spec));
  }

  /** @param {import("./editor_parts.js").Editing} editing @param {LiveScheduler | undefined} written */
  #drawCode(editing, written) {
    this.code.title.textContent = t("live_own");
    this.code.note.textContent = written ? t("live_own_on") : "";
    if (written?.code !== undefined && written.code !== this.text) this.text = written.code;
    if (document.activeElement !== this.box || !this.box.value) this.box.value = this.text;
    this.box.setAttribute("aria-label", t("live_own"));
    this.box.setAttribute("aria-describedby", "live-code-fault");
    const use = makeButton(t(written ? "live_own_again" : "live_own_use"), this.runCode, { "data-testid": "live-use-code" });
    const stop = makeButton(t("live_own_without"), () => editing.change((edits) => {
      edits.schedulers = edits.schedulers.filter((each) => each.code === undefined);
    }));
    const example = makeButton(t("live_own_example"), () => {
      this.box.value = this.text = EXAMPLE_CODE;
      this.tell(null);
    });
    this.code.body.replaceChildren(
      make("p", { class: "live-note" }, t("live_own_help")),
      make("div", { class: "live-editor" }, this.gutter, this.box),
      this.said,
      make("div", { class: "live-buttons" }, use, ...(written ? [stop] : []), example),
    );
    this.#drawGutter();
  }

  /** Choose the scheduler that stands in the box. @param {import("./editor_state.js").LiveState} state */
  take(state) {
    this.text = this.box.value;
    state.change((edits) => {
      edits.schedulers = [...edits.schedulers.filter((each) => each.code === undefined), { spec: "", code: this.text }];
    });
  }

  /** Whether the reader is in the box, or has changed in it what is in use. @param {import("./editor_state.js").LiveState} state */
  wantsCode(state) {
    return document.activeElement === this.box || state.edits.schedulers.some((each) => each.code !== undefined && each.code !== this.box.value);
  }

  /** Unfold the box. */
  open() {
    /** @type {HTMLDetailsElement} */ (this.code.root).open = true;
  }

  /** Say what is wrong with the text, at its line; null takes it back. @param {{message: string, line?: number} | null} fault */
  tell(fault) {
    this.fault = fault;
    this.said.textContent = fault ? fault.message : "";
    this.box.setAttribute("aria-invalid", String(fault !== null));
    if (fault) this.open();
    this.#drawGutter();
    if (fault?.line) this.box.scrollTop = Math.max(0, (fault.line - 4) * lineHeight(this.box));
  }

  #drawGutter() {
    const count = this.box.value.split("\n").length;
    const numbers = Array.from({ length: count }, (_, index) =>
      make("div", { class: this.fault?.line === index + 1 ? "live-bad-line" : null }, this.fault?.line === index + 1 ? `✗ ${index + 1}` : String(index + 1)),
    );
    this.gutter.replaceChildren(...numbers);
    this.gutter.scrollTop = this.box.scrollTop;
  }
}

/** @param {HTMLElement} element */
function lineHeight(element) {
  return parseFloat(getComputedStyle(element).lineHeight) || 18;
}

/** A scheduler with parameters. @param {import("./editor_parts.js").Editing} editing */
function specForm(editing) {
  const input = /** @type {HTMLInputElement} */ (make("input", { type: "text", "aria-label": t("live_spec"), placeholder: "greedy_ready:spt", "data-testid": "live-spec", autocomplete: "off", spellcheck: "false" }));
  const form = make("form", { class: "live-new" }, input, make("button", { type: "submit" }, t("live_add")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const spec = input.value.trim();
    if (spec) editing.change((edits) => edits.schedulers.push({ spec }));
  });
  return make("div", {}, make("p", { class: "live-note" }, t("live_spec_help")), form);
}

/** A new line begins where the one before does, further in after a colon. Tab is left to the reader's way through the page. @param {KeyboardEvent} event @param {HTMLTextAreaElement} box */
function keepIndentation(event, box) {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
  const line = box.value.slice(0, box.selectionStart).split("\n").at(-1) ?? "";
  const indentation = (/^ */u.exec(line)?.[0] ?? "") + (line.trimEnd().endsWith(":") ? "    " : "");
  event.preventDefault();
  box.setRangeText(`\n${indentation}`, box.selectionStart, box.selectionEnd, "end");
  box.dispatchEvent(new Event("input"));
}
