// Runs requests of a page in Pyodide under Node: node pyodide_run.mjs PYODIDE_FOLDER BUNDLE REQUESTS RESPONSES
// REQUESTS is a JSON list of texts, RESPONSES becomes one of the answers, with the time of each in milliseconds.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, bundle, requests, responses] = process.argv.slice(2);
const began = performance.now();
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")).href);
const pyodide = await loadPyodide({ indexURL: `${folder}/` });
const [packages] = pyodide.runPython("import site; site.getsitepackages()").toJs();
pyodide.unpackArchive(new Uint8Array(readFileSync(bundle)), "zip", { extractDir: packages });
pyodide.runPython("import importlib; importlib.invalidate_caches()");
const live = pyodide.pyimport("simsched.page.live");
live.warm_up();
const loaded = performance.now() - began;
const answers = JSON.parse(readFileSync(requests, "utf8")).map((request) => {
  const start = performance.now();
  const response = live.answer(request);
  return { response, took: performance.now() - start };
});
const modules = pyodide.runPython("import sys; ' '.join(sorted({name.partition('.')[0] for name in sys.modules}))");
writeFileSync(responses, JSON.stringify({ loaded, modules: modules.split(" "), version: pyodide.version, answers }));
