"""Copies between devices: what each waited for, and how fast its bytes flowed, from the problem and the trace alone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from math import ceil, inf
from operator import itemgetter
from typing import NamedTuple

from simsched.analysis.parts import Part, merged
from simsched.analysis.shared_bandwidth import NEARLY
from simsched.analysis.timelines import MEMORY, Shortage, Timelines
from simsched.analysis.usage import Run
from simsched.graph.model import OpId
from simsched.sharing.fair import max_min_rates
from simsched.trace import Transfer


class Way(NamedTuple):
    """How bytes get from one device to another: latency in ns, shared link directions, bytes per ns of one alone."""

    latency: int
    shared: tuple[int, ...]
    fastest: float


class Copies:
    """The copies of one run; each is named by its index in the trace's transfers.

    Parameters
    ----------
    run : Run
    timelines : Timelines
    """

    def __init__(self, run: Run, timelines: Timelines) -> None:
        self._problem, self._moves, self._lines = run.problem, run.trace.transfers, timelines
        self._block = run.memory == "block"
        links = run.problem.hardware.links
        self._rates = [inf if link.bandwidth is None else link.bandwidth / 1e9 for link in links]
        self.numbers = [number for number, move in enumerate(self._moves) if move.tensor >= 0]
        self._index = {(self._moves[number].tensor, self._moves[number].to_device): number for number in self.numbers}
        self.way = cache(self._way)

    def inputs(self, source: OpId, target: OpId, device: int) -> list[int]:
        """Recorded copies to a device of what an operator reads of a predecessor."""
        graph = self._problem.graph
        if not self._index:
            return []
        found = [self._index.get((tensor, device)) for tensor in graph.outputs[source]]
        return [
            number
            for number in found
            if number is not None and target in graph.tensor_consumers[self._moves[number].tensor]
        ]

    def _way(self, here: int, there: int) -> Way:
        problem = self._problem
        hops = problem.hardware.route(problem.devices[here].name, problem.devices[there].name)
        shared = []
        for number, forward in hops:
            sharing = problem.hardware.links[number].sharing
            if sharing != "unshared" and self._rates[number] < inf:
                shared.append(2 * number if forward or sharing == "half_duplex" else 2 * number + 1)
        latency = sum(problem.hardware.links[number].latency_ns for number, _ in hops)
        return Way(latency, tuple(shared), min((self._rates[number] for number, _ in hops), default=inf))

    def begin(self, number: int) -> int:
        """When the bytes of a copy began to flow: after the latency of its route."""
        move = self._moves[number]
        return min(move.start + self.way(move.from_device, move.to_device).latency, move.end)

    def alone(self, number: int) -> int:
        """How long the bytes of a copy would flow alone, in ns: at most as long as they did."""
        move = self._moves[number]
        way = self.way(move.from_device, move.to_device)
        whole = 0 if way.fastest == inf else ceil(move.bytes / way.fastest - 1e-6)
        return min(whole, move.end - self.begin(number))

    def parts(self, number: int) -> Iterator[Part]:
        """Yield what a copy did from the instant at which it was asked for to its end."""
        move, begin = self._moves[number], self.begin(number)
        if move.start > move.asked:
            yield from self._waits(number)
        if begin > move.start:
            yield Part("wait", "copy_latency", move.start, begin, move.source, copy=number)
        for start, end, speed in self.speeds(number):
            yield Part("wait", "copy", start, end, move.source, speed=speed, copy=number)

    # --- waits ----------------------------------------------------------------------------------------------------

    def _waits(self, number: int) -> Iterator[Part]:
        move = self._moves[number]
        ends = (move.from_device, move.to_device)
        times = {move.asked}
        for device in ends:
            changes = self._changes[device]
            times.update(changes[bisect_right(changes, move.asked) : bisect_left(changes, move.start)])
        if self._block:
            times.update(self._lines.live(move.to_device).inside(move.asked, move.start))
        yield from merged([self._wait(number, time) for time in sorted(times)], move.start)

    def _wait(self, number: int, time: int) -> Part:
        move = self._moves[number]
        for device in (move.from_device, move.to_device):
            engines = self._problem.devices[device].copy_engines
            if engines is not None and len(self.running(device, time)) >= engines:
                return Part("wait", "copy_engine", time, time, move.source, device, copy=number)
        if next(self._ahead(number, time), None) is not None:
            return Part("wait", "copy_queue", time, time, move.source, copy=number)
        limit = self._lines.limit(move.to_device) if self._block else None
        if limit is not None:
            free = limit - self._lines.live(move.to_device).at(time)
            if move.bytes > free:
                short = (Shortage(MEMORY, move.bytes, free),)
                return Part("wait", "copy_memory", time, time, move.source, move.to_device, short, copy=number)
        return Part("wait", "unknown", time, time, move.source, copy=number)

    def running(self, device: int, time: int) -> list[int]:
        """Copies that have an engine of a device from an instant on."""
        rows, longest = self._by_device[device]
        first = bisect_left(rows, time - longest, key=itemgetter(0))
        near = rows[first : bisect_right(rows, time, key=itemgetter(0))]
        return [number for _, number in near if self._moves[number].end > time]

    def ahead(self, number: int, time: int) -> list[int]:
        """Copies that wait before one in the list and share a device with it: they hold it back."""
        return list(self._ahead(number, time))

    def _ahead(self, number: int, time: int) -> Iterator[int]:
        mine = {self._moves[number].from_device, self._moves[number].to_device}
        for other in self._asked[: self._order[number]]:
            move = self._moves[other]
            if move.start > time >= move.asked and mine.intersection((move.from_device, move.to_device)):
                yield other

    @cached_property
    def _asked(self) -> list[int]:
        """Copies in the order of the list in which they wait."""
        moves = self._moves
        return sorted(self.numbers, key=lambda each: (moves[each].asked, moves[each].tensor, moves[each].to_device))

    @cached_property
    def _order(self) -> dict[int, int]:
        return {number: place for place, number in enumerate(self._asked)}

    @cached_property
    def _by_device(self) -> list[tuple[list[tuple[int, int]], int]]:
        """Copies from and to each device by their starts, and how long the longest took."""
        found: list[list[tuple[int, int]]] = [[] for _ in self._problem.devices]
        for number in self.numbers:
            move = self._moves[number]
            for device in (move.from_device, move.to_device):
                found[device].append((move.start, number))
        return [
            (sorted(rows), max((self._moves[each].end - start for start, each in rows), default=0)) for rows in found
        ]

    @cached_property
    def _changes(self) -> list[list[int]]:
        """Times at which copies from or to each device start or end."""
        found: list[dict[int, None]] = [{} for _ in self._problem.devices]
        for number in self.numbers:
            move = self._moves[number]
            for device in (move.from_device, move.to_device):
                found[device].update({move.start: None, move.end: None})
        return [sorted(times) for times in found]

    # --- flows ----------------------------------------------------------------------------------------------------

    def speeds(self, number: int) -> Iterator[tuple[int, int, float]]:
        """Yield how fast the bytes of a copy flowed, against that alone: start and end in ns, and speed."""
        begin, end = self.begin(number), self._moves[number].end
        steps = self._flows.get(number, [(begin, 1.0)])
        for (start, speed), following in zip(steps, [*steps[1:], (end, 1.0)], strict=True):
            if following[0] > start:
                yield start, following[0], speed

    def sharers(self, number: int, time: int) -> list[int]:
        """Copies that used links of a copy's route while its bytes flowed from an instant on."""
        move = self._moves[number]
        mine = set(self.way(move.from_device, move.to_device).shared)
        found = []
        for device in range(len(self._problem.devices)):
            for other in self.running(device, time):
                row = self._moves[other]
                shared = self.way(row.from_device, row.to_device).shared
                if row.to_device == device and other != number and self.begin(other) <= time:
                    found += [] if mine.isdisjoint(shared) else [other]
        return sorted(found)

    @cached_property
    def _flows(self) -> dict[int, list[tuple[int, float]]]:
        """By copy that shared a link: from when on it had which speed."""
        events: dict[int, list[int]] = {}
        for number in self.numbers:
            move, begin = self._moves[number], self.begin(number)
            if move.end > begin and self.way(move.from_device, move.to_device).shared:
                events.setdefault(begin, []).append(number)
                events.setdefault(move.end, []).append(~number)
        active: dict[int, Way] = {}
        found: dict[int, list[tuple[int, float]]] = {}
        for time in sorted(events):
            for number in events[time]:
                if number < 0:
                    del active[~number]
                else:
                    active[number] = self._way_of(self._moves[number])
            for number, speed in self._speeds(active):
                steps = found.setdefault(number, [])
                if not steps or steps[-1][1] != speed:
                    steps.append((time, speed))
        return found

    def _way_of(self, move: Transfer) -> Way:
        return self.way(move.from_device, move.to_device)

    def _speeds(self, active: dict[int, Way]) -> Iterator[tuple[int, float]]:
        users: dict[int, int] = {}
        for way in active.values():
            for link in way.shared:
                users[link] = users.get(link, 0) + 1
        if all(count < 2 for count in users.values()):
            yield from ((number, 1.0) for number in active)
            return
        links = sorted(users)
        rates = self._fair_rates(links, list(active.values()))
        for (number, way), rate in zip(active.items(), rates, strict=True):
            speed = rate / way.fastest
            yield number, 1.0 if speed > NEARLY else speed

    def _fair_rates(self, links: Sequence[int], ways: Sequence[Way]) -> list[float]:
        capacities = [self._rates[link // 2] for link in links]
        rows = [[1.0 if link in way.shared else 0.0 for way in ways] for link in links]
        return max_min_rates(capacities, rows, bounds=[way.fastest for way in ways])
