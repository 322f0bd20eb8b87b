"""Who may run where: devices per operator, from what the graph, the hardware and a placement say."""

from __future__ import annotations

from collections.abc import Mapping

from simsched.cost.stated import Launch, misfit, stated_launch
from simsched.errors import Fault, suggest
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device, HardwareProfile


def find_allowed(
    graph: Graph, hardware: HardwareProfile, placement: Mapping[OpId, tuple[int, ...]], faults: list[Fault]
) -> tuple[dict[OpId, tuple[int, ...]], dict[OpId, Launch]]:
    """Find the devices that may run an operator, for operators that may not run on all, and the grids that are stated.

    Parameters
    ----------
    graph : Graph
    hardware : HardwareProfile
    placement : mapping of int to tuple of int
        Devices that a rule or a user leaves to an operator.
    faults : list of Fault
        Where operators that no device may run are noted.
    """
    allowed = _allowed(graph, hardware, faults)
    if not faults:
        _heed_demands(graph, hardware, allowed, faults)
    launches = _heed_grids(graph, hardware, allowed, faults)
    _heed_placement(graph, hardware, placement, allowed, faults)
    return allowed, launches


def _allowed(graph: Graph, hardware: HardwareProfile, faults: list[Fault]) -> dict[OpId, tuple[int, ...]]:
    """Devices per operator where not all are allowed: fixed placement, or durations for some devices only."""
    index = {device.name: number for number, device in enumerate(hardware.devices)}
    allowed: dict[OpId, tuple[int, ...]] = {}
    for op, name in graph.placement.items():
        if name in index:
            allowed[op] = (index[name],)
        else:
            message = f"operator {graph.names[op]!r} is placed on device {name!r}, which the hardware does not have"
            faults.append(Fault(f"{message}; {suggest(name, index)}"))
    for op, durations in graph.device_durations.items():
        devices = tuple(index[name] for name in index if name in durations)
        if op in allowed:
            devices = tuple(device for device in devices if device in allowed[op])
        if not devices:
            listed = ", ".join(durations)
            message = (
                f"operator {graph.names[op]!r} has durations for {listed} only; the hardware has {', '.join(index)}"
            )
            faults.append(Fault(message))
        allowed[op] = devices
    return allowed


def _heed_demands(
    graph: Graph, hardware: HardwareProfile, allowed: dict[OpId, tuple[int, ...]], faults: list[Fault]
) -> None:
    """Leave out devices that can never satisfy an operator's demands; a fault where none is left."""
    every = tuple(range(len(hardware.devices)))
    for op, stated in graph.demands.items():
        candidates = allowed.get(op, every)
        complaints = [_shortfall(stated, hardware.devices[device]) for device in candidates]
        able = tuple(device for device, complaint in zip(candidates, complaints, strict=True) if not complaint)
        if not able:
            faults.append(Fault(f"operator {graph.names[op]!r} {complaints[0]}"))
        elif len(able) < len(candidates):
            allowed[op] = able


def _heed_grids(
    graph: Graph, hardware: HardwareProfile, allowed: dict[OpId, tuple[int, ...]], faults: list[Fault]
) -> dict[OpId, Launch]:
    """Read the grids that a graph states, and leave out devices on whose SMs a block can never fit."""
    launches: dict[OpId, Launch] = {}
    every = tuple(range(len(hardware.devices)))
    for op in graph.attributes:
        try:
            launch = stated_launch(graph, op)
        except ValueError as error:
            faults.append(Fault(f"operator {graph.names[op]!r} {error}"))
            continue
        if launch is None:
            continue
        launches[op] = launch
        candidates = allowed.get(op, every)
        complaints = [misfit(launch, hardware.devices[device]) for device in candidates]
        able = tuple(device for device, complaint in zip(candidates, complaints, strict=True) if not complaint)
        if candidates and not able:
            faults.append(Fault(f"operator {graph.names[op]!r} {complaints[0]}"))
        elif len(able) < len(candidates):
            allowed[op] = able
    return launches


def _heed_placement(
    graph: Graph, hardware: HardwareProfile, placement: Mapping[OpId, tuple[int, ...]],
    allowed: dict[OpId, tuple[int, ...]], faults: list[Fault],
) -> None:  # fmt: skip
    """Leave out devices that a placement from outside does not name; a fault where none is left."""
    every = tuple(range(len(hardware.devices)))
    for op, wanted in placement.items():
        candidates = allowed.get(op, every)
        able = tuple(device for device in candidates if device in wanted)
        if candidates and not able:
            to, only = (" or ".join(hardware.devices[each].name for each in group) for group in (wanted, candidates))
            faults.append(Fault(f"operator {graph.names[op]!r} is to run on {to}, but can run on {only} only"))
        elif len(able) < len(candidates):
            allowed[op] = able


def _shortfall(demands: Mapping[str, int], device: Device) -> str:
    for resource, units in demands.items():
        if units <= 0:
            continue
        if resource not in device.resources:
            hint = suggest(resource, device.resources)
            return f"demands {resource!r}, which device {device.name!r} does not have; {hint}"
        if units > device.resources[resource]:
            return f"demands {units} {resource}; device {device.name!r} has {device.resources[resource]}"
    return ""
