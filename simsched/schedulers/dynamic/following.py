"""The policy that follows a plan step by step, watches how the run departs from it, and has the rest planned again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import Dispatch, StreamId, View
from simsched.schedulers.dynamic.replan import Planner, plan_rest, retimed
from simsched.schedulers.planning.begun import NOTHING, Begun
from simsched.schedulers.planning.compose import Pace
from simsched.schedulers.planning.partial import is_pool
from simsched.units import format_duration


class Record:
    """What a policy has dispatched and seen end, and when it expects the rest of that to end.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    stream : dict of int to int
        Stream of what has been dispatched, in the order of dispatches.
    done : bytearray
        1 for operators that have ended, by id.
    open : dict of int to None
        What has been dispatched and has not ended, in the order of dispatches.
    load : list of int
        How many of them each stream has.
    missing : list of int
        Predecessors that have not ended, by id.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.stream: dict[OpId, StreamId] = {}
        self.done = bytearray(len(problem.graph))
        self.open: dict[OpId, None] = {}
        self.load = [0] * len(problem.stream_device)
        self.missing = [len(pred) for pred in problem.graph.pred]
        self._start: dict[OpId, int] = {}
        self._end: dict[OpId, int] = {}
        self._dispatched: dict[OpId, int] = {}
        self._before: dict[OpId, OpId] = {}
        self._last: list[OpId] = [-1] * len(problem.stream_device)

    def dispatch(self, op: OpId, stream: StreamId, now: int) -> None:
        """Note a dispatch."""
        self.stream[op] = stream
        self.open[op] = None
        self.load[stream] += 1
        self._dispatched[op] = now
        self._before[op], self._last[stream] = self._last[stream], op

    def finish(self, op: OpId, now: int) -> None:
        """Note an end."""
        self._start[op] = min(now, self._earliest(op, self._end))
        self._end[op] = now
        self.done[op] = 1
        del self.open[op]
        self.load[self.stream[op]] -= 1
        for other in self._problem.graph.succ[op]:
            self.missing[other] -= 1

    def begun(self, view: View) -> Begun:
        """Return the state of the run: what has ended did so then, what is open ends when the estimates say so."""
        now, running = view.now, frozenset(view.running)
        start, end = dict(self._start), dict(self._end)
        for op in self.open:
            estimate = self._problem.durations(self._problem.stream_device[self.stream[op]])[op]
            began = self._earliest(op, end)
            start[op] = min(began, now) if op in running else max(began, now)
            end[op] = start[op] + estimate
            if op in running:
                # It is not there yet: what is overdue ends at any moment, but later than now.
                end[op] = max(end[op], now + 1)
        return Begun(now, dict(self.stream), start, end)

    def _earliest(self, op: OpId, end: dict[OpId, int]) -> int:
        """When an operator can have started: after its dispatch, the one before in its stream, and its inputs."""
        problem = self._problem
        device = problem.stream_device[self.stream[op]]
        times = [self._dispatched[op], end.get(self._before[op], 0)]
        for other in problem.graph.pred[op]:
            source = problem.stream_device[self.stream[other]]
            times.append(end[other] + problem.transfer_ns(other, op, source, device))
        return max(times)


class Following:
    """A policy that follows a plan and, where the run departs from it, the next one.

    Where streams alone are scarce, an operator is dispatched when it is next in its stream, its predecessors have ended
    and the stream has nothing else; ``ahead`` lets it wait there earlier. Where operators hold units of a device, it is
    dispatched when all has ended that should have ended by its start, as other plans are.

    Parameters
    ----------
    problem : Problem
    planner : Planner
    threshold : float
        Fraction of its expected duration by which an operator may end early or late.
    pause : float
        Fraction of what has not been dispatched that has to end between two plans.
    ahead : int
        Operators that may wait in a stream.

    Attributes
    ----------
    record : Record
        What has been dispatched and seen.
    plan : Plan
        The one that is followed now.
    made : int
        How often the planner has been asked.
    """

    def __init__(self, problem: Problem, planner: Planner, threshold: float, pause: float, ahead: int) -> None:
        self._problem = problem
        self._planner = planner
        self._threshold = threshold
        self._pause = pause
        self._ahead = ahead
        self._departed = False
        self._ended = 0
        self.record = Record(problem)
        self._paced = any(is_pool(problem, device) for device in range(len(problem.devices)))
        self._made_at = 0
        self.made = 1
        self.plan = planner.plan(problem)
        self._due = self._follow(NOTHING)

    def __call__(self, view: View) -> Iterable[Dispatch]:
        """Note what has ended, plan the rest again if need be, and dispatch what is due."""
        record, now = self.record, view.now
        for op in view.newly_finished:
            record.finish(op, now)
        self._ended += len(view.newly_finished)
        self._departed = self._departed or self._departs(view)
        left = len(record.done) - len(record.stream)
        if self._departed and left and self._ended >= self._pause * left:
            self._plan_again(view)
        reason = ""
        if view.explaining:
            at = format_duration(self._made_at, self._problem.graph.time_unit)
            reason = f"as planned anew at {at}" if self._made_at else "as planned"
        return [Dispatch(op, record.stream[op], reason) for op in self._due(now)]

    def _departs(self, view: View) -> bool:
        """Whether what has just ended or has not ended yet is further from the plan than it may be."""
        now, start, end, threshold = view.now, self.plan.start, self.plan.end, self._threshold
        late = [op for op in self.record.open if end[op] < now]
        # What takes no time has no duration to compare with; what kept it waiting has.
        return any(
            abs(now - end[op]) > threshold * (end[op] - start[op])
            for op in (*view.newly_finished, *late)
            if end[op] > start[op]
        )

    def _plan_again(self, view: View) -> None:
        begun = self.record.begun(view)
        old = retimed(self._problem, self.plan, begun)
        new = plan_rest(self._planner, self._problem, begun)
        self.made += 1
        self._made_at = view.now
        self._departed, self._ended = False, 0
        self.plan = new if new.makespan < old.makespan else old
        self._due = self._follow(begun)

    def _follow(self, begun: Begun) -> Callable[[int], list[OpId]]:
        """Return what notes as dispatched all that is due by the plan, and returns it."""
        if self._paced:
            return self._by_pace(Pace(self.plan, begun))
        return self._by_stream(begun)

    def _by_pace(self, pace: Pace) -> Callable[[int], list[OpId]]:
        record, stream_device = self.record, self._problem.stream_device

        def due(now: int) -> list[OpId]:
            chosen = pace.due(record.done)
            for op in chosen:
                stream = self.plan.stream[op]
                if record.load[stream]:
                    # Planned for a stream that is late: any other one of the device will do.
                    own = self._problem.device_streams[stream_device[stream]]
                    stream = next((other for other in own if not record.load[other]), stream)
                record.dispatch(op, stream, now)
            return chosen

        return due

    def _by_stream(self, begun: Begun) -> Callable[[int], list[OpId]]:
        record = self.record
        order = [op for op in self.plan.order if op not in begun.stream]
        place = {op: number for number, op in enumerate(order)}
        queues: list[list[OpId]] = [[] for _ in self._problem.stream_device]
        for op in reversed(order):
            queues[self.plan.stream[op]].append(op)

        def due(now: int) -> list[OpId]:
            chosen: list[OpId] = []
            seen = -1
            while seen < len(chosen):
                seen = len(chosen)
                for stream, queue in enumerate(queues):
                    while queue and self._can_go(queue[-1], stream):
                        op = queue.pop()
                        record.dispatch(op, stream, now)
                        chosen.append(op)
            return sorted(chosen, key=place.__getitem__)

        return due

    def _can_go(self, op: OpId, stream: StreamId) -> bool:
        """Whether the next operator of a stream is to be dispatched now."""
        record = self.record
        if not record.load[stream] and not record.missing[op]:
            return True
        # A predecessor that could still be planned for this stream, behind the operator, would never run.
        return record.load[stream] <= self._ahead > 0 and all(
            other in record.stream for other in self._problem.graph.pred[op]
        )
