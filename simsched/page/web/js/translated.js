// Texts that come from Python in English, in the page's language: reasons of schedulers, statements of bounds.

import { englishText, hasText, language, t } from "./words.js";

/** Keys of the forms that reasons have; what a form leaves open stays as it is. */
const REASON_KEYS = [
  "reason_b_level", "reason_duration", "reason_alone", "reason_first", "reason_first_fits", "reason_topological", "reason_no_memory",
  "reason_tight", "reason_ample", "reason_nothing_fits", "reason_frugal", "reason_next", "reason_schedule", "reason_planned",
  "reason_planned_anew", "reason_recorded", "reason_newest", "reason_stolen",
];
const STATEMENT_KEYS = [
  "statement_critical_path", "statement_transfers", "statement_link", "statement_launches", "statement_area", "statement_area_one",
  "statement_area_whole", "statement_window", "statement_amdahl_one", "statement_amdahl_many", "statement_proved",
  "statement_graham_brent", "statement_textbook",
];

/** @type {Map<string, RegExp>} */
const formsOfKeys = new Map();

/** What a text of a key looks like. @param {string} key */
function formOf(key) {
  let form = formsOfKeys.get(key);
  if (!form) {
    const plain = englishText(key).replace(/[.*+?^$()|[\]\\]/gu, "\\$&");
    form = new RegExp(`^${plain.replace(/\{(\w+)\}/gu, "(?<$1>.+)")}$`, "su");
    formsOfKeys.set(key, form);
  }
  return form;
}

/** A text in the page's language, where it has one of some forms; else as it is. @param {string} text @param {string[]} keys */
function translated(text, keys) {
  for (const key of keys) {
    const found = formOf(key).exec(text);
    if (found) return t(key, withResource(found.groups ?? {}));
  }
  return text;
}

/** Parameters with `what`, such as "sms of gpu0, gpu1", in the page's language. @param {Record<string, string>} parameters */
function withResource(parameters) {
  if (!parameters.what) return parameters;
  const [, resource, devices] = /^(\S+)(?: of (.+))?$/su.exec(parameters.what) ?? ["", parameters.what, ""];
  const name = resourceWord(resource);
  return { ...parameters, what: devices ? t("resource_of", { resource: name, devices: devices.split(", ").join(t("list_comma")) }) : name };
}

/** What a resource is called; its own name where it is not one of the known. @param {string} resource */
export function resourceWord(resource) {
  return hasText(`resource_${resource}`) ? t(`resource_${resource}`) : resource;
}

/** The reason of a dispatch; reasons of schedulers of one's own stay as they are. @param {string} reason */
export function reasonWords(reason) {
  if (language() === "en") return reason;
  return reason.split("; ").map((piece) => translated(piece, REASON_KEYS)).join(t("list_semicolon"));
}

/** A text without spaces between Chinese characters, where a word was put in. @param {string} text */
export function spacedChinese(text) {
  return text.replace(/(?<=[\u3001-\uff5e]) (?=[\u3001-\uff5e])/gu, "");
}

/** What a bound says. @param {string} statement */
export function statementWords(statement) {
  return language() === "en" ? statement : spacedChinese(translated(statement, STATEMENT_KEYS));
}
