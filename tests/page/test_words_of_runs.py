"""What the page says of events, ends, bounds and reasons, without a browser."""

from __future__ import annotations

import random
import re

import pytest

import simsched
from simsched.analysis.explain import Explanation
from simsched.graph.builder import GraphBuilder
from simsched.graph.ranks import b_level
from simsched.hardware import lanes
from simsched.output.story import Story
from simsched.page.document import page_document
from simsched.page.graph_part import graph_part
from simsched.result import Result
from tests.builders import linked_pair, problem_of, random_graph, with_memory
from tests.page.cases import drawn_run
from tests.page.node import run_node
from tests.unit.test_explain_shared import two_copies

START = """
import { Timeline } from "./js/timeline.js";
import { setLanguage } from "./js/words.js";
const appOf = (document) => {
  const timeline = new Timeline(document);
  return { document, graph: document.graph, timeline, replay: timeline.replays[0] };
};
"""
STEPS = (
    START
    + """
import { stepTexts } from "./js/step_words.js";
const told = (lang) => {
  setLanguage(lang);
  return input.map((document) => {
    const app = appOf(document);
    const texts = [];
    for (let cursor = 0; cursor <= app.timeline.length; cursor += 1) {
      app.timeline.goto(cursor);
      texts.push(stepTexts(app));
    }
    return texts;
  });
};
say({ en: told("en"), zh: told("zh") });
"""
)


def one_lane() -> Result:
    """a (2), then b (3) and c (1), then d (2) after both, on one lane."""
    builder = GraphBuilder("steps", time_unit="tick")
    builder.add_op("a", duration=2)
    builder.add_op("b", duration=3, after=["a"])
    builder.add_op("c", duration=1, after=["a"])
    builder.add_op("d", duration=2, after=["b", "c"])
    return simsched.run(builder.build(), "critical_path", lanes(1), explain=True)


def test_every_step_of_a_small_run_in_words(tmp_path):
    told = run_node(tmp_path, STEPS, [page_document([one_lane()])])["en"][0]
    assert told == [
        [
            "Before the start: critical_path has 4 operators, 4 dependencies and 1 stream. "
            "a has no predecessor and will be ready first.",
            "",
        ],
        ["At 0, a is ready: it has no predecessors.", ""],
        ["At 0, a is dispatched to d0/s0: b-level 7; nothing else is ready.", ""],
        ["At 0, a starts on d0/s0 and runs until 2.", ""],
        ["At 2, a finished on d0/s0 after 2; b, c can follow.", ""],
        ["At 2, b became ready: its only predecessor a has ended.", ""],
        ["At 2, c became ready: its only predecessor a has ended.", ""],
        ["At 2, b is dispatched to d0/s0: b-level 5; first of 2 ready.", ""],
        [
            "At 2, b starts on d0/s0 and runs until 5.",
            "c is not dispatched: every stream that may run it is taken, by b.",
        ],
        ["At 5, b finished on d0/s0 after 3; d still waits for c.", ""],
        ["At 5, c is dispatched to d0/s0: b-level 3; nothing else is ready.", ""],
        ["At 5, c starts on d0/s0, 3 after it was ready, and runs until 6.", ""],
        ["At 6, c finished on d0/s0 after 1; d can follow.", ""],
        ["At 6, d became ready: c, the last of its 2 predecessors, has ended.", ""],
        ["At 6, d is dispatched to d0/s0: b-level 2; nothing else is ready.", ""],
        ["At 6, d starts on d0/s0 and runs until 8.", ""],
        [
            "The end: 4 operators have run. Makespan 8, equal to the lower bound (area(streams)): "
            "no schedule is shorter.",
            "d ended last, at 8. The chain of 3 operators that led to it ran for 5 (62 %) and waited for 3 (38 %).",
        ],
    ]


# --- runs of any kind ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs() -> list[Result]:
    """Runs with everything that operators can share, and of every scheduler with reasons of its own."""
    found = [run for run in map(drawn_run, range(60)) if run is not None and len(run.trace)]
    for spec in SCHEDULERS:
        graph = random_graph(11, 12)
        found.append(simsched.run(graph, spec, with_memory(lanes(2), 10**9), explain=True))
    return found


SCHEDULERS = (
    "serial", "topological", "critical_path", "greedy_ready", "greedy_ready:spt", "memory_aware", "pipeline", "heft",
    "work_stealing", "online",
)  # fmt: skip


@pytest.fixture(scope="module")
def told(runs: list[Result], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[tuple[str, str]]]]:
    return run_node(tmp_path_factory.mktemp("steps"), STEPS, [page_document([run]) for run in runs])


def test_what_decided_the_end_is_what_explain_says(runs, told):
    assert [texts[-1][1] for texts in told["en"]] == [Story(Explanation(run)).headline() for run in runs]


def test_every_step_is_told_in_both_languages(runs, told):
    for run, english, chinese in zip(runs, told["en"], told["zh"], strict=True):
        assert len(english) == len(chinese)
        for (a, _), (b, _) in zip(english, chinese, strict=True):
            assert a.endswith(".")
            assert b.endswith("。")
        for text in (line for step in chinese for line in step):
            assert not english_left(text, run), text


def english_left(text: str, run: Result) -> list[str]:
    """English words of a Chinese text that are neither names nor units nor terms that the field leaves in English."""
    problem = run.problem
    names = {*problem.graph.names, *problem.graph.tensor_names, *problem.stream_names, "resident kernels", "memory"}
    names |= {run.label, *problem.hardware.switches}
    for device in problem.devices:
        names.update((device.name, *device.resources))
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "")
    return [word for word in re.findall(r"[A-Za-z_]+(?:-[a-z]+)?", text) if word not in KEPT]


KEPT = {"B", "KiB", "MiB", "ns", "us", "ms", "s", "b-level", "SM", "Amdahl", "d"}

# --- bounds -------------------------------------------------------------------------------------------------------

BOUNDS = (
    START
    + """
import { boundName } from "./js/bounds_list.js";
import { statementWords } from "./js/translated.js";
const words = (lang) => {
  setLanguage(lang);
  return input.map(({ name, statement }) => [boundName(name), statementWords(statement)]);
};
say({ en: words("en"), zh: words("zh") });
"""
)


class Proved(Result):
    """A run whose scheduler has proved that no schedule is shorter."""

    @property
    def proved_ns(self) -> int:
        return self.makespan


def _other_bounds() -> list[Result]:
    """Runs with bounds that random ones do not have: of a link, of one stream, and one that was proved."""
    copied = simsched.run(problem_of(two_copies(), linked_pair()), "critical_path")
    alone = one_lane()
    return [copied, alone, Proved(alone.problem, "searched", alone.trace)]


def test_bounds_have_names_and_statements_in_both_languages(runs, tmp_path):
    documents = [page_document([run]) for run in [*runs, *_other_bounds()]]
    rows = [bound for document in documents for machine in document["machines"] for bound in machine["bounds"]]
    kinds = {re.sub(r"\(.*", "", row["name"]) for row in rows}
    assert kinds >= {
        "critical_path", "area", "window", "launches", "link", "amdahl", "amdahl_textbook", "graham_brent",
        "proved",
    }  # fmt: skip
    said = run_node(tmp_path, BOUNDS, rows)
    for row, (_, english), (name, statement) in zip(rows, said["en"], said["zh"], strict=True):
        assert english == row["statement"]
        assert re.search(r"[\u4e00-\u9fff]", name), row["name"]
        assert re.search(r"[\u4e00-\u9fff]", statement), row["statement"]


# --- slack --------------------------------------------------------------------------------------------------------

PATHS = """
import { longestPath, longestPathWithout } from "./js/neighbours.js";
say(input.map(({ graph, duration }) => [
  longestPath(graph, duration),
  graph.names.map((_, op) => longestPathWithout(graph, duration, op)),
]));
"""


def test_what_shortening_an_operator_buys_is_the_longest_path_without_its_time(tmp_path):
    graphs = [random_graph(seed, 15) for seed in range(20)]
    rng = random.Random(5)
    durations = [[rng.choice((0, 1, 2, 3, 5, 7)) for _ in range(len(graph))] for graph in graphs]
    data = [{"graph": graph_part(graph), "duration": times} for graph, times in zip(graphs, durations, strict=True)]
    expected = [
        [
            max(b_level(graph, times)),
            [max(b_level(graph, [*times[:op], 0, *times[op + 1 :]])) for op in range(len(graph))],
        ]
        for graph, times in zip(graphs, durations, strict=True)
    ]
    assert run_node(tmp_path, PATHS, data) == expected
