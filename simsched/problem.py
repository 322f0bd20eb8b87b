"""Problem: what a scheduler may know before time 0: graph, hardware and estimated costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from simsched.cost.base import CostModel, KernelCost
from simsched.cost.stated import stated_cost
from simsched.eligibility import find_allowed
from simsched.errors import CostError, Fault, GraphError
from simsched.graph.model import Graph, OpId, TensorId
from simsched.hardware import Device, HardwareProfile, Hop, Link

MemoryMode = Literal["unbounded", "block", "strict"]
"""What a run does about the capacity: nothing, make heads wait until they fit, or treat exceeding it as an error."""
MEMORY_MODES: tuple[MemoryMode, ...] = get_args(MemoryMode)

NO_DEMANDS: Mapping[str, int] = {}


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph, hardware, and what each operator costs on each device. Build one with :func:`make_problem`.

    Attributes
    ----------
    graph : Graph
    hardware : HardwareProfile
    costs : tuple of mapping
        Per device: operator id to :class:`KernelCost`, for operators whose duration the cost model decided, or whose
        grid the graph states.
    allowed : mapping of int to tuple of int
        Devices that may run an operator, for operators that may not run on all of them.
    seed : int

    Notes
    -----
    Streams have dense ids over all devices: device 0's first, in the order of the profile.
    """

    graph: Graph
    hardware: HardwareProfile
    costs: tuple[Mapping[OpId, KernelCost], ...]
    allowed: Mapping[OpId, tuple[int, ...]]
    seed: int = 0
    stream_device: tuple[int, ...] = field(init=False)
    stream_names: tuple[str, ...] = field(init=False)
    device_streams: tuple[range, ...] = field(init=False)
    _durations: tuple[Sequence[int], ...] = field(init=False)
    _demands: dict[int, dict[OpId, Mapping[str, int]]] = field(init=False, default_factory=dict)
    _routes: dict[tuple[int, int], tuple[Hop, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        owners: list[int] = []
        names: list[str] = []
        ranges: list[range] = []
        for number, device in enumerate(self.hardware.devices):
            ranges.append(range(len(owners), len(owners) + device.streams))
            owners += [number] * device.streams
            names += [f"{device.name}/s{stream}" for stream in range(device.streams)]
        set_once = object.__setattr__
        set_once(self, "stream_device", tuple(owners))
        set_once(self, "stream_names", tuple(names))
        set_once(self, "device_streams", tuple(ranges))
        set_once(self, "_durations", tuple(self._column(device) for device in range(len(self.devices))))

    def _column(self, device: int) -> Sequence[int]:
        """Durations of all operators on one device; 0 where the operator may not run there."""
        graph = self.graph
        costs = self.costs[device]
        if not costs and not graph.device_durations and None not in graph.durations:
            return graph.durations  # type: ignore[return-value]
        name = self.devices[device].name
        column: list[int] = []
        for op, duration in enumerate(graph.durations):
            if op in costs:
                column.append(costs[op].duration)
            elif duration is None:
                column.append(graph.device_durations.get(op, {}).get(name, 0))
            else:
                column.append(duration)
        return column

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices of the hardware."""
        return self.hardware.devices

    def durations(self, device: int = 0) -> Sequence[int]:
        """Estimated duration in ns of each operator on one device, by operator id."""
        return self._durations[device]

    def allowed_devices(self, op: OpId) -> tuple[int, ...]:
        """Devices that may run the operator."""
        return self.allowed.get(op) or tuple(range(len(self.devices)))

    def shortest_durations(self, actual: Sequence[Sequence[int]] | None = None) -> Sequence[int]:
        """Each operator's duration on the device where it is shortest, among those that may run it.

        Parameters
        ----------
        actual : sequence of sequence of int, optional
            Actual durations per device in ns, to look at instead of the estimates.
        """
        return self.least(self._durations if actual is None else actual)

    def least(self, columns: Sequence[Sequence[int]]) -> Sequence[int]:
        """Smallest value of each operator, of one column per device, over the devices that may run it."""
        if len(columns) == 1:
            return columns[0]
        least = list(map(min, *columns))
        for op, allowed in self.allowed.items():
            least[op] = min(columns[device][op] for device in allowed)
        return least

    def cost(self, op: OpId, device: int = 0) -> KernelCost:
        """Return the full cost of one operator on one device."""
        known = self.costs[device].get(op)
        if known is not None:
            return known
        graph = self.graph
        return KernelCost(
            self._durations[device][op],
            flops=graph.flops.get(op, 0),
            bytes=graph.traffic.get(op, 0),
            sms=graph.demands.get(op, NO_DEMANDS).get("sms", 0),
            workspace=graph.workspace.get(op, 0),
        )

    def demand(self, op: OpId, device: int = 0) -> Mapping[str, int]:
        """Units of each renewable resource that the operator holds on a device while it runs.

        On a device of model ``blocks`` SMs are not held whole: see :class:`simsched.trace.Cohort`.
        """
        stated = self.graph.demands.get(op, NO_DEMANDS)
        if self.devices[device].model == "blocks":
            return {name: units for name, units in stated.items() if name != "sms"} if stated else stated
        cost = self.costs[device].get(op)
        if cost is None or not cost.sms or "sms" in stated:
            return stated
        return {**stated, "sms": cost.sms}

    def demands_on(self, device: int) -> Mapping[OpId, Mapping[str, int]]:
        """Demands of every operator that holds any units on a device, by operator id."""
        known = self._demands.get(device)
        if known is None:
            known = self._demands[device] = self._find_demands(device)
        return known

    def _find_demands(self, device: int) -> dict[OpId, Mapping[str, int]]:
        stated, costs = self.graph.demands, self.costs[device]
        plain = not costs and self.devices[device].model != "blocks"
        if plain and all(min(demand.values(), default=1) > 0 for demand in stated.values()):
            return dict(stated)
        ops = sorted(stated.keys() | costs.keys())
        found = {op: {name: units for name, units in self.demand(op, device).items() if units > 0} for op in ops}
        return {op: demand for op, demand in found.items() if demand}

    @property
    def needs_memory(self) -> bool:
        """Whether any byte can ever be live."""
        graph = self.graph
        if any(graph.tensor_bytes) or any(graph.workspace.values()):
            return True
        return any(cost.workspace for costs in self.costs for cost in costs.values())

    def workspace(self, op: OpId, device: int = 0) -> int:
        """Bytes that live only while the operator runs."""
        cost = self.costs[device].get(op)
        return cost.workspace if cost is not None else self.graph.workspace.get(op, 0)

    def launch_part(self, op: OpId, device: int, took: int) -> int:
        """Part of an operator's duration that is its launch, in ns; where ``took`` is not the estimate, in proportion.

        Parameters
        ----------
        op : int
        device : int
        took : int
            What the operator takes alone in this run, in ns.
        """
        cost = self.costs[device].get(op)
        if cost is None or not cost.launch_ns:
            return 0
        launch, estimate = int(cost.launch_ns), cost.duration
        if took != estimate and estimate:
            launch = launch * took // estimate
        return min(launch, took)

    def draw(self, op: OpId, device: int, took: int) -> float:
        """Fraction of the device's achievable bandwidth that an operator draws at full speed, after its launch.

        Parameters
        ----------
        op : int
        device : int
        took : int
            What the operator takes alone in this run, in ns.

        Returns
        -------
        float
            From 0 to 1; 0 where no bytes or no bandwidth are known, and on ``lanes``, which share nothing.
        """
        return self._draws(device, {op: self._moved(op, device)}, {op: took}).get(op, 0.0)

    def draws(self, device: int, durations: Sequence[int]) -> dict[OpId, float]:
        """What :meth:`draw` says of every operator that draws anything.

        Parameters
        ----------
        device : int
        durations : sequence of int
            What each operator takes alone in this run, in ns.
        """
        moved: Mapping[OpId, int] = self.graph.traffic
        if self.costs[device]:
            moved = {op: self._moved(op, device) for op in sorted(moved.keys() | self.costs[device].keys())}
        return self._draws(device, moved, durations)

    def _moved(self, op: OpId, device: int) -> int:
        cost = self.costs[device].get(op)
        return self.graph.traffic.get(op, 0) if cost is None else cost.bytes

    def _draws(
        self, device: int, moved: Mapping[OpId, int], durations: Mapping[OpId, int] | Sequence[int]
    ) -> dict[OpId, float]:
        described = self.devices[device]
        if described.model == "lanes" or described.memory_bandwidth is None:
            return {}
        per_ns = described.memory_bandwidth * described.efficiency.bandwidth / 1e9
        costs, found = self.costs[device], {}
        for op, size in moved.items():
            body = durations[op]
            if op in costs:
                body -= self.launch_part(op, device, body)
            if size and body:
                draw = size / (per_ns * body)
                found[op] = draw if draw < 1.0 else 1.0
        return found

    @property
    def event_ns(self) -> int:
        """From the end of an operator until one in another stream of its device sees it; 0 where launches are free."""
        host = self.hardware.host
        return 0 if host.mode == "free" else host.event_ns

    def transfer_ns(self, source: OpId, target: OpId, from_device: int, to_device: int) -> int:
        """Time from ``source``'s end until ``target`` can start on another device, with the links to itself; else 0."""
        if from_device == to_device:
            return 0
        delay = self.graph.delays.get((source, target), 0)
        hops = self._routes.get((from_device, to_device))
        if hops is None:
            names = self.devices[from_device].name, self.devices[to_device].name
            hops = self._routes[from_device, to_device] = self.hardware.route(*names)
        size = self.edge_bytes(source, target) if hops else 0
        if not size:
            return delay
        links = [self.hardware.links[number] for number, _ in hops]
        largest = max(self.graph.tensor_bytes[tensor] for tensor in self._edge_tensors(source, target))
        # Tensors of one edge share the way, except over links that nobody shares.
        moving = max(_moving(largest if link.sharing == "unshared" else size, link) for link in links)
        return delay + sum(link.latency_ns for link in links) + moving

    def edge_bytes(self, source: OpId, target: OpId) -> int:
        """Bytes that ``target`` reads from ``source``'s outputs."""
        return sum(self.graph.tensor_bytes[tensor] for tensor in self._edge_tensors(source, target))

    def _edge_tensors(self, source: OpId, target: OpId) -> list[TensorId]:
        consumers = self.graph.tensor_consumers
        return [tensor for tensor in self.graph.outputs[source] if target in consumers[tensor]]


def _moving(size: int, link: Link) -> int:
    """Whole ns that bytes take over a link alone; what lies within a millionth of a ns is rounding of floats."""
    return 0 if link.bandwidth is None else math.ceil(size * 1e9 / link.bandwidth - 1e-6)


def make_problem(
    graph: Graph,
    hardware: HardwareProfile,
    cost_model: CostModel | None = None,
    *,
    seed: int = 0,
    placement: Mapping[OpId, tuple[int, ...]] | None = None,
) -> Problem:
    """Cost every operator on every device that may run it.

    Parameters
    ----------
    graph : Graph
    hardware : HardwareProfile
    cost_model : CostModel, optional
        Asked for operators without an explicit duration; the roofline model by default.
    seed : int
        For schedulers that draw random numbers.
    placement : mapping of int to tuple of int, optional
        Devices that may run an operator, beside what the graph says of it; see :mod:`simsched.placement`.

    Raises
    ------
    GraphError
        If an operator names a device or demands a resource that the hardware does not have, or more units of it
        than there are.
    CostError
        If an operator has no cost on a device.
    """
    faults: list[Fault] = []
    allowed, launches = find_allowed(graph, hardware, placement or {}, faults)
    if faults:
        raise GraphError(f"{graph.name} on {hardware.name}", faults)
    costs: list[dict[OpId, KernelCost]] = [{} for _ in hardware.devices]
    if graph.without_duration:
        model = cost_model or _default_model()
        for number, device in enumerate(hardware.charged_devices):
            ops = [op for op in graph.without_duration if number in allowed.get(op, (number,))]
            costs[number].update((op, _checked(model, graph, op, device)) for op in ops)
    problem = Problem(graph, hardware, tuple(costs), allowed, seed)
    for op, launch in launches.items():
        if graph.durations[op] is None and op not in graph.device_durations:
            continue  # the cost model has heeded it
        for number in problem.allowed_devices(op):
            duration = problem.durations(number)[op]
            costs[number][op] = stated_cost(graph, op, hardware.devices[number], duration, launch)
    return problem


def _default_model() -> CostModel:
    from simsched.cost.roofline import Roofline

    return Roofline()


def _checked(model: CostModel, graph: Graph, op: OpId, device: Device) -> KernelCost:
    cost = model(graph, op, device)
    if not isinstance(cost.duration, int) or cost.duration < 0:
        raise CostError(
            f"operator {graph.names[op]!r} on {device.name!r}: the cost model returned a duration of "
            f"{cost.duration!r}; expected a whole number of ns, at least 0"
        )
    return cost
