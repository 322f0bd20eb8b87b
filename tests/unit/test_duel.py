"""Duels: what is searched, that it is found again, and that what is written down runs as it was said to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from simsched.errors import ConfigError, SchedulerError
from simsched.graph.io import load_graph
from simsched.problem import Problem
from simsched.run import run
from simsched.schedulers.base import Policy
from simsched.schedulers.registry import make_scheduler
from simsched.study.duel import Found, duel
from simsched.study.instance import Instance, Space
from simsched.study.moves import moved, random_instance, swapped, without
from simsched.study.shrink import simplifications
from simsched.study.spaces import make_space
from tests.cli import command, environment, invoke, objects

HEFT, CPOP = make_scheduler("heft"), make_scheduler("cpop")


def search(loser: str, winner: str, space: Space, seed: int = 0, steps: int = 200) -> Found:
    return duel(make_scheduler(loser), make_scheduler(winner), space, seed=seed, steps=steps)


def test_the_same_seed_finds_the_same_instance() -> None:
    space = make_space(["procs:3"])
    first, again = (search("heft", "cpop", space, seed=5) for _ in range(2))
    assert first == again
    assert search("heft", "cpop", space, seed=6) != first


@pytest.mark.parametrize(("loser", "winner"), [("heft", "cpop"), ("cpop", "heft"), ("min_min", "heft")])
def test_each_of_two_heuristics_has_instances_on_which_it_is_far_worse(loser: str, winner: str) -> None:
    found = search(loser, winner, make_space(["procs:3"]), steps=400)
    assert found.best is not None
    assert found.best.ratio > 1.5
    assert [ratio for _, ratio in found.history] == sorted(ratio for _, ratio in found.history)


def test_list_scheduling_comes_near_its_worst_case_and_never_beyond() -> None:
    # R. Graham (1969): no list schedule on m lanes is longer than 2 - 1/m times the optimum.
    pytest.importorskip("ortools")
    space = make_space(["lanes:2"], operators=5)
    found = search("greedy_ready:list", "optimal", space, steps=60)
    assert found.best is not None
    exact = Fraction(found.best.loser, found.best.winner)
    assert Fraction(5, 4) <= exact <= Fraction(3, 2)


def test_two_equals_never_differ() -> None:
    found = search("heft", "heft", make_space(["procs:2"]), steps=40)
    assert found.best is not None
    assert found.best.loser == found.best.winner
    assert [ratio for _, ratio in found.history] == [1.0]


def test_what_the_ratio_does_not_need_is_left_out() -> None:
    space = make_space(["lanes:2"])
    found = search("greedy_ready:list", "critical_path", space, steps=400)
    assert found.best is not None
    best = found.best.instance
    for step in simplifications(space):
        for simpler in step(best):
            problem = space.problem(simpler)
            ratio = Fraction(run(problem, "greedy_ready:list").makespan, run(problem, "critical_path").makespan)
            assert ratio < Fraction(found.best.loser, found.best.winner)


def check(space: Space, instance: Instance) -> None:
    count = len(instance)
    assert 1 <= count <= space.most
    assert len(set(instance.names)) == len(instance.durations) == len(instance.demands) == count
    assert all(
        len(row) == space.places and all(1 <= time <= space.longest for time in row) for row in instance.durations
    )
    pairs = [edge[:2] for edge in instance.edges]
    assert pairs == sorted(set(pairs))
    assert all(0 <= source < target < count for source, target in pairs)
    assert all(0 <= delay <= space.longest for _, _, delay in instance.edges)
    most = dict(space.resources(instance.hardware))
    assert all(1 <= units <= most[name] for held in instance.demands for name, units in held)


@pytest.mark.parametrize("hardware", [["lanes:2", "procs:3"], ["toy_4sm", "lanes:2"], ["toy_box"]])
def test_every_move_stays_within_the_space(hardware: list[str]) -> None:
    space, rng = make_space(hardware, operators=6), Random(3)
    instance = random_instance(space, rng)
    seen = set()
    for _ in range(600):
        check(space, instance)
        instance = moved(space, instance, rng)
        seen.add((instance.hardware, len(instance)))
    assert {number for number, _ in seen} == set(range(len(hardware)))
    assert {count for _, count in seen} == set(range(2, 7))


def test_every_simplification_stays_within_the_space() -> None:
    space, rng = make_space(["toy_4sm", "procs:3"], operators=6), Random(4)
    for _ in range(10):
        for step in simplifications(space):
            for simpler in step(random_instance(space, rng)):
                check(space, simpler)


def pairs_ordered(instance: Instance) -> set[tuple[str, str]]:
    """Every pair of names, the first of which must end before the second starts."""
    after: dict[int, set[int]] = {op: set() for op in range(len(instance))}
    for source, target, _ in reversed(instance.edges):
        after[source] |= {target} | after[target]
    return {(instance.names[op], instance.names[other]) for op, later in after.items() for other in later}


def test_an_operator_left_out_with_a_bridge_leaves_the_order_of_the_rest() -> None:
    space, rng = make_space(["procs:2"], operators=8), Random(9)
    for _ in range(30):
        instance = random_instance(space, rng)
        for op in range(len(instance)):
            rest = {pair for pair in pairs_ordered(instance) if instance.names[op] not in pair}
            assert pairs_ordered(without(instance, op, bridged=True)) == rest
            assert pairs_ordered(without(instance, op)) <= rest


def test_swapping_neighbours_changes_the_order_in_the_file_alone() -> None:
    space, rng = make_space(["procs:2"], operators=8), Random(11)
    for _ in range(30):
        instance = random_instance(space, rng)
        for op in range(len(instance)):
            other = swapped(instance, op)
            assert pairs_ordered(other) == pairs_ordered(instance)
            assert dict(zip(other.names, other.durations, strict=True)) == dict(
                zip(instance.names, instance.durations, strict=True)
            )


def test_a_graph_to_begin_with_keeps_its_makespan() -> None:
    # HEFT 80 and CPOP 86 on the ten tasks of H. Topcuoglu et al. (2002).
    space = make_space(["procs:3"], graph="heft_topcuoglu")
    assert space.start is not None
    assert run(space.problem(space.start), HEFT).makespan == 80
    assert run(space.problem(space.start), CPOP).makespan == 86


def test_what_may_not_vary_does_not() -> None:
    space = make_space(["procs:3"], graph="heft_topcuoglu", vary=["delays"])
    start, found = space.start, search("heft", "cpop", space, steps=100).best
    assert start is not None
    assert found is not None
    assert found.instance.durations == start.durations
    assert [edge[:2] for edge in found.instance.edges] == [edge[:2] for edge in start.edges]
    assert found.instance.edges != start.edges


@dataclass
class Flaky:
    """HEFT that does something else from some call on."""

    after: int
    error: BaseException
    calls: int = 0

    def start(self, problem: Problem) -> Policy:
        self.calls += 1
        if self.calls > self.after:
            raise self.error
        return HEFT.start(problem)


def test_an_interruption_keeps_the_best_so_far() -> None:
    found = duel(Flaky(50, KeyboardInterrupt()), CPOP, make_space(["procs:3"]), steps=300)
    assert found.interrupted
    assert found.tried == 51
    assert found.best is not None
    assert found.best.ratio == found.history[-1][1]


def test_runs_that_fail_are_counted_and_passed_over() -> None:
    found = duel(Flaky(20, SchedulerError("no")), CPOP, make_space(["procs:3"]), steps=100)
    assert found.best is not None
    assert found.failed == found.tried - 20
    nothing = duel(Flaky(0, SchedulerError("no")), CPOP, make_space(["procs:3"]), steps=30)
    assert nothing.best is None
    assert nothing.failed == nothing.tried


@pytest.mark.parametrize(
    ("hardware", "options", "words"),
    [
        (["procs:2"], {"vary": ["lengths"]}, "'lengths' is nothing that can vary"),
        (["lanes:2"], {"vary": ["delays", "unlike"]}, "nothing is left to vary"),
        (["lanes:2"], {"graph": "layered_random(n=65)"}, "has 65 operators; a duel begins with 2 to 64"),
    ],
)
def test_a_space_that_cannot_be_is_refused(hardware: list[str], options: dict[str, Iterable[str]], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        make_space(hardware, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("words", ["heft cpop -H procs:3", "critical_path greedy_ready:spt -H toy_4sm"])
def test_what_is_written_runs_as_it_was_said_to(words: str, tmp_path: Path) -> None:
    folder = tmp_path / "found"
    (said,) = objects("duel", *words.split(), "--steps", "150", "-o", str(folder))
    assert said == json.loads((folder / "duel.json").read_text())
    names = words.split()[:2]
    (again,) = objects("compare", str(folder / "worst.yaml"), "-H", said["hardware"], "-s", ",".join(names))
    assert [each["makespan_ns"] for each in again["runs"]] == [said["loser_ns"], said["winner_ns"]]
    assert said["ratio"] == round(said["loser_ns"] / said["winner_ns"], 6)
    assert len(load_graph(folder / "worst.yaml")) == said["operators"]
    assert len(list(folder.glob("*.png"))) == 2


def test_the_command_tells_what_it_found(tmp_path: Path) -> None:
    done = invoke("duel", "heft", "cpop", "-H", "procs:3", "--steps", "100", "-o", str(tmp_path / "found"))
    assert done.exit_code == 0
    assert "times as long as cpop" in done.stdout
    again = done.stdout.splitlines()[-1]
    assert again.startswith("again: simsched compare ")
    assert invoke(*again.split()[2:]).exit_code == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("duel heft", 2, "missing argument B"),
        ("duel heft,cpop mct", 2, "argument A: expected one scheduler, got 'heft,cpop'"),
        ("duel heft cpo", 2, "unknown scheduler 'cpo'"),
        ("duel heft cpop -H procs:3 --vary all", 2, "'all' is nothing that can vary"),
        ("duel heft cpop -H native", 2, "native"),
        ("duel hu(strict=true) heft -H procs:3 --steps 5 --vary delays", 1, "none of 5 instances could be run"),
    ],
)
def test_a_wrong_command_says_why(words: str, code: int, message: str, tmp_path: Path) -> None:
    done = invoke(*words.split(), "-o", str(tmp_path / "found"))
    assert done.exit_code == code, done.output
    assert message in done.output


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send")
def test_an_interrupted_command_keeps_what_it_has(tmp_path: Path) -> None:
    words = ("duel", "heft", "cpop", "-H", "procs:3", "--steps", "10000000", "-o", "found")
    child = subprocess.Popen(command(*words), cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    assert "Ctrl-C takes the best so far" in child.stderr.readline()
    child.send_signal(signal.SIGINT)
    told = child.communicate(timeout=60)[1]
    assert child.returncode == 130
    assert "is kept in found" in told.splitlines()[-1]
    said = json.loads((tmp_path / "found" / "duel.json").read_text())
    assert said["interrupted"] is True
    again = objects("compare", str(tmp_path / "found" / "worst.yaml"), "-H", "procs:3", "-s", "heft,cpop")
    assert [each["makespan_ns"] for each in again[0]["runs"]] == [said["loser_ns"], said["winner_ns"]]
