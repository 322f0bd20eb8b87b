// An operator's time from 0 to its end: a bar in proportion, and a table of its parts with words.

import { kindOfReason } from "./account.js";
import { make, setAttributes } from "./dom.js";
import { formatTime } from "./format.js";
import { partWords } from "./part_words.js";
import { partAt } from "./waits.js";
import { t } from "./words.js";

/** Parts shown before the rest is only counted. */
const PARTS_SHOWN = 60;

/** As in the bars of whole runs, and "before" for what waits for its predecessors. @param {Part} part */
function kindOfPart({ kind, reason, speed }) {
  if (kind === "run" && reason !== "launch") return (speed ?? 1) < 1 ? "shared" : "run";
  return reason === "dependency" ? "before" : kindOfReason(reason);
}

/**
 * Make the bar and the table; `mark` marks the part at a time.
 * @param {GraphPart} graph
 * @param {import("./replay.js").Replay} replay
 * @param {Op} op
 * @param {Part[]} parts
 */
export function makeParts(graph, replay, op, parts) {
  const shown = parts.slice(0, PARTS_SHOWN);
  const rows = shown.map((part) => partRow(graph, replay, op, part));
  const stretches = shown.map((part) => {
    const stretch = make("span", { class: `story-part kind-${kindOfPart(part)}`, title: partWords(graph, replay, op, part) });
    stretch.style.flexGrow = String(part.end - part.start);
    return stretch;
  });
  const head = make("tr", {}, ...["story_from", "story_length", "story_what"].map((key) => make("th", { scope: "col" }, t(key))));
  const table = make("table", { class: "story-table" }, make("caption", {}, t("story_time")), make("thead", {}, head), make("tbody", {}, ...rows));
  const root = make("div", {}, make("div", { class: "story-bar", "aria-hidden": "true" }, ...stretches), make("div", { class: "scroll-x" }, table));
  if (parts.length > PARTS_SHOWN) root.append(make("p", {}, t("count_more", { count: parts.length - PARTS_SHOWN })));
  let marked = -1;
  const mark = (/** @type {Time} */ time) => {
    const now = time < replay.run.end[op] ? partAt(parts, time) : -1;
    if (now === marked) return;
    markPart(rows[marked], stretches[marked], false);
    markPart(rows[now], stretches[now], true);
    marked = now;
  };
  return { root, mark };
}

/** @param {HTMLElement | undefined} row @param {HTMLElement | undefined} stretch @param {boolean} on */
function markPart(row, stretch, on) {
  if (row) setAttributes(row, { "aria-current": on ? "time" : null });
  if (stretch) setAttributes(stretch, { "data-now": on });
}

/** @param {GraphPart} graph @param {import("./replay.js").Replay} replay @param {Op} op @param {Part} part */
function partRow(graph, replay, op, part) {
  const time = (/** @type {Time} */ value) => formatTime(value, graph.unit);
  return make(
    "tr",
    {},
    make("td", { class: "story-time" }, make("span", { class: `story-key kind-${kindOfPart(part)}`, "aria-hidden": "true" }), time(part.start)),
    make("td", { class: "story-time" }, time(part.end - part.start)),
    make("td", {}, partWords(graph, replay, op, part)),
  );
}
