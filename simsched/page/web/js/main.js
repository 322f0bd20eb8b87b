// Begins the page: reads the data, puts the views into the frame.

import { App } from "./app.js";
import { mountDag } from "./dag.js";
import { byId } from "./dom.js";
import { mountFrame } from "./frame.js";
import { mountHelp } from "./help.js";
import { mountLessons } from "./lessons.js";
import { mountLists } from "./lists.js";
import { mountLive } from "./live.js";
import { mountPlayer } from "./player.js";
import { mountRuns } from "./runs_view.js";
import { mountStepWords } from "./step_words.js";
import { mountStory } from "./story.js";
import { mountSummary } from "./summary.js";

/** The language and the theme that the reader's browser asks for. @returns {Pick<import("./app.js").AppState, "lang" | "theme">} */
function wantedLook() {
  const lang = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
  return { lang, theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light" };
}

function begin() {
  const data = /** @type {PageData} */ (JSON.parse(byId("data").textContent ?? ""));
  const app = new App(data, wantedLook());
  mountFrame(app);
  mountPlayer(byId("player"), app);
  mountDag(byId("graph"), app);
  mountStepWords(byId("words"), app);
  mountLists(byId("lists"), app);
  mountStory(byId("story"), app);
  mountRuns(byId("runs"), app);
  mountSummary(byId("summary"), app);
  mountHelp(byId("help"), app);
  mountLessons(byId("lesson"), app);
  mountLive(byId("live"), app);
  for (const what of ["document", "cursor", "mode", "lang", "theme", "focus", "time", "speed", "selected"]) app.touch(what);
  app.flush();
  const steps = (/** @type {number} */ run) => app.replays[run].eventRows();
  Object.assign(window, { simsched: { app, state: () => app.report(), steps } });
}

begin();
