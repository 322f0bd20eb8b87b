"""Changes of a problem: each takes a variant and returns another; nothing is changed in place.

A variant remembers for which operators of the first problem each of its operators stands, so that runs of both can be
compared operator by operator, and so that noise hits the same operators.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction

from simsched.cost.base import CostModel, KernelCost
from simsched.errors import ConfigError, CostError, Fault, UnknownNameError
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device, HardwareProfile
from simsched.problem import Problem, make_problem

TYPE = "type:"
_PATTERN = frozenset("*?[")


@dataclass(frozen=True, eq=False)
class Variant:
    """A problem that was made from another one.

    Attributes
    ----------
    problem : Problem
    origin : sequence of tuple of int
        For each operator, those of the first problem that it stands for: one, or several where they were fused.
    """

    problem: Problem
    origin: Sequence[tuple[OpId, ...]]


def variant_of(problem: Problem) -> Variant:
    """Return a problem as a variant of itself."""
    return Variant(problem, [(op,) for op in range(len(problem.graph))])


# --- hardware -------------------------------------------------------------------------------------------------


def with_hardware(variant: Variant, hardware: HardwareProfile, model: CostModel | None = None) -> Variant:
    """Return the same graph on changed hardware.

    Operators are costed again on devices where a figure changed that costs may depend on: any but the number of
    streams, memory capacity, copy engines, resident kernels and priorities.

    Parameters
    ----------
    variant : Variant
        Of a graph that is still the one that was costed.
    hardware : HardwareProfile
        With the devices of the old one.
    model : CostModel, optional
        That made the costs; the roofline model by default.

    Raises
    ------
    ConfigError
        If operators must be costed again, and the model does not give the costs that they had.
    GraphError, CostError
        If an operator no longer fits its devices, or cannot be costed.
    """
    problem = variant.problem
    if model is None:
        from simsched.cost.roofline import Roofline

        model = Roofline()
    old = {device.name: device for device in problem.hardware.charged_devices}
    number = {device.name: place for place, device in enumerate(problem.devices)}

    def costed(graph: Graph, op: OpId, device: Device) -> KernelCost:
        known = problem.costs[number[device.name]].get(op)
        if known is None:
            return model(graph, op, device)
        if _for_costs(old[device.name]) == _for_costs(device):
            return known
        _same_model(model(graph, op, old[device.name]), known, graph, op)
        return model(graph, op, device)

    # What a rule of placement allowed stays allowed: devices are left out only where operators no longer fit.
    made = make_problem(problem.graph, hardware, costed, seed=problem.seed, placement=problem.allowed)
    return Variant(made, variant.origin)


def _for_costs(device: Device) -> Device:
    """A device without what no cost depends on."""
    return dataclasses.replace(
        device, streams=1, stream_priorities=(), memory_capacity=None, memory_usable=None, copy_engines=None,
        max_resident_kernels=None,
    )  # fmt: skip


def _same_model(found: KernelCost, known: KernelCost, graph: Graph, op: OpId) -> None:
    if found.duration != known.duration:
        message = (
            f"operator {graph.names[op]!r} took {known.duration} ns, and {found.duration} ns by this cost model: it is "
            "not the one that made the costs, so that they cannot be made again for other hardware; name that one "
            "with --cost-model"
        )
        raise ConfigError(graph.name, [Fault(message)])


# --- scaling --------------------------------------------------------------------------------------------------


def matching(graph: Graph, pattern: str) -> list[OpId]:
    """Return the operators that a name means: an operator, ``type:Conv``, or a pattern with ``*``, ``?``, ``[...]``.

    Raises
    ------
    UnknownNameError
        If there is none; with the nearest name.

    Examples
    --------
    >>> from simsched.graph.io import load_graph
    >>> graph = load_graph("residual")
    >>> [graph.names[op] for op in matching(graph, "Conv*")], matching(graph, "type:Conv")
    (['Conv1', 'Conv2'], [1, 3])
    """
    if pattern in graph.index:
        return [graph.index[pattern]]
    kind, names, text = "operator", graph.names, pattern
    if pattern.startswith(TYPE):
        kind, names, text = "operator type", graph.op_types, pattern.removeprefix(TYPE)
    found = [op for op, name in enumerate(names) if name == text]
    if not found and _PATTERN.intersection(text):
        found = [op for op, name in enumerate(names) if fnmatchcase(name, text)]
        if not found:
            message = (
                f"no {kind} of {graph.name!r} matches {text!r}; there are {', '.join(dict.fromkeys(names[:8]))}, ..."
            )
            raise ConfigError("--scale", [Fault(message)])
    if not found:
        raise UnknownNameError(kind, text, dict.fromkeys(names))
    return found


def scaled(variant: Variant, factors: Mapping[OpId, Fraction]) -> Variant:
    """Multiply the whole cost of operators: duration, both sides of the roofline, launch, work and traffic.

    A scaled operator draws the same bandwidth and holds the same SMs as before, for longer or shorter: as if there were
    more or less of it. Whole nanoseconds, FLOPs and bytes are rounded to the nearest, halves to even.

    Parameters
    ----------
    variant : Variant
    factors : mapping of int to Fraction
        At least 0.

    Raises
    ------
    CostError
        If a factor is negative.
    """
    problem = variant.problem
    graph = problem.graph
    for op, factor in factors.items():
        if factor < 0:
            raise CostError(f"operator {graph.names[op]!r}: a factor cannot be negative: {float(factor):g}")
    durations = list(graph.durations)
    for op, factor in factors.items():
        stated = durations[op]
        durations[op] = None if stated is None else round(stated * factor)
    changed = dataclasses.replace(
        graph,
        durations=durations,
        device_durations={
            op: {name: round(time * factors.get(op, Fraction(1))) for name, time in row.items()}
            for op, row in graph.device_durations.items()
        },
        flops={op: round(count * factors.get(op, Fraction(1))) for op, count in graph.flops.items()},
        traffic={op: round(size * factors.get(op, Fraction(1))) for op, size in graph.traffic.items()},
    )
    costs = tuple(
        {op: scaled_cost(cost, factors[op]) if op in factors else cost for op, cost in column.items()}
        for column in problem.costs
    )
    return Variant(dataclasses.replace(problem, graph=changed, costs=costs), variant.origin)


def scaled_cost(cost: KernelCost, factor: Fraction) -> KernelCost:
    """Return a cost times a factor; what it holds while it runs stays.

    Examples
    --------
    >>> half = scaled_cost(KernelCost(101, flops=7, sms=3, memory_ns=99.0, launch_ns=2.0), Fraction(1, 2))
    >>> half.duration, half.flops, half.sms, half.memory_ns, half.launch_ns
    (50, 4, 3, 49.5, 1.0)
    """
    times = float(factor)
    return dataclasses.replace(
        cost,
        duration=round(cost.duration * factor),
        flops=round(cost.flops * factor),
        bytes=round(cost.bytes * factor),
        compute_ns=cost.compute_ns * times,
        memory_ns=cost.memory_ns * times,
        launch_ns=cost.launch_ns * times,
        tail_ns=round(cost.tail_ns * factor),
        peak_ns=cost.peak_ns * times,
    )


# --- noise ----------------------------------------------------------------------------------------------------


def actual_of(
    variant: Variant, first: Problem, actual: Sequence[Sequence[int]] | None
) -> Sequence[Sequence[int]] | None:
    """Return the actual durations of a variant: each operator is as much longer than estimated as it was before.

    A fused operator errs as the operators that it stands for erred together.

    Parameters
    ----------
    variant : Variant
    first : Problem
        The problem that it was made from.
    actual : sequence of sequence of int or None
        Actual durations of that one, in ns per device.
    """
    if actual is None:
        return None
    columns: list[list[int]] = []
    for device, took in enumerate(actual):
        before, column = first.durations(device), []
        for estimate, ops in zip(variant.problem.durations(device), variant.origin, strict=True):
            expected, true = sum(before[op] for op in ops), sum(took[op] for op in ops)
            if not estimate or not expected or true == expected:
                column.append(estimate)
            else:
                column.append(max(1, round(Fraction(estimate * true, expected))))
        columns.append(column)
    return columns
