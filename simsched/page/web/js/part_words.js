// What an operator did or waited for in one part of its time, in words: simsched.output.part_words in two languages.

import { formatSize, formatTime, formatWhole, formatWholePercent } from "./format.js";
import { neighbours } from "./neighbours.js";
import { listed, t, tCount } from "./words.js";

/** Names listed before the rest is only counted. */
const PART_SHOWN = 3;
/** Resource that counts in bytes. */
const PART_MEMORY = "memory";
const PART_SIMPLE = ["host_graph", "host_sync", "unknown", "undispatched"];

/**
 * Whose part it is.
 * @typedef {object} PartPlace
 * @property {GraphPart} graph
 * @property {import("./replay.js").Replay} replay
 * @property {Op} op
 */

/**
 * Say what an operator did in one part.
 * @param {GraphPart} graph
 * @param {import("./replay.js").Replay} replay
 * @param {Op} op
 * @param {Part} part
 */
export function partWords(graph, replay, op, part) {
  const place = { graph, replay, op };
  if (part.kind === "run") return partRun(place, part);
  if (part.copy !== undefined) return partCopy(place, part);
  if (PART_SIMPLE.includes(part.reason)) return t(`part_${part.reason}`);
  if (["dependency", "event", "delay", "transfer"].includes(part.reason)) return partInput(place, part);
  if (part.reason === "host" || part.reason === "host_launch") return partHost(place, part);
  if (part.reason === "stream") {
    return t("part_stream", { name: partName(place, part), more: partBefore(part), stream: replay.streamName(op) });
  }
  if (["queue", "priority"].includes(part.reason)) return partQueue(place, part);
  if (["resource", "room", "memory"].includes(part.reason)) return partDevice(place, part);
  return partUndispatched(place, part);
}

/** @param {PartPlace} place @param {Part} part */
function partName(place, part) {
  return part.culprit === undefined ? "?" : place.graph.names[part.culprit];
}

/** @param {PartPlace} place @param {number | undefined} device */
function partDeviceName(place, device) {
  return device === undefined ? "?" : place.replay.machine.devices[device].name;
}

/** @param {PartPlace} place @param {Time} time */
function partTime(place, time) {
  return formatTime(time, place.graph.unit);
}

/** @param {Part} part */
function partBefore(part) {
  const ahead = part.ahead ?? 0;
  return ahead > 1 ? t("part_before", { count: ahead - 1 }) : "";
}

/** Operators, each with an amount. @param {PartPlace} place @param {[Op, string | number][]} rows */
function partAmounts(place, rows) {
  return listed(rows.map(([op, amount]) => `${place.graph.names[op]} ${amount}`), PART_SHOWN);
}

// --- runs ------------------------------------------------------------------------------------------------------------

/** @param {PartPlace} place @param {Part} part */
function partRun(place, part) {
  if (part.reason === "launch" || part.reason === "tail") return t(`part_${part.reason}`);
  if (part.reason === "room") return partSomeBlocks(place, part);
  if (part.reason === "bandwidth" || part.reason === "arithmetic") return partSlow(place, part);
  const { work } = place.replay.run;
  return t(`part_${part.reason}`, {
    compute: partTime(place, work.compute[place.op]),
    memory: partTime(place, work.memory[place.op]),
    note: partEstimate(place),
  });
}

/** @param {PartPlace} place */
function partEstimate({ graph, replay, op }) {
  const { start, end, work } = replay.run;
  const took = end[op] - start[op];
  const alone = work.alone[op];
  if (alone === work.estimate[op]) return "";
  const key = took === alone ? "part_estimate_took" : "part_estimate_alone";
  return t(key, { estimate: formatTime(work.estimate[op], graph.unit), time: formatTime(alone, graph.unit) });
}

/** @param {PartPlace} place @param {Part} part */
function partSomeBlocks(place, part) {
  const ahead = part.ahead ?? 0;
  const held = part.holders?.length ? t("part_held_by_blocks", { list: partAmounts(place, part.holders) }) : "";
  const blocks = tCount("part_no_place", ahead, { count: formatWhole(ahead), device: partDeviceName(place, part.device) });
  return t(part.speed === 0 ? "part_blocks_none" : "part_blocks_some", { blocks, held });
}

/** @param {PartPlace} place @param {Part} part */
function partSlow(place, part) {
  const shared = (part.sharers ?? []).map(([op, share]) => /** @type {[Op, string]} */ ([op, formatWholePercent(share)]));
  return t(`part_${part.reason}${shared.length ? "" : "_own"}`, {
    speed: formatWholePercent(part.speed ?? 1),
    device: partDeviceName(place, part.device),
    list: partAmounts(place, shared),
  });
}

// --- inputs ----------------------------------------------------------------------------------------------------------

/** @param {PartPlace} place @param {Part} part */
function partInput(place, part) {
  const name = partName(place, part);
  if (part.reason === "dependency") {
    const count = neighbours(place.graph).pred[place.op].length;
    return t(count > 1 ? "part_dependency_last" : "part_dependency", { name, count });
  }
  if (part.reason === "event") return t("part_event", { name });
  if (part.reason === "delay") return t("part_delay", { name, length: partTime(place, part.end - part.start) });
  const { replay, op } = place;
  const source = part.culprit ?? op;
  return t(part.bytes ? "part_transfer" : "part_transfer_word", {
    name,
    size: formatSize(part.bytes ?? 0),
    from: partDeviceName(place, replay.device(source)),
    to: partDeviceName(place, replay.device(op)),
    moving: partTime(place, part.moving ?? 0),
    left: partTime(place, replay.run.end[source]),
  });
}

/** @param {PartPlace} place @param {Part} part */
function partCopy(place, part) {
  const [source, , from, to, , , bytes] = place.replay.run.transfers[part.copy ?? 0];
  const shared = part.reason === "copy" && part.speed !== undefined;
  const known = ["copy_latency", "copy", "copy_engine", "copy_queue"].includes(part.reason);
  const key = known ? `part_${part.reason}${shared ? "_shared" : ""}` : `part_copy_${part.short ? "memory" : "unknown"}`;
  return t(key, {
    size: formatSize(bytes),
    name: place.graph.names[source],
    from: partDeviceName(place, from),
    to: partDeviceName(place, to),
    device: partDeviceName(place, part.device),
    speed: formatWholePercent(part.speed ?? 1),
    copies: partCopies(place, part.copies ?? []),
    short: partShortage(place, part),
  });
}

/** @param {PartPlace} place @param {number[]} copies */
function partCopies(place, copies) {
  const texts = copies.map((each) => {
    const move = place.replay.run.transfers[each];
    return t("part_copies_item", { tensor: place.graph.tensors.names[move[7]], device: partDeviceName(place, move[3]) });
  });
  return t("part_copies", { list: listed(texts, PART_SHOWN) });
}

// --- policy and host -------------------------------------------------------------------------------------------------

/** @param {PartPlace} place @param {Part} part */
function partUndispatched(place, part) {
  if (part.reason === "passed_over") return t("part_passed_over", { short: partShortage(place, part) });
  if (part.reason === "held") {
    const device = place.replay.machine.devices[place.replay.device(place.op)];
    return t(device.model === "blocks" ? "part_held_blocks" : "part_held");
  }
  const holders = (part.holders ?? []).map(([op]) => op);
  if (!holders.length) return t("part_no_stream");
  const lasting = holders.every((op) => place.replay.run.end[op] >= part.end);
  const names = holders.map((op) => place.graph.names[op]);
  return t(lasting ? "part_no_stream_by" : "part_no_stream_first", { list: listed(names, PART_SHOWN) });
}

/** @param {PartPlace} place @param {Part} part */
function partHost(place, part) {
  const thread = part.thread === undefined ? "" : t("part_thread", { thread: part.thread });
  return t(`part_${part.reason}`, { name: partName(place, part), more: partBefore(part), thread });
}

// --- the device ------------------------------------------------------------------------------------------------------

/** @param {PartPlace} place @param {Part} part */
function partQueue(place, part) {
  const begun = part.culprit !== undefined && place.replay.run.start[part.culprit] <= part.start;
  const short = part.room ? partNoRoom(place, part, begun) : partShortage(place, part);
  const names = { device: partDeviceName(place, part.device), name: partName(place, part), short };
  return t(`part_${part.reason}${short ? "_short" : ""}`, names);
}

/** @param {PartPlace} place @param {Part} part */
function partDevice(place, part) {
  const what = part.reason === "room" ? "room" : "device";
  const short = part.reason === "room" ? partNoRoom(place, part, false) : partShortage(place, part);
  return t(`part_${what}${part.culprit === undefined ? "" : "_until"}`, { name: partName(place, part), short });
}

/** @param {PartPlace} place @param {Part} part @param {boolean} begun */
function partNoRoom(place, part, begun) {
  const held = part.holders?.length ? t("part_blocks_held", { list: partAmounts(place, part.holders) }) : "";
  return t(begun ? "part_no_room_rest" : "part_no_room", { device: partDeviceName(place, part.device) }) + held;
}

/** Say what was short when a part began; that it was so at first, where it changed before the part ended. @param {PartPlace} place @param {Part} part */
function partShortage(place, part) {
  if (part.device === undefined || !part.short?.length) return "";
  const first = part.changed ? "_first" : "";
  const device = partDeviceName(place, part.device);
  const texts = part.short.map(([resource, needs, free]) => {
    const amount = resource === PART_MEMORY ? formatSize : String;
    const amounts = { needs: amount(needs), free: amount(free), missing: amount(needs - free) };
    return t(`part_short${first}`, { device, resource, ...amounts });
  });
  if (part.holders?.length) texts.push(t(`part_holders${first}`, { list: partAmounts(place, part.holders) }));
  if (part.tensors?.length) {
    const sizes = part.tensors.map(([name, bytes]) => `${name} ${formatSize(bytes)}`);
    texts.push(t(`part_tensors${first}`, { list: listed(sizes, PART_SHOWN) }));
  }
  return texts.join(t("list_semicolon"));
}
