// Words of the page in its languages.

import { en } from "./en.js";
import { enDag } from "./en_dag.js";
import { enLessons } from "./en_lessons.js";
import { enFigures } from "./en_figures.js";
import { enLive } from "./en_live.js";
import { enParts } from "./en_parts.js";
import { enTime } from "./en_time.js";
import { enWords } from "./en_words.js";
import { zh } from "./zh.js";
import { zhDag } from "./zh_dag.js";
import { zhLessons } from "./zh_lessons.js";
import { zhFigures } from "./zh_figures.js";
import { zhLive } from "./zh_live.js";
import { zhParts } from "./zh_parts.js";
import { zhTime } from "./zh_time.js";
import { zhWords } from "./zh_words.js";

/** @typedef {Record<string, string>} Dictionary */

/**
 * The dictionaries of each language. Who writes a part of the page writes `en_<part>.js` and `zh_<part>.js`, each with
 * one constant (`enPart`, `zhPart`) of the type Dictionary, imports them above and adds them to the two lists below.
 * Keys begin with the name of their part. tests/page/test_words.py checks that both languages have the same keys, that
 * no key is there twice, and that texts for one key have the same parameters.
 * @type {Record<"en" | "zh", Dictionary[]>}
 */
export const DICTIONARIES = {
  en: [en, enDag, enTime, enWords, enFigures, enParts, enLessons, enLive],
  zh: [zh, zhDag, zhTime, zhWords, zhFigures, zhParts, zhLessons, zhLive],
};

/** @type {Record<"en" | "zh", Dictionary>} */
const wordsByLanguage = { en: Object.assign({}, ...DICTIONARIES.en), zh: Object.assign({}, ...DICTIONARIES.zh) };
/** @type {"en" | "zh"} */
let currentLanguage = "en";

/** @param {"en" | "zh"} lang */
export function setLanguage(lang) {
  currentLanguage = lang;
}

/** The language that texts are in. */
export function language() {
  return currentLanguage;
}

/**
 * A text of the page, `{name}` in it replaced by the parameter of that name.
 * @param {string} key
 * @param {Record<string, string | number>} [parameters]
 */
export function t(key, parameters = {}) {
  const text = wordsByLanguage[currentLanguage][key] ?? wordsByLanguage.en[key] ?? key;
  return text.replace(/\{(\w+)\}/gu, (whole, name) => (name in parameters ? String(parameters[name]) : whole));
}

/**
 * The text `key_one` for one of something, else `key_many`.
 * @param {string} key
 * @param {number} count
 * @param {Record<string, string | number>} [parameters]
 */
export function tCount(key, count, parameters = {}) {
  return t(`${key}_${count === 1 ? "one" : "many"}`, parameters);
}

/** The English text of a key, its parameters open. @param {string} key */
export function englishText(key) {
  return wordsByLanguage.en[key] ?? key;
}

/** Whether the page has a text for a key. @param {string} key */
export function hasText(key) {
  return key in wordsByLanguage.en;
}

/** The first few of some texts, and how many more there are. @param {string[]} texts @param {number} most */
export function listed(texts, most) {
  const rest = texts.length > most ? t("list_more", { count: texts.length - most }) : "";
  return texts.slice(0, most).join(t("list_comma")) + rest;
}

/** Write the texts of the page's frame: `data-t` of an element, `data-t-label` for its accessible name. @param {ParentNode} root */
export function translateFrame(root) {
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.getAttribute("data-t") ?? "");
  for (const element of root.querySelectorAll("[data-t-label]")) {
    element.setAttribute("aria-label", t(element.getAttribute("data-t-label") ?? ""));
  }
}
