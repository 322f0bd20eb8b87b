"""Operators of one device that cannot run side by side: together they exceed what there is of some resource.

Where every two of a set exclude each other, they run one after the other. The solver sees that of each resource by
itself; a set whose pairs exclude each other for different reasons has to be told.
"""

from __future__ import annotations

from itertools import pairwise

from simsched.graph.model import OpId
from simsched.problem import Problem


def cliques(problem: Problem, device: int) -> list[list[OpId]]:
    """Sets of three or more operators that run one after the other on a device, each set ascending.

    For each operator one set that has it, grown greedily by what is longest; a path of the graph alone is none.

    Parameters
    ----------
    problem : Problem
    device : int
    """
    demands, durations = problem.demands_on(device), problem.durations(device)
    described = problem.devices[device]
    ops = [op for op in sorted(demands) if durations[op]]
    if not 3 <= len(ops) <= MOST:
        return []
    before = _ancestors(problem)
    exclude: dict[OpId, set[OpId]] = {op: set() for op in ops}
    shared = False
    for number, op in enumerate(ops):
        for other in ops[:number]:
            needs = demands[other]
            full = any(units + needs.get(name, 0) > described.resources[name] for name, units in demands[op].items())
            shared = shared or full
            if full or before[op] >> other & 1:
                exclude[op].add(other)
                exclude[other].add(op)
    if not shared:
        return []
    longest = sorted(ops, key=lambda op: (-durations[op], op))
    found = {tuple(_grown(op, longest, exclude)): None for op in ops}
    return [list(clique) for clique in found if len(clique) > 2 and not _is_path(clique, before)]


MOST = 400
"""Operators beyond which sets are not looked for; the search grows with the square."""


def _grown(first: OpId, longest: list[OpId], exclude: dict[OpId, set[OpId]]) -> list[OpId]:
    clique = [first]
    for op in longest:
        if op != first and all(other in exclude[op] for other in clique):
            clique.append(op)
    return sorted(clique)


def _is_path(clique: tuple[OpId, ...], before: list[int]) -> bool:
    return all(before[after] >> op & 1 for op, after in pairwise(clique))


def _ancestors(problem: Problem) -> list[int]:
    """Of each operator, the set of all that must end before it, as the bits of a number."""
    found: list[int] = []
    for predecessors in problem.graph.pred:
        bits = 0
        for op in predecessors:
            bits |= found[op] | 1 << op
        found.append(bits)
    return found
