// All runs of the document, one below the other, on one scale of time and under one cursor.

import { make } from "./dom.js";
import { AxisTrack } from "./time_axis_track.js";
import { RunBlock } from "./time_run.js";
import { TimeTip } from "./time_tip.js";
import { TimeTools } from "./time_tools.js";
import { TimeView } from "./time_view.js";
import { t } from "./words.js";

/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function mountRuns(root, app) {
  const view = new TimeView(app);
  const tools = new TimeTools(view);
  const tip = new TimeTip();
  const axis = new AxisTrack(view);
  const failures = make("div");
  const list = make("div", { class: "run-list" });
  root.classList.add("time-root");
  root.append(tools.element, failures, tools.legend, axis.element, list, tip.element);
  /** @type {RunBlock[]} */
  let blocks = [];

  new ResizeObserver(() => app.touch("window")).observe(axis.plot);

  const rebuild = () => {
    tip.hide();
    blocks = app.replays.map((replay) => new RunBlock(view, replay, tip));
    list.replaceChildren(...blocks.map((block) => block.element));
    tools.fill();
    view.window.fit(view.end());
  };
  const layout = () => {
    showRunFailures(failures, app);
    for (const element of [tools.element, axis.element]) element.hidden = !blocks.length;
    for (const block of blocks) block.layout();
  };
  const paint = () => {
    view.window.width = axis.plot.clientWidth;
    view.font = getComputedStyle(root).fontFamily;
    tools.update();
    axis.paint();
    for (const block of blocks) block.paint();
  };
  const step = () => {
    axis.step();
    for (const block of blocks) block.step();
  };

  app.subscribe((change) => {
    const has = (/** @type {string[]} */ ...names) => names.some((name) => change.has(name));
    if (has("document")) rebuild();
    if (has("document", "lang")) tools.label();
    const moved = has("time") && view.window.reveal(app.state.time);
    const shape = has("document", "focus", "time_options", "lang");
    const whole = shape || moved || has("theme", "window");
    if (shape) layout();
    if (whole) paint();
    if (whole || has("cursor", "time")) step();
    else if (has("selected", "hovered")) for (const block of blocks) block.mark();
  });
}

/** @param {HTMLElement} root @param {import("./app.js").App} app */
function showRunFailures(root, app) {
  const { failures } = app.document;
  root.hidden = !failures.length;
  root.replaceChildren(...failures.map(({ label, message }) => make("p", { class: "run-failure" }, make("strong", {}, t("time_failed", { run: label })), " ", message)));
}
