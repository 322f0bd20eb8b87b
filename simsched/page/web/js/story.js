// The story of one operator in the run in focus: what it costs, whom it waits for, and every stretch of its time.

import { make, makeButton } from "./dom.js";
import { formatSize, formatTime, shortName } from "./format.js";
import { neighbours } from "./neighbours.js";
import { storyFacts } from "./story_facts.js";
import { makeParts } from "./story_parts.js";
import { t } from "./words.js";

/** Neighbours and tensors listed before the rest is only counted. */
const STORY_SHOWN = 10;

/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function mountStory(root, app) {
  const panel = make("div", { class: "story", "data-testid": "story" });
  root.append(panel);
  let shown = "";
  /** @type {(time: Time) => void} */
  let mark = () => {};
  app.subscribe((change) => {
    const op = app.state.selected ?? app.state.hovered;
    const what = [op, app.state.focus, app.state.lang, app.state.selected === null].join();
    if (change.has("document") || what !== shown) {
      shown = what;
      mark = drawStory(panel, app, op);
    }
    if (["cursor", "document", "selected", "hovered", "focus", "lang"].some((each) => change.has(each))) mark(app.state.time);
  });
}

/** Draw a story; returns what marks the part at a time. @param {HTMLElement} panel @param {import("./app.js").App} app @param {Op | null} op */
function drawStory(panel, app, op) {
  const { graph, replay } = app;
  if (op === null || !replay) {
    panel.replaceChildren(make("p", { class: "story-none" }, t(replay ? "story_none" : "step_none")));
    return () => {};
  }
  const parts = replay.run.parts ? makeParts(graph, replay, op, replay.run.parts[op]) : null;
  panel.replaceChildren(
    storyHead(app, op),
    make("p", {}, whenWords(graph, replay, op)),
    make("dl", { class: "story-facts" }, ...storyFacts(graph, replay, op).flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])),
    ...storyRelatives(app, op),
    ...storyTensors(graph, op),
    parts ? parts.root : make("p", { class: "story-none" }, t("story_no_parts")),
  );
  return parts ? parts.mark : () => {};
}

/** @param {import("./app.js").App} app @param {Op} op */
function storyHead(app, op) {
  const { graph } = app;
  const head = make(
    "div",
    { class: "story-head" },
    make("span", { class: "story-fill", style: `background:var(--fill-${graph.fills[graph.type[op]]})`, "aria-hidden": "true" }),
    make("h3", {}, graph.names[op]),
    make("span", { class: "story-type" }, graph.types[graph.type[op]]),
  );
  if (app.state.selected === op) {
    head.append(makeButton("×", () => app.set({ selected: null }), { class: "icon story-close", "aria-label": t("story_close"), title: t("story_close") }));
  }
  return head;
}

/** @param {GraphPart} graph @param {import("./replay.js").Replay} replay @param {Op} op */
function whenWords(graph, replay, op) {
  const { start, end, ready, dispatch } = replay.run;
  const time = (/** @type {Time} */ value) => formatTime(value, graph.unit);
  const waited = start[op] - ready[op];
  return t(waited > 0 ? "story_when_waited" : "story_when", {
    stream: replay.streamName(op),
    start: time(start[op]),
    end: time(end[op]),
    length: time(end[op] - start[op]),
    ready: time(ready[op]),
    dispatch: time(dispatch[op]),
    waited: time(waited),
  });
}

/** Who comes before and after, to be chosen. @param {import("./app.js").App} app @param {Op} op */
function storyRelatives(app, op) {
  const { pred, succ } = neighbours(app.graph);
  return [storyChoice(app, "story_before", pred[op], "story_no_before"), storyChoice(app, "story_after", succ[op], "story_no_after")];
}

/** @param {import("./app.js").App} app @param {string} key @param {Op[]} ops @param {string} none */
function storyChoice(app, key, ops, none) {
  const buttons = ops.slice(0, STORY_SHOWN).map((other) => {
    const name = app.graph.names[other];
    return makeButton(shortName(name, 40), () => app.set({ selected: other }), { class: "words-chip", title: name });
  });
  const rest = ops.length > STORY_SHOWN ? t("count_more", { count: ops.length - STORY_SHOWN }) : ops.length ? null : t(none);
  return make("div", { class: "story-line", role: "group", "aria-label": t(key) }, make("b", {}, t(key)), ...buttons, rest);
}

/** Tensors that an operator reads and makes, with their bytes. @param {GraphPart} graph @param {Op} op */
function storyTensors(graph, op) {
  const { tensors } = graph;
  const reads = tensors.names.flatMap((_, tensor) => (tensors.consumers[tensor].includes(op) ? [tensor] : []));
  const makes = tensors.names.flatMap((_, tensor) => (tensors.producer[tensor] === op ? [tensor] : []));
  return [tensorLine(graph, "story_reads", reads), tensorLine(graph, "story_makes", makes)].filter((line) => line !== null);
}

/** @param {GraphPart} graph @param {string} key @param {number[]} tensors */
function tensorLine(graph, key, tensors) {
  if (!tensors.length) return null;
  const texts = tensors.slice(0, STORY_SHOWN).map((each) => `${graph.tensors.names[each]} ${formatSize(graph.tensors.bytes[each])}`);
  const rest = tensors.length > STORY_SHOWN ? ` ${t("count_more", { count: tensors.length - STORY_SHOWN })}` : "";
  return make("div", { class: "story-line" }, make("b", {}, t(key)), make("span", {}, texts.join(t("list_comma")) + rest));
}
