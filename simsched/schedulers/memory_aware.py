"""Memory-aware list scheduling: as parallel as a memory target allows, and never into a dead end."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from simsched.errors import SchedulerError
from simsched.graph.lifetimes import buffer_readers, frugal_order
from simsched.graph.model import OpId
from simsched.graph.ranks import b_level
from simsched.problem import Problem
from simsched.schedulers.base import Dispatch, Policy, View
from simsched.schedulers.budget import Budget, prepare_demands
from simsched.schedulers.listing import dynamic_list_policy, list_policy
from simsched.schedulers.safe_state import SafeState
from simsched.units import format_duration, format_size

REACH = 32
"""Ready operators that are looked at for each decision: the first ones, and as many of the frugal order."""


@dataclass(frozen=True, slots=True)
class MemoryAware:
    """Longest path first while memory is ample; what frees most first as it tightens.

    The target is the peak of a frugal sequential order (the better of the graph's own order and a greedy one), plus
    ``slack``, and never more than the device's capacity. An operator starts early only if, once everything that has
    started is done, the rest of the frugal order still fits below the target
    (:mod:`simsched.schedulers.safe_state`). So on one device, whenever the frugal order itself fits the capacity, the
    peak is at most the target and the run cannot come to a state in which nothing fits: with any streams, demands and
    limits on resident kernels, in every memory mode, and whatever the actual durations are. Where the frugal order
    does not fit, the run goes on in that order as far as it can.

    On several devices there is no such guarantee: each device's capacity is respected where it can be, and what frees
    most goes first when a device is tight.

    Parameters
    ----------
    slack : float
        Fraction of the sequential peak that may be spent on parallelism, 0 to 1e9.
    tight : float
        Memory counts as tight when less than this fraction of the target is free, 0 to 1.
    """

    slack: float = 0.0
    tight: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.slack <= 1e9:
            raise SchedulerError(f"memory_aware: slack must be between 0 and 1e9, got {self.slack}")
        if not 0 <= self.tight <= 1:
            raise SchedulerError(f"memory_aware: tight must be between 0 and 1, got {self.tight}")

    def start(self, problem: Problem) -> Policy:
        """Find the frugal order, its peak and the ranks."""
        graph = problem.graph
        rank = b_level(graph, problem.shortest_durations())
        if not problem.needs_memory:
            unit = graph.time_unit
            return list_policy(
                problem, rank, lambda op: f"no memory to save; b-level {format_duration(rank[op], unit)}"
            )
        if len(problem.devices) > 1:
            return _several_devices(rank, self.tight)
        workspace = [problem.workspace(op) for op in range(len(graph))]
        order, peak = frugal_order(graph, workspace)
        target = int(peak * (1 + self.slack))
        capacity = problem.devices[0].capacity
        if capacity is not None:
            target = min(target, capacity)
        return _SafePolicy(problem, SafeState(graph, workspace, order, target), rank, target, self.tight)


class _SafePolicy:
    """One device: list scheduling that stays in safe states."""

    def __init__(self, problem: Problem, state: SafeState, rank: Sequence[int], target: int, tight: float) -> None:
        self._demands = prepare_demands(problem)
        self._state = state
        self._rank = rank
        self._target = target
        self._tight = tight
        self._streams = problem.devices[0].streams
        self._readers = buffer_readers(problem.graph)
        # Ready operators twice: longest path first, and what frees most first (with the delta that it is sorted by).
        self._by_rank: list[tuple[int, OpId]] = []
        self._by_delta: list[tuple[int, int, OpId]] = []
        self._delta: dict[OpId, int] = {}

    def __call__(self, view: View) -> Iterable[Dispatch]:
        for op in view.newly_ready:
            insort(self._by_rank, (-self._rank[op], op))
            self._sort_by_delta(op)
        budget = Budget(view, self._demands)
        idle = len(view.idle_streams) == self._streams
        live = view.live_bytes(0)
        if not idle:  # what has been dispatched and has not started yet will need its bytes too
            live += sum(view.memory_need(op, 0) for stream in range(self._streams) for op in view.queue(stream))
        chosen: list[Dispatch] = []
        while self._by_rank and budget.streams_left:
            tight = live > (1 - self._tight) * self._target
            picked = self._pick(budget, view, live, tight)
            if picked is None:
                break
            live += view.memory_need(picked, 0)
            reason = self._reason(live, tight) if view.explaining else ""
            chosen.append(Dispatch(picked, budget.take(picked, 0), reason))
            self._start(picked)
        if not chosen and idle and self._by_rank:
            chosen = self._forced(budget, view)
        return chosen

    def _pick(self, budget: Budget, view: View, live: int, tight: bool) -> OpId | None:
        """The first ready operator in the order of the moment that fits and keeps the state safe."""
        for op in self._candidates(tight):
            fits = live + view.memory_need(op, 0) <= self._target and budget.fits(op, 0)
            if fits and self._state.allows(op):
                return op
        return None

    def _candidates(self, tight: bool) -> list[OpId]:
        """The first ready operators of the order of the moment, and where there are more, of the frugal order."""
        first = [op for *_, op in (self._by_delta if tight else self._by_rank)[:REACH]]
        if len(first) == len(self._by_rank):
            return first
        known = frozenset(first)
        soon = (op for op in self._state.soon() if op in self._delta and op not in known)
        return [*first, *islice(soon, REACH)]

    def _sort_by_delta(self, op: OpId) -> None:
        """Put a ready operator where it belongs by what it would free now."""
        if op in self._delta:
            del self._by_delta[bisect_left(self._by_delta, (self._delta[op], -self._rank[op], op))]
        self._delta[op] = self._state.delta(op)
        insort(self._by_delta, (self._delta[op], -self._rank[op], op))

    def _start(self, op: OpId) -> None:
        del self._by_rank[bisect_left(self._by_rank, (-self._rank[op], op))]
        del self._by_delta[bisect_left(self._by_delta, (self._delta.pop(op), -self._rank[op], op))]
        for buffer in self._state.start(op):
            # Its last reader would free it now.
            for reader in self._readers[buffer]:
                if reader in self._delta:
                    self._sort_by_delta(reader)

    def _forced(self, budget: Budget, view: View) -> list[Dispatch]:
        """Nothing runs or waits, and nothing fits: go on in the frugal order, whatever it takes."""
        op = self._state.following
        if not budget.fits(op, 0) and view.free_bytes(0) is None:
            return []
        self._start(op)
        reason = "nothing fits the memory target; next in the frugal order"
        return [Dispatch(op, view.idle_streams[0], reason)]

    def _reason(self, live: int, tight: bool) -> str:
        use = f"{format_size(live)} of {format_size(self._target)}"
        return f"memory tight ({use}): frees most" if tight else f"memory ample ({use}): longest path"


def _several_devices(rank: Sequence[int], tight: float) -> Policy:
    """Longest path first; on a device that is tight, what frees most first."""

    def key(op: OpId, view: View) -> tuple[float, float]:
        devices = range(len(view.problem.devices))
        capacities = [view.problem.devices[device].capacity for device in devices]
        cramped = [
            device
            for device in view.problem.allowed_devices(op)
            if capacities[device] is not None and view.live_bytes(device) > (1 - tight) * (capacities[device] or 0)
        ]
        freed = min((view.memory_delta(op, device) for device in cramped), default=0)
        return (freed, -rank[op])

    return dynamic_list_policy(key)
