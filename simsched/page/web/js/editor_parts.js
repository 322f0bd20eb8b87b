// Pieces that the sections of the editor share.

import { make, makeButton } from "./dom.js";
import { t } from "./words.js";

/**
 * @typedef {object} Editing What the sections may see and do.
 * @property {import("./app.js").App} app
 * @property {import("./editor_state.js").LiveState} state
 * @property {PageDocument} document Of the last run.
 * @property {(change: (edits: import("./editor_state.js").Edits) => void) => void} change
 */

/** Whether there is room for sections that are open from the beginning. */
export function isWide() {
  return matchMedia("(min-width: 1000px)").matches;
}

/** A part of the editor that folds; its content is replaced whenever the state has changed. @param {string} id @param {boolean} open */
export function editorSection(id, open) {
  const title = make("span");
  const note = make("span", { class: "live-note" });
  const body = make("div", { class: "live-body" });
  const root = make("details", { class: "live-section", "data-testid": `live-${id}`, open }, make("summary", {}, title, note), body);
  return { root, title, note, body };
}

/**
 * A text that is taken when it is left or Enter is pressed.
 * @param {{label: string, value: string, edited: boolean, placeholder?: string, testid: string}} given
 * @param {(text: string) => void} take
 */
export function textBox(given, take) {
  const attributes = {
    type: "text", "aria-label": given.label, placeholder: given.placeholder ?? null, "data-testid": given.testid,
    "data-edited": given.edited ? "true" : null, autocomplete: "off", spellcheck: "false", autocapitalize: "off",
  };
  const input = /** @type {HTMLInputElement} */ (make("input", attributes));
  input.value = input.dataset.taken = given.value;
  input.addEventListener("change", () => {
    if (input.value === input.dataset.taken) return;
    input.dataset.taken = input.value;
    take(input.value.trim());
  });
  return input;
}

/**
 * @param {{label: string, testid: string}} given
 * @param {{value: string, label: string}[]} options
 * @param {string} chosen
 * @param {(value: string) => void} take
 */
export function choiceBox(given, options, chosen, take) {
  const select = /** @type {HTMLSelectElement} */ (make("select", { "aria-label": given.label, "data-testid": given.testid }));
  select.append(...options.map(({ value, label }) => make("option", { value }, label)));
  select.value = chosen;
  select.addEventListener("change", () => take(select.value));
  return select;
}

/** @param {string} label @param {HTMLElement} control */
export function labelled(label, control) {
  return make("label", { class: "live-field" }, make("span", {}, label), control);
}

/** @param {string} name What it removes. @param {() => void} remove @param {string} testid */
export function removeButton(name, remove, testid) {
  const label = t("live_remove", { name });
  return makeButton("✕", remove, { class: "live-small", "aria-label": label, title: label, "data-testid": testid });
}
