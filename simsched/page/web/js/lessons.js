// The guided modes: a lesson beside the replay, whose settings and answers are simulated runs.

import { make, makeButton, setText } from "./dom.js";
import { inLanguage, lessonControls, showProgress } from "./lesson_controls.js";
import { LessonProgress, settingDocument } from "./lesson_progress.js";
import { questionForm } from "./question.js";
import { t } from "./words.js";

/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function mountLessons(root, app) {
  const progresses = new Map(app.data.lessons.map((lesson) => [lesson.id, new LessonProgress(lesson)]));
  /** The document of a lesson that was shown last. @type {PageDocument | null} */
  let shown = null;
  const load = (/** @type {LessonProgress} */ progress) => {
    shown = settingDocument(progress.lesson, progress.setting);
    app.loadInPlace(shown);
  };
  app.subscribe((change) => {
    const progress = progresses.get(/** @type {Lesson["id"]} */ (app.state.mode));
    if (change.has("mode")) {
      if (progress) {
        app.toStart();
        load(progress);
        root.scrollTop = 0;
      } else if (app.state.mode === "replay" && shown && app.document === shown) {
        app.load(app.data.scene);
      }
    }
    if (progress && (change.has("mode") || change.has("lang"))) drawLesson(root, app, progress, () => load(progress));
  });
}

/**
 * @param {HTMLElement} root
 * @param {import("./app.js").App} app
 * @param {LessonProgress} progress
 * @param {() => void} load Show the current setting.
 */
function drawLesson(root, app, progress, load) {
  const { lesson } = progress;
  const title = make("h2", { id: "lesson-title" }, inLanguage(lesson.title));
  const line = make("span", { "data-testid": "lesson-progress" });
  const bar = /** @type {HTMLProgressElement} */ (make("progress", { "aria-hidden": "true" }));
  const done = make("p", { class: "lesson-done", role: "status", "data-testid": "lesson-done" });
  const ways = make("div", { class: "lesson-ways" });
  const show = () => {
    for (const part of [controls, ...questions]) part.show();
    showProgress(line, bar, progress);
    setText(done, progress.complete ? t("lessons_done", { all: lesson.questions.length }) : "");
    ways.replaceChildren(...waysOn(app, progress));
  };
  const controls = lessonControls(progress, (control, value) => {
    if (!progress.change(control, value)) return;
    load();
    progress.checkSetting();
    show();
  });
  const questions = lesson.questions.map((question, index) => questionForm(progress, question, index + 1, show));
  const list = make("section", { class: "lesson-questions", "aria-label": t("lessons_questions") }, ...questions.map((each) => each.root));
  root.setAttribute("aria-labelledby", "lesson-title");
  root.replaceChildren(
    make("div", { class: "lesson-head" }, title, make("div", { class: "lesson-progress" }, bar, line)),
    make("p", { class: "lesson-introduction" }, inLanguage(lesson.introduction)),
    controls.root,
    list,
    done,
    ways,
  );
  show();
}

/** Buttons to the next lesson, once all is answered, and to the editor, where there is one. @param {import("./app.js").App} app @param {LessonProgress} progress */
function waysOn(app, progress) {
  const { lessons, live } = app.data;
  const next = lessons[lessons.indexOf(progress.lesson) + 1];
  const ways = [];
  if (progress.complete && next) ways.push(modeButton(app, next.id, t("lessons_next", { title: inLanguage(next.title) }), "primary"));
  if (live && progress.lesson.variants[progress.setting].problem !== null) ways.push(modeButton(app, "live", t("lessons_live"), null));
  return ways;
}

/** @param {import("./app.js").App} app @param {string} mode @param {string} label @param {string | null} look */
function modeButton(app, mode, label, look) {
  return makeButton(label, () => app.set({ mode, playing: false }), { class: look, "data-testid": `go-${mode}` });
}
