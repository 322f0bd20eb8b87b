"""Which place of the input made one operator wait for another; for the message about a cycle."""

from __future__ import annotations

from collections.abc import Sequence

from simsched.errors import Fault
from simsched.graph.draft import Draft

SHOWN = 12


def cycle_fault(draft: Draft, cycle: Sequence[int]) -> Fault:
    """Return the fault for a cycle, with one related fault for each of its dependencies (the first twelve).

    Parameters
    ----------
    draft : Draft
    cycle : sequence of int
        Operator numbers, each a successor of the one before; the first follows the last.
    """
    pairs = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))[:SHOWN]
    links = [_link(draft, u, v) for u, v in pairs]
    place = links[0].path
    names = [draft.names[op] for op in cycle]
    if len(cycle) > SHOWN:
        left = len(cycle) - SHOWN
        names = [*names[:SHOWN], f"({left} more)"]
        following = _link(draft, cycle[SHOWN], cycle[(SHOWN + 1) % len(cycle)])
        links.append(Fault(f"and {left} more, from here on", following.path))
    text = " -> ".join([*names, names[0]])
    return Fault(f"the graph has a cycle: {text}", place, related=tuple(links))


def _link(draft: Draft, u: int, v: int) -> Fault:
    """Return where it says that ``v`` waits for ``u``: an edge, ``after``, a tensor, a buffer or ``inplace``."""
    source, target = draft.names[u], draft.names[v]
    arrow = f"{source} -> {target}"
    for number, pair in enumerate(zip(draft.sources, draft.targets, strict=True)):
        if pair == (source, target):
            return Fault(arrow, ("edges", number))
    for number, other, position in draft.after:
        if (number, other) == (v, source):
            return Fault(arrow, ("operators", v, "after", position))
    made = set(draft.outputs.get(u, ()))
    for position, name in enumerate(draft.inputs.get(v, ())):
        if name in made:
            return Fault(f"{arrow}, through tensor {name!r}", ("operators", v, "inputs", position))
    touched = {*draft.sparse["reads"].get(u, ()), *draft.sparse["writes"].get(u, ())}
    for key in ("reads", "writes"):
        for position, name in enumerate(draft.sparse[key].get(v, ())):
            if name in touched:
                return Fault(f"{arrow}, through buffer {name!r}", ("operators", v, key, position))
    for output, overwritten in draft.inplace.get(v, {}).items():
        return Fault(f"{arrow}, which overwrites {overwritten!r} in place", ("operators", v, "inplace", output))
    return Fault(arrow, ("operators", v))
