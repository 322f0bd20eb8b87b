// The operators of one group, as a list that can be searched.

import { stateWord } from "./dag_text.js";
import { make, makeButton, setAttributes, setText } from "./dom.js";
import { stateSwatch } from "./patterns.js";
import { STATES } from "./replay.js";
import { t } from "./words.js";

const MEMBERS_SHOWN = 200;

/** @param {HTMLElement} frame @param {import("./dag_view.js").DagContext} context */
export function mountMembers(frame, context) {
  const { app } = context;
  const title = make("h3", { id: "dag-members-title", tabindex: -1 });
  const close = makeButton("×", () => shut(), { class: "icon", "data-testid": "group-close" });
  const search = /** @type {HTMLInputElement} */ (make("input", { type: "search", "data-testid": "group-search" }));
  const list = make("ul", { class: "dag-member-list" });
  const note = make("p", { class: "dag-note-line" });
  const panel = make("section", { class: "dag-members", "aria-labelledby": "dag-members-title", "data-testid": "group-members", hidden: true }, make("div", { class: "dag-members-head" }, title, close), search, list, note);
  frame.append(panel);
  let group = -1;
  /** @type {Map<Op, { button: HTMLElement, state: number }>} */
  let shown = new Map();

  const shut = () => {
    const inside = panel.contains(document.activeElement);
    panel.hidden = true;
    group = -1;
    shown.clear();
    list.replaceChildren();
    if (inside) /** @type {HTMLElement | null} */ (frame.querySelector(".dag-layer-boxes"))?.focus();
  };
  const fill = () => {
    const wanted = search.value.trim().toLowerCase();
    const members = (context.scene.members?.[group] ?? []).filter((op) => app.graph.names[op].toLowerCase().includes(wanted));
    shown = new Map(members.slice(0, MEMBERS_SHOWN).map((op) => [op, { button: memberButton(context, op), state: -1 }]));
    list.replaceChildren(...Array.from(shown.values(), ({ button }) => make("li", {}, button)));
    setText(note, members.length === 0 ? t("dag_group_none") : members.length > MEMBERS_SHOWN ? t("dag_group_more", { count: members.length - MEMBERS_SHOWN }) : "");
    showStates();
  };
  const showStates = () => {
    for (const [op, item] of shown) {
      if (item.state !== context.states[op]) {
        item.state = context.states[op];
        setAttributes(item.button, { "data-state": STATES[item.state] });
        /** @type {Element} */ (item.button.firstElementChild).replaceWith(stateSwatch(item.state, "dag-legend"));
        setText(/** @type {Element} */ (item.button.lastElementChild), stateWord(item.state));
      }
      setAttributes(item.button, { "aria-pressed": String(app.state.selected === op) });
    }
  };
  const showTexts = () => {
    setText(title, context.scene.names[group] ?? "");
    setAttributes(close, { "aria-label": t("dag_group_close"), title: t("dag_group_close") });
    setAttributes(search, { "aria-label": t("dag_group_search"), placeholder: t("dag_group_search") });
  };
  search.addEventListener("input", fill);
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    shut();
  });
  return {
    close: shut,
    /** @param {number} which */
    open: (which) => {
      group = which;
      panel.hidden = false;
      search.value = "";
      showTexts();
      fill();
      title.focus({ preventScroll: true });
    },
    /** @param {import("./app.js").Change} change */
    update: (change) => {
      if (panel.hidden) return;
      if (change.has("lang")) {
        showTexts();
        fill();
      }
      if (["cursor", "focus", "selected"].some((what) => change.has(what))) showStates();
    },
  };
}

/** @param {import("./dag_view.js").DagContext} context @param {Op} op */
function memberButton({ app }, op) {
  const button = makeButton("", () => app.set({ selected: app.state.selected === op ? null : op }), { class: "dag-member", "data-testid": `node-${op}` });
  button.append(make("i"), make("span", { class: "dag-member-name" }, app.graph.names[op]), make("span", { class: "dag-member-state" }));
  return button;
}
