"""The figures of one run. ``docs/reference/metrics.md`` says what each of them means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from simsched.analysis.bounds import Bound, best_lower, bounds
from simsched.analysis.capacity import machines
from simsched.analysis.shared_use import (
    NO_COPIES,
    BandwidthUse,
    CopyUse,
    HostUse,
    bandwidth_use,
    copy_use,
    host_use,
    lost_time,
)
from simsched.analysis.usage import (
    MemoryUse,
    ResourceUse,
    Run,
    StreamUse,
    bandwidth_notes,
    load_balance,
    memory_use,
    ratio,
    resource_use,
    stream_use,
)
from simsched.problem import Problem


@dataclass(frozen=True, slots=True)
class Metrics:
    """Figures of one run; times in ns (ticks for graphs in ticks), sizes in bytes.

    Attributes
    ----------
    makespan : int
    serial : int
        All operators one after the other on the best device that may run them all (or each on its best one, where
        none may), without transfers.
    bounds : tuple of Bound
        Every bound that applies, the critical path first.
    machines : int
        How many operators can run at once.
    streams : tuple of StreamUse
    resources : tuple of ResourceUse
    memory : tuple of MemoryUse
        Per device.
    notes : tuple of str
        What a reader should know, e.g. that the run would need more bandwidth than there is.
    lost : int
        Time that operators took longer than alone because they shared a device, summed over operators.
    bandwidth : tuple of BandwidthUse
        Per device on which kernels share memory bandwidth.
    copies : CopyUse
        Copies between devices.
    host : tuple of HostUse
        Launching threads of the host; empty where launches cost nothing.
    """

    makespan: int
    serial: int
    bounds: tuple[Bound, ...]
    machines: int
    streams: tuple[StreamUse, ...]
    resources: tuple[ResourceUse, ...]
    memory: tuple[MemoryUse, ...]
    notes: tuple[str, ...]
    lost: int = 0
    bandwidth: tuple[BandwidthUse, ...] = ()
    copies: CopyUse = NO_COPIES
    host: tuple[HostUse, ...] = ()

    @property
    def critical_path(self) -> int:
        """Length of the longest path of durations."""
        return self.bounds[0].value

    @property
    def lower_bound(self) -> Bound:
        """The largest lower bound; the first of equal ones."""
        return best_lower(self.bounds)

    @property
    def upper_bound(self) -> Bound | None:
        """The upper bound for greedy schedules, where there is one."""
        return next((bound for bound in self.bounds if bound.kind == "upper"), None)

    @property
    def gap(self) -> float:
        """How far the makespan is above the lower bound: 0.02 is 2 %. An upper limit of the distance to the optimum."""
        bound = self.lower_bound.value
        if not bound:
            return math.inf if self.makespan else 0.0
        return (self.makespan - bound) / bound

    @property
    def speedup(self) -> float:
        """Serial time over makespan."""
        return self.serial / self.makespan if self.makespan else 1.0

    @property
    def efficiency(self) -> float:
        """Speed-up over the number of operators that can run at once."""
        return self.speedup / self.machines

    @property
    def busy(self) -> int:
        """Time that streams were busy, summed."""
        return sum(stream.busy for stream in self.streams)

    @property
    def idle(self) -> int:
        """Time that streams were idle before the makespan, summed over all streams."""
        return sum(stream.idle for stream in self.streams)

    @property
    def utilisation(self) -> float:
        """Mean share of the makespan that a stream was busy."""
        return ratio(self.busy, self.busy + self.idle)

    @property
    def sm_utilisation(self) -> float | None:
        """Share of all SMs x makespan in use, over all devices that have SMs; None where none has or no time passed."""
        sms = [use for use in self.resources if use.resource == "sms"]
        whole = sum(use.capacity * use.span for use in sms)
        return sum(use.used for use in sms) / whole if whole else None

    @property
    def bandwidth_utilisation(self) -> float | None:
        """Share of all shared memory bandwidth x makespan in use; None where none is shared or no time passed."""
        whole = sum(use.rate * use.span for use in self.bandwidth)
        return sum(use.rate * use.used for use in self.bandwidth) / whole if whole else None

    @property
    def host_utilisation(self) -> float | None:
        """Share of the makespan that the busiest launching thread was busy; None where launches are free."""
        return max((use.utilisation for use in self.host), default=None)

    @property
    def parallelism(self) -> float:
        """Mean number of operators that run at once."""
        return ratio(self.busy, self.makespan)

    @property
    def balance(self) -> float:
        """Mean over largest busy time of the streams: 1 is perfect."""
        return load_balance(self.streams)

    @property
    def peak_bytes(self) -> int:
        """Peak of the device with the largest peak."""
        return max((device.peak for device in self.memory), default=0)


def metrics(run: Run, limits: tuple[Bound, ...] | None = None) -> Metrics:
    """Compute the figures of one run.

    Parameters
    ----------
    run : Result
        Or anything with ``problem``, ``trace``, ``memory`` and ``actual``.
    limits : tuple of Bound, optional
        The bounds of its problem, where they have been computed already: the runs of a comparison share them.

    Returns
    -------
    Metrics
    """
    problem, trace = run.problem, run.trace
    return Metrics(
        trace.makespan,
        serial_time(problem, run.actual),
        bounds(problem, actual=run.actual, memory=run.memory, proved=run.proved_ns) if limits is None else limits,
        sum(machines(problem, device) for device in range(len(problem.devices))),
        stream_use(run),
        resource_use(run),
        memory_use(run),
        bandwidth_notes(run),
        lost_time(run),
        bandwidth_use(run),
        copy_use(run),
        host_use(run),
    )


def serial_time(problem: Problem, actual: Sequence[Sequence[int]] | None = None) -> int:
    """Time of all operators one after the other, in ns.

    On the device where that is shortest, among those that may run them all; where no device may, each operator on
    its fastest device, transfers left out.
    """
    devices = range(len(problem.devices))
    columns = [problem.durations(device) for device in devices] if actual is None else actual
    whole = [device for device in devices if all(device in allowed for allowed in problem.allowed.values())]
    if whole:
        return min(sum(columns[device]) for device in whole)
    return sum(problem.least(columns))
