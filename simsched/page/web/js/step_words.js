// The last event of the run in focus in words, and all events of its instant to go to.

import { headline } from "./chain.js";
import { make, makeButton, setAttributes, setText } from "./dom.js";
import { eventLabel, eventSentence } from "./event_words.js";
import { formatTime, shortName } from "./format.js";
import { keepChildren } from "./keyed.js";
import { beginSentence, endSentence, waitSentence } from "./run_words.js";
import { t } from "./words.js";

/** While it plays, the text changes no more than once in so long: it is to be read. */
const PAUSE_MS = 1000;
/** Events of one instant that are shown around the last one. */
const EVENTS_SHOWN = 30;
const NAME_LENGTH = 28;

/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function mountStepWords(root, app) {
  const event = make("span", { class: "words-event" });
  const more = make("span", { class: "words-more" });
  const words = make("div", { class: "words-now", "data-testid": "words", "aria-live": "polite", "aria-atomic": "true" }, event, " ", more);
  const instant = mountInstant(app);
  root.append(words, instant.root);
  const say = () => {
    const [first, second] = stepTexts(app);
    setText(event, first);
    const hint = second ? "" : firstHint(app);
    setText(more, second || hint);
    words.classList.toggle("words-first", hint !== "");
  };
  const sayNow = paced(say);
  let played = false;
  app.subscribe((change) => {
    if (!["document", "cursor", "focus", "lang", "mode", "playing"].some((what) => change.has(what))) return;
    // While it plays, screen readers are left in peace; at its end they hear where it stands.
    if (app.state.playing !== played) {
      played = app.state.playing;
      setAttributes(words, { "aria-live": played ? "off" : "polite" });
      if (!played) words.replaceChildren(event, " ", more);
    }
    sayNow(app.state.playing && !["document", "focus", "lang"].some((what) => change.has(what)));
    instant.show();
  });
}

/** What to do first, before anything has happened; lessons say it themselves. @param {import("./app.js").App} app */
function firstHint(app) {
  const { data, replay, state } = app;
  if (!replay || replay.position || state.mode !== "replay") return "";
  const [lesson] = data.lessons;
  return lesson ? t("step_first", { tab: t(`tab_${lesson.id}`) }) : t("step_first_replay");
}

/** Make an action that can be asked for often, and is done at once, or when it is to be slow only once in a while. @param {() => void} action */
function paced(action) {
  let timer = 0;
  let last = 0;
  return (/** @type {boolean} */ slowly) => {
    const left = slowly ? last + PAUSE_MS - performance.now() : 0;
    if (left > 0) {
      if (!timer) timer = window.setTimeout(act, left);
      return;
    }
    act();
  };
  function act() {
    clearTimeout(timer);
    timer = 0;
    last = performance.now();
    action();
  }
}

/** The sentence for what happened last, and the one for what follows from it. @param {import("./app.js").App} app @returns {[string, string]} */
export function stepTexts(app) {
  const { graph, replay } = app;
  if (!replay) return [t("step_none"), ""];
  const { position, events } = replay;
  if (position === events.length) return [endSentence(graph, replay), headline(graph, replay.run)];
  if (!position) return [beginSentence(graph, replay), ""];
  const sentence = eventSentence(graph, replay, position - 1);
  const whole = events.time[position] > events.time[position - 1];
  return [sentence, whole ? waitSentence(graph, replay, app.timeline.now()) : ""];
}

/** The events of the instant at which the run in focus is. @param {import("./app.js").App} app */
function mountInstant(app) {
  const time = make("span", { class: "words-time" });
  const before = make("span", { class: "words-count" });
  const list = make("ol", { class: "words-list" });
  const after = make("span", { class: "words-count" });
  const root = make("div", { class: "words-instant", role: "group" }, time, before, list, after);
  const show = () => {
    const { graph, replay } = app;
    root.hidden = !replay?.events.length;
    if (!replay || root.hidden) return;
    const [first, last] = instantOf(replay.events.time, Math.max(0, replay.position - 1));
    const from = Math.max(first, Math.min(replay.position - 1 - EVENTS_SHOWN / 2, last - EVENTS_SHOWN));
    const to = Math.min(last, from + EVENTS_SHOWN);
    const keys = Array.from({ length: to - from }, (_, index) => from + index);
    setAttributes(root, { "aria-label": t("step_instant") });
    setText(time, formatTime(replay.events.time[first], graph.unit));
    setText(before, from > first ? t("count_before", { count: from - first }) : "");
    setText(after, last > to ? t("count_more", { count: last - to }) : "");
    keepChildren(list, keys, (number) => eventItem(app, number), (item, number) => showEvent(app, item, number));
    reveal(list);
  };
  return { root, show };
}

/** Numbers of the first event of an instant and of the first one behind it. @param {Float64Array} times @param {number} number @returns {[number, number]} */
function instantOf(times, number) {
  let first = number;
  let last = number + 1;
  while (first > 0 && times[first - 1] === times[number]) first -= 1;
  while (last < times.length && times[last] === times[number]) last += 1;
  return [first, last];
}

/** @param {import("./app.js").App} app @param {number} number */
function eventItem(app, number) {
  const button = makeButton("", () => goToEvent(app, number), { class: "words-step" });
  button.append(make("span", { class: "words-kind" }), " ", make("span", { class: "words-name" }), make("span", { class: "hidden-text" }));
  return make("li", {}, button);
}

/** @param {import("./app.js").App} app @param {HTMLElement} item @param {number} number */
function showEvent(app, item, number) {
  const replay = /** @type {import("./replay.js").Replay} */ (app.replay);
  const button = /** @type {HTMLElement} */ (item.firstElementChild);
  const { what, name } = eventLabel(app.graph, replay, number);
  const last = number === replay.position - 1;
  const ahead = number >= replay.position;
  setText(button.children[0], what);
  setText(button.children[1], shortName(name, NAME_LENGTH));
  setText(button.children[2], ahead ? t("step_ahead") : "");
  setAttributes(button, { "aria-current": last ? "step" : null, "data-ahead": ahead, title: name });
}

/** Scroll a list within itself so that its current element shows. @param {HTMLElement} list */
function reveal(list) {
  const current = /** @type {HTMLElement | null} */ (list.querySelector("[aria-current]"));
  if (!current || list.scrollWidth <= list.clientWidth) return;
  const { left, right } = current.getBoundingClientRect();
  const frame = list.getBoundingClientRect();
  if (left < frame.left) list.scrollLeft -= frame.left - left + 8;
  else if (right > frame.right) list.scrollLeft += right - frame.right + 8;
}

/** Bring the page to the point just after an event of the run in focus. @param {import("./app.js").App} app @param {number} number */
function goToEvent(app, number) {
  const { timeline, replay } = app;
  if (!replay) return;
  let place = timeline.cursor;
  let happened = replay.position;
  while (happened <= number) if (timeline.run[place++] === replay.index) happened += 1;
  while (happened > number + 1) if (timeline.run[--place] === replay.index) happened -= 1;
  app.set({ playing: false });
  app.goto(place);
}
