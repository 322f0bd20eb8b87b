// The editor of the hardware: figures of each device, and what runs do about memory.

import { make } from "./dom.js";
import { choiceBox, editorSection, isWide, labelled, textBox } from "./editor_parts.js";
import { setFigure } from "./editor_state.js";
import { formatCount, formatSize } from "./format.js";
import { t } from "./words.js";

const MEMORY_MODES = ["unbounded", "block", "strict"];

export class HardwareEditor {
  constructor() {
    this.section = editorSection("hardware", isWide());
  }

  get roots() {
    return [this.section.root];
  }

  /** @param {import("./editor_parts.js").Editing} editing */
  draw(editing) {
    const { title, note, body } = this.section;
    const { base, edits } = editing.state;
    title.textContent = t("live_hardware");
    note.textContent = base.hardware.name;
    const devices = /** @type {Record<string, any>[]} */ (base.hardware.devices);
    const memory = choiceBox({ label: t("live_memory_mode"), testid: "live-memory" }, MEMORY_MODES.map((value) => ({ value, label: t(`live_memory_${value}`) })), edits.memory, (value) =>
      editing.change((changed) => {
        changed.memory = /** @type {LiveProblem["memory"]} */ (value);
      }),
    );
    body.replaceChildren(...devices.map((device) => deviceFields(editing, device, devices.length > 1)), labelled(t("live_memory_mode"), memory));
  }
}

/** @param {import("./editor_parts.js").Editing} editing @param {Record<string, any>} device @param {boolean} several */
function deviceFields(editing, device, several) {
  const { edits } = editing.state;
  const name = (/** @type {string} */ figure) => (several ? `${device.name}.${figure}` : figure);
  const field = (/** @type {string} */ figure, /** @type {string} */ value, /** @type {string} */ placeholder) => {
    const label = t(`live_${figure}`);
    const given = { label: several ? `${device.name}: ${label}` : label, value: edits.hardware[name(figure)] ?? value, edited: name(figure) in edits.hardware, placeholder, testid: `live-${name(figure)}` };
    return labelled(label, textBox(given, (text) => editing.change((changed) => setFigure(changed, name(figure), text === value ? "" : text))));
  };
  const sms = device.resources?.sms;
  const capacity = device.memory_usable ?? device.memory_capacity ?? null;
  const model = choiceBox({ label: t("live_model"), testid: `live-${name("model")}` }, ["lanes", "sm_share", "blocks"].map((value) => ({ value, label: t(`live_model_${value}`) })), edits.hardware[name("model")] ?? device.model ?? "lanes", (value) =>
    editing.change((changed) => setFigure(changed, name("model"), value === (device.model ?? "lanes") ? "" : value)),
  );
  const fields = [
    field("streams", String(device.streams ?? 1), "2"),
    ...(sms ? [field("sms", String(sms), "108")] : []),
    ...(device.memory_bandwidth ? [field("memory_bandwidth", formatCount(device.memory_bandwidth, "B/s"), "2 TB/s")] : []),
    field("memory_capacity", capacity === null ? "" : formatSize(capacity), t("live_unlimited")),
    ...(sms ? [labelled(t("live_model"), model)] : []),
  ];
  return make("fieldset", { class: "live-device" }, ...(several ? [make("legend", {}, device.name)] : []), ...fields);
}
