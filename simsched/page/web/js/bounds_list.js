// The bounds of a machine: what no run, or no run of a kind, can beat.

import { make } from "./dom.js";
import { formatTime } from "./format.js";
import { resourceWord, spacedChinese, statementWords } from "./translated.js";
import { hasText, language, t } from "./words.js";

/** @param {import("./app.js").App} app @param {Machine} machine @param {number} index */
export function makeBounds(app, machine, index) {
  const { machines } = app.document;
  const lower = machine.bounds.filter(({ kind }) => kind === "lower").map(({ ns }) => ns);
  const best = Math.max(...lower);
  const rows = machine.bounds.map((bound) => boundRow(app, bound, bound.kind === "lower" && bound.ns === best));
  const title = machines.length > 1 ? t("bounds_of", { machine: machine.name }) : t("bounds");
  const details = make(
    "details",
    { class: "bounds", "data-testid": `bounds-${index}` },
    make("summary", {}, title, " ", make("span", { class: "bounds-best" }, lower.length ? t("bounds_best", { time: formatTime(best, app.graph.unit) }) : "")),
    make("div", { class: "scroll-x" }, make("table", {}, make("thead", {}, boundsHead()), make("tbody", {}, ...rows))),
  );
  return details;
}

function boundsHead() {
  return make("tr", {}, ...["bounds_name", "bounds_kind", "bounds_value", "bounds_statement"].map((key) => make("th", { scope: "col" }, t(key))));
}

/** @param {import("./app.js").App} app @param {Machine["bounds"][number]} bound @param {boolean} best */
function boundRow(app, bound, best) {
  const statement = statementWords(bound.statement);
  return make(
    "tr",
    { class: best ? "bounds-largest" : null },
    make("th", { scope: "row" }, boundName(bound.name), make("code", { class: "bounds-code" }, bound.name)),
    make("td", {}, t(`bounds_${bound.kind}`), best ? make("span", { class: "summary-mark" }, t("bounds_largest")) : null),
    make("td", { class: "summary-number" }, formatTime(bound.ns, app.graph.unit)),
    make("td", { lang: language() === "zh" && statement === bound.statement ? "en" : null }, statement),
  );
}

/** What a bound is called; its own name where it is not one of the known. @param {string} name */
export function boundName(name) {
  const [, kind, of] = /^([^(]*)(?:\((.*)\))?$/su.exec(name) ?? ["", name, ""];
  if (of === "transfers") return t("bound_critical_path_transfers");
  const key = of ? `bound_${kind}_of` : `bound_${kind}`;
  return hasText(key) ? spacedChinese(t(key, { of: resourceOf(of ?? "") })) : name;
}

/** What a bound counts: "sms", or with some devices of several "gpu0+gpu1/sms". @param {string} of */
function resourceOf(of) {
  const cut = of.lastIndexOf("/");
  const resource = resourceWord(of.slice(cut + 1));
  return cut < 0 ? resource : t("resource_of", { resource, devices: of.slice(0, cut) });
}
