"""One operator at a time: the reference that speed-ups are measured against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from simsched.problem import Problem
from simsched.schedulers.base import Dispatch, Policy, View


@dataclass(frozen=True, slots=True)
class Serial:
    """Operators one at a time, in the graph's order, each on its device with the least total work.

    With several devices all operators go to the device on which the whole graph takes least; an operator that may
    not run there goes to the first device that it may run on.
    """

    def start(self, problem: Problem) -> Policy:
        """Choose the device of each operator."""
        return _SerialPolicy(problem, serial_devices(problem))


class _SerialPolicy:
    def __init__(self, problem: Problem, devices: list[int]) -> None:
        self._count = len(problem.graph)
        self._streams = [problem.device_streams[device][0] for device in devices]
        self._next = 0

    def __call__(self, view: View) -> Iterable[Dispatch]:
        if self._next == self._count or view.running or len(view.idle_streams) < len(view.problem.stream_device):
            return ()
        op = self._next
        self._next += 1
        return (Dispatch(op, self._streams[op], "the next in the graph's order" if view.explaining else ""),)


def serial_devices(problem: Problem) -> list[int]:
    """Device of each operator when the graph runs one operator at a time."""
    count = len(problem.graph)
    if len(problem.devices) == 1:
        return [0] * count
    able = [sum(device in problem.allowed_devices(op) for op in range(count)) for device in range(len(problem.devices))]
    total = [sum(problem.durations(device)) for device in range(len(problem.devices))]
    best = min(range(len(problem.devices)), key=lambda device: (-able[device], total[device], device))
    return [best if best in problem.allowed_devices(op) else problem.allowed_devices(op)[0] for op in range(count)]
