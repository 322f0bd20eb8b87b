// The editor of the graph: operators with their durations, edges, tensors.

import { make, makeButton } from "./dom.js";
import { editorSection, removeButton, textBox } from "./editor_parts.js";
import { dropEdge, dropOperator, setDuration } from "./editor_state.js";
import { formatSize, formatTime } from "./format.js";
import { language, t } from "./words.js";

/** Rows that are shown at once; a filter finds the others. */
const MOST_ROWS = 60;

export class GraphEditor {
  constructor() {
    this.filter = "";
    /** Fields that outlive a drawing, so that what is typed in them stays: made anew for another language. */
    this.kept = { language: "", filter: make("input"), operator: make("form"), edge: make("form") };
    this.names = make("datalist", { id: "live-operator-names" });
    this.operators = editorSection("operators", true);
    this.edges = editorSection("edges", false);
    this.tensors = editorSection("tensors", false);
  }

  /** What the fields that are kept work on. @type {import("./editor_parts.js").Editing | null} */
  editing = null;

  get roots() {
    return [this.operators.root, this.edges.root, this.tensors.root];
  }

  /** @param {import("./editor_parts.js").Editing} editing */
  draw(editing) {
    this.editing = editing;
    this.#keep(editing);
    this.#drawOperators(editing);
    this.#drawEdges(editing);
    this.#drawTensors(editing);
  }

  /** @param {import("./editor_parts.js").Editing} editing */
  #keep(editing) {
    const { graph } = editing.document;
    this.names.replaceChildren(...graph.names.slice(0, 2000).map((value) => make("option", { value })));
    if (this.kept.language === language()) return;
    const now = () => this.editing ?? editing;
    this.kept = { language: language(), filter: this.#filterBox(), operator: newOperator(now), edge: newEdge(now) };
  }

  /** @param {import("./editor_parts.js").Editing} editing */
  #drawOperators(editing) {
    const { document: shown, state } = editing;
    const { title, note, body } = this.operators;
    title.textContent = t("live_operators");
    note.textContent = String(shown.graph.names.length);
    const head = make("tr", {}, make("th", {}, t("live_operator")), make("th", {}, t("live_duration")), make("th", {}, make("span", { class: "hidden-text" }, t("live_action"))));
    const { rows, left } = this.#found(shown.graph.names.map((name) => [name]), editing);
    const table = make("table", { class: "live-table" }, make("thead", {}, head), make("tbody", {}, ...rows.map((op) => operatorRow(editing, op))));
    const gone = state.edits.remove_operators;
    body.replaceChildren(
      ...(shown.graph.names.length > 12 ? [this.kept.filter] : []),
      make("div", { class: "live-rows" }, table),
      ...restNote(left),
      ...(gone.length ? [make("p", { class: "live-note" }, t("live_removed", { names: gone.join(", ") }))] : []),
      this.names,
      this.kept.operator,
    );
  }

  /** @param {import("./editor_parts.js").Editing} editing */
  #drawEdges(editing) {
    const { graph } = editing.document;
    const { title, note, body } = this.edges;
    title.textContent = t("live_edges");
    note.textContent = String(graph.edges.length);
    const { rows, left } = this.#found(graph.edges.map(([from, to]) => [graph.names[from], graph.names[to]]), editing);
    const items = rows.map((index) => {
      const [from, to] = graph.edges[index].slice(0, 2).map((op) => graph.names[op]);
      const remove = () => editing.change((edits) => dropEdge(edits, from, to));
      return make("li", {}, make("span", { class: "mono" }, `${from} → ${to}`), removeButton(`${from} → ${to}`, remove, `live-remove-edge-${graph.edges[index][0]}-${graph.edges[index][1]}`));
    });
    body.replaceChildren(make("ul", { class: "live-list live-rows" }, ...items), ...restNote(left), this.kept.edge);
  }

  /** @param {import("./editor_parts.js").Editing} editing */
  #drawTensors(editing) {
    const { tensors, names } = editing.document.graph;
    const { root, title, note, body } = this.tensors;
    root.hidden = !tensors.names.length;
    title.textContent = t("live_tensors");
    note.textContent = String(tensors.names.length);
    const keys = tensors.names.map((name, index) => [name, tensors.producer[index] < 0 ? "" : names[tensors.producer[index]]]);
    const { rows, left } = this.#found(keys, editing);
    const items = rows.map((index) => {
      const name = tensors.names[index];
      const edited = editing.state.edits.tensors[name];
      const box = textBox({ label: t("live_bytes_of", { name }), value: edited ?? formatSize(tensors.bytes[index]), edited: edited !== undefined, testid: `live-bytes-${index}` }, (text) =>
        editing.change((edits) => {
          if (text) edits.tensors[name] = text;
          else delete edits.tensors[name];
        }),
      );
      return make("tr", {}, make("td", { class: "mono" }, name), make("td", {}, box));
    });
    body.replaceChildren(make("div", { class: "live-rows" }, make("table", { class: "live-table" }, make("tbody", {}, ...items))), ...restNote(left));
  }

  /** Indexes of rows to show: those that the filter names, the selected operator's first. @param {string[][]} keys @param {import("./editor_parts.js").Editing} editing */
  #found(keys, editing) {
    const wanted = this.filter.toLowerCase();
    const { selected } = editing.app.state;
    const name = selected === null ? "" : editing.app.graph.names[selected];
    const found = keys.map((_, index) => index).filter((index) => keys[index].some((key) => key.toLowerCase().includes(wanted)));
    if (found.length > MOST_ROWS) found.sort((a, b) => Number(keys[b].includes(name)) - Number(keys[a].includes(name)) || a - b);
    return { rows: found.slice(0, MOST_ROWS), left: found.length - MOST_ROWS };
  }

  #filterBox() {
    const input = /** @type {HTMLInputElement} */ (make("input", { type: "search", class: "live-filter", "aria-label": t("live_filter"), placeholder: t("live_filter"), "data-testid": "live-filter" }));
    input.value = this.filter;
    input.addEventListener("input", () => {
      this.filter = input.value;
      if (this.editing) this.draw(this.editing);
      input.focus();
    });
    return input;
  }
}

/** @param {number} left */
function restNote(left) {
  return left > 0 ? [make("p", { class: "live-note" }, t("live_more_rows", { count: left }))] : [];
}

/** @param {import("./editor_parts.js").Editing} editing @param {Op} op */
function operatorRow(editing, op) {
  const { app, document: shown, state } = editing;
  const name = shown.graph.names[op];
  const added = state.edits.add_operators.find((each) => each.name === name);
  const edited = state.edits.durations[name] ?? added?.duration;
  const value = edited ?? durationText(shown, op);
  const given = { label: t("live_duration_of", { name }), value, edited: edited !== undefined, testid: `live-duration-${op}` };
  const box = textBox(given, (text) => editing.change((edits) => setDuration(edits, name, text)));
  const pick = makeButton(name, () => app.set({ selected: op }), { class: "live-name" });
  const remove = removeButton(name, () => editing.change((edits) => dropOperator(edits, name)), `live-remove-${op}`);
  return make("tr", { "data-selected": app.graph.names[app.state.selected ?? -1] === name ? "true" : null }, make("td", {}, pick), make("td", {}, box), make("td", {}, remove));
}

/** What an operator takes: as the graph states it, by device where it does; else the shortest estimate. @param {PageDocument} shown @param {Op} op */
function durationText(shown, op) {
  const { unit, names } = shown.graph;
  const rows = shown.problem?.graph.operators ?? [];
  const stated = (rows[op]?.name === names[op] ? rows[op] : rows.find((/** @type {{name: string}} */ row) => row.name === names[op]))?.duration;
  if (stated !== null && typeof stated === "object") {
    return Object.entries(stated).map(([device, time]) => `${device}=${formatTime(Number(time), unit)}`).join(", ");
  }
  return formatTime(shown.machines[0].duration[op], unit);
}

/** @param {string} label @param {string} testid @param {boolean} [named] Whether it takes the name of an operator. */
function newField(label, testid, named = false) {
  return /** @type {HTMLInputElement} */ (
    make("input", { type: "text", "aria-label": label, placeholder: label, list: named ? "live-operator-names" : null, "data-testid": testid, autocomplete: "off", spellcheck: "false" })
  );
}

/** @param {HTMLInputElement[]} fields @param {string} testid @param {() => void} add */
function newForm(fields, testid, add) {
  const form = /** @type {HTMLFormElement} */ (make("form", { class: "live-new" }, ...fields, make("button", { type: "submit", "data-testid": testid }, t("live_add"))));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    add();
  });
  return form;
}

/** @param {() => import("./editor_parts.js").Editing} editing */
function newOperator(editing) {
  const name = newField(t("live_new_name"), "live-new-name");
  const time = newField(t("live_duration"), "live-new-duration");
  const after = newField(t("live_new_after"), "live-new-after", true);
  const form = newForm([name, time, after], "live-add-operator", () => {
    const empty = [name, time].find((field) => !field.value.trim());
    if (empty) {
      empty.focus();
      return;
    }
    const row = { name: name.value.trim(), duration: time.value.trim(), after: after.value.trim() ? [after.value.trim()] : [] };
    form.reset();
    name.focus();
    editing().change((edits) => edits.add_operators.push(row));
  });
  return form;
}

/** @param {() => import("./editor_parts.js").Editing} editing */
function newEdge(editing) {
  const ends = [newField(t("live_edge_from"), "live-edge-from", true), newField(t("live_edge_to"), "live-edge-to", true)];
  const form = newForm(ends, "live-add-edge", () => {
    const [from, to] = ends.map((field) => field.value.trim());
    if (!from || !to) {
      ends[from ? 1 : 0].focus();
      return;
    }
    form.reset();
    ends[0].focus();
    editing().change((edits) => edits.add_edges.push([from, to]));
  });
  return form;
}
