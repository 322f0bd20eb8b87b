"""Schedules as text: round trips, the order of launches, and what is said of mistakes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.engine.simulator import simulate
from simsched.errors import ConfigError
from simsched.graph.builder import GraphBuilder
from simsched.hardware import Device, HardwareProfile, lanes, procs
from simsched.problem import Problem, make_problem
from simsched.schedule import Schedule, parse_schedule
from simsched.schedulers.follow import Follow
from simsched.schedulers.greedy_ready import GreedyReady
from tests.builders import random_graph


def problem_of(names: list[str], streams: int = 3) -> Problem:
    builder = GraphBuilder("g", "tick")
    for name in names:
        builder.add_op(name, duration=1)
    return make_problem(builder.build(), lanes(streams))


@given(st.lists(st.text(min_size=1), unique=True, max_size=8), st.randoms(use_true_random=False))
def test_any_names_survive_a_round_trip(names: list[str], source: random.Random) -> None:
    problem = problem_of(names)
    launch = list(range(len(names)))
    source.shuffle(launch)
    streams: dict[int, list[int]] = {}
    for op in launch:
        streams.setdefault(source.randrange(3), []).append(op)
    schedule = Schedule({stream: tuple(ops) for stream, ops in sorted(streams.items())}, tuple(launch))
    read = parse_schedule(schedule.to_text(problem), problem)
    assert read.streams == schedule.streams
    assert list(read.launches()) == list(schedule.launches())


def test_text_is_a_line_a_stream_and_the_launches_only_where_streams_do_not_take_turns() -> None:
    problem = problem_of(["a", "b c", 'd"', "#e"], streams=2)
    turns = Schedule({0: (0, 1), 1: (2, 3)})
    assert turns.to_text(problem) == 'd0/s0: a "b c"\nd0/s1: "d\\"" "#e"\n'
    assert list(turns.launches()) == [(0, 0), (2, 1), (1, 0), (3, 1)]
    assert Schedule(turns.streams, (0, 2, 1, 3)).to_text(problem) == turns.to_text(problem)
    other = Schedule(turns.streams, (2, 3, 0, 1))
    assert other.to_text(problem) == turns.to_text(problem) + 'launch: "d\\"" "#e" a "b c"\n'


def test_comments_blank_lines_glued_names_and_repeated_lines_are_read() -> None:
    problem = problem_of(["a", "b", "c", "x:0"])
    text = "# mine\n\nd0/s1:a   b # two\n  d0/s0: x:0\nd0/s1: c\n"
    assert parse_schedule(text, problem) == Schedule({0: (3,), 1: (0, 1, 2)})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d0/s0 a b c", "plan.txt:1:1: expected 'device/stream: op op op'"),
        ("d0/s9: a b c", "plan.txt:1:1: unknown stream 'd0/s9'; did you mean 'd0/s2'?"),
        ("d0/s0: a b c\nd0/s1: conv", "plan.txt:2:8: unknown operator 'conv'; expected one of: a, b, c"),
        ("d0/s0: a b c\nd0/s1: b", "plan.txt:2:8: operator 'b' appears twice (first on line 1)"),
        ('d0/s0: a b "c', 'plan.txt:1:12: " is not a complete quoted name'),
        ("d0/s0: a b", "plan.txt: 1 operator is on no stream: c"),
        ("", "plan.txt: 3 operators are on no stream: a, b, c"),
        ("d0/s0: a b c\nlaunch: a b", "plan.txt: 1 operator is missing from 'launch': c"),
        (
            "d0/s0: a b c\nlaunch: a c b",
            "plan.txt:2:1: 'c' is launched before 'b', which its stream has first",
        ),
    ],
)
def test_mistakes_are_located(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_schedule(text, problem_of(["a", "b", "c"]), "plan.txt")
    assert str(caught.value).splitlines()[0].startswith(message.split(" problems", maxsplit=1)[0]) or message in str(
        caught.value
    )


def test_all_mistakes_come_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_schedule("d0/s0: a zz\nd7/s0: b\n", problem_of(["a", "b", "c"]), "plan.txt")
    assert str(caught.value) == (
        "plan.txt: 2 problems\n"
        "  1:10: unknown operator 'zz'; expected one of: a, b, c\n"
        "  2:1: unknown stream 'd7/s0'; did you mean 'd0/s0'?"
    )


@pytest.mark.parametrize("seed", range(10))
def test_a_greedy_run_with_demands_is_repeated_from_its_text(seed: int) -> None:
    graph = random_graph(seed, 40, demands={"r1": 3, "r2": 4}, durations=(1, 2, 3, 5, 7))
    hardware = HardwareProfile("h", (Device("d0", streams=40, resources={"r1": 4, "r2": 5}),))
    problem = make_problem(graph, hardware)
    trace = simulate(problem, GreedyReady("spt"))
    text = trace.schedule().to_text(problem)
    assert simulate(problem, Follow(parse_schedule(text, problem))).start == trace.start


def test_streams_of_several_devices_have_their_device_s_name() -> None:
    builder = GraphBuilder("g", "tick")
    builder.add_op("7", duration=1)
    problem = make_problem(builder.build(), procs(2))
    assert parse_schedule("p1/s0: 7\n", problem) == Schedule({1: (0,)})
