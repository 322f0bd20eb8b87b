"""Bounds on the makespan, each named for what it is.

``lower`` bounds hold for every run of the problem, whatever the scheduler; ``upper`` bounds for the runs that their
statement names; a ``model`` is neither, and is here because textbooks draw it. All of them are whole nanoseconds,
computed in exact arithmetic: lower bounds are rounded up, upper bounds down.

Where an operator may run on several devices, the lower bounds count its shortest duration and its smallest use of a
resource, over the capacity of all devices that may run it: they stay true, and become weaker.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from simsched.analysis.capacity import BANDWIDTH, COMPUTE, Case, Durations, Group, bound_case
from simsched.analysis.serial_work import serial_work
from simsched.graph.model import OpId, TensorId
from simsched.problem import Problem
from simsched.units import format_duration

Kind = Literal["lower", "upper", "model"]


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound.

    Attributes
    ----------
    name : str
        ``critical_path``, ``area(streams)``, ``area(sms)``, ``amdahl``, ...
    value : int
        ns.
    kind : {"lower", "upper", "model"}
    statement : str
        What the value says, in one sentence.
    source : str
        The formula, and who it is from.
    """

    name: str
    value: int
    kind: Kind
    statement: str
    source: str


def bounds(
    problem: Problem, *, actual: Durations | None = None, memory: str = "unbounded", proved: int | None = None
) -> tuple[Bound, ...]:
    """All bounds that apply to a problem.

    Parameters
    ----------
    problem : Problem
    actual : sequence of sequence of int, optional
        Actual durations per device, where the runs to be judged do not take the estimated ones.
    memory : {"unbounded", "block", "strict"}
        Memory mode of those runs; the upper bound holds only without a limit.
    proved : int, optional
        What a scheduler has proved of those runs, in ns, as a lower bound beside the others.

    Returns
    -------
    tuple of Bound
        The lower bounds first, the critical path at their head.

    Examples
    --------
    >>> from simsched.graph.builder import GraphBuilder
    >>> from simsched.hardware import lanes
    >>> from simsched.problem import make_problem
    >>> builder = GraphBuilder("fork", time_unit="tick")
    >>> names = [builder.add_op(name, duration=duration) for name, duration in (("a", 2), ("b", 3), ("c", 5))]
    >>> builder.add_edge("a", "b"); builder.add_edge("a", "c")
    >>> problem = make_problem(builder.build(), lanes(2), lambda *_: None)
    >>> [(bound.name, bound.value, bound.kind) for bound in bounds(problem)]  # doctest: +ELLIPSIS
    [('critical_path', 7, 'lower'), ('area(streams)', 5, 'lower'), ('window(streams)', 6, 'lower'), ...]
    """
    case = bound_case(problem, actual)
    found = [_critical_path(case), *_forced_transfers(case), *_forced_copies(case), *_launches(case)]
    found += [*_areas(case), *_windows(case), _amdahl(case)]
    found += [] if proved is None else [_proved(proved)]
    found += _graham_brent(case, memory)
    found += _textbook(case)
    return tuple(found)


def lower_bound(problem: Problem, *, actual: Durations | None = None) -> Bound:
    """Return the largest of the lower bounds, the first of equal ones."""
    return best_lower(bounds(problem, actual=actual))


def best_lower(limits: Iterable[Bound]) -> Bound:
    """Return the largest of the lower bounds among some bounds, the first of equal ones."""
    return max((bound for bound in limits if bound.kind == "lower"), key=lambda bound: bound.value)


def amdahl_rigorous(work: int, serial: int, machines: int) -> Fraction:
    """``S + (W - S) / p``: no run is shorter when ``S`` is work that runs beside nothing else.

    Parameters
    ----------
    work, serial : int
        ``W``, the work of all operators, and ``S``, that of the operators ordered with every other one, in ns.
    machines : int
        ``p``, how many operators can run at once.
    """
    return serial + Fraction(work - serial, machines)


def amdahl_textbook(work: int, fraction: Fraction, machines: int) -> Fraction:
    """``W (f + (1 - f) / p)``: a model of a program with a serial fraction ``f``, not a bound on a DAG."""
    return work * (fraction + (1 - fraction) / machines)


def graham_brent(work: int, path: int, machines: int) -> Fraction:
    """``W / p + (1 - 1 / p) CP``: no greedy run on identical lanes is longer."""
    return Fraction(work, machines) + (1 - Fraction(1, machines)) * path


# --- lower bounds ---------------------------------------------------------------------------------------------


def _critical_path(case: Case) -> Bound:
    return Bound(
        "critical_path",
        case.path,
        "lower",
        "The operators of the longest path run one after the other.",
        "longest path of (shortest) durations",
    )


def _forced_transfers(case: Case) -> Iterator[Bound]:
    """Longest path with the transfers that no placement avoids; only where there are any."""
    problem = case.problem
    graph, allowed = problem.graph, problem.allowed
    finish = list(case.shortest)
    forced = False
    for op, preds in enumerate(graph.pred):
        latest = 0
        for before in preds:
            end = finish[before]
            if op in allowed and before in allowed:
                moving = _least_transfer(problem, before, op)
                forced = forced or moving > 0
                end += moving
            latest = max(latest, end)
        finish[op] += latest
    if forced:
        yield Bound(
            "critical_path(transfers)",
            max(finish),
            "lower",
            "The same with the transfers between operators that no single device may run both of.",
            "longest path of shortest durations and least transfer times",
        )


def _least_transfer(problem: Problem, source: OpId, target: OpId) -> int:
    senders, receivers = problem.allowed[source], problem.allowed[target]
    if not set(senders).isdisjoint(receivers):
        return 0
    return min(problem.transfer_ns(source, target, sender, receiver) for sender in senders for receiver in receivers)


def _forced_copies(case: Case) -> Iterator[Bound]:
    """Bytes that no placement keeps from crossing a link, over its bandwidth; the link that takes longest."""
    problem = case.problem
    hardware, load = problem.hardware, [[0, 0] for _ in problem.hardware.links]
    for tensor, there in _forced_crossings(problem):
        source = problem.allowed[problem.graph.tensor_producer[tensor]][0]
        for number, forward in hardware.route(problem.devices[source].name, problem.devices[there].name):
            one_way = hardware.links[number].sharing == "half_duplex"
            load[number][0 if forward or one_way else 1] += problem.graph.tensor_bytes[tensor]
    times = [
        (math.floor(max(sizes) * 1e9 / link.bandwidth), f"{link.a}-{link.b}")
        for link, sizes in zip(hardware.links, load, strict=True)
        if link.bandwidth is not None and link.sharing != "unshared" and max(sizes)
    ]
    if times:
        value, name = max(times, key=lambda pair: pair[0])
        yield Bound(
            f"link({name})",
            value,
            "lower",
            f"What has to be copied over the link {name}, one way, at its full bandwidth.",
            "bytes / bandwidth",
        )


def _forced_crossings(problem: Problem) -> Iterator[tuple[TensorId, int]]:
    """Tensors made on one device and read on another, whatever the placement; once for each destination."""
    graph = problem.graph
    tied = {op: devices[0] for op, devices in problem.allowed.items() if len(devices) == 1}
    for tensor, producer in enumerate(graph.tensor_producer):
        if producer in tied:
            readers = [tied[op] for op in graph.tensor_consumers[tensor] if op in tied]
            yield from ((tensor, there) for there in sorted(set(readers) - {tied[producer]}))


def _launches(case: Case) -> Iterator[Bound]:
    """What the host needs to launch everything; only where launches are not free."""
    host, count = case.problem.hardware.host, len(case.shortest)
    if host.mode == "free" or not count:
        return
    if host.mode == "graph":
        value, formula = host.graph_ns + case.path, "launch of the graph + longest path of durations"
    else:
        one_by_one = -(-count // host.threads) * host.launch_ns + min(case.shortest)
        value = max(host.launch_ns + case.path, one_by_one)
        formula = "max(one launch + longest path, operators / threads x launch + shortest operator)"
    yield Bound("launches", value, "lower", "Nothing runs before its launch has come through the host.", formula)


def _areas(case: Case) -> Iterator[Bound]:
    for group in case.groups:
        yield Bound(
            f"area({_label(case, group)})",
            -(-sum(group.use) // group.capacity),
            "lower",
            f"The work on {_what(case, group)}, {_over(group)}, without a gap.",
            "sum of demand x duration / capacity",
        )


def _windows(case: Case) -> Iterator[Bound]:
    """Area bounds of the operators that cannot start early, or cannot end late.

    Operators whose head (longest path before them) is at least ``a`` all run after ``a``; so the makespan is at
    least ``a`` plus their area, for every ``a``; likewise for tails, backwards in time.
    """
    for group in case.groups:
        best = 0
        for levels in (case.heads, case.tails):
            used = 0
            pairs = zip(group.ops, group.use, strict=True)
            rows = sorted(((levels[op], use) for op, use in pairs if use), reverse=True)
            for position, (level, use) in enumerate(rows):
                used += use
                if position + 1 == len(rows) or rows[position + 1][0] < level:
                    best = max(best, level - (-used // group.capacity))
        yield Bound(
            f"window({_label(case, group)})",
            best,
            "lower",
            f"Operators that cannot start before some instant (or end after one) share {_what(case, group)} after "
            "(before) it.",
            "max over a of a + area of the operators with head (tail) >= a; after Fernandez and Bussell 1973",
        )


def _label(case: Case, group: Group) -> str:
    if len(group.devices) == len(case.problem.devices):
        return group.resource
    return "+".join(case.problem.devices[device].name for device in group.devices) + f"/{group.resource}"


def _what(case: Case, group: Group) -> str:
    if len(case.problem.devices) == 1:
        return group.resource
    names = ", ".join(case.problem.devices[device].name for device in group.devices)
    return f"{group.resource} of {names}"


def _over(group: Group) -> str:
    """How much of something there is, where that is counted."""
    if group.resource in (BANDWIDTH, COMPUTE):
        return "with all that there is"
    return f"over all {group.capacity} of them" if group.capacity > 1 else "of which there is one"


def _amdahl(case: Case) -> Bound:
    serial = serial_work(case.problem.graph, case.shortest)
    unit = case.problem.graph.time_unit
    alone, whole = format_duration(serial, unit), format_duration(case.work, unit)
    return Bound(
        "amdahl",
        _up(amdahl_rigorous(case.work, serial, case.machines)),
        "lower",
        f"Operators ordered with every other one run beside nothing ({alone} of {whole}); the rest shares "
        f"{case.machines} stream{'s' if case.machines > 1 else ''}.",
        "S + (W - S) / p, after Amdahl 1967, doi:10.1145/1465482.1465560",
    )


def _proved(value: int) -> Bound:
    statement = "A scheduler has shown, by searching, that no schedule is shorter."
    return Bound("proved", value, "lower", statement, "branch and bound over all schedules")


# --- the others -----------------------------------------------------------------------------------------------


def _graham_brent(case: Case, memory: str) -> Iterator[Bound]:
    if not _plain_lanes(case) or memory != "unbounded":
        return
    value = graham_brent(case.work, case.path, case.machines)
    yield Bound(
        "graham_brent",
        value.numerator // value.denominator,
        "upper",
        "No schedule that never leaves a lane idle while an operator is ready is longer.",
        "W / p + (1 - 1 / p) CP; Graham 1969, doi:10.1137/0117039; Brent 1974, doi:10.1145/321812.321815",
    )


def _plain_lanes(case: Case) -> bool:
    """Whether the problem is one of identical lanes without any other limit."""
    problem = case.problem
    devices = problem.devices
    limited = any(group.resource != "streams" for group in case.groups)
    return len(devices) == 1 and devices[0].model == "lanes" and not limited and case.machines == devices[0].streams


def _textbook(case: Case) -> Iterator[Bound]:
    if len(case.problem.devices) > 1 or not case.work:
        return
    fraction = Fraction(case.path, case.work)
    yield Bound(
        "amdahl_textbook",
        _up(amdahl_textbook(case.work, fraction, case.machines)),
        "model",
        f"Amdahl's curve with the critical path as the serial part (f = {float(fraction):.3f}); runs may be shorter "
        "or longer.",
        "W (f + (1 - f) / p) with f = CP / W",
    )


def _up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
