// Why one run is longer than another: each makespan as a bar of what the way to its end was, on one scale.

import { ACCOUNT_KINDS, accountOf } from "./account.js";
import { make, makeButton } from "./dom.js";
import { formatPercent, formatTime, shortName } from "./format.js";
import { t } from "./words.js";

const ACCOUNT_NAME_LENGTH = 32;
/** Smaller shares of a makespan have a place in the bar and none in the words. */
const ACCOUNT_LEAST = 0.0005;

/** @typedef {import("./account.js").Account} Account */

/** The bars of all runs; null where no run has a reason at every instant. @param {import("./app.js").App} app */
export function makeAccounts(app) {
  const { runs } = app.document;
  const accounts = runs.map((run) => accountOf(app.graph, run));
  const kinds = ACCOUNT_KINDS.filter((kind) => accounts.some((account) => account?.times.get(kind)));
  if (!kinds.length) return null;
  const most = Math.max(...runs.map(({ makespan }) => makespan));
  const rows = accounts.map((account, index) => (account ? accountRow(app, index, account, most) : null));
  return make(
    "section",
    { class: "account", "data-testid": "account" },
    make("h3", {}, t("account_title")),
    make("p", { class: "account-what" }, t("account_what")),
    make("ul", { class: "account-legend" }, ...kinds.map((kind) => make("li", {}, accountKey(kind), t(`account_${kind}`)))),
    make("ul", { class: "account-rows" }, ...rows),
  );
}

/** @param {string} kind */
function accountKey(kind) {
  return make("span", { class: `story-key kind-${kind}`, "aria-hidden": "true" });
}

/** @param {import("./app.js").App} app @param {number} index @param {Account} account @param {Time} most */
function accountRow(app, index, account, most) {
  const run = app.document.runs[index];
  const parts = [...account.times].filter(([, time]) => time);
  const bar = make("div", { class: "account-bar", "aria-hidden": "true" }, ...parts.map(([kind]) => make("span", { class: `kind-${kind}` })));
  parts.forEach(([, time], place) => (/** @type {HTMLElement} */ (bar.children[place]).style.width = `${(100 * time) / most}%`));
  return make("li", { "data-testid": `account-${index}` }, make("b", {}, run.label), make("div", {}, bar, accountWords(app, index, account)));
}

/** @param {import("./app.js").App} app @param {number} index @param {Account} account */
function accountWords(app, index, { times, longest }) {
  const { makespan } = app.document.runs[index];
  const { graph } = app;
  const told = [...times].filter(([, time]) => time > ACCOUNT_LEAST * makespan);
  const shares = told.map(([kind, time]) => t("account_share", { kind: t(`account_${kind}`), share: unbroken(formatPercent(time / makespan)), time: unbroken(formatTime(time, graph.unit)) }));
  const words = make("p", {}, t("account_shares", { list: shares.join(t("list_semicolon")) }));
  if (!longest) return words;
  const { op, start, length } = longest;
  const show = () => {
    app.set({ focus: index, selected: op, playing: false });
    app.seek(start);
  };
  const chip = makeButton(shortName(graph.names[op], ACCOUNT_NAME_LENGTH), show, { class: "words-chip", title: t("account_show", { name: graph.names[op] }) });
  words.append(" ", t("account_longest", { time: unbroken(formatTime(length, graph.unit)) }), " ", chip);
  return words;
}

/** A number that stays on one line with its unit. @param {string} text */
function unbroken(text) {
  return text.replaceAll(" ", "\u00a0");
}
