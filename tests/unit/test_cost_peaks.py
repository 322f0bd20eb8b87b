"""Which peak holds for which dtype, and what stands in."""

from __future__ import annotations

import pytest

from simsched.cost.peaks import find_peak, peak_order
from simsched.graph.builder import DTYPE_BITS
from simsched.hardware import Device, Efficiency
from simsched.profiles import load_hardware


@pytest.mark.parametrize(
    ("profile", "unit", "dtype", "expected"),
    [
        ("a100_sxm_80gb", "matrix", "fp32", "vector.fp32"),
        ("a100_sxm_80gb", "matrix", None, "vector.fp32"),
        ("a100_sxm_80gb", "matrix", "tf32", "matrix.tf32"),
        ("a100_sxm_80gb", "matrix", "fp16", "matrix.fp16"),
        ("a100_sxm_80gb", "matrix", "bf16", "matrix.bf16"),
        ("a100_sxm_80gb", "matrix", "uint8", "matrix.int8"),
        ("a100_sxm_80gb", "matrix", "int4", "matrix.int8"),
        ("a100_sxm_80gb", "matrix", "fp8", "matrix.fp16"),
        ("a100_sxm_80gb", "matrix", "fp64", "vector.fp64"),
        ("a100_sxm_80gb", "matrix", "int64", "vector.fp32"),
        ("a100_sxm_80gb", "vector", "fp16", "vector.fp32"),
        ("a100_sxm_80gb", "vector", "bool", "vector.fp32"),
        ("a100_sxm_80gb", "vector", "complex64", "vector.fp32"),
        ("v100_sxm2_16gb", "matrix", "bf16", "vector.fp32"),  # no bf16 before Ampere: computed in fp32
        ("v100_sxm2_16gb", "matrix", "int8", "vector.fp32"),
        ("t4", "matrix", "int8", "matrix.int8"),
        ("mi250x_gcd", "matrix", "fp32", "matrix.fp32"),
        ("tpu_v5e", "matrix", "fp32", "matrix.bf16"),
        ("tpu_v5e", "matrix", "fp16", "matrix.bf16"),
        ("tpu_v5e", "vector", "fp32", None),
        ("toy_4sm", "vector", "fp64", None),
    ],
)
def test_the_peak_of_a_dtype(profile: str, unit: str, dtype: str | None, expected: str | None) -> None:
    peak = find_peak(load_hardware(profile).devices[0], unit, dtype)
    assert (peak and peak.name) == expected


def test_tf32_for_fp32_is_asked_for() -> None:
    a100, v100 = (load_hardware(name).devices[0] for name in ("a100_sxm_80gb", "v100_sxm2_16gb"))
    assert find_peak(a100, "matrix", "fp32", "tf32") == ("matrix.tf32", 156e12, 0.869)
    assert find_peak(v100, "matrix", "fp32", "tf32") == ("vector.fp32", 15.7e12, 0.8), "a V100 has no TF32 units"
    assert find_peak(a100, "vector", "fp32", "tf32") == ("vector.fp32", 19.5e12, 0.8), "only products use them"
    assert find_peak(a100, "matrix", "fp16", "tf32") == ("matrix.fp16", 312e12, 0.869)


def test_each_unit_has_its_own_efficiency() -> None:
    peaks = {"vector": {"fp32": 3e12, "int32": 5e12}, "matrix": {"int8": 7e12}}
    device = Device("d", peaks=peaks, efficiency=Efficiency(matrix=0.11, vector=0.13))
    assert find_peak(device, "matrix", "int8") == ("matrix.int8", 7e12, 0.11)
    assert find_peak(device, "matrix", "fp16") == ("vector.fp32", 3e12, 0.13)
    assert find_peak(device, "vector", "int64") == ("vector.int32", 5e12, 0.13)


@pytest.mark.parametrize("dtype", sorted(DTYPE_BITS))
@pytest.mark.parametrize("unit", ["vector", "matrix"])
def test_every_dtype_of_graphs_has_an_order(unit: str, dtype: str) -> None:
    order = peak_order(unit, dtype)
    assert order
    assert len(set(order)) == len(order)
    assert all(name.split(".")[0] == "vector" for name in order) or unit == "matrix"
    # Whatever has fp32 can compute it, except in double precision, which would be too good to be true.
    assert ("vector.fp32" in order) == (dtype not in ("fp64", "complex128"))
