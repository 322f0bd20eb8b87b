"""The arithmetic of profiles: what it computes, and that it finds the errors that published tables have."""

from __future__ import annotations

import pytest

from simsched.profiles import check_profile, checks, parse_profile

# 7 SMs x 11 lanes x 2 x 1 GHz = 154; 7 x 2 x 13 x 2 x 2 GHz = 728; 3 GHz x 64 bit / 8 x 2 = 48
SMALL = """\
sources:
  sheet: {kind: datasheet, cite: a sheet}
devices:
  - name: gpu
    kind: gpu
    model: sm_share
    streams: 1
    sms: 7 @sheet
    units: {vector_lanes: 11, matrix_units: 2, matrix_fma: {fp16: 13}}
    clocks: {vector: 1 GHz, matrix: 2 GHz}
    peaks:
      vector: {fp32: 154 GFLOP/s}
      matrix: {fp16: 728 GFLOP/s, bf16: 728 GFLOP/s, int8: 1456 GOP/s, tf32: 364 GFLOP/s}
    memory: {capacity: 16 GiB, usable: 15.7 GiB, bandwidth: 48 GB/s, clock: 3 GHz, bus: 64 bit}
    sm_limits: {warps: 5, threads: 160, shared_memory: 17 KiB, shared_memory_block: 17 KiB}
"""


def findings(old: str = "", new: str = "") -> list[str]:
    assert not old or SMALL.count(old) == 1
    return check_profile(parse_profile(SMALL.replace(old, new) if old else SMALL))


def test_a_consistent_profile_passes_every_check() -> None:
    assert findings() == []
    found = checks(parse_profile(SMALL))
    assert [check.where for check in found] == [
        "gpu.peaks.vector.fp32",
        "gpu.peaks.matrix.tf32",
        "gpu.peaks.matrix.fp16",
        "gpu.peaks.matrix.bf16",
        "gpu.peaks.matrix.int8",
        "gpu.memory.bandwidth",
        "gpu.memory.usable",
        "gpu.sm_limits.threads",
        "gpu.sm_limits.shared_memory_block",
    ]
    assert all(check.passed for check in found)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "154 GFLOP/s",
            "308 GFLOP/s",
            "gpu.peaks.vector.fp32: 7 SMs x 11 lanes x 2 x 1 GHz = 154 GFLOP/s, stated 308 GFLOP/s (+100.0%)",
        ),
        (
            "clocks: {vector: 1 GHz",
            "clocks: {vector: 1.1 GHz",
            "gpu.peaks.vector.fp32: 7 SMs x 11 lanes x 2 x 1.1 GHz = 169.4 GFLOP/s, stated 154 GFLOP/s (-9.1%)",
        ),
        (
            "48 GB/s",
            "48 GiB/s",
            "gpu.memory.bandwidth: 3 GHz x 64 bit / 8 x 2 = 48 GB/s, stated 51.54 GB/s (+7.4%)",
        ),
        (
            "capacity: 16 GiB",
            "capacity: 16 GB",
            "gpu.memory.usable: 15.7 GiB (16,857,746,637 B) must be less than the capacity, "
            "14.9 GiB (16,000,000,000 B)",
        ),
        (
            "int8: 1456 GOP/s",
            "int8: 2912 GOP/s",
            "gpu.peaks.matrix.int8: 2 x the fp16 peak = 1.456 TFLOP/s, stated 2.912 TFLOP/s (+100.0%)",
        ),
        (
            "bf16: 728 GFLOP/s",
            "bf16: 1456 GFLOP/s",
            "gpu.peaks.matrix.bf16: the same as the fp16 peak = 728 GFLOP/s, stated 1.456 TFLOP/s (+100.0%)",
        ),
        (
            "tf32: 364 GFLOP/s",
            "tf32: 154 GFLOP/s",
            "gpu.peaks.matrix.tf32: 0.5 x the fp16 peak = 364 GFLOP/s, stated 154 GFLOP/s (-57.7%)",
        ),
        ("threads: 160", "threads: 1024", "gpu.sm_limits.threads: 5 warps x 32 threads = 160, stated 1024"),
        (
            "shared_memory_block: 17 KiB",
            "shared_memory_block: 18 KiB",
            "gpu.sm_limits.shared_memory_block: 18 KiB (18,432 B) must be at most what an SM has, 17 KiB (17,408 B)",
        ),
        ("sms: 7 @sheet", "sms: 7", "sources.sheet: no figure names this source; remove it, or write @sheet"),
    ],
    ids=["peak doubled", "clock", "GB for GiB/s", "GB for GiB", "int8", "bf16", "tf32", "threads", "shared", "source"],
)
def test_a_planted_error_is_found_and_nothing_else(old: str, new: str, expected: str) -> None:
    assert findings(old, new) == [expected]


def test_a_sparse_peak_shows_in_everything_that_depends_on_it() -> None:
    assert findings("fp16: 728 GFLOP/s", "fp16: 1456 GFLOP/s") == [
        "gpu.peaks.matrix.tf32: 0.5 x the fp16 peak = 728 GFLOP/s, stated 364 GFLOP/s (-50.0%)",
        "gpu.peaks.matrix.fp16: 7 SMs x 2 matrix units x 13 multiply-adds x 2 x 2 GHz = 728 GFLOP/s, "
        "stated 1.456 TFLOP/s (+100.0%)",
        "gpu.peaks.matrix.bf16: the same as the fp16 peak = 1.456 TFLOP/s, stated 728 GFLOP/s (-50.0%)",
        "gpu.peaks.matrix.int8: 2 x the fp16 peak = 2.912 TFLOP/s, stated 1.456 TFLOP/s (-50.0%)",
    ]


@pytest.mark.parametrize(("stated", "found"), [("156 GFLOP/s", 0), ("156.1 GFLOP/s", 1), ("152 GFLOP/s", 0)])
def test_rounding_of_published_figures_is_tolerated_up_to_1_3_percent(stated: str, found: int) -> None:
    # 156 / 154 is 1.299 % above, 156.1 / 154 is 1.364 %
    assert len(findings("154 GFLOP/s", stated)) == found


def test_what_cannot_be_checked_says_so() -> None:
    text = SMALL.replace("clocks: {vector: 1 GHz, matrix: 2 GHz}", "clocks: {vector: unknown}").replace(
        ", clock: 3 GHz", ""
    )
    open_ones = [str(check) for check in checks(parse_profile(text)) if check.passed is None]
    assert open_ones == [
        "gpu.peaks.vector.fp32: not checked, clocks.vector is not given",
        "gpu.peaks.matrix.fp16: not checked, units.matrix_units, units.matrix_fma or clocks.matrix is not given",
        "gpu.memory.bandwidth: not checked, memory.clock is not given",
    ]
    assert check_profile(parse_profile(text)) == []
