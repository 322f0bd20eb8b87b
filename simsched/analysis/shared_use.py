"""How much a run used what operators share: bandwidth of memory, links between devices, the launching host."""

from __future__ import annotations

from dataclasses import dataclass

from simsched.analysis.launches import Host
from simsched.analysis.speeds import Speeds
from simsched.analysis.usage import Run, ratio


@dataclass(frozen=True, slots=True)
class BandwidthUse:
    """Memory bandwidth of one device on which kernels share it.

    Attributes
    ----------
    device : str
    rate : float
        Achievable, in bytes per second.
    used : float
        Time in ns that the traffic of all kernels takes at that rate.
    lost : int
        Time in ns that kernels of the device took longer than alone, summed over kernels.
    span : int
        The makespan in ns.
    """

    device: str
    rate: float
    used: float
    lost: int
    span: int

    @property
    def utilisation(self) -> float:
        """Share of bandwidth x makespan that was used."""
        return ratio(self.used, self.span)


@dataclass(frozen=True, slots=True)
class CopyUse:
    """Copies between devices: how many, bytes, and ns that they took and that they waited, summed over copies."""

    copies: int
    bytes: int
    time: int
    waited: int


NO_COPIES = CopyUse(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class HostUse:
    """One launching thread of the host, or the launch of a whole graph: launches, and busy time in ns."""

    thread: int
    launches: int
    busy: int
    span: int

    @property
    def utilisation(self) -> float:
        """Busy time over the makespan."""
        return ratio(self.busy, self.span)


def lost_time(run: Run) -> int:
    """Time in ns that operators took longer than alone, because they shared a device, summed over operators."""
    speeds, trace = _speeds(run), run.trace
    return sum(trace.end[op] - trace.start[op] - speeds.alone(op) for op in range(len(trace)))


def bandwidth_use(run: Run) -> tuple[BandwidthUse, ...]:
    """Use of the memory bandwidth of each device on which kernels share one, in the order of the profile."""
    problem, trace, speeds = run.problem, run.trace, _speeds(run)
    found: dict[int, tuple[float, int]] = {
        number: (0.0, 0)
        for number, device in enumerate(problem.devices)
        if device.model != "lanes" and device.memory_bandwidth is not None
    }
    for op, stream in enumerate(trace.stream) if found else ():
        device = problem.stream_device[stream]
        if device in found:
            alone = speeds.alone(op)
            used, lost = found[device]
            drawn = problem.draw(op, device, alone)
            used += drawn * (alone - problem.launch_part(op, device, alone)) if drawn else 0.0
            found[device] = used, lost + trace.end[op] - trace.start[op] - alone
    uses = []
    for number, (used, lost) in found.items():
        described = problem.devices[number]
        rate = (described.memory_bandwidth or 0.0) * described.efficiency.bandwidth
        uses.append(BandwidthUse(described.name, rate, used, lost, trace.makespan))
    return tuple(uses)


def copy_use(run: Run) -> CopyUse:
    """Copies of the whole run; the delays of edges are not among them."""
    moves = [move for move in run.trace.transfers if move.tensor >= 0]
    return CopyUse(
        len(moves),
        sum(move.bytes for move in moves),
        sum(move.end - move.start for move in moves),
        sum(move.start - move.asked for move in moves),
    )


def host_use(run: Run) -> tuple[HostUse, ...]:
    """Launching threads of the host that launched anything; empty where launches cost nothing."""
    host, trace = Host(run.problem, run.trace), run.trace
    if not host.charged:
        return ()
    if not host.serial:
        graph = run.problem.hardware.host.graph_ns
        return (HostUse(0, 1, min(graph, trace.makespan), trace.makespan),) if graph and len(trace) else ()
    return tuple(
        HostUse(thread, len(ops), sum(host.through(op) - host.begin(op) for op in ops), trace.makespan)
        for thread, ops in host.threads.items()
    )


def _speeds(run: Run) -> Speeds:
    return Speeds(run, [run.problem.stream_device[stream] for stream in run.trace.stream])
