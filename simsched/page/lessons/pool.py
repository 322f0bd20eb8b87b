"""Lessons as data for the page: settings share their graphs, machines and runs, and so take half of the room."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from simsched.page.document import live_problem, page_document
from simsched.page.lessons.base import Lesson, Runs
from simsched.result import Result


class Pool:
    """Values, each of them once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[str, int] = {}

    def place(self, value: Any) -> int:
        """Return the index of a value, which is added where it is new."""
        text = json.dumps(value, sort_keys=True)
        if text not in self._places:
            self._places[text] = len(self.values)
            self.values.append(value)
        return self._places[text]


def lesson_part(lesson: Lesson, *, live: bool) -> dict[str, Any]:
    """Return ``Lesson`` of ``web/types.d.ts``.

    Parameters
    ----------
    lesson : Lesson
    live : bool
        Whether the page can run settings again: then those with one run come with their graph and hardware.
    """
    parts = _parts(lesson.runs.values())
    pools = {name: Pool() for name in ("graphs", "machines", "runs", "problems")}
    variants = {}
    for setting, runs in lesson.runs.items():
        variants[setting] = _variant([parts[id(run)] for run in runs], pools)
        again = live and len(runs) == 1
        variants[setting]["problem"] = pools["problems"].place(live_problem(runs)) if again else None
    return {
        "id": lesson.id,
        "title": lesson.title.part(),
        "introduction": lesson.introduction.part(),
        "controls": [control.part() for control in lesson.controls],
        **{name: pool.values for name, pool in pools.items()},
        "variants": variants,
        "questions": [question.part() for question in lesson.questions],
    }


Parts = tuple[Any, Any, Any]
"""Graph, machine and run of a document."""


def _parts(settings: Iterable[Runs]) -> dict[int, Parts]:
    """Return the parts of every run, by its identity; the runs of one graph are described together."""
    of_graph: dict[int, dict[int, Result]] = {}
    for runs in settings:
        for run in runs:
            of_graph.setdefault(id(run.problem.graph), {})[id(run)] = run
    found: dict[int, Parts] = {}
    for results in of_graph.values():
        document = page_document(list(results.values()))
        for run, part in zip(results.values(), document["runs"], strict=True):
            # A setting shows each scheduler once, so that its name is enough.
            alone = {**part, "label": run.label, "machine": 0}
            found[id(run)] = document["graph"], document["machines"][part["machine"]], alone
    return found


def _variant(parts: list[Parts], pools: Mapping[str, Pool]) -> dict[str, Any]:
    graph = parts[0][0]
    homes = [pools["machines"].place(machine) for _, machine, _ in parts]
    machines = list(dict.fromkeys(homes))
    names = ", ".join(pools["machines"].values[place]["name"] for place in machines)
    shown = zip(parts, homes, strict=True)
    return {
        "title": f"{graph['name']} on {names}",
        "graph": pools["graphs"].place(graph),
        "machines": machines,
        "runs": [[pools["runs"].place(run), machines.index(home)] for (_, _, run), home in shown],
    }
