"""The engine, on hand-worked runs: streams, admission, memory, devices, and the three errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import pytest

from simsched.engine.simulator import simulate
from simsched.errors import DeadlockError, InvalidDispatchError, OutOfMemoryError, SchedulerStalledError
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph, TensorKind
from simsched.hardware import Device, HardwareProfile, Link, lanes, procs
from simsched.problem import Problem, make_problem
from simsched.schedule import parse_schedule
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.critical_path import CriticalPath
from simsched.schedulers.follow import Follow
from simsched.schedulers.greedy_ready import GreedyReady
from simsched.trace import Trace


@dataclass(frozen=True)
class Scripted:
    """Dispatches given (operator, stream) pairs at the n-th call."""

    calls: tuple[tuple[tuple[int, int], ...], ...]
    seen: list[tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)

    def start(self, problem: Problem) -> Policy:
        script = list(self.calls)

        def policy(view: View) -> Iterable[Dispatch]:
            self.seen.append((view.now, tuple(view.ready), tuple(view.newly_finished), tuple(view.idle_streams)))
            chosen = script.pop(0) if script else ()
            return [Dispatch(op, stream) for op, stream in chosen]

        return policy


def chain(*durations: int) -> Graph:
    builder = GraphBuilder("chain", "tick")
    for number, duration in enumerate(durations):
        builder.add_op(f"c{number}", duration=duration)
    for number in range(1, len(durations)):
        builder.add_edge(f"c{number - 1}", f"c{number}")
    return builder.build()


def independent(*durations: int, **demands: int) -> Graph:
    builder = GraphBuilder("independent", "tick")
    for number, duration in enumerate(durations):
        units = demands.get(f"i{number}")
        builder.add_op(f"i{number}", duration=duration, demands={"sms": units} if units else None)
    return builder.build()


def gpu(streams: int = 4, sms: int = 10, **fields: object) -> HardwareProfile:
    device = Device("gpu", kind="gpu", model="sm_share", streams=streams, resources={"sms": sms})
    return HardwareProfile("gpu", (replace(device, **fields),))  # type: ignore[arg-type]


def spans(trace: Trace) -> list[tuple[int, int]]:
    return list(zip(trace.start, trace.end, strict=True))


def follow(problem: Problem, text: str) -> Trace:
    return simulate(problem, Follow(parse_schedule(text, problem)))


# --- streams ------------------------------------------------------------------------------------------------------


def test_a_stream_runs_its_operators_in_order_and_waits_for_inputs() -> None:
    problem = make_problem(chain(2, 3, 5), lanes(2))
    trace = follow(problem, "d0/s0: c1 c2\nd0/s1: c0\n")
    assert spans(trace) == [(0, 2), (2, 5), (5, 10)]
    assert list(trace.dispatch) == [0, 0, 0]
    assert list(trace.ready) == [0, 2, 5]
    assert list(trace.stream) == [1, 0, 0]


def test_a_blocked_head_holds_back_a_ready_operator_behind_it() -> None:
    builder = GraphBuilder("g", "tick")
    for name, duration in (("slow", 7), ("after", 2), ("free", 3)):
        builder.add_op(name, duration=duration)
    builder.add_edge("slow", "after")
    problem = make_problem(builder.build(), lanes(2))
    trace = follow(problem, "d0/s0: slow\nd0/s1: after free\n")
    assert spans(trace) == [(0, 7), (7, 9), (9, 12)]


def test_the_policy_sees_whole_instants_once() -> None:
    # i0 and i1 end together at 4; the policy is called once then, with both finished.
    scheduler = Scripted((((0, 0), (1, 1)), ((2, 1),)))
    trace = simulate(make_problem(independent(4, 4, 1), lanes(2)), scheduler)
    assert scheduler.seen == [
        (0, (0, 1, 2), (), (0, 1)),
        (4, (2,), (0, 1), (0, 1)),
        (5, (), (2,), (0, 1)),
    ]
    assert trace.calls == 3
    assert trace.makespan == 5


def test_ends_of_zero_length_operators_are_settled_in_the_same_instant() -> None:
    trace = simulate(make_problem(chain(0, 0, 3, 0), lanes(1)), CriticalPath())
    assert spans(trace) == [(0, 0), (0, 0), (0, 3), (3, 3)]
    assert trace.calls == 5


def test_a_generator_policy_reads_the_view_before_anything_changes() -> None:
    @dataclass(frozen=True)
    class Lazy:
        def start(self, problem: Problem) -> Policy:
            def policy(view: View) -> Iterable[Dispatch]:
                for op, stream in zip(view.ready, view.idle_streams, strict=False):
                    yield Dispatch(op, stream)
                    assert stream in view.idle_streams

            return policy

    assert simulate(make_problem(independent(2, 2, 2, 2), lanes(2)), Lazy()).makespan == 4


def test_the_empty_graph_takes_no_time() -> None:
    trace = simulate(make_problem(GraphBuilder("empty").build(), lanes(2)), CriticalPath())
    assert (trace.makespan, len(trace), trace.calls) == (0, 0, 0)


def test_a_long_chain_needs_no_recursion() -> None:
    count = 100_000
    trace = simulate(make_problem(chain(*[1] * count), lanes(2)), CriticalPath())
    assert trace.makespan == count


def test_actual_durations_rule_the_run_and_estimates_the_policy() -> None:
    # Estimates say i0 is longest, so it goes first; it turns out to be the shortest.
    problem = make_problem(independent(9, 5, 4), lanes(2))
    trace = simulate(problem, GreedyReady("lpt"), actual=[[1, 7, 3]])
    assert spans(trace) == [(0, 1), (0, 7), (1, 4)]


# --- admission ----------------------------------------------------------------------------------------------------


def test_sm_share_blocks_behind_the_head_of_its_queue() -> None:
    # i0 takes 6 of 10 SMs; i1 needs all 10 and waits; the tiny i2 waits behind it although 4 SMs are free.
    problem = make_problem(independent(5, 3, 2, i0=6, i1=10, i2=1), gpu())
    trace = follow(problem, "gpu/s0: i0\ngpu/s1: i1\ngpu/s2: i2\n")
    assert spans(trace) == [(0, 5), (5, 8), (8, 10)]
    assert [(wait.op, wait.reason, wait.start, wait.end) for wait in trace.waits] == [
        (1, "resource", 0, 5),
        (2, "queue", 0, 5),
        (2, "resource", 5, 8),
    ]
    assert trace.waits[0].detail == "sms: needs 10, 4 free"


def test_sm_share_overlaps_when_launched_the_other_way_round() -> None:
    problem = make_problem(independent(5, 3, 2, i0=6, i1=10, i2=1), gpu())
    trace = follow(problem, "gpu/s0: i2\ngpu/s1: i0\ngpu/s2: i1\n")
    assert spans(trace) == [(0, 5), (5, 8), (0, 2)]


def test_lanes_pass_over_what_does_not_fit() -> None:
    hardware = HardwareProfile("h", (Device("d0", streams=3, resources={"sms": 10}),))
    problem = make_problem(independent(5, 3, 2, i0=6, i1=10, i2=1), hardware)
    trace = follow(problem, "d0/s0: i0\nd0/s1: i1\nd0/s2: i2\n")
    assert spans(trace) == [(0, 5), (5, 8), (0, 2)]


def test_no_more_kernels_are_resident_than_the_device_allows() -> None:
    problem = make_problem(independent(3, 3, 3, 3), gpu(max_resident_kernels=3))
    trace = follow(problem, "gpu/s0: i0\ngpu/s1: i1\ngpu/s2: i2\ngpu/s3: i3\n")
    assert spans(trace) == [(0, 3), (0, 3), (0, 3), (3, 6)]
    assert trace.waits[0].detail == "resident kernels: 3 of 3"


def test_a_demand_that_no_device_can_meet_is_refused_before_the_run() -> None:
    with pytest.raises(Exception, match="operator 'i1' demands 11 sms; device 'gpu' has 10"):
        make_problem(independent(1, 1, i1=11), gpu())


# --- memory -------------------------------------------------------------------------------------------------------


def fork(capacity: int | None = None) -> Problem:
    """a makes 10 B, read by b (20 B) and c (40 B), which d reads; weights of 100 B, workspace of c 5 B."""
    builder = GraphBuilder("fork", "tick")
    builder.add_tensor("w", bytes=100, kind=TensorKind.PARAMETER)
    for name, size in (("ta", 10), ("tb", 20), ("tc", 40)):
        builder.add_tensor(name, bytes=size)
    builder.add_tensor("td", bytes=1, kind=TensorKind.OUTPUT)
    builder.add_op("a", duration=2, inputs=["w"], outputs=["ta"])
    builder.add_op("b", duration=3, inputs=["ta"], outputs=["tb"])
    builder.add_op("c", duration=5, inputs=["ta", "w"], outputs=["tc"], workspace=5)
    builder.add_op("d", duration=7, inputs=["tb", "tc"], outputs=["td"])
    return make_problem(builder.build(), HardwareProfile("h", (Device("d0", streams=2, memory_capacity=capacity),)))


def test_memory_follows_tensor_lifetimes() -> None:
    trace = simulate(fork(), CriticalPath())
    # 0: weights 100 and ta; 2: tb, tc and workspace; 5: b ends, ta is still read by c; 7: c ends: ta and workspace
    # go, td comes; 14: tb and tc go, the graph output stays.
    assert trace.memory.curve(0) == [(0, 110), (2, 175), (7, 161), (14, 101)]
    assert trace.memory.peak(0) == 175


def test_block_makes_a_head_wait_until_it_fits() -> None:
    # With 170 B only c (first by b-level) can run beside ta; b has to wait until c ends at 7.
    trace = simulate(fork(170), CriticalPath(), memory="block")
    assert spans(trace) == [(0, 2), (7, 10), (2, 7), (10, 17)]
    static = Follow(trace.schedule())
    again = simulate(fork(170), static, memory="block")
    assert spans(again) == spans(trace)


def test_block_records_the_wait_of_a_static_schedule() -> None:
    problem = fork(170)
    trace = simulate(problem, Follow(parse_schedule("d0/s0: a b d\nd0/s1: c\n", problem)), memory="block")
    assert [(wait.op, wait.reason, wait.start, wait.end, wait.detail) for wait in trace.waits] == [
        (1, "memory", 2, 7, "memory: needs 20 B, 15 B free")
    ]


def test_memory_exactly_at_capacity_fits_and_frees_come_first() -> None:
    text = "d0/s0: a b d\nd0/s1: c\n"
    assert simulate(fork(175), Follow(parse_schedule(text, fork())), memory="strict").memory.peak(0) == 175
    with pytest.raises(OutOfMemoryError) as caught:
        simulate(fork(174), Follow(parse_schedule(text, fork())), memory="strict")
    assert caught.value.needed == 175
    assert str(caught.value) == (
        "at 2 operator 'c' does not fit into device 'd0': 175 B (175 B) would be live, the capacity is 174 B (174 B)\n"
        "  largest live tensors:\n         100 B  w\n          40 B  tc\n          20 B  tb\n          10 B  ta"
    )


def test_what_can_never_fit_is_refused_before_the_run() -> None:
    # d holds tb, tc and td beside the weights: 161 B.
    with pytest.raises(
        OutOfMemoryError, match="operator 'd' with its inputs, outputs and everything resident"
    ) as caught:
        simulate(fork(160), CriticalPath(), memory="block")
    assert caught.value.needed == 161
    with pytest.raises(OutOfMemoryError, match="parameters and graph inputs alone take 100 B"):
        simulate(fork(99), CriticalPath(), memory="strict")


def pair_with(first: int | None, second: int | None) -> HardwareProfile:
    return HardwareProfile("pair", (Device("d0", memory_capacity=first), Device("d1", memory_capacity=second)))


def two_sizes() -> Graph:
    """a, which may run anywhere, makes 70 B; b, which may run on d0 only, makes 50 B."""
    builder = GraphBuilder("sizes", "tick")
    for name, size in (("a", 70), ("b", 50)):
        builder.add_tensor(f"t{name}", bytes=size)
    builder.add_op("a", duration=2, outputs=["ta"])
    builder.add_op("b", duration=3, outputs=["tb"], device="d0")
    return builder.build()


def test_an_operator_that_fits_another_device_does_not_hide_one_that_fits_none() -> None:
    with pytest.raises(OutOfMemoryError, match=r"'d0' has 40 B .* operator 'b' with .* needs 50 B") as caught:
        simulate(make_problem(two_sizes(), pair_with(40, None)), CriticalPath(), memory="block")
    assert caught.value.needed == 50


def test_an_operator_that_fits_none_of_several_devices_is_refused_before_the_run() -> None:
    with pytest.raises(OutOfMemoryError, match=r"operator 'a' .* needs 70 B .* no other device") as caught:
        simulate(make_problem(two_sizes(), pair_with(60, 69)), CriticalPath(), memory="strict")
    assert caught.value.needed == 70


def test_a_dead_end_in_memory_is_named() -> None:
    # Two chains; each first operator holds 60 B until the second, which needs 50 B more, has run.
    builder = GraphBuilder("dead_end", "tick")
    for name in ("x", "y"):
        builder.add_tensor(f"{name}1", bytes=60)
        builder.add_tensor(f"{name}2", bytes=50)
        builder.add_op(f"{name}a", duration=3, outputs=[f"{name}1"])
        builder.add_op(f"{name}b", duration=3, inputs=[f"{name}1"], outputs=[f"{name}2"])
    hardware = HardwareProfile("h", (Device("d0", streams=2, memory_capacity=130),))
    problem = make_problem(builder.build(), hardware)
    with pytest.raises(OutOfMemoryError, match="operator 'xb' does not fit") as caught:
        follow_block(problem, "d0/s0: xa xb\nd0/s1: ya yb\n")
    assert caught.value.needed == 170


def follow_block(problem: Problem, text: str) -> Trace:
    return simulate(problem, Follow(parse_schedule(text, problem)), memory="block")


# --- several devices ----------------------------------------------------------------------------------------------


def test_delays_are_paid_between_devices_only() -> None:
    builder = GraphBuilder("g", "tick")
    for name, duration in (("a", 2), ("b", 3), ("c", 5)):
        builder.add_op(name, duration=duration)
    builder.add_edge("a", "b", delay=7)
    builder.add_edge("a", "c", delay=11)
    problem = make_problem(builder.build(), procs(2))
    trace = follow(problem, "p0/s0: a b\np1/s0: c\n")
    assert spans(trace) == [(0, 2), (2, 5), (13, 18)]
    assert [(move.source, move.target, move.start, move.end) for move in trace.transfers] == [(0, 2, 2, 13)]
    assert trace.calls == 5  # at 0, 2 (a ends), 5 (b ends), 13 (c's input arrives) and 18 (c ends)


def test_links_cost_latency_and_bytes_over_bandwidth() -> None:
    builder = GraphBuilder("g")
    builder.add_op("a", duration=100, device="cpu")
    builder.add_op("b", duration=100, device="gpu")
    builder.add_edge("a", "b", bytes=1000)
    hardware = HardwareProfile("box", (Device("cpu"), Device("gpu")), (Link("cpu", "gpu", 30, 3e9),))
    trace = simulate(make_problem(builder.build(), hardware), CriticalPath())
    # 30 ns + 1000 B / 3 GB/s = 333.3 ns, rounded up.
    assert trace.start[1] == 100 + 30 + 334


def test_memory_of_two_devices_counts_copies_until_the_tensor_dies() -> None:
    builder = GraphBuilder("g", "tick")
    builder.add_tensor("w", bytes=1000, kind=TensorKind.PARAMETER)
    builder.add_tensor("t", bytes=7)
    builder.add_op("a", duration=2, inputs=["w"], outputs=["t"])
    builder.add_op("b", duration=3, inputs=["t"])
    builder.add_op("c", duration=5, inputs=["t", "w"])
    problem = make_problem(builder.build(), procs(2))
    trace = follow(problem, "p0/s0: a b\np1/s0: c\n")
    assert trace.memory.curve(0) == [(0, 1007), (7, 1000)]
    assert trace.memory.curve(1) == [(2, 1007), (7, 1000)]


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ((((7, 0),),), "at 0: there is no operator 7; ids go from 0 to 2"),
        ((((-1, 0),),), "at 0: there is no operator -1; ids go from 0 to 2"),
        ((((0, 2),),), "at 0: operator 'c0' was dispatched to stream 2; ids go from 0 to 1"),
        ((((0, -1),),), "at 0: operator 'c0' was dispatched to stream -1; ids go from 0 to 1"),
        ((((0, 0), (0, 1)),), "at 0: operator 'c0' was dispatched again (first at 0 to d0/s0)"),
        ((((0, 0),), ((0, 1),)), "at 2: operator 'c0' was dispatched again (first at 0 to d0/s0)"),
    ],
)
def test_invalid_dispatch(calls: tuple[tuple[tuple[int, int], ...], ...], message: str) -> None:
    with pytest.raises(InvalidDispatchError) as caught:
        simulate(make_problem(chain(2, 3, 5), lanes(2)), Scripted(calls))
    assert str(caught.value) == message


def test_dispatch_to_a_forbidden_device() -> None:
    builder = GraphBuilder("g", "tick")
    builder.add_op("a", duration=1, device="p1")
    with pytest.raises(InvalidDispatchError, match="operator 'a' was dispatched to p0/s0; it may run only on p1"):
        simulate(make_problem(builder.build(), procs(2)), Scripted((((0, 0),),)))


def test_a_policy_that_keeps_ready_operators_back_is_stalled() -> None:
    with pytest.raises(SchedulerStalledError) as caught:
        simulate(make_problem(chain(2, 3, 5), lanes(2)), Scripted((((0, 0),),)))
    assert str(caught.value) == (
        "at 2 nothing runs and the policy dispatched nothing, though 1 operators are ready (c1); "
        "2 of 3 operators have not run"
    )


def test_streams_that_wait_for_each_other_are_a_deadlock() -> None:
    builder = GraphBuilder("g", "tick")
    for name in "abcd":
        builder.add_op(name, duration=1)
    builder.add_edge("a", "b")
    builder.add_edge("c", "d")
    problem = make_problem(builder.build(), lanes(2))
    with pytest.raises(DeadlockError) as caught:
        follow(problem, "d0/s0: d a\nd0/s1: b c\n")
    assert str(caught.value) == (
        "deadlock at 0: 4 of 4 operators have not run and nothing can move\n"
        "  stream  head  waits for\n"
        "  d0/s0   'd'   'c' (queued on d0/s1)\n"
        "  d0/s1   'b'   'a' (queued on d0/s0)"
    )
