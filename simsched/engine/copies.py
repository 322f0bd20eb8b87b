"""Copies between devices: each tensor once per destination, on copy engines, over links that share their bandwidth.

A copy is asked for when its tensor has been made and the first operator that reads it on the other device has been
launched. Copies wait in one list; each takes an engine of both its devices (FIFO copy queues: Amert et al., RTSS 2017,
rules C1 to C4). First comes the latency of its route, which uses no bandwidth; then its bytes flow at the rate that is
max-min fair over all the links of the route.

Not modelled: copies take no part of the devices' memory bandwidth; host memory that is not pinned; copies in pieces.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from simsched.engine.residency import Residency
from simsched.graph.model import OpId, TensorId
from simsched.hardware import HardwareProfile
from simsched.problem import Problem
from simsched.sharing.fair import max_min_rates
from simsched.sharing.flows import Flows
from simsched.trace import Transfer

Key = tuple[TensorId, int]
"""A tensor and the device to which it is copied."""


class Route(NamedTuple):
    """How copies get from one device to another: link directions, and the rate of one alone in bytes per ns."""

    latency: int
    shared: tuple[int, ...]
    fastest: float


class _Copy(NamedTuple):
    """A copy that was asked for; the first three fields are its place in the list."""

    asked: int
    tensor: TensorId
    to_device: int
    from_device: int
    target: OpId


class Copies:
    """All copies of one run.

    Parameters
    ----------
    problem : Problem
    device_of : callable
        Device of a dispatched operator.
    memory : Residency or None
        Where copies are accounted for.
    room_for : callable
        ``room_for(device, bytes)``: whether a copy may start now.

    Attributes
    ----------
    done : list of Transfer
        Copies that have ended, in the order of their ends.
    """

    def __init__(
        self,
        problem: Problem,
        device_of: Callable[[OpId], int],
        memory: Residency | None,
        room_for: Callable[[int, int], bool],
    ) -> None:
        self._graph = problem.graph
        self._device_of, self._memory, self._room_for = device_of, memory, room_for
        self._routes, capacities = routes(problem.hardware)
        self._engines = [device.copy_engines for device in problem.devices]
        self._flows = Flows(capacities, max_min_rates)
        self._waiting: list[_Copy] = []
        self._latent: list[tuple[int, int]] = []
        self._running: dict[int, tuple[_Copy, int]] = {}
        self._readers: dict[Key, list[OpId]] = {}
        self._end: dict[Key, int] = {}
        self.done: list[Transfer] = []

    def crossing(self, source: OpId, target: OpId, to_device: int) -> list[TensorId]:
        """Tensors that are copied over links so that ``target`` can read what ``source`` made on another device."""
        if self._routes[self._device_of(source)][to_device] is None:
            return []
        graph = self._graph
        return [
            tensor
            for tensor in graph.outputs[source]
            if graph.tensor_bytes[tensor] and target in graph.tensor_consumers[tensor]
        ]

    def ask(self, source: OpId, target: OpId, now: int) -> None:
        """Ask for what ``target``, which is launched, reads of what ``source`` has made; once for each destination."""
        here = self._device_of(target)
        for tensor in self.crossing(source, target, here):
            key = (tensor, here)
            if key not in self._readers:
                insort(self._waiting, _Copy(now, tensor, here, self._device_of(source), target))
            self._readers.setdefault(key, []).append(target)

    def end(self, tensor: TensorId, device: int) -> int | None:
        """When a tensor had come to a device; None where it has not."""
        return self._end.get((tensor, device))

    def advance(self, now: int) -> list[tuple[OpId, int]]:
        """Start the copies that can start; one that cannot holds back both its devices for those behind it.

        Returns
        -------
        list of (int, int)
            For whom, and to which device, each copy that has started goes.
        """
        held: set[int] = set()
        left: list[_Copy] = []
        begun: list[tuple[OpId, int]] = []
        for copy in self._waiting:
            ends = (copy.from_device, copy.to_device)
            size = self._graph.tensor_bytes[copy.tensor]
            engines = all(self._engines[end] is None or self._engines[end] for end in ends)
            if held.isdisjoint(ends) and engines and self._room_for(copy.to_device, size):
                self._start(copy, now)
                begun.append((copy.target, copy.to_device))
            else:
                held.update(ends)
                left.append(copy)
        self._waiting = left
        return begun

    def _start(self, copy: _Copy, now: int) -> None:
        for end in (copy.from_device, copy.to_device):
            self._change_engines(end, -1)
        number = len(self.done) + len(self._running)
        self._running[number] = (copy, now)
        if self._memory is not None:
            self._memory.copy(copy.tensor, copy.to_device, now)
        route = self._route(copy)
        if route.latency or route.fastest == inf:
            heappush(self._latent, (now + route.latency, number))
        else:
            self._flow(number, now)

    def _flow(self, number: int, now: int) -> None:
        copy, _ = self._running[number]
        route = self._route(copy)
        size = float(self._graph.tensor_bytes[copy.tensor])
        self._flows.add(number, dict.fromkeys(route.shared, 1.0), size, route.fastest, now)

    def next_time(self, now: int) -> int | None:
        """Next instant, ``now`` at the earliest, at which ``due`` has something to say."""
        times = [time for time, _ in self._latent[:1]]
        flowing = self._flows.next_time()
        if flowing is not None:
            times.append(max(flowing, now + 1))
        return min(times, default=None)

    def due(self, now: int) -> list[OpId]:
        """End the copies that are through; returns the launched operators that read them, ascending."""
        ended = self._flows.due(now)
        while self._latent and self._latent[0][0] <= now:
            _, number = heappop(self._latent)
            if self._route(self._running[number][0]).fastest == inf:
                ended.append(number)
            else:
                self._flow(number, now)
        readers: set[OpId] = set()
        for number in sorted(ended):
            copy, begun = self._running.pop(number)
            key = (copy.tensor, copy.to_device)
            self._end[key] = now
            for end in (copy.from_device, copy.to_device):
                self._change_engines(end, 1)
            self.done.append(self._record(copy, begun, now))
            readers.update(self._readers[key])
        return sorted(readers)

    @property
    def waiting(self) -> bool:
        """Whether any copy that was asked for has not started."""
        return bool(self._waiting)

    def short_of_memory(self) -> tuple[OpId, int, int] | None:
        """First copy that its destination has no room for: who reads it there, the device, and its bytes."""
        for copy in self._waiting:
            size = self._graph.tensor_bytes[copy.tensor]
            if not self._room_for(copy.to_device, size):
                return copy.target, copy.to_device, size
        return None

    def _record(self, copy: _Copy, begun: int, now: int) -> Transfer:
        graph = self._graph
        source, size = graph.tensor_producer[copy.tensor], graph.tensor_bytes[copy.tensor]
        way = (copy.from_device, copy.to_device)
        return Transfer(source, copy.target, *way, begun, now, size, copy.tensor, copy.asked)

    def _change_engines(self, device: int, change: int) -> None:
        engines = self._engines[device]
        if engines is not None:
            self._engines[device] = engines + change

    def _route(self, copy: _Copy) -> Route:
        route = self._routes[copy.from_device][copy.to_device]
        assert route is not None
        return route


def routes(hardware: HardwareProfile) -> tuple[list[list[Route | None]], list[float]]:
    """Return the route from each device to each other, None where no links join them, and what links carry.

    Returns
    -------
    routes : list of list of Route or None
    capacities : list of float
        Bytes per ns of each shared resource: of both directions of link ``i`` at ``2 i`` and ``2 i + 1``; the latter
        is not used where both directions share, and neither where the bandwidth has no limit.
    """
    names = [device.name for device in hardware.devices]
    rates = [inf if link.bandwidth is None else link.bandwidth / 1e9 for link in hardware.links]
    found = [[_route(hardware, rates, a, b) if a != b else None for b in names] for a in names]
    return found, [rate if rate < inf else 1.0 for rate in rates for _ in range(2)]


def _route(hardware: HardwareProfile, rates: Sequence[float], a: str, b: str) -> Route | None:
    hops = hardware.route(a, b)
    if not hops:
        return None
    shared = []
    for number, forward in hops:
        sharing = hardware.links[number].sharing
        if sharing != "unshared" and rates[number] < inf:
            shared.append(2 * number if forward or sharing == "half_duplex" else 2 * number + 1)
    latency = sum(hardware.links[number].latency_ns for number, _ in hops)
    return Route(latency, tuple(shared), min(rates[number] for number, _ in hops))
