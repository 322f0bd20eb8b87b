"""Checks of profiles by arithmetic: peaks from units and clocks, bandwidth from clock and bus, limits from each other.

Published tables mix dense with sparse peaks, decimal with binary units and one clock with another; each of these is
a factor that the arithmetic shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from simsched.hardware import Device, HardwareProfile
from simsched.units import format_duration, format_rate, format_size

TOLERANCE = 0.013
"""Published peaks are rounded, by up to 1.3 %."""

# Dtypes whose matrix peak is a fixed multiple of the peak of half precision, where the units are not stated.
MULTIPLES_OF_HALF = {"tf32": 0.5, "int8": 2.0, "fp8": 2.0, "int4": 4.0, "fp4": 4.0}


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison of a stated figure with what others say it must be.

    Attributes
    ----------
    where : str
        The figure, e.g. ``gpu.peaks.matrix.fp16``.
    arithmetic : str
        Both sides, with their numbers.
    passed : bool or None
        None where a figure is missing, so that nothing could be compared.
    """

    where: str
    arithmetic: str
    passed: bool | None

    def __str__(self) -> str:
        return f"{self.where}: {self.arithmetic}"


def check_profile(profile: HardwareProfile) -> list[str]:
    """Return what is wrong with the figures of a profile, one sentence each; empty if nothing is.

    Parameters
    ----------
    profile : HardwareProfile

    See Also
    --------
    checks : Everything that was compared, passed or not.
    unsourced_figures : Figures without a source, which are not wrong.
    """
    wrong = [str(check) for check in checks(profile) if check.passed is False]
    used = {figure.tag for figure in profile.figures.values()}
    unused = [tag for tag in profile.sources if tag not in used]
    wrong += [f"sources.{tag}: no figure names this source; remove it, or write @{tag}" for tag in unused]
    for name in profile.switches:
        joined = sum(name in (link.a, link.b) for link in profile.links)
        if joined < 2:
            wrong.append(f"switches.{name}: {joined} of the links end here, so that it joins nothing; remove it")
    return wrong


def unsourced_figures(profile: HardwareProfile) -> list[str]:
    """Return the paths of the figures that name no source.

    Parameters
    ----------
    profile : HardwareProfile
    """
    return [path for path, figure in profile.figures.items() if not figure.tag]


def checks(profile: HardwareProfile) -> list[Check]:
    """Compare every figure of a profile that follows from others.

    Parameters
    ----------
    profile : HardwareProfile

    Returns
    -------
    list of Check
        In the order of devices; ``passed`` is None where a figure is missing.
    """
    return [check for device in profile.devices for check in _device_checks(device)]


def _device_checks(device: Device) -> Iterator[Check]:
    yield from _vector_peak(device)
    yield from _matrix_peaks(device)
    yield from _bandwidth(device)
    yield from _memory(device)
    yield from _limits(device)
    yield from _launch(device)
    yield from _core_bandwidth(device)


def _vector_peak(device: Device) -> Iterator[Check]:
    stated = device.peaks.get("vector", {}).get("fp32")
    if stated is None:
        return
    where = f"{device.name}.peaks.vector.fp32"
    lanes, clock = device.units.vector_lanes, device.clocks.get("vector")
    if lanes is None or clock is None:
        missing = "units.vector_lanes" if lanes is None else "clocks.vector"
        yield Check(where, f"not checked, {missing} is not given", None)
        return
    text = f"{device.sms} SMs x {lanes} lanes x 2 x {format_rate(clock, 'Hz')}"
    yield _compared(where, text, device.sms * lanes * 2 * clock, stated, "FLOP/s")


def _matrix_peaks(device: Device) -> Iterator[Check]:
    peaks, units, clock = device.peaks.get("matrix", {}), device.units, device.clocks.get("matrix")
    half_name = next((name for name in ("fp16", "bf16") if name in peaks), None)
    for dtype, stated in peaks.items():
        where = f"{device.name}.peaks.matrix.{dtype}"
        multiply_adds = units.matrix_fma.get(dtype)
        if multiply_adds is not None and units.matrix_units is not None and clock is not None:
            text = (
                f"{device.sms} SMs x {units.matrix_units} matrix units x {multiply_adds} multiply-adds x 2 x "
                f"{format_rate(clock, 'Hz')}"
            )
            product = device.sms * units.matrix_units * multiply_adds * 2 * clock
            yield _compared(where, text, product, stated, "FLOP/s")
        elif dtype in MULTIPLES_OF_HALF and half_name is not None:
            factor = MULTIPLES_OF_HALF[dtype]
            text = f"{factor:g} x the {half_name} peak"
            yield _compared(where, text, factor * peaks[half_name], stated, "FLOP/s")
        elif dtype == "bf16" and half_name == "fp16":
            yield _compared(where, "the same as the fp16 peak", peaks["fp16"], stated, "FLOP/s")
        else:
            yield Check(where, "not checked, units.matrix_units, units.matrix_fma or clocks.matrix is not given", None)


def _bandwidth(device: Device) -> Iterator[Check]:
    stated, clock, bus = device.memory_bandwidth, device.memory_clock, device.memory_bus
    if stated is None:
        return
    where = f"{device.name}.memory.bandwidth"
    if clock is None or bus is None:
        missing = "memory.clock" if clock is None else "memory.bus"
        yield Check(where, f"not checked, {missing} is not given", None)
        return
    yield _compared(where, f"{format_rate(clock, 'Hz')} x {bus} bit / 8 x 2", clock * bus / 8 * 2, stated, "B/s")


def _memory(device: Device) -> Iterator[Check]:
    usable, capacity = device.memory_usable, device.memory_capacity
    if usable is not None and capacity is not None:
        fits = usable < capacity
        text = f"{_bytes(usable)} must be less than the capacity, {_bytes(capacity)}"
        yield Check(f"{device.name}.memory.usable", text, fits)


def _launch(device: Device) -> Iterator[Check]:
    inside = device.graph_launch_ns
    if inside is not None and device.launch_ns:
        text = (
            f"{format_duration(inside)} must be at most the launch outside of one, {format_duration(device.launch_ns)}"
        )
        yield Check(f"{device.name}.launch_in_graph", text, inside <= device.launch_ns)


def _core_bandwidth(device: Device) -> Iterator[Check]:
    core = None if device.threads is None else device.threads.core_bandwidth
    if core is not None and device.memory_bandwidth is not None:
        whole = device.memory_bandwidth
        text = f"{format_rate(core, 'B/s')} must be at most that of all cores, {format_rate(whole, 'B/s')}"
        yield Check(f"{device.name}.threads.core_bandwidth", text, core <= whole)


def _limits(device: Device) -> Iterator[Check]:
    limits = device.sm_limits
    if limits is None:
        return
    if limits.threads is not None and limits.warps is not None:
        product = limits.warp_size * limits.warps
        text = f"{limits.warps} warps x {limits.warp_size} threads = {product}, stated {limits.threads}"
        yield Check(f"{device.name}.sm_limits.threads", text, product == limits.threads)
    block, whole = limits.shared_memory_block, limits.shared_memory
    if block is not None and whole is not None:
        text = f"{_bytes(block)} must be at most what an SM has, {_bytes(whole)}"
        yield Check(f"{device.name}.sm_limits.shared_memory_block", text, block <= whole)


def _compared(where: str, text: str, computed: float, stated: float, unit: str) -> Check:
    off = stated / computed - 1
    sentence = f"{text} = {format_rate(computed, unit)}, stated {format_rate(stated, unit)} ({off:+.1%})"
    return Check(where, sentence, abs(off) <= TOLERANCE)


def _bytes(number: int) -> str:
    return f"{format_size(number)} ({number:,} B)"
