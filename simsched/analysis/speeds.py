"""How fast each kernel ran when, and with whom it shared its device, from the problem and the trace alone.

On ``sm_share`` the bodies of kernels share the bandwidth, on ``blocks`` cohorts of blocks share arithmetic and
bandwidth, on ``lanes`` nothing is shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from simsched.analysis.shared_bandwidth import Piece, SharedBandwidth
from simsched.analysis.shared_sms import SharedSms
from simsched.analysis.usage import Run
from simsched.analysis.waves import grid_of
from simsched.graph.model import OpId


class Speeds:
    """The speeds of one run; each device is looked at when it is first asked for.

    Parameters
    ----------
    run : Run
    device : sequence of int
        Device that ran each operator.
    """

    def __init__(self, run: Run, device: Sequence[int]) -> None:
        self._run, self._device = run, device
        self._problem, self._trace = run.problem, run.trace
        self._shared: dict[int, SharedBandwidth] = {}
        self._blocks: dict[int, SharedSms] = {}

    def alone(self, op: OpId) -> int:
        """What an operator takes alone in this run, in ns: at most what it took."""
        device, took = self._device[op], self._trace.end[op] - self._trace.start[op]
        if self._problem.devices[device].model == "lanes":
            return took
        columns = self._run.actual
        return min((self._problem.durations(device) if columns is None else columns[device])[op], took)

    def body(self, op: OpId) -> int:
        """When the launch gap of an operator was over."""
        return self._trace.start[op] + self._problem.launch_part(op, self._device[op], self.alone(op))

    def pieces(self, op: OpId) -> list[Piece]:
        """How fast an operator ran from the end of its launch gap to its end: contiguous, in order of time."""
        begin, end = self.body(op), self._trace.end[op]
        device = self._device[op]
        if end <= begin:
            return []
        model = self._problem.devices[device].model
        if model == "sm_share":
            return list(_joined(self.shared(device).pieces(op, begin, end)))
        if model == "blocks":
            return list(_joined(self.blocks(device).pieces(op, begin, end)))
        return [Piece(begin, end)]

    def sharers(self, op: OpId, time: int, limit: str) -> list[tuple[OpId, float]]:
        """With whom an operator shared what slowed it from an instant on, largest share first.

        Parameters
        ----------
        op : int
        time : int
            ns.
        limit : {"bandwidth", "arithmetic"}

        Returns
        -------
        list of (int, float)
            The others that drew from it then, and which part of the whole they got.
        """
        device = self._device[op]
        model = self._problem.devices[device].model
        if model == "lanes":
            return []
        found = self.shared(device).drawing(time) if model == "sm_share" else self.blocks(device).drawing(time, limit)
        return sorted(((other, part) for other, part in found if other != op), key=lambda row: (-row[1], row[0]))

    def bandwidth(self, device: int) -> Iterator[tuple[int, float, float]]:
        """Yield, after each change, the time, and which part of the bandwidth was wanted and given."""
        model = self._problem.devices[device].model
        if model == "sm_share":
            yield from self.shared(device).loads()
        elif model == "blocks":
            yield from self.blocks(device).loads()

    def shared(self, device: int) -> SharedBandwidth:
        """Shared bandwidth of a device of model ``sm_share``."""
        known = self._shared.get(device)
        if known is None:
            problem, trace, bodies = self._problem, self._trace, []
            for op in (op for op, owner in enumerate(self._device) if owner == device):
                alone = self.alone(op)
                draw = problem.draw(op, device, alone)
                if draw:
                    begin = trace.start[op] + problem.launch_part(op, device, alone)
                    bodies.append((op, begin, trace.end[op], draw))
            known = self._shared[device] = SharedBandwidth(bodies)
        return known

    def blocks(self, device: int) -> SharedSms:
        """Shared SMs of a device of model ``blocks``."""
        known = self._blocks.get(device)
        if known is None:
            rows = [row for row in self._trace.cohorts if self._device[row.op] == device]
            ops = dict.fromkeys(row.op for row in rows)
            grids = {op: grid_of(self._problem, op, device, self.alone(op)) for op in ops}
            known = self._blocks[device] = SharedSms(rows, grids, {op: self.body(op) for op in ops})
        return known


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Join pieces in which nothing differs but the time."""
    last: Piece | None = None
    for piece in pieces:
        if last is not None and piece[2:] == last[2:]:
            last = last._replace(end=piece.end)
        else:
            if last is not None:
                yield last
            last = piece
    if last is not None:
        yield last
