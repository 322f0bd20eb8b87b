// Words of the page in its languages.

import { en } from "./en.js";
import { zh } from "./zh.js";

/** @typedef {Record<string, string>} Dictionary */

/** @type {Record<"en" | "zh", Dictionary>} */
const dictionaries = { en: { ...en }, zh: { ...zh } };
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
  const text = dictionaries[currentLanguage][key] ?? dictionaries.en[key] ?? key;
  return text.replace(/\{(\w+)\}/gu, (whole, name) => (name in parameters ? String(parameters[name]) : whole));
}

/** Write the texts of the page's frame: `data-t` of an element, `data-t-label` for its accessible name. @param {ParentNode} root */
export function translateFrame(root) {
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.getAttribute("data-t") ?? "");
  for (const element of root.querySelectorAll("[data-t-label]")) {
    element.setAttribute("aria-label", t(element.getAttribute("data-t-label") ?? ""));
  }
}
