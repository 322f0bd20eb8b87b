// Help: the keys, the states, what this page is.

import { make, makeButton, makeSvg, setAttributes } from "./dom.js";
import { patternDefs, stateSwatch } from "./patterns.js";
import { STATES } from "./replay.js";
import { t } from "./words.js";

/** Keys and what they do. @type {[string[], string][]} */
const HELP_KEYS = [
  [["→", "←"], "help_step"],
  [["Shift + →", "Shift + ←"], "help_instant"],
  [["Space"], "help_play"],
  [["Home", "End"], "help_ends"],
  [["[", "]"], "help_focus"],
  [["Enter"], "help_select"],
  [["Esc"], "help_escape"],
  [["?"], "help_help"],
];

/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function mountHelp(root, app) {
  const dialog = /** @type {HTMLDialogElement} */ (make("dialog", { class: "help", "data-testid": "help-dialog", "aria-labelledby": "help-title" }));
  const open = makeButton("?", () => openHelp(dialog), { class: "icon help-open", "data-testid": "help", "aria-haspopup": "dialog" });
  root.append(open, dialog);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (/** @type {Element | null} */ (event.target instanceof Element ? event.target : null)?.closest("input:not([type=checkbox], [type=radio], [type=range]), select, textarea")) return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else openHelp(dialog);
  });
  app.subscribe((change) => {
    if (!change.has("lang") && !change.has("document")) return;
    setAttributes(open, { "aria-label": t("help"), title: t("help_title") });
    drawHelp(dialog, app);
  });
}

/** A modal dialog takes the focus, keeps it, and gives it back at its end. @param {HTMLDialogElement} dialog */
function openHelp(dialog) {
  if (!dialog.open) dialog.showModal();
}

/** @param {HTMLDialogElement} dialog @param {import("./app.js").App} app */
function drawHelp(dialog, app) {
  const close = makeButton("×", () => dialog.close(), { class: "icon", "aria-label": t("help_close") });
  const title = make("h2", { id: "help-title" }, t("help_title"));
  dialog.replaceChildren(
    make("div", { class: "help-head" }, title, close),
    make("p", {}, t("help_what")),
    make("h3", {}, t("help_states")),
    helpStates(),
    make("h3", {}, t("help_marks")),
    make("ul", {}, ...["help_mark_critical", "help_mark_edges", "help_mark_lines", "help_b_level"].map((key) => make("li", {}, t(key)))),
    make("h3", {}, t("help_keys")),
    helpKeys(),
    make("p", { class: "help-about" }, t("help_version", { version: app.data.version })),
  );
}

function helpStates() {
  const defs = make("div", { class: "help-patterns", "aria-hidden": "true" }, makeSvg("svg", { width: 0, height: 0 }, patternDefs("help")));
  const rows = STATES.flatMap((state, index) => [make("dt", {}, stateSwatch(index, "help"), " ", t(`state_${state}`)), make("dd", {}, t(`help_state_${state}`))]);
  return make("div", {}, defs, make("dl", { class: "help-list" }, ...rows));
}

function helpKeys() {
  const rows = HELP_KEYS.flatMap(([keys, what]) => {
    const names = keys.flatMap((key, index) => [...(index ? [" "] : []), make("kbd", {}, key === "Space" ? t("help_space") : key)]);
    return [make("dt", {}, ...names), make("dd", {}, t(what))];
  });
  return make("dl", { class: "help-list" }, ...rows);
}
