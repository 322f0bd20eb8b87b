"""The roofline model: a kernel takes as long as its slower side, arithmetic or memory, and its launch.

``duration = max(flops / (peak x efficiency), bytes / (bandwidth x efficiency)) + launch``

Williams, Waterman, Patterson: "Roofline: an insightful visual performance model for multicore architectures",
Communications of the ACM 52(4), 2009. https://doi.org/10.1145/1498765.1498785

On devices whose SMs are shared, the arithmetic side also counts what a kernel cannot fill. Matrix kernels run in tiles
and waves (:mod:`simsched.cost.tiles`); other kernels that fill ``s`` of ``S`` SMs compute at ``s / S`` of the peak. The
memory side has the full bandwidth: what one kernel alone can draw, even from few SMs; kernels that run at once share
it in the device models, not here.

Not modelled: reuse in the L2 cache between operators, clocks that fall under load, algorithms of libraries beside
direct products and Winograd's (FFT).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simsched.cost.base import BoundBy, KernelCost
from simsched.cost.footprint import footprint, sms_held
from simsched.cost.peaks import Fp32Math, Peak, find_peak, peak_order
from simsched.cost.registry import DEFAULT, Registry, work_of
from simsched.cost.speedup import bandwidth
from simsched.cost.work import Work
from simsched.errors import CostError
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device


@dataclass(frozen=True, slots=True)
class Roofline:
    """The roofline cost model.

    Parameters
    ----------
    fp32_math : {"fp32", "tf32"}
        Whether matrix products of fp32 operands run on TF32 units, as frameworks offer as an option.
    registry : Registry
        Says what each operator type computes and moves.

    Examples
    --------
    >>> from simsched.graph.builder import GraphBuilder
    >>> builder = GraphBuilder("one")
    >>> op = builder.add_op("a", flops=3_000_000, traffic=1_000_000)
    >>> device = Device("d0", memory_bandwidth=100e9, peaks={"vector": {"fp32": 1e12}}, launch_ns=7)
    >>> cost = Roofline()(builder.build(), 0, device)
    >>> cost.duration, cost.compute_ns, cost.memory_ns, cost.bound, cost.intensity
    (10007, 3000.0, 10000.0, 'memory', 3.0)
    """

    fp32_math: Fp32Math = "fp32"
    registry: Registry = DEFAULT

    def __post_init__(self) -> None:
        if self.fp32_math not in ("fp32", "tf32"):
            raise CostError(f"fp32_math is 'fp32' or 'tf32', not {self.fp32_math!r}")

    def __call__(self, graph: Graph, op: OpId, device: Device) -> KernelCost:
        """Return the cost of one operator alone on one device.

        Raises
        ------
        CostError
            If the device has no peak or bandwidth to cost it by, or nothing is known about the operator.
        """
        work = work_of(graph, op, self.registry)
        _require_something(graph, op, work)
        workspace = graph.workspace.get(op, 0)
        if work.unit == "none":
            return KernelCost(0, workspace=workspace, bound="none", known=work.known)
        peak = self.peak(graph, op, work, device)
        occupied = footprint(graph, op, work, device, peak)
        memory = _memory(graph, op, work, device, occupied.sms)
        slower = max(occupied.compute, memory)
        bound: BoundBy = "compute" if occupied.compute > memory else "memory"
        return KernelCost(
            duration=whole_ns(slower) + device.launch_ns,
            flops=work.flops,
            bytes=work.bytes,
            sms=sms_held(graph, op, device, occupied, slower),
            workspace=workspace,
            compute_ns=occupied.compute,
            memory_ns=memory,
            launch_ns=float(device.launch_ns),
            bound="launch" if device.launch_ns > slower else bound,
            known=work.known,
            grid=occupied.grid,
            block=occupied.block,
            tail_ns=int(occupied.tail) if bound == "compute" else 0,
            peak_ns=occupied.peak_ns,
        )

    def peak(self, graph: Graph, op: OpId, work: Work, device: Device) -> Peak | None:
        """Return the peak at which an operator computes, or None where it is costed by its bytes alone.

        Raises
        ------
        CostError
            If the device lacks the peak that is needed.
        """
        # A device whose vector peaks are not published (a TPU) is costed by its bytes there.
        if not work.flops or (work.unit != "matrix" and not device.peaks.get("vector")):
            return None
        peak = find_peak(device, work.unit, work.dtype, self.fp32_math)
        if peak is None:
            raise CostError(_no_peak(graph, op, device, peak_order(work.unit, work.dtype, self.fp32_math)))
        return peak


def _memory(graph: Graph, op: OpId, work: Work, device: Device, sms: int) -> float:
    if not work.bytes:
        return 0.0
    reached = bandwidth(device, sms)
    if reached is None:
        raise CostError(_no_bandwidth(graph, op, device))
    return work.bytes * 1e9 / reached


def whole_ns(nanoseconds: float) -> int:
    """Round up to whole ns: work is never under-served. What lies below a millionth of a ns is rounding of floats.

    Examples
    --------
    >>> whole_ns(2.000001), whole_ns(2.0000000001), whole_ns(0.0)
    (3, 2, 0)
    """
    return math.ceil(round(nanoseconds, 6))


def _require_something(graph: Graph, op: OpId, work: Work) -> None:
    """Refuse an operator about which nothing is known, neither arithmetic nor bytes: it would be free."""
    if work.known or work.flops or work.bytes or graph.inputs[op] or graph.outputs[op]:
        return
    raise CostError(
        f"operator {graph.names[op]!r} ({graph.op_types[op]}){_others(graph, op)}: there is nothing to cost it by; "
        "give a 'duration', or 'flops', or tensors"
    )


def _others(graph: Graph, op: OpId) -> str:
    """How many more operators wait for the cost model."""
    others = sum(other != op for other in graph.without_duration)
    if not others:
        return ""
    return f" and {others} other operator{'s' if others > 1 else ''} without a duration"


def _no_bandwidth(graph: Graph, op: OpId, device: Device) -> str:
    lacks = "neither peaks nor memory bandwidth" if not device.peaks else "no memory bandwidth"
    return (
        f"operator {graph.names[op]!r} ({graph.op_types[op]}){_others(graph, op)}: device {device.name!r} has {lacks} "
        "to cost it by; give durations in the graph, or choose hardware with such figures, e.g. a100_sxm_80gb"
    )


def _no_peak(graph: Graph, op: OpId, device: Device, tried: tuple[str, ...]) -> str:
    known = [f"peaks.{unit}.{dtype}" for unit, rates in device.peaks.items() for dtype in rates]
    has = f"has {', '.join(known)}" if known else "has no peaks"
    return (
        f"operator {graph.names[op]!r} ({graph.op_types[op]}): device {device.name!r} {has}, and none of "
        f"{', '.join(f'peaks.{name}' for name in tried)}; add one to its profile, or give the operator a duration"
    )
