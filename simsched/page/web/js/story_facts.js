// What an operator costs, how late it may be, and what shortening it would buy.

import { formatCount, formatSize, formatTime, formatWhole } from "./format.js";
import { longestPath, longestPathWithout } from "./neighbours.js";
import { reasonWords } from "./translated.js";
import { hasText, t } from "./words.js";

/** Facts as pairs of a name and a text. @param {GraphPart} graph @param {import("./replay.js").Replay} replay @param {Op} op @returns {[string, string][]} */
export function storyFacts(graph, replay, op) {
  const reason = replay.run.reasons[String(op)];
  return [
    ...(reason ? [/** @type {[string, string]} */ ([t("story_chosen"), reasonWords(reason)])] : []),
    ...costFacts(graph, replay.run.work, op),
    [t("story_slack"), slackWords(graph, replay, op)],
    [t("story_end"), t(replay.run.path.includes(op) ? "story_on_path" : "story_off_path")],
  ];
}

/** @param {GraphPart} graph @param {Work} work @param {Op} op @returns {[string, string][]} */
function costFacts(graph, work, op) {
  const flops = work.flops[op];
  const bytes = work.bytes[op];
  const time = (/** @type {Time} */ value) => formatTime(value, graph.unit);
  const bound = `story_bound_${work.bounds[work.bound[op]]}`;
  const texts = [
    ...(flops ? [formatCount(flops, "FLOP")] : []),
    ...(bytes ? [t("story_moved", { size: formatSize(bytes) })] : []),
    ...(flops && bytes ? [t("story_intensity", { intensity: formatCount(flops / bytes, "FLOP/B") })] : []),
    ...(work.sms[op] ? [t("story_sms", { count: formatWhole(work.sms[op]) })] : []),
  ];
  const sides = work.compute[op] || work.memory[op] ? t("story_sides", { compute: time(work.compute[op]), memory: time(work.memory[op]) }) : "";
  /** @type {[string, string][]} */
  const facts = [[t("story_duration"), time(work.estimate[op]) + (hasText(bound) ? t("story_because", { bound: t(bound) + sides }) : "")]];
  return texts.length ? [...facts, [t("story_cost"), texts.join(t("list_comma"))]] : facts;
}

/**
 * How late an operator may be, and what the longest path, which is a lower bound of every run, would be if it took no
 * time. What a run of this graph would gain depends on the scheduler, too, and is not said.
 * @param {GraphPart} graph
 * @param {import("./replay.js").Replay} replay
 * @param {Op} op
 */
function slackWords(graph, replay, op) {
  const { duration, slack } = replay.machine;
  const time = (/** @type {Time} */ value) => formatTime(value, graph.unit);
  const path = longestPath(graph, duration);
  if (slack[op]) return t("story_has_slack", { slack: time(slack[op]), path: time(path) });
  const without = longestPathWithout(graph, duration, op);
  return t(noSlackKey(path, without, duration[op]), { path: time(path), without: time(without), length: time(duration[op]) });
}

/** @param {Time} path @param {Time} without @param {Time} length */
function noSlackKey(path, without, length) {
  if (!length) return "story_no_slack_no_time";
  if (without === path) return "story_no_slack_alike";
  return without === path - length ? "story_no_slack_full" : "story_no_slack_part";
}
