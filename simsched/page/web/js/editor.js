// The editor beside a live run: where graph and hardware come from, the sections, the buttons, what it says.

import { make, makeButton, setText } from "./dom.js";
import { GraphEditor } from "./editor_graph.js";
import { HardwareEditor } from "./editor_hardware.js";
import { choiceBox, labelled } from "./editor_parts.js";
import { SchedulerEditor } from "./editor_schedulers.js";
import { holdFocus } from "./focus.js";
import { t } from "./words.js";

const BUSY_SAID_MS = 300;

/** What the buttons do. @typedef {{run: () => void, runCode: () => void, undo: () => void, reset: () => void, share: () => void, choose: (part: Partial<import("./editor_state.js").Source>) => void}} EditorActions */

export class Editor {
  /** @param {HTMLElement} root @param {EditorActions} actions */
  constructor(root, actions) {
    this.actions = actions;
    this.graph = new GraphEditor();
    this.hardware = new HardwareEditor();
    this.schedulers = new SchedulerEditor(actions.runCode);
    this.words = () => "";
    /** @type {import("./catalogue.js").CatalogueIndex | null} */
    this.catalogue = null;
    this.title = make("h2", { id: "live-title" });
    this.intro = make("p", { class: "live-intro" });
    this.sources = make("div", { class: "live-sources" });
    this.status = make("p", { class: "live-status", role: "status", "data-testid": "live-status" });
    this.progress = /** @type {HTMLProgressElement} */ (make("progress", { max: 4, hidden: true, "aria-hidden": "true" }));
    this.buttons = {
      run: makeButton("", actions.run, { class: "primary", "data-testid": "live-run", "aria-keyshortcuts": "Control+Enter" }),
      undo: makeButton("", actions.undo, { "data-testid": "live-undo" }),
      reset: makeButton("", actions.reset, { "data-testid": "live-reset" }),
      share: makeButton("", actions.share, { "data-testid": "live-share" }),
    };
    this.auto = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", "data-testid": "live-auto", checked: true }));
    this.autoLabel = make("span");
    this.link = make("div", { class: "live-link", hidden: true });
    const sections = [...this.graph.roots, ...this.hardware.roots, ...this.schedulers.roots];
    this.content = make("div", {}, ...sections);
    const buttons = make("div", { class: "live-buttons" }, ...Object.values(this.buttons));
    const foot = make("div", { class: "live-foot" }, buttons, make("label", { class: "live-auto" }, this.auto, this.autoLabel), this.progress, this.status, this.link);
    root.setAttribute("aria-labelledby", "live-title");
    root.append(this.title, this.intro, this.sources, foot, this.content);
    this.pressed = false;
    root.addEventListener("pointerdown", () => (this.pressed = true));
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => (this.pressed = false)));
    root.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        commitBox();
        actions.run();
      }
    });
  }

  /** What there is to choose from. @param {import("./catalogue.js").CatalogueIndex} index */
  know(index) {
    this.catalogue = index;
    this.schedulers.known = index.schedulers;
  }

  /** Whether a change is to run at once. */
  get atOnce() {
    return this.auto.checked;
  }

  /** Write everything anew; the reader stays where they are. @param {import("./editor_parts.js").Editing | null} editing @param {import("./editor_state.js").Source} source */
  draw(editing, source) {
    const back = placeOfReader();
    this.title.textContent = t("live_title");
    this.intro.textContent = t("live_intro");
    for (const [key, button] of Object.entries(this.buttons)) button.textContent = t(`live_${key}`);
    this.buttons.run.title = t("live_run_key");
    this.autoLabel.textContent = t("live_auto");
    setText(this.status, this.words());
    this.content.hidden = !editing;
    this.#drawSources(source);
    if (!editing) return;
    this.graph.draw(editing);
    this.hardware.draw(editing);
    this.schedulers.draw(editing);
    back();
    // Who has undone the last change is left at a button that can no longer be pressed.
    const giveFocusBack = holdFocus();
    this.buttons.undo.disabled = !editing.state.past.length;
    this.buttons.reset.disabled = !editing.state.changed;
    giveFocusBack();
  }

  /** @param {import("./editor_state.js").Source} source */
  #drawSources(source) {
    const own = { value: "", label: t("live_own_page") };
    const graphs = this.catalogue?.graphs.map(({ name, operators }) => ({ value: name, label: t("live_graph_of", { name, operators }) })) ?? [];
    const hardware = this.catalogue?.hardware.map(({ name }) => ({ value: name, label: name })) ?? [];
    const graphBox = choiceBox({ label: t("live_graph"), testid: "live-graph" }, [own, ...graphs], source.graph, (graph) => this.actions.choose({ graph }));
    const hardwareBox = choiceBox({ label: t("live_hardware"), testid: "live-hardware-name" }, [own, ...hardware], source.hardware, (name) => this.actions.choose({ hardware: name }));
    this.sources.replaceChildren(labelled(t("live_graph"), graphBox), labelled(t("live_hardware"), hardwareBox));
  }

  /** Mark that something runs; say so only when it takes long, so that nothing jumps under the reader's pointer. */
  sayBusy() {
    this.status.dataset.kind = "busy";
    setTimeout(() => {
      if (this.status.dataset.kind === "busy") this.say(() => t("live_running"), "busy");
    }, BUSY_SAID_MS);
  }

  /** Say how it goes, in the language of the page also when that changes. @param {() => string} words @param {"busy" | "good" | "bad" | "plain"} kind */
  say(words, kind) {
    this.words = words;
    this.status.textContent = words();
    this.status.dataset.kind = kind;
  }

  /** @param {number | null} step Of four; null when it is loaded, or cannot be. */
  showProgress(step) {
    this.progress.hidden = step === null;
    if (step !== null) this.progress.value = step;
  }

  /** Show a link to copy; where the page may, it has been copied already. @param {string | null} link @param {boolean} copied */
  showLink(link, copied) {
    this.link.hidden = link === null;
    if (link === null) return;
    const box = /** @type {HTMLInputElement} */ (make("input", { type: "text", readonly: true, "aria-label": t("live_link"), "data-testid": "live-link" }));
    box.value = link;
    box.addEventListener("focus", () => box.select());
    this.link.replaceChildren(box, make("p", { class: "live-note" }, t(copied ? "live_link_copied" : "live_link_copy")));
    if (!copied) box.focus();
  }
}

/** Take a text that is still being written, as leaving its box would. */
function commitBox() {
  const active = document.activeElement;
  if (active instanceof HTMLInputElement) active.dispatchEvent(new Event("change"));
}

/** Remember where the reader is, also within a text that is still being written, to bring them back after a drawing. */
function placeOfReader() {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  const place = active?.getAttribute("data-testid");
  const writing = active instanceof HTMLInputElement && active.type === "text" && active.value !== active.dataset.taken ? active : null;
  const { value, selectionStart, selectionEnd } = writing ?? {};
  return () => {
    if (!place || !active || document.activeElement === active) return;
    if (active.isConnected) {
      active.focus(); // it was taken out and put back
      return;
    }
    const found = /** @type {HTMLInputElement | null} */ (document.querySelector(`[data-testid="${CSS.escape(place)}"]`));
    found?.focus();
    if (!found || value === undefined) return;
    found.value = value;
    found.setSelectionRange(selectionStart ?? 0, selectionEnd ?? 0);
  };
}
