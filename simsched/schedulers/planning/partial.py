"""PartialPlan: what has been placed so far, where the next operator could go, and what comes out in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.planning.begun import NOTHING, Begun
from simsched.schedulers.planning.costs import Costs, DeviceId
from simsched.schedulers.planning.machines import ByLane, InOrder, Lane, Lanes, Machine, Pool, Queue, Queues, lanes_of
from simsched.schedulers.planning.plan import Plan

Score = Callable[[OpId, DeviceId, int, int], int]
"""``score(op, device, start, end)``: how bad it would be to run the operator there; the lowest wins, ties the first."""


def starts_first(op: OpId, device: DeviceId, start: int, end: int) -> int:
    """Score of a place by when the operator would start there."""
    del op, device, end
    return start


def ends_first(op: OpId, device: DeviceId, start: int, end: int) -> int:
    """Score of a place by when the operator would end there."""
    del op, device, start
    return end


class PartialPlan:
    """A plan in the making.

    Parameters
    ----------
    costs : Costs
    insertion : bool
        Whether an operator may go before others that have been placed, where it delays none of them.
    begun : Begun, optional
        What has been dispatched, where the plan is made in the middle of a run.

    Attributes
    ----------
    insertion : bool
    begun : Begun
    machines : list of Machine
        By device.
    needs : list of mapping
        By device, what stands for the units that an operator holds there: equal numbers for equal units. Empty where
        only streams are scarce.
    start, end, device : list of int
        By operator id, once it is placed.
    """

    def __init__(self, costs: Costs, *, insertion: bool, begun: Begun = NOTHING) -> None:
        self.costs = costs
        self.insertion = insertion
        self.begun = begun
        self.machines: list[Machine] = []
        self.needs: list[Mapping[OpId, int]] = []
        self._by_lane: dict[DeviceId, ByLane] = {}
        self._streams: list[Sequence[int]] = [_lanes_in_order(costs.problem, device, begun) for device in costs.devices]
        for device in costs.devices:
            self._add(device)
        self.start = [0] * costs.count
        self.end = [0] * costs.count
        self.device = [0] * costs.count
        self._lane = [0] * costs.count
        if begun.stream:
            self._go_on(begun)
        self._arrivals = self._near_and_far if len(costs.transfers) == 1 else self._by_kind
        if not costs.transfers:
            self._arrivals = self._one_device

    def _add(self, device: DeviceId) -> None:
        """Add an empty machine."""
        described = self.costs.problem.devices[device]
        streams = described.streams
        if described.max_resident_kernels is not None:
            busy = len(_busy(self.costs.problem, device, self.begun))
            streams = max(1, busy, min(streams, described.max_resident_kernels))
        demands = planned_demands(self.costs.problem, device)
        if demands:
            pool = Pool(described.resources, demands, streams)
            self.machines.append(pool if self.insertion else InOrder(pool))
            self.needs.append(pool.needs)
            return
        self.needs.append({})
        if streams == 1:
            lanes: ByLane = Lane() if self.insertion else Queue()
        else:
            lanes = Lanes(streams) if self.insertion else Queues(streams)
        self.machines.append(lanes)
        self._by_lane[device] = lanes

    def _go_on(self, begun: Begun) -> None:
        """Place what has been dispatched: what has ended takes no room any more."""
        linked = bool(self.costs.problem.hardware.links)
        busy: dict[int, int] = {}
        for op, stream in begun.stream.items():
            device, start, end = self.costs.problem.stream_device[stream], begun.start[op], begun.end[op]
            # A copy is asked for when its reader is dispatched, so that nothing comes over a link before now.
            self.start[op], self.end[op], self.device[op] = start, max(end, begun.now) if linked else end, device
            if end <= begun.now:
                continue
            if device not in self._by_lane:
                machine, first = self.machines[device], max(start, begun.now)
                # What runs longer than expected may seem to hold more than there is: then one after the other.
                self._lane[op] = machine.place(op, machine.earliest(op, first, end - first), end - first)
            else:
                busy[stream] = max(end, busy.get(stream, 0))
        for stream, until in busy.items():
            device = self.costs.problem.stream_device[stream]
            self._by_lane[device].occupy(self._streams[device].index(stream), until)

    def arrivals(self, op: OpId) -> list[int]:
        """When an operator, whose predecessors are all placed, would have its inputs, by device."""
        now = self.begun.now
        return [max(now, time) for time in self._arrivals(op)] if now else self._arrivals(op)

    def _one_device(self, op: OpId) -> list[int]:
        end = self.end
        return [max([end[other] for other in self.costs.graph.pred[op]], default=0)]

    def _near_and_far(self, op: OpId) -> list[int]:
        """Where a transfer takes equally long from wherever to wherever.

        The latest arrival from afar counts everywhere but on the device that it comes from; there the latest from
        any other device does.
        """
        costs, end, device = self.costs, self.end, self.device
        near = [0] * len(self.machines)
        far, far_from, next_far = 0, -1, 0
        for other, time in zip(costs.graph.pred[op], costs.transfers[0][op], strict=True):
            done, source = end[other], device[other]
            if done > near[source]:
                near[source] = done
            arrived = done + time
            if arrived > far:
                if source != far_from:
                    far_from, next_far = source, far
                far = arrived
            elif source != far_from and arrived > next_far:
                next_far = arrived
        found = [far if far > time else time for time in near]
        if far_from >= 0:
            found[far_from] = max(near[far_from], next_far)
        return found

    def _by_kind(self, op: OpId) -> list[int]:
        costs = self.costs
        rows = [times[op] for times in costs.transfers]
        latest = [0] * len(self.machines)
        for number, other in enumerate(costs.graph.pred[op]):
            done = self.end[other]
            for target, kind in enumerate(costs.kind[self.device[other]]):
                arrived = done if kind < 0 else done + rows[kind][number]
                if arrived > latest[target]:
                    latest[target] = arrived
        return latest

    def best(
        self, op: OpId, arrivals: list[int], score: Score, among: Sequence[DeviceId] | None = None
    ) -> tuple[int, DeviceId, int]:
        """Return score, device and start of the best place for an operator.

        Parameters
        ----------
        op : int
        arrivals : list of int
            When its inputs arrive, by device.
        score : callable
        among : sequence of int, optional
            Devices to look at; all that may run the operator by default.
        """
        machines, durations = self.machines, self.costs.durations
        best, best_device, best_start = -1, -1, 0
        for device in self.costs.allowed[op] if among is None else among:
            duration = durations[device][op]
            start = machines[device].earliest(op, arrivals[device], duration)
            value = score(op, device, start, start + duration)
            if best_device < 0 or value < best:
                best, best_device, best_start = value, device, start
        return best, best_device, best_start

    def place(self, op: OpId, device: DeviceId, start: int) -> None:
        """Place an operator at a start that its machine gave."""
        duration = self.costs.durations[device][op]
        self._lane[op] = self.machines[device].place(op, start, duration)
        self.start[op] = start
        self.end[op] = start + duration
        self.device[op] = device

    def finished(self) -> Plan:
        """Return the plan, once all operators are placed."""
        streams, begun = self._streams, self.begun
        found = [streams[device][lane] for device, lane in zip(self.device, self._lane, strict=True)]
        for op in begun.stream:
            self.start[op], self.end[op] = begun.start[op], begun.end[op]
        plan = Plan(found, self.start, self.end)
        pools = [device for device in self.costs.devices if device not in self._by_lane]
        if pools:
            order = [op for op in plan.order if begun.end.get(op, self.end[op]) > begun.now or op not in begun.stream]
            for device in pools:
                there = [op for op in order if self.device[op] == device]
                for op, lane in lanes_of(there, self.start, self.end).items():
                    found[op] = streams[device][lane]
        for op, stream in begun.stream.items():
            found[op] = stream
        return plan


def _busy(problem: Problem, device: DeviceId, begun: Begun) -> list[int]:
    """Streams of a device on which something that has been dispatched has not ended, ascending."""
    own = problem.device_streams[device]
    return sorted({stream for op, stream in begun.stream.items() if stream in own and begun.end[op] > begun.now})


def _lanes_in_order(problem: Problem, device: DeviceId, begun: Begun) -> Sequence[int]:
    """Stream of each lane; where not all can run at a time, the busy ones come first."""
    own = problem.device_streams[device]
    if not begun.stream or problem.devices[device].max_resident_kernels is None:
        return own
    busy = _busy(problem, device, begun)
    return busy + [stream for stream in own if stream not in busy]


def is_pool(problem: Problem, device: DeviceId) -> bool:
    """Whether operators compete for more than the streams of a device."""
    return bool(planned_demands(problem, device))


def planned_demands(problem: Problem, device: DeviceId) -> dict[OpId, dict[str, int]]:
    """Units that operators hold on a device in a plan: whole SMs also where the device places blocks one by one."""
    found = {op: dict(demand) for op, demand in problem.demands_on(device).items()}
    described = problem.devices[device]
    if described.model == "blocks" and "sms" in described.resources:
        for op in sorted(problem.costs[device].keys() | problem.graph.demands.keys()):
            sms = min(problem.cost(op, device).sms, described.sms)
            if sms:
                found.setdefault(op, {})["sms"] = sms
    if problem.allowed:
        found = {op: demand for op, demand in found.items() if device in problem.allowed_devices(op)}
    return found
