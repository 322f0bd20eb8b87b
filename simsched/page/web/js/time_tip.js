// What is under the pointer, in words, beside the pointer.

import { make } from "./dom.js";
import { formatCount, formatSize, formatTime } from "./format.js";
import { t } from "./words.js";

/** Facts about an operator in a run. @param {import("./app.js").App} app @param {RunPart} run @param {Op} op @returns {string[][]} */
export function operatorFacts(app, run, op) {
  const { names, types, type, unit } = app.graph;
  const { work } = run;
  const time = (/** @type {number} */ each) => formatTime(each, unit);
  const queued = run.start[op] - run.dispatch[op];
  return [
    [names[op]],
    [t("time_type"), types[type[op]]],
    [t("time_runs_from_to"), `${time(run.start[op])} – ${time(run.end[op])}`],
    [t("time_takes"), time(run.end[op] - run.start[op])],
    ...(queued > 0 ? [[t("time_queued_for"), time(queued)]] : []),
    ...(work.sms[op] ? [[t("time_sms"), String(work.sms[op])]] : []),
    ...(work.flops[op] ? [["FLOP", formatCount(work.flops[op], "FLOP")]] : []),
    ...(work.bytes[op] ? [[t("time_moves"), formatSize(work.bytes[op])]] : []),
  ];
}

/** Facts about a copy. @param {import("./app.js").App} app @param {RunPart} run @param {number} index */
export function copyFacts(app, run, index) {
  const [source, target, from, to, start, end, bytes, tensor] = run.transfers[index];
  const { names, tensors, unit } = app.graph;
  const { devices } = app.document.machines[run.machine];
  return [
    [tensor >= 0 ? tensors.names[tensor] : t("time_delay")],
    [t("time_copied"), `${devices[from].name} → ${devices[to].name}`],
    [t("time_from_to_op"), `${names[source]} → ${names[target]}`],
    [t("time_runs_from_to"), `${formatTime(start, unit)} – ${formatTime(end, unit)}`],
    [t("time_takes"), formatTime(end - start, unit)],
    ...(bytes ? [[t("time_moves"), formatSize(bytes)]] : []),
  ];
}

export class TimeTip {
  constructor() {
    this.element = make("div", { class: "time-tip", role: "tooltip", hidden: true });
  }

  /** @param {string[][]} facts The first row is the title. @param {number} x @param {number} y Of the pointer in the window. */
  show([[title], ...facts], x, y) {
    const rows = facts.map(([term, text]) => make("div", {}, make("dt", {}, term), make("dd", {}, text)));
    this.element.replaceChildren(make("strong", {}, title), make("dl", {}, ...rows));
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = x + 14 + width > window.innerWidth ? Math.max(4, x - 14 - width) : x + 14;
    const top = y + 14 + height > window.innerHeight ? Math.max(4, y - 14 - height) : y + 14;
    this.element.style.transform = `translate(${left}px, ${top}px)`;
  }

  hide() {
    this.element.hidden = true;
  }
}
