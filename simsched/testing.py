"""``check_scheduler``: the contract that every scheduler keeps, for third parties to run in their own tests.

It runs a scheduler on a zoo of small graphs and hardware and lets the referee judge every run. It imports the engine
and the referee only when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from simsched.errors import SimschedError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.hardware import Device, HardwareProfile, lanes, procs
from simsched.problem import Problem, make_problem
from simsched.schedulers.base import Scheduler


class ContractError(AssertionError):
    """A scheduler breaks the contract; the message names the case and what went wrong."""


def check_scheduler(
    scheduler: Scheduler | Callable[[], Scheduler], problems: Sequence[tuple[str, Problem]] | None = None
) -> int:
    """Run a scheduler over the zoo; every run must end, pass the referee, and be the same when run again.

    Parameters
    ----------
    scheduler : Scheduler or callable without arguments that returns one
    problems : sequence of (name, Problem), optional
        Cases instead of the zoo.

    Returns
    -------
    int
        Number of cases.

    Raises
    ------
    ContractError
        At the first case that fails.
    """
    from simsched.analysis.check import check_trace
    from simsched.engine.simulator import simulate

    # A class has the method too, so it would pass for an instance.
    ready_made = isinstance(scheduler, Scheduler) and not isinstance(scheduler, type)
    made = cast("Scheduler", scheduler) if ready_made else cast("Callable[[], Scheduler]", scheduler)()
    count = 0
    for name, problem in problems if problems is not None else zoo():
        count += 1
        try:
            trace = simulate(problem, made)
            again = simulate(problem, made)
        except SimschedError as error:
            raise ContractError(f"{made!r} on {name}: {type(error).__name__}: {error}") from error
        violations = check_trace(problem, trace)
        if violations:
            raise ContractError(f"{made!r} on {name}: the referee objects: {'; '.join(violations[:3])}")
        if trace.to_json(problem) != again.to_json(problem):
            raise ContractError(f"{made!r} on {name}: two runs of the same problem differ")
    return count


def zoo() -> Iterator[tuple[str, Problem]]:
    """Named problems at the edges: empty, single, wide, deep, zero-length, disconnected, tied, tight, two devices."""
    two = HardwareProfile(
        "two", (Device("big", streams=2, resources={"sms": 4}), Device("small", streams=1, resources={"sms": 1}))
    )
    shared = HardwareProfile("shared", (Device("gpu", kind="gpu", model="sm_share", streams=3, resources={"sms": 4}),))
    for name, graph in _graphs():
        yield f"{name} on one lane", make_problem(graph, lanes(1))
        yield f"{name} on three lanes", make_problem(graph, lanes(3))
        yield f"{name} on four processors", make_problem(graph, procs(4))
    for name, graph in _demanding():
        yield f"{name} on a device with 4 SMs", make_problem(graph, shared)
        yield f"{name} on two unequal devices", make_problem(graph, two)
    yield "a chain of 10,000 on two lanes", make_problem(_chain(10_000), lanes(2))


def _graphs() -> Iterator[tuple[str, Graph]]:
    yield "the empty graph", GraphBuilder("empty", "tick").build()
    yield "one operator", _chain(1)
    yield "one zero-length operator", _chain(1, duration=0)
    yield "a chain of 50", _chain(50)
    yield "40 equal independent operators", _independent(40, lambda _: 3)
    yield "a fork-join with zero-length ends", _fork_join(13)
    yield "two components", _two_components()
    yield "a diamond with tensors and delays", _diamond()


def _demanding() -> Iterator[tuple[str, Graph]]:
    builder = GraphBuilder("demands", "tick")
    for number, (duration, units) in enumerate([(5, 1), (7, 3), (2, 4), (11, 2), (3, 1), (13, 1), (1, 4), (0, 1)]):
        builder.add_op(f"k{number}", duration=duration, demands={"sms": units})
    for source, target in (("k0", "k3"), ("k1", "k4"), ("k3", "k6"), ("k4", "k6")):
        builder.add_edge(source, target, bytes=64)
    yield "operators with demands", builder.build()


def _chain(count: int, duration: int = 2) -> Graph:
    builder = GraphBuilder(f"chain_{count}", "tick")
    for number in range(count):
        builder.add_op(f"c{number}", duration=duration)
    for number in range(1, count):
        builder.add_edge(f"c{number - 1}", f"c{number}")
    return builder.build()


def _independent(count: int, duration: Callable[[int], int]) -> Graph:
    builder = GraphBuilder(f"independent_{count}", "tick")
    for number in range(count):
        builder.add_op(f"i{number}", duration=duration(number))
    return builder.build()


def _fork_join(width: int) -> Graph:
    builder = GraphBuilder("fork_join", "tick")
    builder.add_op("fork", duration=0)
    builder.add_op("join", duration=0)
    for number in range(width):
        builder.add_op(f"b{number}", duration=1 + number % 5)
        builder.add_edge("fork", f"b{number}", bytes=16)
        builder.add_edge(f"b{number}", "join", bytes=0)
    return builder.build()


def _two_components() -> Graph:
    builder = GraphBuilder("two_components", "tick")
    for name, duration in (("a", 3), ("b", 5), ("x", 7), ("y", 0), ("alone", 11)):
        builder.add_op(name, duration=duration)
    builder.add_edge("a", "b")
    builder.add_edge("x", "y")
    return builder.build()


def _diamond() -> Graph:
    builder = GraphBuilder("diamond", "tick")
    for name, duration in (("top", 2), ("left", 7), ("right", 5), ("bottom", 3)):
        builder.add_op(name, duration=duration)
    edges = (("top", "left", 1), ("top", "right", 4), ("left", "bottom", 2), ("right", "bottom", 6))
    for source, target, delay in edges:
        builder.add_edge(source, target, bytes=100, delay=delay)
    return builder.build()
