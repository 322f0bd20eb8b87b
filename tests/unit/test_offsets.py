"""Static plans: by hand, published answers, and as properties of random lifetimes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.analysis import offsets as module
from simsched.analysis.allocations import Allocation, peak_of
from simsched.analysis.offsets import Packing, Plan, plan_offsets
from tests.known_answers import find, folder
from tests.unit.test_arena import overlap, rows

CAPACITY = 1048576
PEAKS = {"A": CAPACITY, "B": CAPACITY, "C": 1039360, "D": 986112, "E": CAPACITY, "F": CAPACITY}


def test_by_size_by_hand():
    """8 [0, 3) at 0; 5 [2, 6) above it; 4 [4, 6) into the gap below the 5 that the 8 left; 3 [5, 8) beside that 4."""
    allocations = rows((8, 0, 3), (5, 2, 6), (4, 4, 6), (3, 5, 8))
    plan = plan_offsets(allocations, budget=0)
    assert plan == Plan(13, (0, 8, 0, 4), 13, 13, "by size")


def test_residents_lie_at_the_bottom():
    allocations = [
        Allocation(100, 0, 9, resident=True),
        Allocation(3, 0, 9, resident=True),
        *rows((7, 0, 2), (7, 2, 4)),
    ]
    assert plan_offsets(allocations).offsets == (0, 100, 103, 103)
    assert plan_offsets(allocations, alignment=64).offsets == (0, 128, 192, 192)


def test_nothing_and_what_lives_for_no_time():
    assert plan_offsets([]) == Plan(0, (), 0, 0, "by size")
    assert plan_offsets(rows((7, 3, 3))).size == 0


def test_where_the_pairs_are_too_many_the_replay_is_the_plan(monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 2)
    plan = plan_offsets(rows((7, 0, 4), (3, 0, 9), (5, 4, 9), (4, 5, 9)))
    assert (plan.rule, plan.size, plan.offsets) == ("replay", 14, (0, 7, 0, 10))


lifetimes = st.lists(
    st.builds(
        lambda size, first, length: Allocation(size, first, first + length),
        st.sampled_from([1, 2, 3, 5, 8, 13, 21]), st.integers(0, 12), st.integers(1, 9),
    ),
    max_size=14,
)  # fmt: skip


@given(lifetimes, st.sampled_from([1, 4]))
def test_plans_never_overlap_and_never_exceed_plain_best_fit(allocations: list[Allocation], alignment: int):
    plan = plan_offsets(allocations, alignment=alignment, budget=60_000)
    assert overlap(allocations, plan.offsets) == []
    assert all(offset % alignment == 0 for offset in plan.offsets)
    assert peak_of(allocations, alignment) == plan.ideal <= plan.size <= plan.plain
    reached = max((place + one.size for place, one in zip(plan.offsets, allocations, strict=True)), default=0)
    assert plan.size - alignment < reached <= plan.size
    assert plan == plan_offsets(allocations, alignment=alignment, budget=60_000)


# --- published ------------------------------------------------------------------------------------------------------


def tflm() -> list[dict]:
    found = find("memory_small")
    return json.loads((found / "graphs.json").read_text())["tflm_greedy_planner"] if found else []


@pytest.mark.parametrize("case", tflm(), ids=lambda case: case["name"])
def test_arenas_of_tensorflow_lite_micro(case):
    """Its planner places the largest first, each into the lowest gap; operators are steps, both ends included."""
    allocations = rows(*((size, first, last + 1) for size, first, last in case["buffers_size_first_last"]))
    arena = case.get("arena", case.get("arena_greedy"))
    plan = plan_offsets(allocations)
    assert overlap(allocations, plan.offsets) == []
    if "live_peak" in case:
        assert plan.ideal == case["live_peak"]
    assert plan.size <= plan.plain <= case.get("sum", arena)
    if arena is not None:
        near = module._neighbours(allocations)
        assert near is not None
        packing = Packing([one.size for one in allocations], near, plan.ideal)
        order = sorted(range(len(allocations)), key=lambda one: (-allocations[one].size, one))
        places = packing.in_gaps(order, tightest=False)
        assert max(place + one.size for place, one in zip(places, allocations, strict=True)) == arena
        assert plan.size <= arena


def test_published_instances_are_here_or_the_skip_is_visible():
    folder("memory_small")
    assert len(instances()) == 6
    assert len(tflm()) == 4


def instances() -> list[str]:
    found = find("minimalloc")
    return sorted(path.name[0] for path in found.glob("?.1048576.csv")) if found else []


def read(path: Path) -> list[Allocation]:
    with path.open(encoding="utf-8") as file:
        return rows(*((int(row["size"]), int(row["lower"]), int(row["upper"])) for row in csv.DictReader(file)))


def test_the_example_of_minimalloc_is_solved():
    allocations = read(folder("minimalloc") / "input.12.csv")
    plan = plan_offsets(allocations)
    assert plan.size == plan.ideal == 12
    assert overlap(allocations, plan.offsets) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", instances())
def test_minimalloc(name: str):
    """Each instance can be placed in 1 MiB: within 10 % of that, and far below plain best fit."""
    allocations = read(folder("minimalloc") / f"{name}.{CAPACITY}.csv")
    assert peak_of(allocations) == PEAKS[name]
    plan = plan_offsets(allocations)
    assert overlap(allocations, plan.offsets) == []
    assert PEAKS[name] <= plan.size <= 1.1 * CAPACITY
    assert plan.size < plan.plain
