"""Waits of operators for the consent of their devices, while they are open and once they are over."""

from __future__ import annotations

from simsched.graph.model import OpId
from simsched.trace import Wait, WaitReason


class Waits:
    """Who waits for what since when.

    Attributes
    ----------
    open : dict
        By operator: for what, since when (ns), and words for it.
    over : list of Wait
        Waits that lasted some time, in the order in which they ended.
    """

    __slots__ = ("open", "over")

    def __init__(self) -> None:
        self.open: dict[OpId, tuple[WaitReason, int, str]] = {}
        self.over: list[Wait] = []

    def reason(self, op: OpId) -> WaitReason | None:
        """What an operator waits for; None where it does not."""
        known = self.open.get(op)
        return None if known is None else known[0]

    def begin(self, op: OpId, reason: WaitReason, now: int, detail: str) -> None:
        """Let an operator wait; one that waits already for something else does so no longer."""
        known = self.open.get(op)
        since = now
        if known is not None:
            if known[1] < now:
                self.over.append(_wait(op, known, now))
            else:
                since = self._taken_back(op, reason, now)
        self.open[op] = (reason, since, detail)

    def _taken_back(self, op: OpId, reason: WaitReason, now: int) -> int:
        """When the wait began that ended now only for one of no length; ``now`` where there is none."""
        for place in range(len(self.over) - 1, -1, -1):
            wait = self.over[place]
            if wait.end < now:
                break
            if wait.op == op and wait.reason == reason:
                del self.over[place]
                return wait.start
        return now

    def end(self, op: OpId, now: int) -> None:
        """End an operator's wait, if it has one."""
        known = self.open.pop(op, None)
        if known is not None and known[1] < now:
            self.over.append(_wait(op, known, now))


def _wait(op: OpId, known: tuple[WaitReason, int, str], now: int) -> Wait:
    """Make a wait, without the check of arguments that Wait(...) makes, which takes as long as all the rest."""
    return tuple.__new__(Wait, (op, known[0], known[1], now, known[2]))
