// Graphs and hardware that the site holds, to choose from.

import { t } from "./words.js";

/** @typedef {{graphs: {name: string, file: string, operators: number}[], hardware: {name: string, file: string}[], schedulers: {name: string, summary: string}[]}} CatalogueIndex */

export class CatalogueFiles {
  /** @param {string} folder Relative to the page. */
  constructor(folder) {
    this.folder = folder;
    /** @type {Promise<CatalogueIndex> | null} */
    this.fetched = null;
  }

  /** All names; asked for once. @returns {Promise<CatalogueIndex>} */
  index() {
    this.fetched ??= this.#json("index.json").catch((error) => {
      this.fetched = null;
      throw error;
    });
    return this.fetched;
  }

  /** One graph or one profile, in its plain form. @param {"graphs" | "hardware"} kind @param {string} name */
  async part(kind, name) {
    const found = (await this.index())[kind].find((each) => each.name === name);
    if (!found) throw new Error(t("live_not_in_catalogue", { name }));
    return this.#json(found.file);
  }

  /** @param {string} path */
  async #json(path) {
    const response = await fetch(new URL(this.folder + path, document.baseURI));
    if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
    return response.json();
  }
}
