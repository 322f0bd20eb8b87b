"""Runs and their documents, for tests of the page."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError
from simsched.page.document import page_document
from simsched.problem import MemoryMode
from simsched.result import Result
from simsched.run import compare
from tests.reference.cases import case_of
from tests.strategies import zoo

Document = dict[str, Any]
Pairs = list[tuple[Result, Document]]
"""Runs, and documents that hold nothing else."""


def drawn_runs() -> Iterator[Result]:
    """Runs with everything that operators can share: blocks, bandwidth, links, copies, launches, noise, memory."""
    for seed in range(120):
        case = case_of(random.Random(seed))
        try:
            memory = cast("MemoryMode", case.memory)
            trace = simulate(case.problem, case.scheduler, memory=memory, actual=case.actual, explain=True)
        except SchedulerError:
            continue
        yield Result(case.problem, f"case {seed}", trace, memory, case.actual, ())


@cache
def drawn_pairs() -> Pairs:
    """Random runs that use everything there is."""
    found = [(result, page_document([result])) for result in drawn_runs()]
    assert len(found) > 80
    return found


@cache
def zoo_pairs() -> Pairs:
    """Every problem of the zoo under two schedulers."""
    found = []
    for problem in zoo(deep=300, wide=120).values():
        results = compare(problem, "topological,memory_aware", explain=True).results
        document = page_document(results)
        parts = zip(results, document["runs"], strict=True)
        found += [(result, {**document, "runs": [part]}) for result, part in parts]
    return found


def all_pairs() -> Pairs:
    """All of them."""
    return drawn_pairs() + zoo_pairs()


def setting_document(lesson: Document, setting: str) -> Document:
    """Return the ``PageDocument`` of one setting, put together from the pools as the page is to do it."""
    variant = lesson["variants"][setting]
    problem = variant["problem"]
    return {
        "title": variant["title"],
        "graph": lesson["graphs"][variant["graph"]],
        "machines": [lesson["machines"][place] for place in variant["machines"]],
        "runs": [{**lesson["runs"][place], "machine": machine} for place, machine in variant["runs"]],
        "failures": [],
        "problem": None if problem is None else lesson["problems"][problem],
    }
