"""Copies of tensors between devices: asked for, waiting in one list, on their way over links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from simsched.graph.model import OpId, TensorId
from simsched.hardware import Hop
from tests.reference.flows import Flow, max_min

if TYPE_CHECKING:
    from tests.reference.engine import Reference


@dataclass
class Copy:
    """One tensor that goes to one other device; ``start`` and ``end`` are -1 until then."""

    tensor: TensorId
    source: OpId
    target: OpId
    here: int
    there: int
    size: int
    asked: int
    route: tuple[Hop, ...]
    start: int = -1
    end: int = -1
    flow: Flow | None = None


class Copies:
    """All copies of one run, by tensor and destination."""

    def __init__(self, run: Reference) -> None:
        self.run = run
        self.all: dict[tuple[TensorId, int], Copy] = {}
        self.short_of_memory = False

    def route(self, here: int, there: int) -> tuple[Hop, ...]:
        devices = self.run.problem.devices
        return self.run.problem.hardware.route(devices[here].name, devices[there].name)

    def carried(self, before: OpId, op: OpId, device: int) -> list[TensorId]:
        """Tensors that an operator reads from a predecessor and that have to be copied to its device."""
        graph = self.run.graph
        if not self.route(self.run.device_of(before), device):
            return []
        return [t for t in graph.outputs[before] if op in graph.tensor_consumers[t] and graph.tensor_bytes[t]]

    def linked(self, tensor: TensorId, device: int) -> bool:
        """Whether a tensor whose producer has been dispatched comes to a device as a copy over links."""
        home = self.run.device_of(self.run.graph.tensor_producer[tensor])
        return home != device and self.run.graph.tensor_bytes[tensor] > 0 and bool(self.route(home, device))

    def ask(self) -> None:
        """Ask for each copy whose tensor is made and that an operator has been launched for; the first counts."""
        run = self.run
        number = {op: position for position, op in enumerate(run.told.launch_order)}
        for op in sorted(run.told.launch_order, key=lambda op: (run.launched_at[op], number[op])):
            there = run.device_of(op)
            for before in run.graph.pred[op]:
                here = run.device_of(before) if before in run.finished else there
                asked = max(run.told.end[before], run.launched_at[op])
                for tensor in self.carried(before, op, there) if here != there and asked <= run.now else []:
                    if (tensor, there) not in self.all:
                        self.all[tensor, there] = Copy(
                            tensor, before, op, here, there,
                            run.graph.tensor_bytes[tensor], asked, self.route(here, there),
                        )  # fmt: skip

    def under_way(self) -> list[Copy]:
        return [copy for copy in self.all.values() if copy.start >= 0 > copy.end]

    def engine_free(self, device: int) -> bool:
        engines = self.run.problem.devices[device].copy_engines
        busy = sum(device in (copy.here, copy.there) for copy in self.under_way())
        return engines is None or busy < engines

    def start(self) -> None:
        """Go through the list once."""
        self.ask()
        run, held = self.run, set[int]()
        waiting = [copy for copy in self.all.values() if copy.start < 0]
        self.short_of_memory = False
        for copy in sorted(waiting, key=lambda copy: (copy.asked, copy.tensor, copy.there)):
            ends = {copy.here, copy.there}
            free = not ends & held and all(self.engine_free(device) for device in ends)
            if free and run.fits(copy.size, copy.there):
                self.begin(copy)
            else:
                held |= ends
                self.short_of_memory |= free

    def begin(self, copy: Copy) -> None:
        links = self.run.problem.hardware.links
        copy.start = self.run.now
        latency = sum(links[hop.link].latency_ns for hop in copy.route)
        unlimited = all(links[hop.link].bandwidth is None for hop in copy.route)
        copy.flow = Flow(copy.start + latency, Fraction(0 if unlimited else copy.size))
        self.run.grew(copy.there)

    def finish(self) -> bool:
        """Note the copies that are through; whether there were any."""
        over = [copy for copy in self.under_way() if copy.flow and copy.flow.over(self.run.now)]
        for copy in over:
            copy.end = self.run.now
        return bool(over)

    def flows(self) -> Iterator[Flow]:
        for copy in self.under_way():
            if copy.flow:
                yield copy.flow

    def share(self) -> None:
        """Set the rates of all copies whose bytes flow now."""
        links = self.run.problem.hardware.links
        moving = [copy for copy in self.under_way() if copy.flow and copy.flow.on_its_way(self.run.now)]
        bounds: list[Fraction | None] = []
        crossed = []
        capacity = {}
        for copy in moving:
            bound, used = None, []
            for hop in copy.route:
                link = links[hop.link]
                if link.bandwidth is None:
                    continue
                bandwidth = Fraction(link.bandwidth) / 10**9
                if link.sharing == "unshared":
                    bound = bandwidth if bound is None else min(bound, bandwidth)
                else:
                    resource = (hop.link, hop.forward if link.sharing == "full_duplex" else True)
                    capacity[resource] = bandwidth
                    used.append(resource)
            bounds.append(bound)
            crossed.append(used)
        for copy, rate in zip(moving, max_min(bounds, crossed, capacity), strict=True):
            if copy.flow:
                copy.flow.rate = rate

    def launches_to_come(self) -> list[int]:
        """Instants at which operators are launched that some copy may be asked for."""
        return [time for time in self.run.launched_at.values() if time > self.run.now]
