"""Outputs that share the buffer of an input: checked while a graph is built, and what overwriting orders.

A view (``alias``) has the bytes of its input; an output made in place (``inplace``) overwrites them. Whoever reads the
old value must have finished before it is overwritten, so an operator that works in place waits for the other readers of
its input and of the input's views: a write after read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from simsched.errors import Fault, suggest
from simsched.graph.model import OpId, TensorId, TensorKind

if TYPE_CHECKING:
    from simsched.graph.draft import Draft
    from simsched.graph.tensors import TensorTable


class Shared(NamedTuple):
    """For each output that shares a buffer, the input whose buffer it is: views, and what is made in place."""

    aliases: dict[TensorId, TensorId]
    inplace: dict[TensorId, TensorId]


def collect_shared(draft: Draft, table: TensorTable) -> Shared:
    """Resolve what operators say about shared buffers; faults are recorded in the draft."""
    shared = Shared({}, {})
    for key, given, found in (("alias", draft.alias, shared.aliases), ("inplace", draft.inplace, shared.inplace)):
        for number, pairs in given.items():
            for output, source in pairs.items():
                place = ("operators", number, key, output)
                message = _refused(draft, table, number, output, source)
                if message:
                    draft.fault(message, place)
                elif table.index[output] in shared.aliases:
                    draft.fault(f"{output!r} is stated under 'alias' too; a view overwrites nothing", place)
                else:
                    found[table.index[output]] = table.index[source]
    if not draft.faults:
        _check_overwrites(draft, table, shared)
    return Shared(dict(sorted(shared.aliases.items())), dict(sorted(shared.inplace.items())))


def _refused(draft: Draft, table: TensorTable, number: int, output: str, source: str) -> str:
    """Why an output cannot share the buffer of an input; empty where it can."""
    name = draft.names[number]
    for noun, given, known in (("output", output, draft.outputs), ("input", source, draft.inputs)):
        names = known.get(number, ())
        if given not in names:
            hint = suggest(given, names) if names else f"it has no {noun}s"
            return f"operator {name!r} has no {noun} {given!r}; {hint}"
    mine, theirs = table.bytes[table.index[output]], table.bytes[table.index[source]]
    if mine > theirs:
        return f"{output!r} has {mine} B and cannot share the buffer of {source!r}, which has {theirs} B"
    return ""


def _check_overwrites(draft: Draft, table: TensorTable, shared: Shared) -> None:
    """Refuse to overwrite what the graph returns, and to overwrite a value twice."""
    values = _values(shared, table.names)
    first: dict[TensorId, TensorId] = {}
    for output, source in sorted(shared.inplace.items(), key=lambda pair: table.producer[pair[0]]):
        place = ("operators", table.producer[output], "inplace", table.names[output])
        members = values[_value_of(shared.aliases, source)]
        for member in members:
            if table.kinds[member] is TensorKind.OUTPUT:
                text = f"{table.names[member]!r} is an output of the graph and cannot be overwritten in place"
                draft.fault(text, place)
        earlier = first.setdefault(members[0], output)
        if earlier != output:
            where = ("operators", table.producer[earlier], "inplace", table.names[earlier])
            makers = [repr(draft.names[table.producer[tensor]]) for tensor in (earlier, output)]
            text = f"{table.names[source]!r} is overwritten by {makers[0]} and again by {makers[1]}"
            hint = "the second can only overwrite what the first has made"
            draft.fault(f"{text}; {hint}", place, (Fault("first overwritten here", where),))


def _value_of(aliases: Mapping[TensorId, TensorId], tensor: TensorId) -> TensorId:
    """Follow views back to the tensor that made their value. A cycle among them is reported elsewhere."""
    for _ in range(len(aliases)):
        if tensor not in aliases:
            break
        tensor = aliases[tensor]
    return tensor


def _values(shared: Shared, tensors: Sequence[str]) -> list[list[TensorId]]:
    """For each tensor that made a value: itself and all views of it, ascending; for views, nothing."""
    values = [[tensor] for tensor in range(len(tensors))]
    for view in shared.aliases:
        values[view] = []
    for view in shared.aliases:
        values[_value_of(shared.aliases, view)].append(view)
    return values


def overwrites(
    shared: Shared, names: Sequence[str], producers: Sequence[OpId], consumers: Sequence[Sequence[OpId]]
) -> Iterator[tuple[OpId, OpId, TensorId]]:
    """Yield who must have read before whom, and the tensor that is overwritten.

    Parameters
    ----------
    shared : Shared
    names : sequence of str
        Of the tensors.
    producers, consumers : sequences
        Of each tensor.
    """
    values = _values(shared, names) if shared.inplace else []
    for output, source in shared.inplace.items():
        writer = producers[output]
        readers = {op: None for tensor in values[_value_of(shared.aliases, source)] for op in consumers[tensor]}
        for reader in sorted(readers):
            if reader != writer:
                yield reader, writer, source
