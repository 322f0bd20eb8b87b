"""Placement by rule: which operators run on which device, fixed before the scheduler sees the problem.

A rule is written as text:

``Conv*=gpu; *=cpu``
    Patterns with ``*``, ``?`` and ``[abc]``; the first that matches an operator's type or name decides. Behind the
    ``=`` stand devices, with patterns too, several separated by ``|``: between them the scheduler chooses, and it
    chooses freely for operators that no pattern matches.
``fastest``
    Each operator on the device where it is estimated to be shortest. What is copied for that is not counted.
``round_robin``
    One operator after the other, in topological order, to the next device in turn.
``balanced``
    One operator after the other to the device that would then have the least work.
``contiguous``
    The topological order cut into one piece a device, as for a pipeline, so that the longest piece is as short as can
    be.

The last four may name their devices: ``contiguous:gpu*``. Under them, an operator that takes no time stays with the
first of its predecessors, and the copies of an operator in other microbatches stay with it.

What a graph says itself always holds: an operator that it places is left where it is, and no rule sends an operator
to a device for which the graph gives it no duration, or which can never meet its demands. A pattern that wants to is
an error.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from simsched.cost.base import CostModel, KernelCost
from simsched.errors import ConfigError, Fault, suggest
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device, HardwareProfile
from simsched.problem import Problem, make_problem

Placement = Mapping[OpId, tuple[int, ...]]
"""Devices between which the scheduler may choose, for each operator that is not free."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One part of a rule: operators whose type or name matches, and names or patterns of devices."""

    operators: str
    devices: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A placement rule: either patterns, or the name of a rule that computes, and the devices that it may use."""

    text: str
    patterns: tuple[Pattern, ...] = ()
    name: str = ""
    devices: str = "*"


def parse_rule(text: str) -> Rule:
    """Read a rule.

    Raises
    ------
    ConfigError
        If it is not one.

    Examples
    --------
    >>> parse_rule("Conv*=gpu; *=cpu").patterns[0]
    Pattern(operators='Conv*', devices='gpu')
    >>> parse_rule("contiguous:gpu*").devices
    'gpu*'
    """
    if "=" in text:
        return Rule(text, tuple(_pattern(text, part.strip()) for part in text.split(";") if part.strip()))
    name, colon, devices = (part.strip() for part in text.partition(":"))
    if name not in RULES:
        raise _bad(text, f"{name!r} is not a rule; {_hint(name)}")
    if colon and not devices:
        raise _bad(text, f"names no devices behind the colon; write for example '{name}:gpu*', or '{name}' for all")
    return Rule(text, (), name, devices or "*")


def placed_problem(
    graph: Graph,
    hardware: HardwareProfile,
    cost_model: CostModel | None = None,
    rule: str | Rule | None = None,
    *,
    seed: int = 0,
) -> Problem:
    """Make a problem whose operators are fixed to devices by a rule.

    Parameters
    ----------
    graph : Graph
    hardware : HardwareProfile
    cost_model : CostModel, optional
        Also tells the rules that compute how long operators take where.
    rule : str or Rule, optional
        None leaves every choice to the scheduler.
    seed : int
        For schedulers that draw random numbers.

    Raises
    ------
    ConfigError
        If the rule is malformed, names what is not there, or cannot be followed.
    GraphError, CostError
        As for :func:`simsched.problem.make_problem`; also if a pattern wants what the graph forbids.

    Examples
    --------
    >>> from simsched.graph.builder import GraphBuilder
    >>> from simsched.hardware import procs
    >>> builder = GraphBuilder("four")
    >>> builder.add_ops(["a", "b", "c", "d"], [3, 1, 2, 2])
    >>> placed_problem(builder.build(), procs(2), rule="contiguous").allowed
    {0: (0,), 1: (0,), 2: (1,), 3: (1,)}
    """
    if rule is None:
        return make_problem(graph, hardware, cost_model, seed=seed)
    parsed = parse_rule(rule) if isinstance(rule, str) else rule
    if parsed.patterns:
        placement = by_pattern(graph, hardware, parsed)
        return make_problem(graph, hardware, cost_model, seed=seed, placement=placement)
    chosen = _matching_devices(parsed, parsed.devices, hardware)
    within = {op: chosen for op in range(len(graph)) if op not in graph.placement}
    free = make_problem(graph, hardware, cost_model, seed=seed, placement=within)
    placement = _computed(parsed, free)
    return make_problem(graph, hardware, _remembered(free), seed=seed, placement=placement)


def by_pattern(graph: Graph, hardware: HardwareProfile, rule: Rule) -> Placement:
    """Return the devices of every operator that a pattern matches and that the graph does not place itself.

    Raises
    ------
    ConfigError
        If a device is not there, or an operator that is named without ``*``, ``?`` or ``[``.
    """
    devices = [_matching_devices(rule, pattern.devices, hardware) for pattern in rule.patterns]
    used = [False] * len(devices)
    placement: dict[OpId, tuple[int, ...]] = {}
    for op, (name, kind) in enumerate(zip(graph.names, graph.op_types, strict=True)):
        for number, pattern in enumerate(rule.patterns):
            if fnmatchcase(kind, pattern.operators) or fnmatchcase(name, pattern.operators):
                used[number] = True
                if op not in graph.placement:
                    placement[op] = devices[number]
                break
    for pattern, found in zip(rule.patterns, used, strict=True):
        if not found and not re.search(r"[*?\[]", pattern.operators) and pattern.operators not in graph.index:
            known = list(dict.fromkeys([*graph.op_types, *graph.names]))
            if pattern.operators not in known:
                hint = suggest(pattern.operators, known)
                raise _bad(rule.text, f"graph {graph.name!r} has no operator or type {pattern.operators!r}; {hint}")
    return placement


# --- rules that compute: each takes a problem and the operators to place, and yields a device for each --------------


def fastest(problem: Problem, operators: Sequence[OpId]) -> Iterator[int]:
    """Yield the device where each operator is shortest; of equal ones the first of the profile."""
    for op in operators:
        yield min(problem.allowed_devices(op), key=lambda device, op=op: problem.durations(device)[op])  # type: ignore[misc]


def round_robin(problem: Problem, operators: Sequence[OpId]) -> Iterator[int]:
    """Yield the devices in turn, those left out that may not run an operator; one that has no choice takes no turn."""
    count, turn = len(problem.devices), 0
    for op in operators:
        allowed = problem.allowed_devices(op)
        device = min(allowed, key=lambda each: (each - turn) % count)
        if len(allowed) > 1:
            turn = (device + 1) % count
        yield device


def balanced(problem: Problem, operators: Sequence[OpId]) -> Iterator[int]:
    """Yield the device on which the work so far would end first with the operator; of equal ones the first."""
    work = [0] * len(problem.devices)
    for op in operators:
        ends = {device: work[device] + problem.durations(device)[op] for device in problem.allowed_devices(op)}
        device = min(ends, key=lambda each: ends[each])
        work[device] = ends[device]
        yield device


def contiguous(problem: Problem, operators: Sequence[OpId]) -> Iterator[int]:
    """Yield pieces of the order, a device each in the order of the profile; the longest is as short as can be.

    Durations are whole numbers, so the smallest bound is found exactly by bisection: for a bound, each device in turn
    takes as many operators as it can.

    Raises
    ------
    ConfigError
        If some operator may run only on devices that come too early in the profile.
    """
    high = sum(max(problem.durations(device)[op] for device in problem.allowed_devices(op)) for op in operators)
    low = 0
    pieces = _pieces(problem, operators, high)
    if len(pieces) < len(operators):
        name = problem.graph.names[operators[len(pieces)]]
        message = f"cannot be followed: {name!r} may run on no device from there on, in the order of the profile"
        raise _bad("contiguous", message)
    while low < high:
        middle = (low + high) // 2
        found = _pieces(problem, operators, middle)
        if len(found) == len(operators):
            high, pieces = middle, found
        else:
            low = middle + 1
    yield from pieces


def _pieces(problem: Problem, operators: Sequence[OpId], bound: int) -> list[int]:
    """Fill one device after the other up to a bound; shorter than the operators if that takes too many devices."""
    pieces: list[int] = []
    device, used = 0, 0
    for op in operators:
        allowed = problem.allowed_devices(op)
        while device not in allowed or used + problem.durations(device)[op] > bound:
            device, used = device + 1, 0
            if device == len(problem.devices):
                return pieces
        used += problem.durations(device)[op]
        pieces.append(device)
    return pieces


RULES: Mapping[str, Callable[[Problem, Sequence[OpId]], Iterator[int]]] = {
    "fastest": fastest,
    "round_robin": round_robin,
    "balanced": balanced,
    "contiguous": contiguous,
}


def _computed(rule: Rule, problem: Problem) -> Placement:
    """Apply a rule that computes to the operators that have a choice, and let the others follow."""
    graph = problem.graph
    originals = _originals(graph)
    idle = [not any(problem.durations(device)[op] for device in problem.allowed_devices(op)) for op in originals]
    chosen = [op for op, first in enumerate(originals) if op == first and not idle[op] and op not in graph.placement]
    device_of = dict(zip(chosen, RULES[rule.name](problem, chosen), strict=True))
    for op, name in graph.placement.items():
        device_of[op] = next(number for number, device in enumerate(problem.devices) if device.name == name)
    for op, first in enumerate(originals):
        if op not in device_of:
            followed = first if first in device_of else next((each for each in graph.pred[op] if each in device_of), -1)
            device = device_of.get(followed, -1)
            allowed = problem.allowed_devices(op)
            device_of[op] = device if device in allowed else allowed[0]
    return {op: (device_of[op],) for op in range(len(graph)) if op not in graph.placement}


def _originals(graph: Graph) -> list[OpId]:
    """For each operator, the first of its copies in all microbatches."""
    first: dict[str, OpId] = {}
    names = [graph.attributes.get(op, {}).get("copy_of", name) for op, name in enumerate(graph.names)]
    return [first.setdefault(str(name), op) for op, name in enumerate(names)]


def _remembered(problem: Problem) -> CostModel:
    """Return a cost model that answers with what has been computed already."""
    index = {device.name: number for number, device in enumerate(problem.devices)}

    def model(graph: Graph, op: OpId, device: Device) -> KernelCost:
        return problem.costs[index[device.name]][op]

    return model


def _pattern(text: str, part: str) -> Pattern:
    operators, equals, devices = part.rpartition("=")
    if not equals or not operators.strip() or not devices.strip():
        raise _bad(text, f"{part!r} is not OPERATORS=DEVICE; write for example 'Conv*=gpu; *=cpu'")
    return Pattern(operators.strip(), devices.strip())


def _matching_devices(rule: Rule, text: str, hardware: HardwareProfile) -> tuple[int, ...]:
    """Numbers of the devices that a list of names and patterns means, in the order of the profile."""
    names = [device.name for device in hardware.devices]
    found: set[int] = set()
    for part in (each.strip() for each in text.split("|")):
        matching = [number for number, name in enumerate(names) if fnmatchcase(name, part)]
        if not matching:
            raise _bad(rule.text, f"{hardware.name!r} has no device {part!r}; {suggest(part, names)}")
        found.update(matching)
    return tuple(sorted(found))


def _hint(name: str) -> str:
    near = difflib.get_close_matches(name, RULES, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"expected one of: {', '.join(RULES)}; or patterns such as 'Conv*=gpu; *=cpu'"


def _bad(text: str, message: str) -> ConfigError:
    return ConfigError("placement rule", [Fault(f"{text!r}: {message}" if text else message)])
