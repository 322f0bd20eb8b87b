"""What is free now, less what a policy has given away in the same call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simsched.graph.model import OpId
from simsched.problem import Problem
from simsched.schedulers.base import View

Demands = Sequence[Mapping[OpId, Mapping[str, int]]]
"""Demands by device and operator, for operators that have any."""


class Budget:
    """Tracks streams, resource units and bytes while a policy decides about one instant.

    Parameters
    ----------
    view : View
    demands : mapping
        Demands per device and operator, prepared once per run by :func:`prepare_demands`.
    """

    def __init__(self, view: View, demands: Demands) -> None:
        self._view = view
        self._problem = view.problem
        devices = range(len(view.problem.devices))
        self._streams: list[list[int]] = [[] for _ in devices]
        for stream in reversed(view.idle_streams):
            self._streams[view.problem.stream_device[stream]].append(stream)
        for described, idle in zip(view.problem.devices, self._streams, strict=True):
            limit = described.max_resident_kernels
            if limit is not None:
                # One more than may be resident would only wait in its stream, and others could not pass it there.
                room = max(limit - (described.streams - len(idle)), 0)
                del idle[: max(len(idle) - room, 0)]
        self._free = [dict(view.free(device)) for device in devices]
        self._bytes = [view.free_bytes(device) for device in devices]
        self._demands = demands

    @property
    def streams_left(self) -> bool:
        """Whether any idle stream is left that could start an operator now."""
        return any(self._streams)

    def has_units(self, op: OpId) -> bool:
        """Whether some device has an idle stream and the units that the operator demands, memory aside."""
        return any(self._has_units(op, device) for device in self._problem.allowed_devices(op))

    def fits(self, op: OpId, device: int) -> bool:
        """Whether a ready operator could start on a device at this instant."""
        if not self._has_units(op, device):
            return False
        left = self._bytes[device]
        return left is None or self._view.memory_need(op, device) <= left

    def _has_units(self, op: OpId, device: int) -> bool:
        if not self._streams[device]:
            return False
        free = self._free[device]
        return all(units <= free[resource] for resource, units in self._demands[device].get(op, {}).items())

    def best_device(self, op: OpId) -> int | None:
        """Return the device on which the operator would end first among those that it fits, or None; ties: first."""
        problem = self._problem
        best, best_end = None, 0
        for device in problem.allowed_devices(op):
            if self.fits(op, device):
                end = max(self._view.now, self._view.arrival(op, device)) + problem.durations(device)[op]
                if best is None or end < best_end:
                    best, best_end = device, end
        return best

    def take(self, op: OpId, device: int) -> int:
        """Give the operator what it needs; returns the stream, the lowest idle one of the device."""
        free = self._free[device]
        for resource, units in self._demands[device].get(op, {}).items():
            free[resource] -= units
        left = self._bytes[device]
        if left is not None:
            self._bytes[device] = left - self._view.memory_need(op, device)
        return self._streams[device].pop()


def prepare_demands(problem: Problem) -> Demands:
    """Demands per device and operator, for operators that have any."""
    return [problem.demands_on(device) for device in range(len(problem.devices))]
