"""Live bytes of a sequential order of operators, without a run.

One operator a step. A tensor is live from its producer's step to its last consumer's, both included; one that
nobody reads, in its producer's step alone; a graph output to the end. Parameters and graph inputs are live
throughout, workspace in its operator's step. Tensors that share a buffer count once, as long as any of them is live. A
run on one stream of a single device has exactly this memory. To find the order with the smallest peak is NP-hard
(Sethi, "Complete register allocation problems", SIAM J. Comput. 4, 1975, doi:10.1137/0204020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simsched.graph.lifetimes import buffer_readers, use_counts
from simsched.graph.model import OpId
from simsched.problem import Problem


@dataclass(frozen=True, slots=True)
class Liveness:
    """Live bytes of one sequential order.

    Attributes
    ----------
    order : tuple of int
        Operators in the order in which they run.
    live : tuple of int
        Bytes live in each step, the persistent ones included.
    persistent : int
        Bytes of parameters and graph inputs, live in all steps.
    final : int
        Bytes live after the last step: the persistent ones and the graph outputs.
    """

    order: tuple[OpId, ...]
    live: tuple[int, ...]
    persistent: int
    final: int

    @property
    def peak(self) -> int:
        """Most bytes live in any step; the persistent bytes where there is no step."""
        return max(self.live, default=self.persistent)

    @property
    def peak_step(self) -> int | None:
        """First step in which the peak is reached; None where there is no step."""
        return self.live.index(self.peak) if self.live else None


def sequence_liveness(problem: Problem, order: Sequence[OpId] | None = None, device: int = 0) -> Liveness:
    """Live bytes in each step of a sequential order.

    Parameters
    ----------
    problem : Problem
    order : sequence of int, optional
        Every operator once, in an order that the dependencies allow; by id, which is one, by default.
    device : int
        Device that runs them all; decides the workspace.

    Returns
    -------
    Liveness

    Raises
    ------
    ValueError
        If the order leaves out or repeats operators, or runs one before a predecessor.
    """
    graph = problem.graph
    steps = tuple(range(len(graph))) if order is None else tuple(order)
    _check_order(problem, steps)
    position = [0] * len(graph)
    for step, op in enumerate(steps):
        position[op] = step
    change = [0] * (len(steps) + 1)
    persistent = 0
    readers, uses = buffer_readers(graph), use_counts(graph)
    final = 0
    for buffer, size in enumerate(graph.stored_bytes):
        if graph.tensor_kinds[buffer].persistent:
            persistent += size
            continue
        first = last = position[graph.tensor_producer[buffer]]
        change[first] += size
        if uses[buffer] > len(readers[buffer]):
            final += size
        else:
            last = max((position[op] for op in readers[buffer]), default=first)
            change[last + 1] -= size
    live = []
    held = persistent
    for step, op in enumerate(steps):
        held += change[step]
        live.append(held + problem.workspace(op, device))
    return Liveness(steps, tuple(live), persistent, persistent + final)


def _check_order(problem: Problem, order: Sequence[OpId]) -> None:
    graph = problem.graph
    if sorted(order) != list(range(len(graph))):
        raise ValueError(f"an order names each of the {len(graph)} operators of {graph.name!r} once")
    done = bytearray(len(graph))
    for op in order:
        for before in graph.pred[op]:
            if not done[before]:
                raise ValueError(f"{graph.names[op]!r} comes before its predecessor {graph.names[before]!r}")
        done[op] = 1
