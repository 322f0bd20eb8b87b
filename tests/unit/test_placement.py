"""Placement rules: by hand, against exhaustive search, and what they may not do."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

import pytest

from simsched.cost.base import KernelCost
from simsched.errors import ConfigError, GraphError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, OpId
from simsched.graph.pipeline import microbatched
from simsched.hardware import Device, HardwareProfile, procs
from simsched.placement import RULES, Rule, by_pattern, parse_rule, placed_problem
from simsched.problem import Problem
from simsched.scenario import Scenario

BOX = HardwareProfile("box", (Device("cpu"), Device("gpu0"), Device("gpu1")))


def graph_of(*operators: tuple[str, str, int | Mapping[str, int]], **places: str) -> Graph:
    """Name, type and duration of each; in a row, so that their order is the topological one."""
    builder = GraphBuilder("made")
    before: list[str] = []
    for name, kind, duration in operators:
        builder.add_op(name, kind, duration=duration, after=before, device=places.get(name))
        before = [name]
    return builder.build()


def devices_of(problem: Problem) -> list[str]:
    """Names of the devices of each operator: ``*`` for all, several joined by ``|``."""
    found = []
    for op in range(len(problem.graph)):
        allowed = problem.allowed_devices(op)
        names = [problem.devices[device].name for device in allowed]
        found.append("*" if len(names) == len(problem.devices) else "|".join(names))
    return found


NET = (("in", "Input", 1), ("c1", "Conv", 5), ("r1", "Relu", 2), ("c2", "ConvTranspose", 7), ("out", "Softmax", 3))


def test_the_first_pattern_that_matches_a_type_or_a_name_decides() -> None:
    places = devices_of(placed_problem(graph_of(*NET), BOX, rule="c2=cpu; Conv*=gpu*; Softmax=gpu1 | cpu"))
    assert places == ["*", "gpu0|gpu1", "*", "cpu", "cpu|gpu1"]
    assert devices_of(placed_problem(graph_of(*NET), BOX, rule="Conv*=gpu0; *=cpu;")) == [
        "cpu", "gpu0", "cpu", "gpu0", "cpu",
    ]  # fmt: skip


def test_without_a_rule_the_scheduler_chooses() -> None:
    assert placed_problem(graph_of(*NET), BOX).allowed == {}
    assert placed_problem(graph_of(*NET), BOX, rule="*=*").allowed == {}


def test_what_the_graph_places_stays_there_under_any_rule() -> None:
    graph = graph_of(*NET, c1="gpu1", out="cpu")
    for rule in ("*=gpu0", *RULES):
        places = devices_of(placed_problem(graph, BOX, rule=rule))
        assert (places[1], places[4]) == ("gpu1", "cpu"), rule


def test_fastest_takes_the_shortest_of_the_devices_that_may() -> None:
    graph = graph_of(
        ("a", "op", {"cpu": 7, "gpu0": 5, "gpu1": 6}),
        ("b", "op", {"gpu1": 11, "cpu": 13}),
        ("c", "op", 3),
        ("d", "op", {"cpu": 2, "gpu0": 9, "gpu1": 2}),
    )
    assert devices_of(placed_problem(graph, BOX, rule="fastest")) == ["gpu0", "gpu1", "cpu", "cpu"]
    # Of the GPUs alone: c and d are equal on neither.
    assert devices_of(placed_problem(graph, BOX, rule="fastest:gpu*")) == ["gpu0", "gpu1", "gpu0", "gpu1"]


def test_round_robin_takes_turns_and_leaves_out_devices_that_may_not() -> None:
    graph = graph_of(
        ("a", "op", 5), ("b", "op", {"cpu": 1, "gpu1": 1}), ("c", "op", 1), ("d", "op", {"gpu0": 2}), ("e", "op", 4)
    )
    # a: cpu; b: not gpu0, so gpu1; c: cpu again; d has no choice and takes no turn; e: gpu0.
    assert devices_of(placed_problem(graph, BOX, rule="round_robin")) == ["cpu", "gpu1", "cpu", "gpu0", "gpu0"]


def test_balanced_takes_the_device_that_would_end_first() -> None:
    graph = graph_of(*((name, "op", duration) for name, duration in zip("abcdef", (7, 3, 5, 2, 4, 1), strict=True)))
    # Work before each: 0 0 0; 7 0 0; 7 3 0; 7 3 5 -> b's; 7 5 5 -> 9; 7 9 5 -> 6
    assert devices_of(placed_problem(graph, BOX, rule="balanced")) == ["cpu", "gpu0", "gpu1", "gpu0", "gpu0", "gpu1"]
    uneven = graph_of(("a", "op", {"cpu": 9, "gpu0": 4, "gpu1": 4}), ("b", "op", {"cpu": 7, "gpu0": 3, "gpu1": 9}))
    # b would end at 7 on either: the first of the profile.
    assert devices_of(placed_problem(uneven, BOX, rule="balanced")) == ["gpu0", "cpu"]


def test_contiguous_by_hand() -> None:
    graph = graph_of(*((name, "op", duration) for name, duration in zip("abcdef", (4, 3, 2, 5, 1, 6), strict=True)))
    # 21 in three pieces: 4 3 | 2 5 | 1 6; in two: 4 3 2 | 5 1 6.
    assert devices_of(placed_problem(graph, BOX, rule="contiguous")) == ["cpu"] * 2 + ["gpu0"] * 2 + ["gpu1"] * 2
    assert devices_of(placed_problem(graph, BOX, rule="contiguous:gpu*")) == ["gpu0"] * 3 + ["gpu1"] * 3


def longest_piece(columns: Sequence[Sequence[int | None]], cut: Sequence[int]) -> int | None:
    """Sum of the longest piece of a division, or None where a device may not run what it would get."""
    longest = 0
    for device, (start, end) in enumerate(itertools.pairwise([0, *cut, len(columns[0])])):
        piece = columns[device][start:end]
        if None in piece:
            return None
        longest = max(longest, sum(amount or 0 for amount in piece))
    return longest


@pytest.mark.parametrize("seed", range(60))
def test_contiguous_is_the_best_of_all_divisions(seed: int) -> None:
    draw = random.Random(seed)
    count, pieces = draw.randint(1, 8), draw.randint(1, 3)
    hardware = procs(pieces)
    operators, columns = [], [[None] * count for _ in range(pieces)]  # type: list[tuple[str, str, dict[str, int]]], list[list[int | None]]
    for op in range(count):
        able = sorted(draw.sample(range(pieces), draw.randint(1, pieces))) if draw.random() < 0.3 else range(pieces)
        durations = {f"p{device}": draw.randint(1, 30) for device in able}
        for device in able:
            columns[device][op] = durations[f"p{device}"]
        operators.append((f"n{op}", "op", durations))
    cuts = itertools.combinations_with_replacement(range(count + 1), pieces - 1)
    best = min((found for cut in cuts if (found := longest_piece(columns, cut)) is not None), default=None)
    graph = graph_of(*operators)
    if best is None:
        with pytest.raises(ConfigError, match="cannot be followed"):
            placed_problem(graph, hardware, rule="contiguous")
        return
    places = [allowed[0] for _, allowed in sorted(placed_problem(graph, hardware, rule="contiguous").allowed.items())]
    places = places or [0] * count
    assert places == sorted(places)
    work = [sum(columns[device][op] or 0 for op in range(count) if places[op] == device) for device in range(pieces)]
    assert max(work) == best


def test_what_takes_no_time_stays_with_its_predecessor() -> None:
    builder = GraphBuilder("views")
    builder.add_op("a", duration=5)
    builder.add_op("b", duration=5)
    builder.add_op("view", duration=0, after=["b"])
    builder.add_op("c", duration=5, after=["view"])
    builder.add_op("start", duration=0)
    graph = builder.build()
    for rule in ("round_robin", "balanced"):
        places = dict(zip(graph.names, devices_of(placed_problem(graph, BOX, rule=rule)), strict=True))
        assert [places[name] for name in ("a", "b", "view", "c")] == ["cpu", "gpu0", "gpu0", "gpu1"]
        assert places["start"] == "cpu"


def test_copies_in_other_microbatches_stay_with_the_first() -> None:
    graph = microbatched(graph_of(("a", "op", 3), ("b", "op", 5), ("c", "op", 2), ("d", "op", 4)), 3)
    for rule in RULES:
        problem = placed_problem(graph, procs(2), rule=rule)
        places: dict[str, set[str]] = {}
        for name, device in zip(graph.names, devices_of(problem), strict=True):
            places.setdefault(name.partition("/")[2], set()).add(device)
        assert sorted(places) == ["a", "b", "c", "d"]
        assert all(len(found) == 1 for found in places.values()), rule
    contiguous = devices_of(placed_problem(graph, procs(2), rule="contiguous"))
    assert contiguous[:4] == ["p0", "p0", "p1", "p1"], "8 and 6, as without microbatches"


def test_a_cost_model_is_asked_once_for_each_operator_and_device_that_may_run_it() -> None:
    builder = GraphBuilder("asked")
    for name in ("a", "b"):
        builder.add_op(name)
    asked: list[tuple[OpId, str]] = []

    def model(graph: Graph, op: OpId, device: Device) -> KernelCost:
        asked.append((op, device.name))
        return KernelCost(7 + op)

    problem = placed_problem(builder.build(), BOX, model, "round_robin:gpu*")
    assert sorted(asked) == [(op, name) for op in (0, 1) for name in ("gpu0", "gpu1")]
    assert devices_of(problem) == ["gpu0", "gpu1"]
    assert [problem.durations(1)[0], problem.durations(2)[1]] == [7, 8]


def test_a_rule_cannot_send_an_operator_where_it_cannot_run() -> None:
    graph = graph_of(("a", "op", {"cpu": 3, "gpu1": 4}), ("b", "op", 5))
    with pytest.raises(GraphError) as caught:
        placed_problem(graph, BOX, rule="*=gpu0")
    expected = "made on box: operator 'a' is to run on gpu0, but can run on cpu or gpu1 only"
    assert str(caught.value) == expected
    demanding = GraphBuilder("made")
    demanding.add_op("a", duration=3, demands={"lanes": 2})
    able = HardwareProfile("box", (Device("cpu"), Device("npu", resources={"lanes": 2})))
    with pytest.raises(GraphError, match="is to run on cpu, but can run on npu only"):
        placed_problem(demanding.build(), able, rule="*=cpu")
    assert devices_of(placed_problem(demanding.build(), able, rule="fastest")) == ["npu"]


MALFORMED = [
    ("fastset", "'fastset': 'fastset' is not a rule; did you mean 'fastest'?"),
    (
        "gpu",
        "'gpu': 'gpu' is not a rule; expected one of: fastest, round_robin, balanced, contiguous; "
        "or patterns such as 'Conv*=gpu; *=cpu'",
    ),
    (
        "",
        "'' is not a rule; expected one of: fastest, round_robin, balanced, contiguous; "
        "or patterns such as 'Conv*=gpu; *=cpu'",
    ),
    (
        "fastest:",
        "'fastest:': names no devices behind the colon; write for example 'fastest:gpu*', or 'fastest' for all",
    ),
    ("Conv=gpu0; Relu", "'Conv=gpu0; Relu': 'Relu' is not OPERATORS=DEVICE; write for example 'Conv*=gpu; *=cpu'"),
    ("=gpu0", "'=gpu0': '=gpu0' is not OPERATORS=DEVICE; write for example 'Conv*=gpu; *=cpu'"),
    ("Conv=", "'Conv=': 'Conv=' is not OPERATORS=DEVICE; write for example 'Conv*=gpu; *=cpu'"),
    ("Conv*=gpu", "'Conv*=gpu': 'box' has no device 'gpu'; did you mean 'gpu0' or 'gpu1'?"),
    ("contiguous:npu*", "'contiguous:npu*': 'box' has no device 'npu*'; expected one of: cpu, gpu0, gpu1"),
    ("Softmx=cpu", "'Softmx=cpu': graph 'made' has no operator or type 'Softmx'; did you mean 'Softmax'?"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "message"), MALFORMED, ids=[rule for rule, _ in MALFORMED])
def test_a_malformed_rule(rule: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        placed_problem(graph_of(*NET), BOX, rule=rule)
    assert str(caught.value) == f"placement rule: {message}"


def test_a_pattern_with_wildcards_may_match_nothing() -> None:
    assert devices_of(placed_problem(graph_of(*NET), BOX, rule="Lstm*=cpu; [xyz]=cpu")) == ["*"] * 5
    assert devices_of(placed_problem(graph_of(*NET), BOX, rule="*=gpu0; Relu=cpu")) == ["gpu0"] * 5, "never reached"


def test_names_with_the_signs_of_rules() -> None:
    graph = graph_of(("w=3", "op", 1), ("x[0]", "op", 1))
    assert devices_of(placed_problem(graph, BOX, rule="w=3=gpu0; x[[]0]=gpu1")) == ["gpu0", "gpu1"]


def test_parts_of_the_interface() -> None:
    rule = parse_rule("Conv*=gpu1")
    assert by_pattern(graph_of(*NET), BOX, rule) == {1: (2,), 3: (2,)}
    assert parse_rule("contiguous : gpu*") == Rule("contiguous : gpu*", (), "contiguous", "gpu*")
    problem = Scenario("procs:2", place="round_robin").problem(graph_of(*NET))
    assert devices_of(problem) == ["p0", "p1", "p0", "p1", "p0"]
    assert Scenario("procs:2", place="round_robin").parameters() == {
        "hardware": "procs:2", "seed": 0, "place": "round_robin",
    }  # fmt: skip
