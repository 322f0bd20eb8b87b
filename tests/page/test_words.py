"""What the page says: the same in English as the command line, all of it in Chinese, numbers as everywhere else."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import chain
from typing import Any, get_args

import pytest

from simsched.analysis.explain import Explanation
from simsched.analysis.parts import RunReason, WaitReason
from simsched.cost.base import KernelCost
from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError
from simsched.output.story import Story
from simsched.page.document import page_document
from simsched.result import Result
from simsched.units import format_duration, format_rate, format_size
from tests.page.node import run_node
from tests.reference.cases import drawn_case
from tests.unit import test_explain, test_explain_shared
from tests.unit.test_explain import static
from tests.unit.test_explain_shared import kernels

SEEDS = range(150)
UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "ns", "us", "ms", "s"}

# --- parts of operators -------------------------------------------------------------------------------------------

PARTS = """
import { partWords } from "./js/part_words.js";
import { Replay } from "./js/replay.js";
import { setLanguage } from "./js/words.js";
const words = (lang) => {
  setLanguage(lang);
  return input.map(({ graph, machines, runs: [run] }) => {
    const replay = new Replay(run, 0, machines[run.machine]);
    return run.parts.map((parts, op) => parts.map((part) => partWords(graph, replay, op, part)));
  });
};
say({ en: words("en"), zh: words("zh") });
"""


@pytest.fixture(scope="module")
def stories() -> list[Explanation]:
    """Runs that show every reason: all that the tests of explanations work out by hand, and random ones."""
    found: list[Explanation] = []

    class Kept(Explanation):
        def __init__(self, run: Any) -> None:
            super().__init__(run)
            found.append(self)

    with pytest.MonkeyPatch.context() as patch:
        for module in (test_explain, test_explain_shared):
            patch.setattr(module, "Explanation", Kept)
        for test in (*_without_arguments(test_explain), *_without_arguments(test_explain_shared)):
            test()
    found.append(static(kernels({"a": KernelCost(5, bound="measured"), "b": KernelCost(7, bound="none")}), "a b"))
    found += [Explanation(run) for run in map(_drawn, SEEDS) if run]
    return [story for story in found if len(story.run.trace)]


def _without_arguments(module: Any) -> list[Callable[[], None]]:
    tests = [value for name, value in vars(module).items() if name.startswith("test_")]
    return [test for test in tests if not test.__code__.co_argcount]


def _drawn(seed: int) -> Result | None:
    case = drawn_case(seed)
    try:
        trace = simulate(case.problem, case.scheduler, memory=case.memory, actual=case.actual)
    except SchedulerError:
        return None
    return Result(case.problem, f"drawn {seed}", trace, case.memory, case.actual)


@pytest.fixture(scope="module")
def said(stories: list[Explanation], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[list[str]]]]:
    """Words of the page, by language, run, operator and part."""
    documents = [page_document([story.run]) for story in stories]
    return run_node(tmp_path_factory.mktemp("parts"), PARTS, documents)


def test_the_english_of_every_part_is_that_of_the_command_line(stories, said):
    shown = set()
    for story, page in zip(stories, said["en"], strict=True):
        words = Story(story)
        for op, texts in enumerate(page):
            parts = story.parts(op)
            assert texts == [words.words(op, part) for part in parts]
            shown.update((part.kind, part.reason) for part in parts)
    waits = {("wait", reason) for reason in get_args(WaitReason)} - {("wait", "undispatched")}
    assert shown == waits | {("run", reason) for reason in get_args(RunReason)}


def test_every_part_has_words_in_chinese(stories, said):
    for story, english, chinese in zip(stories, said["en"], said["zh"], strict=True):
        for a, b in zip(chain.from_iterable(english), chain.from_iterable(chinese), strict=True):
            assert re.search(r"[\u4e00-\u9fff]", b)
            assert not english_left(b, story), (a, b)


def english_left(text: str, story: Explanation) -> list[str]:
    """English words of a Chinese text that are neither names nor units."""
    problem = story.run.problem
    names = {*problem.graph.names, *problem.graph.tensor_names, *problem.stream_names, "resident kernels", "memory"}
    for device in problem.devices:
        names.update((device.name, *device.resources))
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "")
    return [word for word in re.findall(r"[A-Za-z_{}-]+", text) if word not in UNITS]


# --- numbers ------------------------------------------------------------------------------------------------------

NUMBERS = """
import { formatCount, formatSize, formatTime, formatWhole, formatWholePercent } from "./js/format.js";
const times = (x) => [formatTime(x, "ns"), formatTime(x, "tick")];
const others = (x) => [formatSize(x), formatCount(x, "FLOP"), formatWholePercent(x), formatWhole(Math.trunc(x))];
say(input.map((x) => [...times(x), ...others(x)]));
"""


def test_numbers_are_written_as_everywhere_else(tmp_path):
    rng = random.Random(7)
    draws: list[Callable[[], float]] = [
        lambda: rng.randrange(10 ** rng.randrange(1, 16)),
        lambda: rng.randrange(2**20) / 2 ** rng.randrange(12),  # many of them just between two texts
        lambda: rng.random() * 10.0 ** rng.randrange(-6, 14),
        lambda: rng.randrange(10**8) * 2.5,
    ]
    numbers = [0, 1, 999, 1000, 999_950, 999_999, 10**6, 2062.5, 2063.5, 0.5, 1.5, 1e-5, *(d() for d in draws * 3000)]
    expected = [
        [
            format_duration(number),
            format_duration(number, "tick"),
            format_size(number),
            format_rate(number, "FLOP"),
            f"{100 * number:.0f} %",
            f"{int(number):,}",
        ]
        for number in numbers
    ]
    got = run_node(tmp_path, NUMBERS, numbers)
    assert [(n, *row) for n, row in zip(numbers, got, strict=True)] == [
        (n, *row) for n, row in zip(numbers, expected, strict=True)
    ]


# --- dictionaries -------------------------------------------------------------------------------------------------

DICTIONARIES = """
import { DICTIONARIES } from "./js/words.js";
say(DICTIONARIES);
"""


def test_both_languages_say_the_same_things(tmp_path):
    words: dict[str, list[dict[str, str]]] = run_node(tmp_path, DICTIONARIES, None)
    for parts in words.values():
        keys = [key for part in parts for key in part]
        assert sorted(keys) == sorted(set(keys))
    for english, chinese in zip(words["en"], words["zh"], strict=True):
        assert list(english) == list(chinese)
        for key, text in english.items():
            assert set(re.findall(r"\{(\w+)\}", text)) == set(re.findall(r"\{(\w+)\}", chinese[key])), key
