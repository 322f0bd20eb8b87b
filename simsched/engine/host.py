"""The host: when the launch of a dispatched operator has come through.

Each launching thread of the host launches one operator after the other, in the order in which they were dispatched.
Before it launches something in answer to a completion, it has to learn of that. The launch of a whole graph costs once.

Not modelled: a launch queue that runs full, threads that compete for locks of the driver, the host's other work.
"""

from __future__ import annotations

from simsched.graph.model import OpId
from simsched.hardware import Host


class Launches:
    """The launching threads of one run.

    Parameters
    ----------
    host : Host
    operators : int
        How many operators there are.

    Attributes
    ----------
    through : list of int
        By operator, when its launch is through, in ns; -1 until it is dispatched. Empty where launches are free.
    """

    def __init__(self, host: Host, operators: int) -> None:
        self._host = host
        self._free = [0] * host.threads
        self.through: list[int] = [] if host.mode == "free" else [-1] * operators

    def launch(self, op: OpId, stream: int, now: int) -> int:
        """Let the host launch an operator that is dispatched now; returns when that is through."""
        host = self._host
        if host.mode == "free":
            return now
        if host.mode == "graph":
            through = max(now, host.graph_ns)
        else:
            thread = stream % host.threads
            begin = max(self._free[thread], now + host.sync_ns if now else 0)
            self._free[thread] = through = begin + host.launch_ns
        self.through[op] = through
        return through
