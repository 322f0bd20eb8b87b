// The page's frame: title, tabs, language, theme, the choice of the run in focus.

import { byId, make, makeButton, setAttributes, setText } from "./dom.js";
import { t, translateFrame } from "./words.js";

/** @param {import("./app.js").App} app */
export function mountFrame(app) {
  const tabs = mountTabs(app);
  const language = /** @type {HTMLSelectElement} */ (byId("language"));
  language.addEventListener("change", () => app.set({ lang: language.value === "zh" ? "zh" : "en" }));
  byId("theme").addEventListener("click", () => app.set({ theme: app.state.theme === "dark" ? "light" : "dark" }));
  const focus = /** @type {HTMLSelectElement} */ (byId("focus-run"));
  focus.addEventListener("change", () => app.set({ focus: Number(focus.value) }));
  printInLight(app);
  app.subscribe((change) => {
    if (change.has("lang")) {
      setAttributes(document.documentElement, { lang: app.state.lang === "zh" ? "zh-CN" : "en" });
      language.value = app.state.lang;
      translateFrame(document);
    }
    if (change.has("theme")) setAttributes(document.documentElement, { "data-theme": app.state.theme });
    if (change.has("mode") || change.has("lang")) showMode(app, tabs);
    if (change.has("document")) {
      fillFocus(app, focus);
      setAttributes(document.documentElement, { "data-bare": app.document.runs.length + app.document.failures.length === 0 });
    }
    if (change.has("focus") || change.has("document")) focus.value = String(app.state.focus);
    if (change.has("document") || change.has("mode") || change.has("lang")) setText(byId("title"), app.document.title || app.graph.name);
    if (change.has("document")) document.title = `${app.document.title || app.graph.name} – simsched`;
  });
}

/** Paper is white, whatever the screen is. @param {import("./app.js").App} app */
function printInLight(app) {
  let { theme } = app.state;
  const look = (/** @type {"light" | "dark"} */ other) => {
    app.set({ theme: other });
    app.flush();
  };
  window.addEventListener("beforeprint", () => {
    ({ theme } = app.state);
    look("light");
  });
  window.addEventListener("afterprint", () => look(theme));
}

/** @param {import("./app.js").App} app */
function modesOf(app) {
  return ["replay", ...app.data.lessons.map((lesson) => lesson.id), ...(app.data.live ? ["live"] : [])];
}

/** Tabs after the pattern of the ARIA authoring practices: arrows move, one of them is in the tab order. @param {import("./app.js").App} app */
function mountTabs(app) {
  const modes = modesOf(app);
  const tabs = modes.map((mode) =>
    makeButton("", () => app.set({ mode, playing: false }), { role: "tab", id: `tab-${mode}`, "data-testid": `tab-${mode}`, "aria-controls": "stage" }),
  );
  const list = byId("tabs");
  list.append(...tabs);
  list.hidden = modes.length < 2;
  list.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = (modes.indexOf(app.state.mode) + by + modes.length) % modes.length;
    app.set({ mode: modes[next], playing: false });
    tabs[next].focus();
  });
  return tabs;
}

/** @param {import("./app.js").App} app @param {HTMLButtonElement[]} tabs */
function showMode(app, tabs) {
  const { mode } = app.state;
  modesOf(app).forEach((each, index) => {
    setText(tabs[index], t(`tab_${each}`));
    setAttributes(tabs[index], { "aria-selected": String(each === mode), tabindex: each === mode ? 0 : -1 });
  });
  setAttributes(byId("stage"), { "aria-labelledby": `tab-${mode}` });
  byId("lesson").hidden = mode === "replay" || mode === "live";
  byId("live").hidden = mode !== "live";
  setAttributes(document.documentElement, { "data-mode": mode });
}

/** @param {import("./app.js").App} app @param {HTMLSelectElement} focus */
function fillFocus(app, focus) {
  focus.replaceChildren(...app.document.runs.map((run, index) => make("option", { value: index }, run.label)));
  /** @type {HTMLElement} */ (focus.parentElement).hidden = app.document.runs.length < 2;
}
