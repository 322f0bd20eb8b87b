"""What happens when kernels share a GPU: six cases that tell models apart, on ``sm_share`` and on ``blocks``.

(a) waves, (b) and (c) the leftover policy and the order of launches, (d) shared bandwidth, (e) placement by most room,
(f) priorities. From T. Amert et al., "GPU scheduling on the NVIDIA TX2", RTSS 2017 (DOI 10.1109/RTSS.2017.00017), for
(b), (c), (f); G. Gilman et al., "Demystifying the placement policies of the NVIDIA GPU thread block scheduler for
concurrent kernels", SIGMETRICS PER 48(3), 2021 (DOI 10.1145/3453953.3453972), for (e). Durations are chosen by hand.

Every case is a graph file, a profile file and a schedule, simulated from end to end and checked by the referee.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import simsched
from simsched.trace import Cohort, Wait

PROFILE = """
devices:
  - name: gpu
    kind: gpu
    model: {model}
    streams: {streams}
    sms: {sms}
    sm_limits: {{threads: {threads}, warps: 64, blocks: 32, registers: 65536, shared_memory: 96 KiB}}
    peaks: {{vector: {{fp32: 1 TFLOP/s}}}}
    memory: {{bandwidth: 100 GB/s}}
    stream_priorities: {priorities}
"""
BEHIND = "behind the head of the device's queue"


def simulated(
    operators: str,
    schedule: str,
    *,
    model: str,
    sms: int,
    threads: int = 256,
    streams: int = 2,
    priorities: tuple[int, ...] = (),
) -> simsched.Result:
    """Simulate what a schedule says, on a profile written for the case; blocks of 256 threads fill an SM."""
    profile = PROFILE.format(model=model, sms=sms, threads=threads, streams=streams, priorities=list(priorities))
    Path("gpu.yaml").write_text(profile, "utf-8")
    Path("graph.yaml").write_text("name: case\noperators:\n" + operators, "utf-8")
    Path("schedule.txt").write_text(schedule, "utf-8")
    return simsched.run("graph.yaml", "follow:schedule.txt", "gpu.yaml")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def times(result: simsched.Result) -> dict[str, tuple[int, int]]:
    """Start and end of each operator."""
    names = result.problem.graph.names
    return {name: (result.trace.start[op], result.trace.end[op]) for op, name in enumerate(names)}


def rows(result: simsched.Result, name: str) -> list[Cohort]:
    """Cohorts of one operator."""
    op = result.problem.graph.names.index(name)
    return [cohort for cohort in result.trace.cohorts if cohort.op == op]


# --- (a) 109 equal blocks on 108 SMs are two waves --------------------------------------------------------------

ONE_TOO_MANY = "  - {name: a, duration: 2003 ns, attributes: {grid: 109, block: {threads: 256}}}\n"


def test_a_109_blocks_on_108_sms_are_two_waves() -> None:
    result = simulated(ONE_TOO_MANY, "gpu/s0: a\n", model="blocks", sms=108)
    assert rows(result, "a") == [
        Cohort(0, 0, 0, 1001, tuple((sm, 1) for sm in range(108))),
        Cohort(0, 1, 1001, 2003, ((0, 1),)),
    ]
    assert times(result) == {"a": (0, 2003)}


def test_a_the_same_blocks_on_109_sms_are_one_wave() -> None:
    (cohort,) = rows(simulated(ONE_TOO_MANY, "gpu/s0: a\n", model="blocks", sms=109), "a")
    assert (cohort.start, cohort.end, cohort.blocks) == (0, 2003, 109)


def test_a_two_waves_leave_107_sms_to_others_for_one_of_them() -> None:
    b = "  - {name: b, duration: 500 ns, attributes: {grid: 107, block: {threads: 256}}}\n"
    launched = "gpu/s0: a\ngpu/s1: b\n"
    result = simulated(ONE_TOO_MANY + b, launched, model="blocks", sms=108)
    assert times(result) == {"a": (0, 2003), "b": (1001, 1501)}
    assert rows(result, "b")[0].places == tuple((sm, 1) for sm in range(1, 108))
    # sm_share sees no waves: a holds its 108 SMs to its end.
    result = simulated(ONE_TOO_MANY + b, launched, model="sm_share", sms=108)
    assert times(result) == {"a": (0, 2003), "b": (2003, 2503)}


@pytest.mark.parametrize("model", ["sm_share", "blocks"])
def test_a_one_block_more_than_sms_doubles_the_cost(model: str) -> None:
    # A block of 250,000 FLOP takes 27,000 ns on one of 108 SMs that do 1000 FLOP a ns together.
    def kernel(grid: int) -> str:
        return f"  - {{name: a, flops: {250_000 * grid}, attributes: {{grid: {grid}, block: {{threads: 256}}}}}}\n"

    assert times(simulated(kernel(108), "gpu/s0: a\n", model=model, sms=108)) == {"a": (0, 27_000)}
    result = simulated(kernel(109), "gpu/s0: a\n", model=model, sms=108)
    assert times(result) == {"a": (0, 54_000)}
    waves = [(0, 27_000, 108), (27_000, 54_000, 1)] if model == "blocks" else []
    assert [(row.start, row.end, row.blocks) for row in rows(result, "a")] == waves


# --- (b) and (c) a full device, then one block more ---------------------------------------------------------------

FULL_AND_TINY = """\
  - {name: full, duration: 300 ns, attributes: {grid: 10, block: {threads: 256}}}
  - {name: tiny, duration: 17 ns, attributes: {grid: 1, block: {threads: 256}}}
"""
FULL_FIRST = "gpu/s0: full\ngpu/s1: tiny\nlaunch: full tiny\n"
TINY_FIRST = "gpu/s0: full\ngpu/s1: tiny\nlaunch: tiny full\n"


def test_b_a_tiny_kernel_behind_a_full_one_starts_when_the_last_wave_leaves_room() -> None:
    # 10 blocks on 4 SMs: waves of 4, 4 and 2, 100 ns each.
    result = simulated(FULL_AND_TINY, FULL_FIRST, model="blocks", sms=4)
    assert times(result) == {"full": (0, 300), "tiny": (200, 217)}
    assert rows(result, "tiny") == [Cohort(1, 0, 200, 217, ((2, 1),))]
    assert result.trace.waits == (Wait(1, "queue", 0, 200, BEHIND),)


def test_b_where_kernels_hold_their_sms_to_the_end_it_starts_when_the_full_one_ends() -> None:
    result = simulated(FULL_AND_TINY, FULL_FIRST, model="sm_share", sms=4)
    assert times(result) == {"full": (0, 300), "tiny": (300, 317)}
    assert result.trace.waits == (Wait(1, "resource", 0, 300, "sms: needs 1, 0 free"),)


def test_c_launched_in_the_other_order_both_start_at_once() -> None:
    result = simulated(FULL_AND_TINY, TINY_FIRST, model="blocks", sms=4)
    assert times(result) == {"full": (0, 300), "tiny": (0, 17)}
    assert sorted((row.wave, row.start, row.end, row.places) for row in rows(result, "full")) == [
        (0, 0, 100, ((1, 1), (2, 1), (3, 1))),
        (0, 17, 117, ((0, 1),)),
        (1, 100, 200, ((1, 1), (2, 1), (3, 1))),
        (1, 117, 217, ((0, 1),)),
        (2, 200, 300, ((1, 1), (2, 1))),
    ]


def test_c_on_sm_share_there_is_an_overlap_where_not_all_sms_are_wanted() -> None:
    result = simulated(FULL_AND_TINY.replace("grid: 10", "grid: 3"), TINY_FIRST, model="sm_share", sms=4)
    assert times(result) == {"full": (0, 300), "tiny": (0, 17)}
    # One that wants all of them waits for the tiny one.
    result = simulated(FULL_AND_TINY, TINY_FIRST, model="sm_share", sms=4)
    assert times(result) == {"full": (17, 317), "tiny": (0, 17)}


@pytest.mark.parametrize("model", ["sm_share", "blocks"])
def test_b_head_of_line_a_large_kernel_holds_back_a_tiny_one_that_would_fit(model: str) -> None:
    operators = """\
  - {name: half, duration: 100 ns, attributes: {grid: 2}}
  - {name: wide, duration: 70 ns, demands: {sms: 3}}
  - {name: tiny, duration: 7 ns, demands: {sms: 1}}
"""
    result = simulated(operators, "gpu/s0: half\ngpu/s1: wide\ngpu/s2: tiny\n", model=model, sms=4, streams=3)
    if model == "sm_share":
        assert times(result) == {"half": (0, 100), "wide": (100, 170), "tiny": (100, 107)}
    else:  # two of its three blocks, each for a whole SM, have room at once; the last when they end, and tiny beside it
        assert times(result) == {"half": (0, 100), "wide": (0, 140), "tiny": (70, 77)}


# --- (d) two kernels that each fill half a device -----------------------------------------------------------------

TOGETHER = "gpu/s0: a\ngpu/s1: b\n"
IN_TURN = "gpu/s0: a b\n"


def halves(figures: str) -> str:
    """Two kernels of two blocks each, with these costs."""
    return "".join(
        f"  - {{name: {name}, {figures}, attributes: {{grid: 2, block: {{threads: 256}}}}}}\n" for name in "ab"
    )


@pytest.mark.parametrize("model", ["sm_share", "blocks"])
def test_d_memory_bound_kernels_gain_nothing_by_running_together(model: str) -> None:
    # 70,000 bytes at 100 bytes a ns: alone, half the SMs draw all the bandwidth for 700 ns.
    both = halves("duration: 700 ns, bytes: 70000")
    assert times(simulated(both, TOGETHER, model=model, sms=4)) == {"a": (0, 1400), "b": (0, 1400)}
    assert times(simulated(both, IN_TURN, model=model, sms=4)) == {"a": (0, 700), "b": (700, 1400)}


@pytest.mark.parametrize("model", ["sm_share", "blocks"])
def test_d_compute_bound_kernels_take_half_the_time_together(model: str) -> None:
    # 350,000 FLOP at 1000 a ns on all SMs, or 500 a ns on half of them: 700 ns, in which 7,000 bytes are a tenth of the
    # bandwidth.
    both = halves("duration: 700 ns, flops: 350000, bytes: 7000")
    assert times(simulated(both, TOGETHER, model=model, sms=4)) == {"a": (0, 700), "b": (0, 700)}
    assert times(simulated(both, IN_TURN, model=model, sms=4)) == {"a": (0, 700), "b": (700, 1400)}


@pytest.mark.parametrize("model", ["sm_share", "blocks"])
def test_d_a_kernel_that_draws_less_is_slowed_less(model: str) -> None:
    # a draws 0.3 of the bandwidth (21,000 bytes in 700 ns), b all of it: a keeps its 0.3, b gets 0.7 and has done 490
    # of its 700 ns when a ends; the other 210 take it to 910.
    operators = halves("duration: 700 ns, bytes: 70000").replace("70000", "21000", 1)
    assert times(simulated(operators, TOGETHER, model=model, sms=4)) == {"a": (0, 700), "b": (0, 910)}


# --- (e) where blocks go -------------------------------------------------------------------------------------------

VOLTA = 2048
X = "{name: x, duration: 100 ns, attributes: {grid: 5, block: {threads: 256, shared_memory: 65536}}}"
Y = "{name: y, duration: 10 ns, attributes: {grid: 3, block: {threads: 160}}"


def test_e_two_blocks_of_y_go_to_the_sm_that_has_no_block_of_x_and_the_third_to_the_next() -> None:
    # The published outcome: Y0 and Y1 on SM 0, Y2 on SM 1. By the rule it needs an SM 0 with room for one more block of
    # Y than the others have. From an empty device that cannot come, since five blocks of X go to five SMs; with the
    # limits of a Volta SM it comes once the block of X on SM 0 has ended: 2048 // 160 = 12 there (warps: 64 // 5 = 12),
    # (2048 - 256) // 160 = 11 beside a block of X (warps: (64 - 8) // 5 = 11). first and second see to it that X0
    # starts on SM 0 at 1 and X1 to X4 on SMs 1 to 4 at 31; an SM holds one block of X, by its shared memory.
    operators = f"""\
  - {{name: first, duration: 1 ns, attributes: {{grid: 1, block: {{threads: 2048}}}}}}
  - {{name: second, duration: 31 ns, attributes: {{grid: 4, block: {{threads: 2048}}}}}}
  - {{name: clock, duration: 101 ns}}
  - {X}
  - {Y}, after: [clock]}}
"""
    schedule = "gpu/s0: first x\ngpu/s1: second\ngpu/s2: clock\ngpu/s3: y\nlaunch: clock first second x y\n"
    result = simulated(operators, schedule, model="blocks", sms=5, threads=VOLTA, streams=4)
    assert [(row.start, row.end, row.places) for row in rows(result, "x")] == [
        (1, 101, ((0, 1),)),
        (31, 131, ((1, 1), (2, 1), (3, 1), (4, 1))),
    ]
    assert [(row.start, row.places) for row in rows(result, "y")] == [(101, ((0, 2), (1, 1)))]


def test_e_beside_a_block_of_x_on_every_sm_they_spread() -> None:
    operators = f"  - {X}\n  - {Y}}}\n"
    result = simulated(operators, "gpu/s0: x\ngpu/s1: y\n", model="blocks", sms=5, threads=VOLTA)
    assert rows(result, "x")[0].places == tuple((sm, 1) for sm in range(5))
    assert rows(result, "y")[0].places == ((0, 1), (1, 1), (2, 1))


# --- (f) a more urgent kernel comes while another has blocks to place ----------------------------------------------

LONG_AND_URGENT = """\
  - {name: long, duration: 300 ns, attributes: {grid: 6, block: {threads: 256}}}
  - {name: clock, duration: 41 ns}
  - {name: urgent, duration: 13 ns, attributes: {grid: 1, block: {threads: 256}}, after: [clock]}
"""
THREE = "gpu/s0: long\ngpu/s1: clock\ngpu/s2: urgent\nlaunch: clock long urgent\n"


def test_f_an_urgent_kernel_waits_for_a_block_to_end_and_then_goes_first() -> None:
    result = simulated(LONG_AND_URGENT, THREE, model="blocks", sms=2, streams=3, priorities=(0, 0, -1))
    assert times(result) == {"long": (0, 313), "clock": (0, 41), "urgent": (100, 113)}
    assert result.trace.waits == (Wait(2, "resource", 41, 100, "sms: no room for its blocks"),)
    # The blocks of long whose place it took come 13 ns later, and so does the end of long.
    assert sorted((row.wave, row.start, row.places) for row in rows(result, "long")) == [
        (0, 0, ((0, 1), (1, 1))),
        (1, 100, ((1, 1),)),
        (1, 113, ((0, 1),)),
        (2, 200, ((1, 1),)),
        (2, 213, ((0, 1),)),
    ]


def test_f_without_its_priority_it_waits_for_all_blocks_before_it() -> None:
    result = simulated(LONG_AND_URGENT, THREE, model="blocks", sms=2, streams=3)
    assert times(result) == {"long": (0, 300), "clock": (0, 41), "urgent": (300, 313)}


@pytest.mark.parametrize(("priorities", "order"), [((0, 0, 0, -1), "urgent"), ((), "next")])
def test_f_on_sm_share_it_overtakes_only_kernels_that_have_not_started(priorities: tuple[int, ...], order: str) -> None:
    operators = """\
  - {name: long, duration: 300 ns, demands: {sms: 2}}
  - {name: next, duration: 50 ns, demands: {sms: 2}}
  - {name: clock, duration: 41 ns}
  - {name: urgent, duration: 13 ns, demands: {sms: 2}, after: [clock]}
"""
    schedule = "gpu/s0: long\ngpu/s1: next\ngpu/s2: clock\ngpu/s3: urgent\nlaunch: clock long next urgent\n"
    result = simulated(operators, schedule, model="sm_share", sms=2, streams=4, priorities=priorities)
    later = {"urgent": {"urgent": (300, 313), "next": (313, 363)}, "next": {"next": (300, 350), "urgent": (350, 363)}}
    assert times(result) == {"long": (0, 300), "clock": (0, 41), **later[order]}
