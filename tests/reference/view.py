"""What a policy may see of a run of the reference simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simsched.graph.model import OpId


class ReferenceView:
    """What a policy may see, looked up when it asks."""

    explaining = False

    def __init__(self, run: Any) -> None:
        self._run = run
        self.problem = run.problem
        self.now = run.now
        self.ready = [op for op in run.ops if run.is_ready(op) and not run.dispatched(op)]
        self.newly_ready = [op for op in self.ready if op not in run.seen_ready]
        self.newly_finished = sorted(run.finished - run.seen_finished)
        self.running = sorted(run.running)
        self.idle_streams = run.idle()

    def queue(self, stream: int) -> Sequence[OpId]:
        return tuple(self._run.waiting[stream])

    def free(self, device: int) -> Mapping[str, int]:
        return self._run.free_units(device)

    def live_bytes(self, device: int) -> int:
        return self._run.memory.live(device)

    def free_bytes(self, device: int) -> int | None:
        capacity = self.problem.devices[device].capacity
        if self._run.mode == "unbounded" or capacity is None:
            return None
        return capacity - self._run.memory.live(device)

    def memory_need(self, op: OpId, device: int) -> int:
        return self._run.memory.need(op, device)

    def memory_delta(self, op: OpId, device: int) -> int:
        return self._run.memory.delta(op, device)

    def arrival(self, op: OpId, device: int) -> int:
        return max([self._comes(before, op, device) for before in self.problem.graph.pred[op]], default=0)

    def _comes(self, before: OpId, op: OpId, device: int) -> int:
        """When a copy is through where it is; else as if it could start now, with the links to itself."""
        run = self._run
        here, ended = run.device_of(before), run.told.end[before]
        tensors = run.copies.carried(before, op, device) if here != device else []
        copies = [run.copies.all.get((tensor, device)) for tensor in tensors]
        delay = run.graph.delays.get((before, op), 0) if here != device else 0
        if all(copy is not None and copy.end >= 0 for copy in copies):
            return max([ended, *(copy.end for copy in copies)]) + delay
        return self.now + self.problem.transfer_ns(before, op, here, device)
