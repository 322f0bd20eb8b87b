"""Nothing is made from nothing: what is conserved in every run, on every device model.

Each sentence is a property over random graphs, hardware, schedulers, memory modes and noise. They are told from the
trace and the problem by short definitions of their own, apart from engine, referee and reference.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from simsched.analysis.allocations import allocations_of
from simsched.analysis.arena import replay
from simsched.analysis.breakdown import chain_breakdown, path_breakdown
from simsched.analysis.check import check_trace
from simsched.analysis.explain import Explanation, explain
from simsched.cost.base import Block
from simsched.engine.simulator import simulate
from simsched.errors import SchedulerError
from simsched.graph.model import TensorKind
from simsched.hardware import Link
from simsched.result import Result
from simsched.trace import Trace
from tests.reference.cases import Case
from tests.reference.hand_worked import AB, Answer, Kernel, cluster, gpu, tiny
from tests.strategies import cases

Span = tuple[int, int]
ROUNDED = 1e-6
"""Ends count as a whole ns when they are this close to it."""


def run_of(case: Case) -> Trace:
    try:
        return simulate(case.problem, case.scheduler, memory=case.memory, actual=case.actual)
    except SchedulerError:
        assume(False)
        raise


def took(case: Case, op: int, device: int) -> int:
    return (case.actual or [case.problem.durations(d) for d in range(len(case.problem.devices))])[device][op]


def device_of(case: Case, trace: Trace, op: int) -> int:
    return case.problem.stream_device[trace.stream[op]]


def body_of(case: Case, trace: Trace, op: int) -> Span:
    """From the end of the launch gap to the end."""
    device = device_of(case, trace, op)
    return trace.start[op] + case.problem.launch_part(op, device, took(case, op, device)), trace.end[op]


def overlap(one: Span, other: Span) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


def windows(spans: Sequence[Span]) -> Iterator[Span]:
    """Every stretch of time from the begin of one span to the end of another."""
    for begin in sorted({span[0] for span in spans}):
        for end in sorted({span[1] for span in spans}):
            if begin < end:
                yield begin, end


# --- every run passes the referee --------------------------------------------------------------------------------


@given(cases())
def test_every_run_passes_the_referee(case: Case) -> None:
    assert check_trace(case.problem, run_of(case), memory=case.memory, actual=case.actual) == []


# --- resources are never above capacity ------------------------------------------------------------------------------


@given(cases())
def test_no_unit_is_held_twice(case: Case) -> None:
    problem, trace = case.problem, run_of(case)
    for number, device in enumerate(problem.devices):
        here = [op for op in range(len(trace)) if device_of(case, trace, op) == number]
        for time in {trace.start[op] for op in here}:
            held: Counter[str] = Counter()
            running = [op for op in here if trace.start[op] <= time < trace.end[op]]
            for op in running:
                held.update(problem.demand(op, number))
            assert all(units <= device.resources[name] for name, units in held.items() if units)
            assert device.max_resident_kernels is None or len(running) <= device.max_resident_kernels


@given(cases())
def test_no_sm_holds_more_blocks_than_fit(case: Case) -> None:
    problem, trace = case.problem, run_of(case)
    for time in {cohort.start for cohort in trace.cohorts}:
        on: dict[tuple[int, int], Counter[str]] = {}
        for cohort in trace.cohorts:
            number = device_of(case, trace, cohort.op)
            cost = problem.cost(cohort.op, number)
            for sm, count in cohort.places if cohort.start <= time < cohort.end else ():
                units = on.setdefault((number, sm), Counter())
                if not cost.grid:
                    units.update({"whole": count})
                    continue
                assert cost.block is not None
                units.update({"blocks": count, "threads": count * cost.block.threads})
        for (number, _), units in on.items():
            limits = problem.devices[number].sm_limits
            assert limits is not None
            assert limits.blocks is None or units["blocks"] <= limits.blocks
            assert limits.threads is None or units["threads"] <= limits.threads
            assert units["whole"] * (units["whole"] + units["blocks"]) <= 1


@given(cases())
def test_no_more_bytes_flow_than_the_bandwidth_carries(case: Case) -> None:
    """Of all kernels whose bodies lie within some stretch of time, the draws do not exceed it."""
    problem, trace = case.problem, run_of(case)
    for number, device in enumerate(problem.devices):
        if device.model != "sm_share":
            continue
        drawn = []
        for op in range(len(trace)):
            if device_of(case, trace, op) == number:
                length = took(case, op, number)
                draw = problem.draw(op, number, length)
                drawn.append((body_of(case, trace, op), draw * (length - problem.launch_part(op, number, length))))
        for begin, end in windows([span for span, _ in drawn]):
            inside = sum(work for span, work in drawn if begin <= span[0] and span[1] <= end)
            assert inside <= end - begin + len(drawn) * ROUNDED


@given(cases())
def test_no_more_is_copied_than_engines_and_links_carry(case: Case) -> None:
    problem, trace = case.problem, run_of(case)
    copies = [move for move in trace.transfers if move.tensor >= 0]
    for number, device in enumerate(problem.devices):
        mine = [move for move in copies if number in (move.from_device, move.to_device)]
        for time in {move.start for move in mine}:
            busy = sum(move.start <= time < move.end for move in mine)
            assert device.copy_engines is None or busy <= device.copy_engines
    names = [device.name for device in problem.devices]
    for number, link in enumerate(problem.hardware.links):
        if link.bandwidth is None or link.sharing == "unshared":
            continue
        crossing: dict[bool, list[tuple[Span, int]]] = {}
        for move in copies:
            route = problem.hardware.route(names[move.from_device], names[move.to_device])
            for hop in route:
                if hop.link == number:
                    direction = hop.forward or link.sharing == "half_duplex"
                    latency = sum(problem.hardware.links[other.link].latency_ns for other in route)
                    crossing.setdefault(direction, []).append(((move.start + latency, move.end), move.bytes))
        for flows in crossing.values():
            for begin, end in windows([span for span, _ in flows]):
                inside = sum(size for span, size in flows if begin <= span[0] and span[1] <= end)
                assert inside <= (end - begin + len(flows) * ROUNDED) * link.bandwidth / 1e9


# --- work is conserved ------------------------------------------------------------------------------------------------

BODIES = st.lists(st.integers(1, 40), min_size=1, max_size=8)


@given(BODIES)
def test_kernels_that_need_all_bandwidth_take_as_long_together_as_one_after_the_other(bodies: list[int]) -> None:
    """Each end is rounded up, and its kernel keeps its share until then: at most a nanosecond is lost each time."""
    kernels = {f"k{number}": Kernel(body, number, body) for number, body in enumerate(bodies)}
    answer = Answer(gpu(streams=len(bodies)), kernels, {})
    makespan = simulate(answer.problem, answer.scheduler).makespan
    assert sum(bodies) <= makespan < sum(bodies) + len(bodies)


@given(BODIES)
def test_copies_over_one_link_take_as_long_together_as_one_after_the_other(sizes: list[int]) -> None:
    kernels = {f"m{number}": Kernel(1, 0, makes=size) for number, size in enumerate(sizes)}
    readers = {f"r{number}": Kernel(1, 3, reads=(f"m{number}",)) for number in range(len(sizes))}
    answer = Answer(cluster(AB), {**kernels, **readers}, {})
    trace = simulate(answer.problem, answer.scheduler)
    # The first byte flows after the first tensor is made and the latency over; some wait for later tensors.
    begin, end = 1 + AB.latency_ns, max(move.end for move in trace.transfers)
    assert begin + sum(sizes) <= end <= begin + sum(sizes) + 2 * len(sizes)


@given(BODIES, st.integers(1, 3))
def test_blocks_that_need_all_arithmetic_take_as_long_together(bodies: list[int], places: int) -> None:
    kernels = {
        f"k{number}": Kernel(body, number, grid=1, block=Block(1), peak=float(body))
        for number, body in enumerate(bodies)
    }
    hardware = gpu(streams=len(bodies), sms=places, model="blocks", sm_limits=tiny().devices[0].sm_limits)
    answer = Answer(hardware, kernels, {})
    makespan = simulate(answer.problem, answer.scheduler).makespan
    assert sum(bodies) <= makespan < sum(bodies) + len(bodies)


# --- alone means full speed -------------------------------------------------------------------------------------------


@given(cases())
def test_who_is_alone_runs_at_full_speed(case: Case) -> None:
    problem, trace = case.problem, run_of(case)
    for op in range(len(trace)):
        number = device_of(case, trace, op)
        others = [o for o in range(len(trace)) if o != op and device_of(case, trace, o) == number]
        if problem.devices[number].model == "lanes" or not any(
            overlap(body_of(case, trace, op), body_of(case, trace, other)) for other in others
        ):
            assert trace.end[op] - trace.start[op] == took(case, op, number)


@given(cases())
def test_nobody_is_faster_than_alone(case: Case) -> None:
    problem, trace = case.problem, run_of(case)
    for op in range(len(trace)):
        number = device_of(case, trace, op)
        if problem.devices[number].model != "blocks":
            assert trace.end[op] - trace.start[op] >= took(case, op, number)


@given(cases())
def test_a_copy_that_is_alone_takes_its_latency_and_its_bytes(case: Case) -> None:
    problem, trace = case.problem, run_of(case)
    copies = [move for move in trace.transfers if move.tensor >= 0]
    names = [device.name for device in problem.devices]
    for move in copies:
        links = [
            problem.hardware.links[hop.link]
            for hop in problem.hardware.route(names[move.from_device], names[move.to_device])
        ]
        slowest = min((link.bandwidth for link in links if link.bandwidth is not None), default=math.inf)
        alone = sum(link.latency_ns for link in links) + math.ceil(move.bytes * 1e9 / slowest - ROUNDED)
        assert move.end - move.start >= alone
        if not any(other is not move and overlap((move.start, move.end), (other.start, other.end)) for other in copies):
            assert move.end - move.start == alone


# --- adding a kernel speeds up no other -------------------------------------------------------------------------------

KERNEL = st.tuples(st.integers(1, 30), st.integers(0, 30), st.integers(0, 5))
"""Body, bytes and launch gap."""


def ends(kernels: Sequence[tuple[int, int, int]]) -> list[int]:
    """When kernels end that all start at 0 on one GPU that moves a byte a nanosecond."""
    named = {
        f"k{number}": Kernel(body + launch, number, moved, launch)
        for number, (body, moved, launch) in enumerate(kernels)
    }
    answer = Answer(gpu(streams=len(kernels)), named, {})
    return list(simulate(answer.problem, answer.scheduler).end)


@given(st.lists(KERNEL, min_size=1, max_size=7), KERNEL)
def test_another_kernel_speeds_up_nobody(kernels: list[tuple[int, int, int]], another: tuple[int, int, int]) -> None:
    """Where all start at once and share one thing: the level at which it is full only falls with another one.

    With dependencies or a queue it is false already for machines that share nothing (Graham's anomalies), and with two
    shared things too: see below.
    """
    assert all(before <= after for before, after in zip(ends(kernels), ends([*kernels, another]), strict=False))


def test_with_two_links_another_copy_speeds_up_one() -> None:
    """x crosses a-s and s-c, y only s-c; z, which crosses a-s too, slows x, and so leaves more of s-c to y."""
    links = (Link("a", "s", 0, 5e8), Link("b", "s", 0, 1e9), Link("s", "c", 0, 1e9), Link("s", "d", 0, 1e9))
    hardware = cluster(*links, count=4, switches=("s",))
    two = {"x": Kernel(1, 0, makes=100), "y": Kernel(1, 3, makes=100), "rx": Kernel(1, 6, reads=("x",)),
           "ry": Kernel(1, 7, reads=("y",))}  # fmt: skip
    three = {**two, "z": Kernel(1, 1, makes=100), "rz": Kernel(1, 9, reads=("z",))}
    found = []
    for kernels in (two, three):
        answer = Answer(hardware, kernels, {})
        trace = simulate(answer.problem, answer.scheduler)
        names = answer.problem.graph.tensor_names
        found.append({names[move.tensor]: move.end for move in trace.transfers})
    # Alone: x and y both at 1/2. With z: x at 1/4, so y at 3/4.
    assert found[0]["ty"] == 1 + 200
    assert found[1]["ty"] == 1 + 134


# --- bytes sent are bytes received ------------------------------------------------------------------------------------


@given(cases())
def test_each_tensor_is_sent_once_to_each_device_that_reads_it(case: Case) -> None:
    problem, trace = case.problem, run_of(case)
    graph, names = problem.graph, [device.name for device in problem.devices]
    wanted: Counter[tuple[int, int, int, int]] = Counter()
    for tensor, size in enumerate(graph.tensor_bytes):
        maker = graph.tensor_producer[tensor]
        if maker >= 0 and size:
            home = device_of(case, trace, maker)
            for number in sorted({device_of(case, trace, op) for op in graph.tensor_consumers[tensor]} - {home}):
                if problem.hardware.route(names[home], names[number]):
                    wanted[tensor, home, number, size] += 1
    copies = [move for move in trace.transfers if move.tensor >= 0]
    assert Counter((move.tensor, move.from_device, move.to_device, move.bytes) for move in copies) == wanted
    for move in copies:
        readers = [op for op in graph.tensor_consumers[move.tensor] if device_of(case, trace, op) == move.to_device]
        assert trace.end[graph.tensor_producer[move.tensor]] <= move.start <= move.end
        assert all(trace.start[op] >= move.end for op in readers)


# --- memory -----------------------------------------------------------------------------------------------------------


@given(cases())
def test_live_bytes_end_at_what_stays(case: Case) -> None:
    problem, trace = case.problem, run_of(case)
    assume(len(trace))
    graph = problem.graph
    for number in range(len(problem.devices)):
        stays = 0
        for tensor, size in enumerate(graph.tensor_bytes):
            readers = [op for op in graph.tensor_consumers[tensor] if device_of(case, trace, op) == number]
            if graph.tensor_kinds[tensor].persistent:
                stays += size if readers or len(problem.devices) == 1 else 0
            elif graph.tensor_kinds[tensor] is TensorKind.OUTPUT:
                stays += size if device_of(case, trace, graph.tensor_producer[tensor]) == number else 0
        curve = trace.memory.curve(number)
        assert (curve[-1][1] if curve else 0) == stays
        assert all(live >= 0 for _, live in curve)


@given(cases(), st.sampled_from(("best", "first")), st.sampled_from((1, 16)))
def test_an_arena_is_no_smaller_than_what_is_live(case: Case, fit: str, alignment: int) -> None:
    trace = run_of(case)
    result = Result(case.problem, "drawn", trace, case.memory, case.actual)
    for number in range(len(case.problem.devices)):
        used = replay(allocations_of(result, number), fit, alignment=alignment)
        assert used.size >= max([live for _, live in trace.memory.curve(number)], default=0)


# --- explanations -----------------------------------------------------------------------------------------------------


@given(cases())
def test_the_parts_of_an_explanation_fill_the_life_of_an_operator(case: Case) -> None:
    trace = run_of(case)
    result = Result(case.problem, "drawn", trace, case.memory, case.actual)
    for op in range(len(trace)):
        parts = explain(result, op)
        assert all(before.end == after.start for before, after in pairwise(parts))
        if parts:
            assert (parts[0].start, parts[-1].end) == (0, trace.end[op])


@given(cases())
def test_the_breakdown_of_a_run_sums_to_its_makespan(case: Case) -> None:
    trace = run_of(case)
    story = Explanation(Result(case.problem, "drawn", trace, case.memory, case.actual))
    for rows in (path_breakdown(story), chain_breakdown(story)):
        assert sum(row.time for row in rows) == trace.makespan
        assert all(row.time > 0 for row in rows)


def test_two_ends_of_a_copy_are_apart() -> None:
    """The helper above: spans that only touch do not overlap."""
    assert not any(overlap(*pair) for pair in combinations([(0, 3), (3, 5), (5, 5)], 2))
