// The page's side of the worker that runs simsched: loads it, asks it, and starts another one when it does not answer.

/** What a request came to. @typedef {{ok: true, document: PageDocument, faults: SchedulerFault[]} | {ok: false, error: LiveError}} LiveAnswer */
/** @typedef {{type: string, message: string, line?: number}} LiveError */
/** @typedef {{scheduler: string, type: string, message: string, line?: number}} SchedulerFault */

export class LiveClient {
  /** @param {LiveFiles} files @param {(progress: string) => void} onProgress Told "python", "simsched", "warm", "ready". */
  constructor(files, onProgress) {
    this.files = files;
    this.onProgress = onProgress;
    /** @type {Promise<Worker> | null} */
    this.loading = null;
    this.number = 0;
  }

  /** Whether browsers let a page such as this start a worker: not from a file. */
  static get possible() {
    return location.protocol !== "file:" && typeof Worker === "function" && typeof WebAssembly === "object";
  }

  /** @returns {Promise<Worker>} */
  load() {
    this.loading ??= this.#start().catch((error) => {
      this.loading = null;
      throw error;
    });
    return this.loading;
  }

  /** @returns {Promise<Worker>} */
  #start() {
    const at = (/** @type {string} */ path) => new URL(path, document.baseURI).href;
    return new Promise((resolve, reject) => {
      const worker = new Worker(at(this.files.worker), { type: "module" });
      worker.addEventListener("error", (event) => reject(new Error(event.message || "the worker cannot be loaded")));
      worker.addEventListener("message", ({ data }) => {
        if (!data) return; // what somebody writes in the page can post as well
        if (data.progress) this.onProgress(data.progress);
        if (data.failed && data.id === undefined) reject(new Error(data.failed));
        if (data.ready) {
          this.onProgress("ready");
          resolve(worker);
        }
      });
      worker.postMessage({ files: { pyodide: at(this.files.pyodide), bundle: at(this.files.bundle) } });
    });
  }

  /**
   * Ask the worker. Where it does not answer in time it is ended, and a new one starts.
   * @param {string} request
   * @param {number} limit In ms.
   * @returns {Promise<LiveAnswer>} Rejected with a `TimeoutError` (a DOMException) after the limit.
   */
  async ask(request, limit) {
    const worker = await this.load();
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      const end = (/** @type {() => void} */ settle) => {
        clearTimeout(timer);
        worker.removeEventListener("message", listen);
        settle();
      };
      const restart = (/** @type {Error | DOMException} */ error) => {
        this.#restart(worker);
        end(() => reject(error));
      };
      const timer = setTimeout(() => restart(new DOMException("no answer", "TimeoutError")), limit);
      const listen = (/** @type {MessageEvent} */ { data }) => {
        if (data?.id !== id) return;
        const answer = data.failed ? null : parsedAnswer(data.response);
        if (answer) end(() => resolve(answer));
        else restart(new Error(data.failed || "its answer cannot be read"));
      };
      worker.addEventListener("message", listen);
      worker.postMessage({ id, request });
    });
  }

  /** @param {Worker} worker */
  #restart(worker) {
    worker.terminate();
    this.loading = null;
    this.load().catch(() => undefined); // whoever asks next is told
  }
}

/** What Python has answered; null where it is none, as when it ran out of memory. @param {string} response @returns {LiveAnswer | null} */
function parsedAnswer(response) {
  try {
    return JSON.parse(response);
  } catch {
    return null;
  }
}
