"""What an operator did or waited for in one part of its time, in words."""

from __future__ import annotations

from collections.abc import Iterable

from simsched.analysis.explain import Explanation, Part
from simsched.analysis.timelines import MEMORY, Shortage
from simsched.graph.model import OpId
from simsched.units import format_duration, format_size, plural

SHOWN = 3
"""Names listed before the rest is only counted."""


class PartWords:
    """Words for the parts of operators.

    Parameters
    ----------
    story : Explanation
    """

    def __init__(self, story: Explanation) -> None:
        self.story = story
        self._problem, self._trace = story.run.problem, story.run.trace
        self._names = self._problem.graph.names
        self._unit = self._problem.graph.time_unit

    def time(self, nanoseconds: int) -> str:
        """Write a duration or an instant."""
        return format_duration(nanoseconds, self._unit)

    def words(self, op: OpId, part: Part) -> str:
        """Say what an operator did in one part."""
        if part.kind == "run":
            return self._run_words(op, part)
        if part.copy >= 0:
            return self._copy_words(part)
        if part.reason in ("dependency", "event", "delay", "transfer"):
            return self._input_words(op, part)
        if part.reason.startswith("host"):
            return self._host_words(op, part)
        if part.reason == "stream":
            more = f" and {part.ahead - 1} before it" if part.ahead > 1 else ""
            stream = self._problem.stream_names[self._trace.stream[op]]
            return f"waits behind {self._name(part.culprit)}{more} on {stream}"
        if part.reason in ("resource", "room", "memory", "queue", "priority"):
            return self._device_words(part)
        return self._undispatched_words(op, part)

    # --- runs -----------------------------------------------------------------------------------------------------

    def _run_words(self, op: OpId, part: Part) -> str:
        cost = self._problem.cost(op, self.story.timelines.device[op])
        if part.reason == "launch":
            return "is launched on the device"
        if part.reason in ("bandwidth", "arithmetic", "room"):
            return self._slow_words(op, part)
        if part.reason == "tail":
            return "runs its last wave of blocks, which leaves places free"
        note = self._estimate_words(op, cost.duration)
        if part.reason in ("compute", "memory"):
            compute, memory = self.time(round(cost.compute_ns)), self.time(round(cost.memory_ns))
            sides = f"{compute} of compute, {memory} of memory traffic"
            return f"runs, bound by {part.reason} ({sides}){note}"
        known = {"explicit": "; the graph states its duration", "measured": "; its duration was measured"}
        return f"runs{known.get(part.reason, '')}{note}"

    def _estimate_words(self, op: OpId, estimate: int) -> str:
        took, alone = self._trace.end[op] - self._trace.start[op], self.story.speeds.alone(op)
        if alone == estimate:
            return ""
        what = f"it took {self.time(took)}" if took == alone else f"alone it takes {self.time(alone)}"
        return f"; {self.time(estimate)} were estimated, {what}"

    def _slow_words(self, op: OpId, part: Part) -> str:
        assert part.device is not None
        device = self._problem.devices[part.device].name
        if part.reason == "room":
            held = self._listed(f"{self._names[other]} {count}" for other, count in self.story.holders(part, but=op))
            some = "with part of its blocks" if part.speed else "none of its blocks"
            blocks = f"{plural(part.ahead, 'block')} {'has' if part.ahead == 1 else 'have'} no place on {device}"
            return f"runs {some}; {blocks}" + (f", held by blocks of {held}" if held else "")
        shared = [f"{self._names[other]} {_percent(share)}" for other, share in self.story.sharers(op, part)]
        whose = f" with {self._listed(shared)}" if shared else " among its own blocks"
        return f"runs at {_percent(part.speed)} of its speed alone: shares the {part.reason} of {device}{whose}"

    # --- inputs ---------------------------------------------------------------------------------------------------

    def _input_words(self, op: OpId, part: Part) -> str:
        name, length = self._name(part.culprit), self.time(part.length)
        if part.reason == "dependency":
            count = len(self._problem.graph.pred[op])
            others = f", the last of its {count} predecessors to end" if count > 1 else " to end"
            return f"waits for {name}{others}"
        if part.reason == "event":
            return f"waits until the end of {name}, in another stream, is seen"
        if part.reason == "delay":
            return f"waits for the delay of the edge from {name} ({length})"
        return self._transfer_words(op, part)

    def _transfer_words(self, op: OpId, part: Part) -> str:
        assert part.culprit is not None
        problem, devices = self._problem, self.story.timelines.device
        here, there = problem.devices[devices[op]].name, problem.devices[devices[part.culprit]].name
        size, left = problem.edge_bytes(part.culprit, op), self._trace.end[part.culprit]
        moving = problem.transfer_ns(part.culprit, op, devices[part.culprit], devices[op])
        what = f"{format_size(size)} of" if size else "word from"
        times = f"{self.time(moving)}, from {self.time(left)} on"
        return f"waits for {what} {self._name(part.culprit)} on the way from {there} to {here} ({times})"

    def _copy_words(self, part: Part) -> str:
        move, copies = self._trace.transfers[part.copy], self.story.copies
        devices = self._problem.devices
        way = f"from {devices[move.from_device].name} to {devices[move.to_device].name}"
        what = f"waits for {format_size(move.bytes)} of {self._name(move.source)}"
        if part.reason == "copy_latency":
            return f"{what} on the way {way}: the latency of the links"
        if part.reason == "copy":
            if part.speed == 1:
                return f"{what} on the way {way}"
            others = self._copies(copies.sharers(part.copy, part.start))
            speed = f"at {_percent(part.speed)} of the speed alone, sharing links with {others}"
            return f"{what} on the way {way}, {speed}"
        if part.reason == "copy_engine" and part.device is not None:
            taken = self._copies(copies.running(part.device, part.start))
            return f"{what} to be copied {way}: no copy engine of {devices[part.device].name} is free, taken by {taken}"
        if part.reason == "copy_queue":
            return f"{what} to be copied {way}: behind {self._copies(copies.ahead(part.copy, part.start))}"
        short = f": {self._shortage_words(part)}" if part.shortages else ", and no reason is recorded"
        return f"{what} to be copied {way}{short}"

    def _copies(self, numbers: Iterable[int]) -> str:
        moves, tensors, devices = self._trace.transfers, self._problem.graph.tensor_names, self._problem.devices
        texts = (f"{tensors[moves[each].tensor]} to {devices[moves[each].to_device].name}" for each in numbers)
        return f"the copy of {self._listed(texts)}"

    # --- policy and host ------------------------------------------------------------------------------------------

    def _undispatched_words(self, op: OpId, part: Part) -> str:
        if part.reason == "no_stream":
            holders = self.story.holders(part)
            held = self._listed(self._names[op] for op, _ in holders)
            first = "" if all(self._trace.end[op] >= part.end for op, _ in holders) else "at first "
            return "is not dispatched: every stream that may run it is taken" + (f", {first}by {held}" if held else "")
        if part.reason == "passed_over":
            return f"is not dispatched: a stream is free, but it {self._shortage_words(part)}"
        if part.reason == "held":
            device = self._problem.devices[self.story.timelines.device[op]]
            if device.model == "blocks":  # whether a block would have found room nobody knows who does not place it
                return "is not dispatched, though a stream is free: the policy holds it back"
            return "is not dispatched, though a stream and all that it needs are free: the policy holds it back"
        return "waits, and no reason is recorded"

    def _host_words(self, op: OpId, part: Part) -> str:
        if part.reason == "host_graph":
            return "waits until the host has launched the graph"
        if part.reason == "host_sync":
            return "waits until the host has learned of what ended"
        several = self._problem.hardware.host.threads > 1
        thread = f" in thread {self.story.host.thread(op)}" if several else ""
        if part.reason == "host_launch":
            return f"is being launched by the host{thread}"
        more = f" and {part.ahead - 1} before it" if part.ahead > 1 else ""
        return f"waits for the host, behind the launch of {self._name(part.culprit)}{more}{thread}"

    # --- the device -----------------------------------------------------------------------------------------------

    def _device_words(self, part: Part) -> str:
        assert part.device is not None
        name, device = self._name(part.culprit), self._problem.devices[part.device].name
        if part.reason in ("queue", "priority"):
            urgent = "the more urgent " if part.reason == "priority" else ""
            begun = part.culprit is not None and self._trace.start[part.culprit] <= part.start
            rest = "the rest of its blocks" if begun else "a block"
            short = self._room_words(part, rest) if self.story.short_of_room(part) else self._shortage_words(part)
            return f"waits in the queue of {device} behind {urgent}{name}" + (f", which {short}" if short else "")
        if part.reason == "room":
            until = f" until blocks of {name} end" if part.culprit is not None else ""
            return f"waits for the device{until}: {self._room_words(part, 'a block')}"
        until = f" until {name} ends" if part.culprit is not None else ""
        return f"waits for the device{until}: {self._shortage_words(part)}"

    def _room_words(self, part: Part, what: str) -> str:
        assert part.device is not None
        device = self._problem.devices[part.device].name
        held = self._listed(f"{self._names[other]} {count}" for other, count in self.story.holders(part))
        return f"finds no room for {what} on {device}" + (f"; held by blocks of {held}" if held else "")

    def _shortage_words(self, part: Part) -> str:
        """Say what was short when a part began; that it was so at first, where it changed before the part ended."""
        if part.device is None or not part.shortages:
            return ""
        device = self._problem.devices[part.device].name
        first = "at first " if self._changes(part) else ""
        texts = []
        for short in part.shortages:
            needs, free, missing = _amounts(short)
            texts.append(f"needs {needs} of {device}/{short.resource}, {first}{free} free, {missing} short")
        held = self._listed(f"{self._names[op]} {units}" for op, units in self.story.holders(part))
        live = self._listed(f"{name} {format_size(size)}" for name, size in self.story.tensors(part))
        texts += [f"held {first}by {held}"] if held else []
        return "; ".join(texts + ([f"largest tensors {'then ' if first else ''}{live}"] if live else []))

    def _changes(self, part: Part) -> bool:
        """Whether what was taken changed within a part."""
        lines, device = self.story.timelines, part.device
        assert device is not None
        for short in part.shortages:
            taken = lines.live(device) if short.resource == MEMORY else lines.used(device, short.resource)
            if taken.inside(part.start, part.end):
                return True
        return False

    def _name(self, op: OpId | None) -> str:
        return "?" if op is None else self._names[op]

    @staticmethod
    def _listed(texts: Iterable[str]) -> str:
        every = list(texts)
        rest = f" (+{len(every) - SHOWN} more)" if len(every) > SHOWN else ""
        return ", ".join(every[:SHOWN]) + rest


def _amounts(short: Shortage) -> tuple[str, str, str]:
    figures = (short.needs, short.free, short.missing)
    needs, free, missing = map(format_size if short.resource == MEMORY else str, figures)
    return needs, free, missing


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
