"""An allocator with real addresses: by hand, and as properties of random runs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.analysis.allocations import Allocation, allocations_of, peak_of
from simsched.analysis.arena import Arena, Refusal, best_fit, first_fit, replay
from simsched.engine.simulator import simulate
from simsched.graph.builder import GraphBuilder
from simsched.hardware import HardwareProfile, lanes, procs
from simsched.result import Result
from simsched.schedulers.registry import make_scheduler
from tests.builders import DURATIONS, linked_pair, problem_of, random_graph

HARDWARE = (lanes(3), procs(3), linked_pair(), linked_pair(2, None, 1))


def rows(*given: tuple[int, int, int]) -> list[Allocation]:
    return [Allocation(size, first, last, first, last) for size, first, last in given]


def overlap(allocations: list[Allocation], offsets: tuple[int, ...]) -> list[tuple[int, int]]:
    """Pairs that are in use at the same step and share an address, from a look at all pairs."""
    found = []
    for one, a in enumerate(allocations):
        for other, b in enumerate(allocations[:one]):
            together = a.first < b.last and b.first < a.last and a.first < a.last and b.first < b.last
            if together and offsets[one] < offsets[other] + b.size and offsets[other] < offsets[one] + a.size:
                found.append((other, one))
    return found


def test_holes_are_joined_and_reused():
    arena = Arena(first_fit)
    assert [arena.allocate(size) for size in (3, 5, 7, 11)] == [0, 3, 8, 15]
    arena.free(3, 5)
    arena.free(8, 7)
    assert (arena.starts, arena.sizes, arena.top) == ([3], [12], 26)
    assert arena.allocate(2) == 3
    arena.free(0, 3)
    assert (arena.starts, arena.sizes) == ([0, 5], [3, 10])
    arena.free(3, 2)
    assert (arena.starts, arena.sizes) == ([0], [15])
    arena.free(15, 11)
    assert (arena.starts, arena.top) == ([], 0)


def test_the_two_rules_choose_differently():
    """Holes of 7 at 0 and of 5 at 10: for 4 bytes, the first fit takes the lower and the best fit the smaller."""
    assert (first_fit([7, 5], 4), best_fit([7, 5], 4)) == (0, 1)
    assert (first_fit([7, 5], 6), best_fit([7, 5], 6)) == (0, 0)
    assert (first_fit([7, 5], 8), best_fit([7, 5], 8)) == (-1, -1)
    assert best_fit([5, 7, 5], 5) == 0


def test_fragmentation_by_hand():
    """7 [0, 4), 3 [0, 9), 5 [4, 9) fits into the hole of 7, then 4 [5, 9) only on top of the 3: 14 for 12."""
    found = replay(rows((7, 0, 4), (3, 0, 9), (5, 4, 9), (4, 5, 9)), "first")
    assert found.offsets == (0, 7, 0, 10)
    assert (found.size, found.at, found.ideal) == (14, 5, 12)
    assert found.fragmentation == 1 - 12 / 14
    assert found.worst == 1 - 8 / 10
    assert found.refused is None


def test_frees_of_a_step_come_first():
    assert replay(rows((7, 0, 3), (7, 3, 5))).size == 7


def test_sizes_are_rounded_up():
    found = replay(rows((1, 0, 9), (257, 0, 9), (256, 1, 9)), alignment=256)
    assert found.offsets == (0, 256, 768)
    assert (found.size, found.ideal) == (1024, 514)


def test_a_limited_arena_names_the_first_that_does_not_fit():
    allocations = rows((7, 0, 4), (3, 0, 9), (6, 4, 9), (4, 5, 9))
    assert replay(allocations, "first", capacity=14).refused is None
    found = replay(allocations, "first", capacity=13)
    assert found.refused == Refusal(allocations[3], live=9, largest=3)
    assert found.offsets == (0, 7, 0, -1)


def test_an_empty_run_needs_nothing():
    found = replay([])
    assert (found.size, found.ideal, found.fragmentation, found.offsets) == (0, 0, 0.0, ())


# --- allocations of a run -------------------------------------------------------------------------------------------


def test_allocations_of_a_run_by_hand():
    builder = GraphBuilder("net", time_unit="tick")
    builder.add_tensor("w", bytes=100, kind="parameter")
    builder.add_tensor("t", bytes=7)
    builder.add_tensor("v", bytes=7)
    builder.add_tensor("out", bytes=5, kind="output")
    builder.add_op("a", duration=2, inputs=["w"], outputs=["t"], workspace=11)
    builder.add_op("b", duration=3, inputs=["t"], outputs=["v"], alias={"v": "t"})
    builder.add_op("c", duration=4, inputs=["v"], outputs=["out"])
    problem = problem_of(builder.build(), lanes(1))
    run = Result(problem, "serial", simulate(problem, make_scheduler("serial")))
    assert allocations_of(run) == [
        Allocation(100, 0, 4, 0, 9, tensor=0, resident=True),
        Allocation(7, 0, 3, 0, 9, tensor=1),
        Allocation(11, 0, 1, 0, 2, op=0),
        Allocation(5, 2, 4, 5, 9, tensor=3),
    ]
    assert replay(allocations_of(run)).offsets == (0, 100, 107, 107)


def test_operators_of_no_time_hold_bytes_too():
    """a, b and c take no time, one after the other: each has its 7 B of workspace, but never two at once."""
    builder = GraphBuilder("brief", time_unit="tick")
    for name, before in (("a", []), ("b", ["a"]), ("c", ["b"])):
        builder.add_op(name, duration=0, workspace=7, after=before)
    problem = problem_of(builder.build(), lanes(2))
    run = Result(problem, "serial", simulate(problem, make_scheduler("topological")))
    allocations = allocations_of(run)
    assert [(one.first, one.last) for one in allocations] == [(0, 1), (1, 2), (2, 3)]
    assert replay(allocations).size == run.trace.memory.peak(0) == 7


@given(
    st.integers(0, 10_000), st.sampled_from(["critical_path", "memory_aware", "random:5"]), st.sampled_from(HARDWARE)
)
def test_an_arena_holds_every_run(seed: int, spec: str, hardware: HardwareProfile):
    # The trace does not tell rounds within an instant in which copies begin.
    durations = (1, 2, 3, 5, 7) if hardware.links else DURATIONS
    problem = problem_of(random_graph(seed, 14, workspace=(0, 5, 23), durations=durations), hardware)
    run = Result(problem, spec, simulate(problem, make_scheduler(spec)))
    for device in range(len(problem.devices)):
        allocations = allocations_of(run, device)
        peak = run.trace.memory.peak(device)
        for fit in ("best", "first"):
            for alignment in (1, 16):
                found = replay(allocations, fit, alignment=alignment)
                assert overlap(allocations, found.offsets) == []
                assert all(offset % alignment == 0 for offset in found.offsets)
                assert found.ideal == peak_of(allocations) == peak
                assert found.size >= peak_of(allocations, alignment) >= peak
                assert 0 <= found.fragmentation <= found.worst < 1
                again = replay(allocations, fit, alignment=alignment, capacity=found.size)
                assert (again.size, again.refused) == (found.size, None)
                if found.size:
                    assert replay(allocations, fit, alignment=alignment, capacity=found.size - 1).refused


@pytest.mark.parametrize("fit", ["best", "first"])
def test_the_arena_against_a_list_of_bytes(fit):
    """The same allocator as a list of bytes, each free or not, looked through from the beginning."""
    rng = random.Random(7)
    for _ in range(60):
        allocations = []
        for _ in range(25):
            first = rng.randrange(20)
            allocations.append(Allocation(rng.choice((1, 2, 3, 5, 8)), first, first + rng.randint(1, 9)))
        allocations.sort(key=lambda one: one.first)
        used: list[int] = []
        expected = [-1] * len(allocations)
        for step in range(31):
            used = [-1 if owner >= 0 and allocations[owner].last <= step else owner for owner in used]
            while used and used[-1] < 0:
                used.pop()
            for number, one in enumerate(allocations):
                if one.first == step:
                    expected[number] = place(used, one.size, fit)
                    used += [-1] * (expected[number] + one.size - len(used))
                    used[expected[number] : expected[number] + one.size] = [number] * one.size
        assert replay(allocations, fit).offsets == tuple(expected)


def place(used: list[int], size: int, fit: str) -> int:
    holes, start = [], 0
    while start < len(used):
        end = start
        while end < len(used) and (used[end] < 0) == (used[start] < 0):
            end += 1
        if used[start] < 0 and end - start >= size:
            holes.append((end - start if fit == "best" else 0, start))
        start = end
    return min(holes)[1] if holes else len(used)
