// The live tab: an editor beside the views, and simsched itself in a worker to run what is edited.

import { CatalogueFiles } from "./catalogue.js";
import { Editor } from "./editor.js";
import { DEFAULT_SCHEDULERS, fittingHardware, LiveState, NO_SOURCE, withoutCode } from "./editor_state.js";
import { formatTime } from "./format.js";
import { LiveClient } from "./pyodide_client.js";
import { isShared, linkOf, LONGEST_LINK, restoredState, sharedOf, sharedState } from "./share.js";
import { t } from "./words.js";

const ANSWER_LIMIT_MS = 60_000;
const LOAD_STEPS = ["python", "simsched", "warm", "ready"];

/** @param {HTMLElement} root @param {import("./app.js").App} app */
export function mountLive(root, app) {
  if (!app.data.live) return;
  const live = new Live(root, app, app.data.live);
  app.subscribe((change) => live.notice(change));
  addEventListener("hashchange", () => live.openLink());
  live.openLink();
}

class Live {
  /** @param {HTMLElement} root @param {import("./app.js").App} app @param {LiveFiles} files */
  constructor(root, app, files) {
    this.app = app;
    /** @type {LiveState | null} */
    this.state = null;
    /** What the editor edits: the document of the last run, or the one it began with. @type {PageDocument | null} */
    this.document = null;
    /** What the views were given last. @type {PageDocument | null} */
    this.loaded = null;
    this.catalogue = new CatalogueFiles(files.catalogue);
    this.client = new LiveClient(files, (step) => this.#progress(step));
    this.editor = new Editor(root, {
      run: () => this.#runPressed(),
      runCode: () => this.#runCode(),
      undo: () => this.#takeBack((state) => state.undo()),
      reset: () => this.#takeBack((state) => state.reset()),
      share: () => this.share(),
      choose: (part) => this.choose(part),
    });
    /** What the reader has chosen and is still being fetched. @type {import("./editor_state.js").Source | null} */
    this.wanted = null;
    this.began = false;
    this.drawing = 0;
    /** Whether what has been said stays until the next run, whatever is loaded meanwhile. */
    this.quiet = false;
    /** Whether a request runs, and whether another one waits for it. */
    this.busy = false;
    this.again = false;
    /** Code of a link that the reader has not agreed to run. */
    this.held = false;
  }

  /** @param {import("./app.js").Change} change */
  notice(change) {
    const { mode } = this.app.state;
    if (change.has("mode")) {
      if (mode === "live") this.#enter();
      else if (mode === "replay" && this.loaded && this.app.document === this.loaded) this.app.load(this.app.data.scene);
    }
    if (mode === "live" && (change.has("lang") || change.has("mode") || change.has("selected"))) this.draw();
  }

  /** Draw the editor, soon: not before the reader's key has moved on or their button is up, or what they aim at is gone. */
  draw() {
    clearTimeout(this.drawing);
    this.drawing = setTimeout(() => (this.editor.pressed ? this.draw() : this.#drawNow()), this.editor.pressed ? 50 : 0);
  }

  #drawNow() {
    const { app, state } = this;
    const source = this.wanted ?? state?.source ?? NO_SOURCE;
    const change = (/** @type {(edits: import("./editor_state.js").Edits) => void} */ edit) => this.#change(edit);
    this.editor.draw(state && this.document ? { app, state, document: this.document, change } : null, source);
  }

  // --- coming here -------------------------------------------------------------------------------------------------

  #enter() {
    const shown = this.app.document;
    const fromLesson = shown !== this.app.data.scene && shown !== this.loaded;
    if (shown.problem && (!this.state || fromLesson)) {
      this.state = new LiveState(shown.problem, NO_SOURCE);
      this.document = this.loaded = shown;
      this.draw();
    } else if (this.loaded && shown !== this.loaded) this.app.load(this.loaded);
    this.#prepare();
  }

  /** Load what runs simsched, once; say where it cannot be had. */
  #prepare() {
    if (!LiveClient.possible) {
      this.editor.say(() => t("live_needs_server"), "bad");
      return;
    }
    if (this.began) return;
    this.began = true;
    this.client.load().catch((error) => this.#cannot(error));
    this.catalogue.index().then((index) => {
      this.editor.know(index);
      this.draw();
    }, (error) => this.#cannot(error));
  }

  /** @param {unknown} error */
  #cannot(error) {
    this.began = false;
    this.editor.showProgress(null);
    this.editor.say(() => t("live_cannot_load", { why: liveReason(error) }), "bad");
  }

  /** @param {string} step */
  #progress(step) {
    const number = LOAD_STEPS.indexOf(step);
    this.editor.showProgress(step === "ready" ? null : number + 1);
    if (!this.quiet) this.editor.say(() => t(`live_loading_${step}`), step === "ready" ? "good" : "busy");
  }

  /** @param {() => string} words */
  #sayForLong(words) {
    this.quiet = true;
    this.editor.say(words, "bad");
  }

  // --- changes -----------------------------------------------------------------------------------------------------

  /** @param {(edits: import("./editor_state.js").Edits) => void} edit */
  #change(edit) {
    if (this.state?.change(edit)) this.#changed();
  }

  /** @param {(state: LiveState) => void} back */
  #takeBack(back) {
    if (!this.state) return;
    back(this.state);
    this.editor.schedulers.tell(null);
    this.#changed();
  }

  #changed() {
    this.editor.showLink(null, false);
    this.draw();
    if (this.editor.atOnce) this.run();
    else this.editor.say(() => t("live_changed"), "plain");
  }

  /** Another graph or other hardware of the catalogue; an empty name is what the page came with. @param {Partial<import("./editor_state.js").Source>} part */
  async choose(part) {
    const before = this.state?.source ?? NO_SOURCE;
    const wanted = { ...(this.wanted ?? before), ...part };
    this.wanted = wanted;
    this.editor.sayBusy();
    const scene = this.app.data.scene.problem;
    try {
      const graph = wanted.graph ? await this.catalogue.part("graphs", wanted.graph) : scene?.graph;
      let hardware = wanted.hardware ? await this.catalogue.part("hardware", wanted.hardware) : scene?.hardware;
      const fitting = graph && wanted.graph !== before.graph ? fittingHardware(graph, hardware) : null;
      if (fitting) hardware = await this.catalogue.part("hardware", fitting);
      if (this.wanted !== wanted) return; // the reader has chosen again meanwhile
      this.wanted = null;
      if (graph && hardware) await this.#take(graph, hardware, { ...wanted, hardware: fitting ?? wanted.hardware });
      else this.editor.say(() => t("live_choose_both"), "plain");
    } catch (error) {
      this.wanted = null;
      this.#cannot(error);
    }
  }

  /** @param {LiveProblem["graph"]} graph @param {LiveProblem["hardware"]} hardware @param {import("./editor_state.js").Source} source */
  async #take(graph, hardware, source) {
    const scene = this.app.data.scene.problem;
    const { schedulers = DEFAULT_SCHEDULERS, memory = "unbounded" } = this.state?.edits ?? scene ?? {};
    const scales = source.graph ? {} : scene?.scales;
    this.state = new LiveState({ graph, hardware, schedulers, memory, seed: scene?.seed ?? 0, scales: scales ?? {} }, source);
    this.document = null;
    this.editor.showLink(null, false);
    await this.run();
  }

  // --- running -----------------------------------------------------------------------------------------------------

  /** The reader asks for a run: also of what stands in the box, where the box is in use. */
  #runPressed() {
    this.held = false;
    if (this.state && this.editor.schedulers.wantsCode(this.state)) this.editor.schedulers.take(this.state);
    this.run();
  }

  #runCode() {
    this.held = false;
    if (this.state) this.editor.schedulers.take(this.state);
    this.run();
  }

  /** Run what is edited; while a run goes on, the next one waits and takes the newest edits. */
  async run() {
    if (!this.state || !LiveClient.possible) return;
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    this.quiet = false;
    this.editor.sayBusy();
    try {
      do {
        this.again = false;
        await this.#runOnce(this.state);
      } while (this.again);
    } finally {
      this.busy = false;
    }
  }

  /** @param {LiveState} state */
  async #runOnce(state) {
    const { schedulers } = this.editor;
    try {
      await this.client.load();
    } catch (error) {
      this.#cannot(error);
      return;
    }
    this.editor.sayBusy(); // also after what the loading has said
    try {
      const began = performance.now();
      const answer = await this.client.ask(state.request(this.held ? withoutCode(state.edits) : state.edits), ANSWER_LIMIT_MS);
      if (answer.ok) this.#show(answer, performance.now() - began);
      else {
        schedulers.tell(answer.error.line === undefined ? null : answer.error);
        this.editor.say(() => answer.error.message, "bad");
      }
    } catch (error) {
      const late = error instanceof DOMException && error.name === "TimeoutError";
      schedulers.tell(null);
      this.#sayForLong(() => (late ? t("live_too_long", { seconds: ANSWER_LIMIT_MS / 1000 }) : t("live_ended", { why: liveReason(error) })));
    }
    this.draw();
  }

  /** @param {Extract<import("./pyodide_client.js").LiveAnswer, {ok: true}>} answer @param {number} took */
  #show(answer, took) {
    const { app } = this;
    this.document = answer.document;
    this.loaded = answer.document;
    if (app.state.mode === "live") app.loadInPlace(answer.document);
    this.editor.schedulers.tell(answer.faults[0] ?? null);
    const { runs, failures, graph } = answer.document;
    const least = Math.min(...runs.map((run) => run.makespan));
    const best = runs.filter((run) => run.makespan === least).map((run) => run.label).join(", ");
    const failed = failures.map(({ label, message }) => `${label}: ${message}`);
    const { held } = this;
    const words = () => [t("live_done", { ms: Math.max(1, Math.round(took)), time: formatTime(least, graph.unit), best }), ...failed, ...(held ? [t("live_held")] : [])].join("\n");
    this.editor.say(words, failed.length ? "bad" : "good");
    this.editor.status.dataset.took = took.toFixed(1);
  }

  // --- sharing -----------------------------------------------------------------------------------------------------

  async share() {
    const { app, state } = this;
    if (!state) return;
    const link = await linkOf(sharedState(state, app));
    if (link.length > LONGEST_LINK) {
      this.editor.say(() => t("live_link_long", { length: link.length, most: LONGEST_LINK }), "bad");
      return;
    }
    history.replaceState(null, "", link);
    const copied = await Promise.resolve(navigator.clipboard?.writeText(link)).then(() => !!navigator.clipboard, () => false);
    this.editor.showLink(link, copied);
  }

  /** Restore what a link holds, and run it. */
  async openLink() {
    if (!isShared(location.hash)) return;
    try {
      const shared = await sharedOf(location.hash);
      const part = (/** @type {"graphs" | "hardware"} */ kind, /** @type {any} */ given) => (typeof given === "string" ? this.catalogue.part(kind, given) : given);
      this.state = restoredState(shared, await part("graphs", shared.graph), await part("hardware", shared.hardware));
      this.held = this.state.edits.schedulers.some((each) => each.code !== undefined);
      this.document = null;
      this.app.set({ mode: "live", lang: shared.lang === "zh" ? "zh" : "en" });
      this.app.flush();
      await this.run();
      if (this.held) this.editor.schedulers.open();
      this.app.set({ focus: Math.max(0, this.app.document.runs.findIndex((run) => run.label === shared.focus)) });
      this.app.goto(Math.min(Number(shared.cursor) || 0, this.app.timeline.length));
    } catch (error) {
      this.app.set({ mode: "live" });
      this.#sayForLong(() => t("live_link_broken", { why: liveReason(error) }));
    }
  }
}

/** @param {unknown} error */
function liveReason(error) {
  return error instanceof Error ? error.message : String(error);
}
