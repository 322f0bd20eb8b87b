"""Which peak of a device holds for a dtype on a unit, and what stands in where a profile has none."""

from __future__ import annotations

from typing import Literal, NamedTuple

from simsched.hardware import Device

Fp32Math = Literal["fp32", "tf32"]

_INTEGERS = ("vector.int32", "vector.fp32")

# Peaks in the order in which they are tried, by the type of the operands. Integers on the vector unit count at the
# rate of int32, or of fp32 where a profile has no integer peaks: an approximation, since those kernels move bytes.
_VECTOR: dict[str, tuple[str, ...]] = {
    "fp64": ("vector.fp64",),
    "complex128": ("vector.fp64",),
    "fp16": ("vector.fp16", "vector.fp32"),
    "bf16": ("vector.bf16", "vector.fp32"),
    "int8": ("vector.int8", *_INTEGERS),
    "uint8": ("vector.int8", *_INTEGERS),
    "int16": ("vector.int16", *_INTEGERS),
    "uint16": ("vector.int16", *_INTEGERS),
}
_VECTOR |= dict.fromkeys(("bool", "int32", "uint32", "int64", "uint64", "int4", "uint4", "int2", "uint2"), _INTEGERS)
_VECTOR |= dict.fromkeys(("fp32", "tf32", "complex64", "fp8", "fp6", "fp4"), ("vector.fp32",))

_TF32 = ("matrix.tf32", "matrix.fp32", "vector.fp32", "matrix.bf16", "matrix.fp16")
_INT8 = ("matrix.int8", *_VECTOR["int8"])
# Behind the last comma of fp32: devices without any fp32 unit (TPUs) multiply fp32 matrices in bf16.
_MATRIX: dict[str, tuple[str, ...]] = {
    "fp64": ("matrix.fp64", "vector.fp64"),
    "complex128": ("matrix.fp64", "vector.fp64"),
    "fp32": ("matrix.fp32", "vector.fp32", "matrix.tf32", "matrix.bf16", "matrix.fp16"),
    "complex64": ("matrix.fp32", "vector.fp32", "matrix.tf32", "matrix.bf16", "matrix.fp16"),
    "tf32": _TF32,
    "fp16": ("matrix.fp16", "matrix.bf16", "vector.fp16", "vector.fp32"),
    "bf16": ("matrix.bf16", "vector.bf16", "vector.fp32", "matrix.fp16"),
    "fp8": ("matrix.fp8", "matrix.fp16", "matrix.bf16", "vector.fp32"),
    "fp6": ("matrix.fp8", "matrix.fp16", "matrix.bf16", "vector.fp32"),
    "fp4": ("matrix.fp4", "matrix.fp8", "matrix.fp16", "matrix.bf16", "vector.fp32"),
    "int8": _INT8,
    "uint8": _INT8,
    "int4": ("matrix.int4", *_INT8),
    "uint4": ("matrix.int4", *_INT8),
}


class Peak(NamedTuple):
    """A peak and the fraction of it that good kernels reach.

    Attributes
    ----------
    name : str
        E.g. ``matrix.fp16``.
    rate : float
        FLOP/s.
    efficiency : float
    """

    name: str
    rate: float
    efficiency: float


def find_peak(device: Device, unit: str, dtype: str | None, fp32_math: Fp32Math = "fp32") -> Peak | None:
    """Return the peak at which a device computes.

    Parameters
    ----------
    device : Device
    unit : {"matrix", "vector"}
    dtype : str or None
        None counts as fp32.
    fp32_math : {"fp32", "tf32"}
        Whether matrix products of fp32 operands may use TF32 units.

    Returns
    -------
    Peak or None
        None if the device has no peak that could stand in.

    Examples
    --------
    >>> device = Device("gpu", peaks={"vector": {"fp32": 19.5e12}, "matrix": {"tf32": 156e12}})
    >>> find_peak(device, "matrix", "fp32").name, find_peak(device, "matrix", "fp32", "tf32").name
    ('vector.fp32', 'matrix.tf32')
    """
    for name in peak_order(unit, dtype, fp32_math):
        kind, _, key = name.partition(".")
        rate = device.peaks.get(kind, {}).get(key)
        if rate is not None:
            share = device.efficiency.matrix if kind == "matrix" else device.efficiency.vector
            return Peak(name, rate, share)
    return None


def peak_order(unit: str, dtype: str | None, fp32_math: Fp32Math = "fp32") -> tuple[str, ...]:
    """Return the names of the peaks that are tried for a dtype, best first.

    Examples
    --------
    >>> peak_order("vector", "fp16")
    ('vector.fp16', 'vector.fp32')
    """
    dtype = dtype or "fp32"
    if unit == "vector":
        return _VECTOR.get(dtype, _INTEGERS)
    if fp32_math == "tf32" and dtype == "fp32":
        return _TF32
    return _MATRIX.get(dtype, _VECTOR.get(dtype, _INTEGERS))
