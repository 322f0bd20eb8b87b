"""Runs that the browser tests show, and what a replay must look like, derived from the trace alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError
from simsched.graph.builder import GraphBuilder
from simsched.graph.io import load_graph
from simsched.graph.model import Graph
from simsched.page.document import page_document
from simsched.page.html import page_data, page_html
from simsched.page.lessons import lessons
from simsched.profiles import load_hardware, with_launch
from simsched.result import Comparison, Result
from simsched.run import compare
from tests.reference.cases import drawn_case

FIVE = ("topological", "critical_path", "greedy_ready", "memory_aware", "pipeline")
Row = list[object]


def no_length() -> Graph:
    """Operators that take no time, alone and in a row, beside others."""
    builder = GraphBuilder("no_length", time_unit="tick")
    builder.add_op("begin", duration=0)
    builder.add_op("work", duration=3, after=["begin"])
    builder.add_op("mark", duration=0, after=["begin"])
    builder.add_op("again", duration=0, after=["mark"])
    builder.add_op("more", duration=2, after=["again"])
    builder.add_op("end", duration=0, after=["work", "more"])
    return builder.build()


@cache
def case(name: str) -> Comparison:
    """The five schedulers on a case."""
    if name == "no_length":
        return compare(no_length(), FIVE, "lanes:2", explain=True)
    if name == "launches":
        return compare("inception_like(cells=1)", FIVE, with_launch(load_hardware("a100_sxm_80gb"), "serial"))
    graph, hardware = name.split(" on ")
    return compare(load_graph(graph), FIVE, hardware, explain=True)


CASES = (
    "residual on lanes:2",
    "residual on lanes:1",
    "fork_join on lanes:2",
    "graham on lanes:3",
    "diamond on toy_4sm",
    "inception_like(cells=2) on a100_sxm_80gb",
    "layered_random(n=60, seed=4) on lanes:3",
    "inception_like(cells=1) on box_4t4_switch",
    "no_length",
    "launches",
    "inception_like(cells=1) on toy_box",
)


def html_of(runs: Comparison | Sequence[Result], **more: str) -> str:
    """The page of some runs, without lessons."""
    results = runs.results if isinstance(runs, Comparison) else runs
    return page_html(page_data(page_document(results, **more)))


def events_of(run: Result) -> list[Row]:
    """What ``Trace.events()`` says."""
    return [[event.time, event.kind, event.op, event.stream] for event in run.trace.events()]


def states_after(run: Result, rows: Sequence[Row]) -> Iterator[list[str]]:
    """States of all operators before the first event and after each of them, from what happened so far."""
    happened: dict[str, set[object]] = {"ready": set(), "dispatch": set(), "start": set(), "finish": set()}
    operators = range(len(run.trace))
    yield [_state(op, happened) for op in operators]
    for _, kind, op, _ in rows:
        if kind in happened:
            happened[str(kind)].add(op)
        yield [_state(each, happened) for each in operators]


def _state(op: int, happened: dict[str, set[object]]) -> str:
    if op in happened["start"] and op in happened["finish"]:
        return "done"
    for event, state in (("start", "running"), ("dispatch", "queued"), ("ready", "ready")):
        if op in happened[event]:
            return state
    return "waiting"


@cache
def whole_page() -> str:
    """A page with its lessons, as ``simsched page`` writes it."""
    scene = page_document(case("fork_join on lanes:2").results)
    return page_html(page_data(scene, lessons=lessons()))


def drawn_run(seed: int) -> Result | None:
    """Draw a case and run it; None where it cannot be run."""
    case = drawn_case(seed)
    try:
        trace = simulate(case.problem, case.scheduler, memory=case.memory, actual=case.actual, explain=True)
    except SchedulerError:
        return None
    return Result(case.problem, f"drawn {seed}", trace, case.memory, case.actual)
