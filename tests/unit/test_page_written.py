"""Schedulers that are written in a page: they run, and what is wrong with them is said at its line."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from simsched.page.live import answer
from simsched.page.written import MOST_LINES, MOST_SAID, WrittenError, compile_scheduler
from simsched.run import run
from tests.page_requests import ask, problem

MOST_SUCCESSORS = """
from dataclasses import dataclass
from simsched.schedulers.listing import list_policy

@dataclass(frozen=True)
class MostSuccessors:
    weight: int = 1
    def start(self, problem):
        return list_policy(problem, [self.weight * len(after) for after in problem.graph.succ])
"""


def written(code: str, *others: str) -> dict[str, Any]:
    return ask(schedulers=[{"spec": "", "code": code}, *({"spec": spec} for spec in others)])


def test_a_written_scheduler_runs_beside_the_others() -> None:
    document = written(MOST_SUCCESSORS, "critical_path")["document"]
    assert [(each["label"], each["canonical"], each["valid"]) for each in document["runs"]] == [
        ("MostSuccessors", "MostSuccessors", True),
        ("critical_path", "critical_path", True),
    ]
    assert document["problem"]["schedulers"][0]["code"] == MOST_SUCCESSORS


def test_a_written_copy_of_a_known_scheduler_does_what_that_one_does() -> None:
    code = """
from simsched.schedulers.critical_path import CriticalPath
class Mine(CriticalPath): pass
"""
    mine, known = written(code, "critical_path")["document"]["runs"]
    left_out = ("label", "canonical", "reasons")
    assert {k: v for k, v in mine.items() if k not in left_out} == {k: v for k, v in known.items() if k not in left_out}


START = "class A:\n    def start(self, problem):\n"
HALVES = f"{START}        return lambda view: [(op, 0, '\\ud800') for op in view.ready]\n"
NO_END = "        n = 0\n        while True:\n            n += 1\n"
FOR_EVER = "        def policy(view):\n            while True:\n                yield 0, 0\n        return policy\n"
SILENT = "class E(Exception):\n    def __str__(self):\n        raise ValueError\n"
HIDDEN = "class I:\n    def __repr__(self):\n        return self.nope\n"
GUARDED = "class M(type):\n    def __getattribute__(self, name):\n        raise ValueError(name)\n"
NEEDS = "class A:\n    def __init__(self, n):\n        pass\n    def start(self, p):\n        return p\n"


@pytest.mark.parametrize(
    ("code", "line", "expected"),
    [
        ("class A(:\n", 1, "SyntaxError"),
        (f"{START}  x\n", 3, "IndentationError"),
        ("x = 1\n\nimport nothing_of_this_name\n", 3, "ModuleNotFoundError"),
        ("raise SystemExit\n", 1, "SystemExit"),
        (f"{START}        return nope\n", 3, "NameError: name 'nope'"),
        (f"{START}        return lambda view: 1 / 0\n", 3, "ZeroDivisionError"),
        (f"{START}        return lambda view: [(problem, 0)]\n", None, "two whole numbers"),
        (f"{START}        return lambda view: None\n", None, "returned None"),
        (f"{START}        return 3\n", None, "start returned int"),
        (f"{START}        return self.start(problem)\n", None, "RecursionError"),
        (f"{START}        return lambda view: []\n", None, "dispatched nothing"),
        (f"{START}        return lambda view: [(0, 0), (0, 0)]\n", None, "'a'"),
        (f"{START}        return lambda view: [(0, 99)]\n", None, "99"),
        (f"{START}{NO_END}", None, "does this loop end?"),
        (f"{START}{FOR_EVER}", None, "'a'"),
        ("class A:\n    def begin(self, problem):\n        return 3\n", None, "no class with a method start"),
        (NEEDS, None, "TypeError"),
        (f"{START}        raise KeyboardInterrupt\n", 3, "KeyboardInterrupt"),
        (f"{START}        raise BaseException('mine')\n", 3, "BaseException: mine"),
        (f"{START}        return [0] * 10**17\n", 3, "MemoryError"),
        (f"{SILENT}{START}        raise E\n", 6, "E"),
        (f"{HIDDEN}{START}        return lambda view: [I()]\n", 3, "no attribute 'nope'"),
        (f"{GUARDED}class A(metaclass=M):\n    def start(self, problem): pass\n", 3, "ValueError: __module__"),
        ("x = " + "-" * 100_000 + "1\n", None, "Error"),
    ],
)
def test_what_is_wrong_with_a_written_scheduler_is_said_at_its_line(code: str, line: int | None, expected: str) -> None:
    found = written(code, "serial")
    assert found["ok"], "the others run all the same"
    assert [each["label"] for each in found["document"]["runs"]] == ["serial"]
    (failure,) = found["document"]["failures"]
    assert expected in failure["message"]
    if line is not None:
        assert found["faults"][0]["line"] == line
        assert failure["message"].startswith(f"line {line}: ")
    alone = written(code)
    assert not alone["ok"]
    assert expected in alone["error"]["message"]
    assert line is None or alone["error"]["line"] == line


def test_lines_are_counted_over_all_calls_and_only_those_of_the_text() -> None:
    code = (
        f"{START}        from simsched.graph.model import Graph\n"
        "        def policy(view):\n            for step in range(600_000):\n                pass\n"
        "            return []\n        return policy\n"
    )
    scheduler = compile_scheduler(code)
    policy = scheduler.start(run("residual", "serial", "lanes:2").problem)
    calls = MOST_LINES // 1_200_000
    for _ in range(calls):
        assert list(policy(None)) == []  # type: ignore[arg-type]
    with pytest.raises(WrittenError, match="does this loop end"):
        policy(None)  # type: ignore[arg-type]
    assert sys.gettrace() is None or "simsched" not in str(sys.gettrace())


def test_two_of_one_name_are_told_apart() -> None:
    found = ask(schedulers=[{"spec": "serial"}, {"spec": "serial"}, {"spec": "serial", "code": MOST_SUCCESSORS}])
    assert [each["label"] for each in found["document"]["runs"]] == ["serial", "serial (2)", "serial (3)"]


def test_what_an_error_says_is_cut_where_it_is_long() -> None:
    message = written(f"{START}        raise ValueError('x' * 10**6)\n")["error"]["message"]
    assert message == f"line 3: ValueError: {'x' * MOST_SAID}..."


def test_halves_of_characters_in_reasons_leave_as_text() -> None:
    given = problem() | {"schedulers": [{"spec": "", "code": HALVES}]}
    text = answer(json.dumps({"kind": "run", "problem": given}))
    text.encode()
    assert set(json.loads(text)["document"]["runs"][0]["reasons"].values()) == {"\ud800"}


@pytest.mark.parametrize("spec", ["os:getcwd", "online(os:getcwd)", "portfolio(members=heft+os:getcwd)", " os :getcwd"])
def test_a_page_imports_no_scheduler_by_its_path(spec: str) -> None:
    """What a link names is run before its reader agrees."""
    error = ask(schedulers=[{"spec": spec}])["error"]
    assert "'os' is no scheduler of simsched, and a page imports no others" in error["message"]


def test_schedulers_with_a_value_are_none_of_a_path() -> None:
    specs = ["greedy_ready:spt", "online(heft(insertion=false))", "portfolio(members=greedy_ready:lpt+heft)"]
    found = ask(schedulers=[{"spec": spec} for spec in specs])
    assert [each["label"] for each in found["document"]["runs"]] == specs
