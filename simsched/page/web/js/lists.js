// What is ready, running and queued now, in words.

import { make, makeButton, setAttributes, setText } from "./dom.js";
import { formatTime, formatWhole } from "./format.js";
import { keepChildren } from "./keyed.js";
import { DONE, IS_READY, QUEUED, RUNNING, STATES, WAITING } from "./replay.js";
import { t } from "./words.js";
import { waitWords } from "./waits.js";

/** Operators of a list before the rest is only counted. */
const LIST_SHOWN = 8;

/** The lists: state, test id, and what is said of each operator. @type {[number, string, (app: import("./app.js").App, op: Op) => string][]} */
const LISTS = [
  [IS_READY, "ready-list", whyNotYet],
  [QUEUED, "queued-list", whyNotYet],
  [RUNNING, "running-list", untilWhen],
];

/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function mountLists(root, app) {
  const progress = make("p", { class: "lists-progress" });
  const lists = LISTS.map(([state, id, note]) => mountList(app, state, id, note));
  root.append(progress, make("div", { class: "lists-columns" }, ...lists.map((list) => list.root)));
  app.subscribe((change) => {
    if (!["document", "cursor", "focus", "lang", "selected"].some((what) => change.has(what))) return;
    setText(progress, progressWords(app));
    for (const list of lists) list.show();
  });
}

/** @param {import("./app.js").App} app */
function progressWords(app) {
  const counts = app.replay?.counts ?? [app.graph.names.length, 0, 0, 0, 0];
  const all = counts.reduce((sum, count) => sum + count, 0);
  return t("lists_progress", { done: formatWhole(counts[DONE]), all: formatWhole(all), waiting: formatWhole(counts[WAITING]) });
}

/** @param {import("./app.js").App} app @param {number} state @param {string} id @param {(app: import("./app.js").App, op: Op) => string} note */
function mountList(app, state, id, note) {
  const title = make("h3", { id: `${id}-title` });
  const list = make("ul", { class: "lists-list", "data-testid": id, "aria-labelledby": `${id}-title` });
  const rest = make("p", { class: "lists-rest" });
  const root = make("section", { class: "lists-part" }, title, list, rest);
  const show = () => {
    const ops = app.replay?.inState(state) ?? [];
    setText(title, t(`lists_${STATES[state]}`, { count: formatWhole(ops.length) }));
    let before = "";
    keepChildren(list, ops.slice(0, LIST_SHOWN), (op) => listItem(app, op), (item, op) => {
      const words = note(app, op);
      showItem(app, item, op, words === before ? t("lists_likewise") : words);
      before = words;
    });
    const text = ops.length > LIST_SHOWN ? t("count_more", { count: formatWhole(ops.length - LIST_SHOWN) }) : "";
    setText(rest, ops.length ? text : t(`lists_${STATES[state]}_none`));
    rest.hidden = !rest.textContent;
  };
  return { root, show };
}

/** @param {import("./app.js").App} app @param {Op} op */
function listItem(app, op) {
  const button = makeButton("", () => app.set({ selected: app.state.selected === op ? null : op }), { class: "words-chip" });
  return make("li", { "data-op": op }, button, " ", make("span", { class: "lists-note" }));
}

/** @param {import("./app.js").App} app @param {HTMLElement} item @param {Op} op @param {string} note */
function showItem(app, item, op, note) {
  setText(item.children[0], app.graph.names[op]);
  setAttributes(item.children[0], { "aria-pressed": String(app.state.selected === op) });
  setText(item.children[1], note);
}

/** @param {import("./app.js").App} app @param {Op} op */
function whyNotYet(app, op) {
  const replay = /** @type {import("./replay.js").Replay} */ (app.replay);
  const time = app.timeline.now();
  const why = waitWords(app.graph, replay, op, time);
  if (why) return why;
  return t(replay.state(op) === IS_READY ? "lists_dispatched_now" : "lists_started_now");
}

/** @param {import("./app.js").App} app @param {Op} op */
function untilWhen(app, op) {
  const replay = /** @type {import("./replay.js").Replay} */ (app.replay);
  return t("lists_until", { stream: replay.streamName(op), time: formatTime(replay.run.end[op], app.graph.unit) });
}
