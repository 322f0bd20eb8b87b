// One question of a lesson: what is asked, the answers, and what is said to them.

import { make, makeSvg, setAttributes } from "./dom.js";
import { inLanguage } from "./lesson_controls.js";
import { EMPTY, RIGHT, WRONG } from "./lesson_progress.js";
import { language, t } from "./words.js";

/**
 * @param {import("./lesson_progress.js").LessonProgress} progress
 * @param {Question} question
 * @param {number} number From 1.
 * @param {() => void} answered Called after each check.
 */
export function questionForm(progress, question, number, answered) {
  const name = `${progress.lesson.id}-${question.id}`;
  const mark = make("span", { class: "question-mark" });
  const text = make("legend", {}, mark, make("span", {}, inLanguage(question.text)));
  const check = make("button", { type: "submit", "data-testid": `check-${name}` }, t(question.kind === "reach" ? "lessons_check_setting" : "lessons_check"));
  const feedback = make("div", { role: "status", class: "question-feedback", "data-testid": `feedback-${name}` });
  const fieldset = make("fieldset", { class: "question", "data-testid": `question-${name}` }, text);
  const answers = answersOf(progress, question, name);
  if (answers) fieldset.append(answers);
  fieldset.append(check, feedback);
  const form = make("form", { novalidate: true }, fieldset);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    progress.check(question);
    answered();
  });
  const show = () => {
    const solved = progress.solved.has(question.id);
    setAttributes(fieldset, { "data-state": solved ? "answered" : "open", "data-verdict": progress.verdicts.get(question.id) ?? null });
    mark.replaceChildren(solved ? checkSign() : String(number), make("span", { class: "hidden-text" }, solved ? `${t("lessons_question", { number })}, ${t("lessons_answered")}. ` : ". "));
    showFeedback(feedback, progress.verdicts.get(question.id) ?? "", question);
  };
  return { root: form, show };
}

/** @param {import("./lesson_progress.js").LessonProgress} progress @param {Question} question @param {string} name */
function answersOf(progress, question, name) {
  if (question.kind === "choice") return choiceOf(progress, question, name);
  return question.kind === "number" ? numberOf(progress, question, name) : null;
}

/** @param {import("./lesson_progress.js").LessonProgress} progress @param {Question} question @param {string} name */
function choiceOf(progress, question, name) {
  const labels = (question.options ?? []).map((option, index) => {
    const input = /** @type {HTMLInputElement} */ (
      make("input", { type: "radio", name: `answer-${name}`, value: index, checked: progress.given.get(question.id) === String(index), "data-testid": `answer-${name}-${index}` })
    );
    input.addEventListener("change", () => progress.given.set(question.id, input.value));
    return make("label", {}, input, make("span", {}, inLanguage(option)));
  });
  return make("div", { class: "question-options" }, ...labels);
}

/** @param {import("./lesson_progress.js").LessonProgress} progress @param {Question} question @param {string} name */
function numberOf(progress, question, name) {
  const input = /** @type {HTMLInputElement} */ (
    make("input", { type: "text", inputmode: "decimal", autocomplete: "off", size: 6, value: progress.given.get(question.id), "data-testid": `answer-${name}` })
  );
  input.addEventListener("input", () => progress.given.set(question.id, input.value));
  return make("label", { class: "question-number" }, make("span", {}, t("lessons_answer")), input);
}

/** @param {HTMLElement} root @param {string} verdict @param {Question} question */
function showFeedback(root, verdict, question) {
  if (verdict === RIGHT) sayOnce(root, t("lessons_right"), inLanguage(question.lesson));
  else if (verdict === WRONG) sayOnce(root, t("lessons_wrong"), inLanguage(question.hint));
  else if (verdict === EMPTY) sayOnce(root, "", t(question.kind === "choice" ? "lessons_empty_choice" : "lessons_empty_number"));
  else root.replaceChildren();
}

/** Say something, once: what stands there already is not announced again. @param {HTMLElement} root @param {string} word @param {string} text */
function sayOnce(root, word, text) {
  const between = word && language() === "en" ? " " : "";
  if (root.textContent === word + between + text) return;
  root.replaceChildren(...(word ? [make("strong", {}, word)] : []), between + text);
}

function checkSign() {
  const path = makeSvg("path", { d: "M3 11l5 5L17 5", fill: "none", stroke: "currentColor", "stroke-width": 3 });
  return makeSvg("svg", { viewBox: "0 0 20 20", width: 14, height: 14, "aria-hidden": "true" }, path);
}
