// Runs simsched in the browser: loads Pyodide and the bundle from where it is told, then answers requests.
//
// In:  {files: {pyodide, bundle}} once, then {id, request}. Out: {progress}, {ready}, {failed}, {id, response}.

/** @type {((request: string) => string) | null} */
let answer = null;

/** @param {string} url */
async function fetchBytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

/** @param {{pyodide: string, bundle: string}} files Absolute addresses; that of Pyodide is its folder. */
async function load(files) {
  const bundle = fetchBytes(files.bundle);
  bundle.catch(() => undefined); // told below; a page must not see it twice
  postMessage({ progress: "python" });
  const { loadPyodide } = await import(`${files.pyodide}pyodide.mjs`);
  const pyodide = await loadPyodide({ indexURL: files.pyodide });
  postMessage({ progress: "simsched" });
  const [packages] = pyodide.runPython("import site; site.getsitepackages()").toJs();
  pyodide.unpackArchive(await bundle, "zip", { extractDir: packages });
  pyodide.runPython("import importlib; importlib.invalidate_caches()");
  const live = pyodide.pyimport("simsched.page.live");
  postMessage({ progress: "warm" });
  live.warm_up();
  answer = live.answer;
}

addEventListener("message", async ({ data }) => {
  if (data.files) {
    try {
      await load(data.files);
      postMessage({ ready: true });
    } catch (error) {
      postMessage({ failed: String(error) });
    }
    return;
  }
  try {
    if (!answer) throw new Error("the worker is not loaded");
    postMessage({ id: data.id, response: answer(data.request) });
  } catch (error) {
    // Python itself failed, for example for want of memory: what it holds can no longer be trusted.
    postMessage({ id: data.id, failed: String(error) });
  }
});
