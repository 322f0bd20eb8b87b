"""What a graph builder has collected and not yet checked as a whole: columns by insertion number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from simsched.errors import Fault, PathKey, suggest
from simsched.graph.model import TensorKind

MOST_HINTS = 100
SPARSE = (
    "device_durations", "attributes", "demands", "reads", "writes", "placement", "flops", "traffic", "workspace",
)  # fmt: skip


class TensorDraft(NamedTuple):
    """A declared tensor."""

    bytes: int
    shape: tuple[int, ...] | None
    dtype: str | None
    kind: TensorKind


@dataclass(slots=True)
class Draft:
    """Everything that was added to a builder.

    Attributes
    ----------
    index : dict
        Number by name; the first of two equal names.
    inputs, outputs : dict
        Tensor names by operator number, for operators that have any.
    alias, inplace : dict
        Outputs that share the buffer of an input, to that input, by operator number: views, and what is overwritten.
    sparse : dict
        The sparse columns of a graph, by operator number.
    after : list
        Operator number, name of its control predecessor, position in its ``after``.
    sources, targets : list of str
        Names at the ends of the edges.
    edge_bytes, edge_delays : dict
        By edge number.
    """

    faults: list[Fault] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    op_types: list[str] = field(default_factory=list)
    durations: list[int | None] = field(default_factory=list)
    inputs: dict[int, Sequence[str]] = field(default_factory=dict)
    outputs: dict[int, Sequence[str]] = field(default_factory=dict)
    alias: dict[int, Mapping[str, str]] = field(default_factory=dict)
    inplace: dict[int, Mapping[str, str]] = field(default_factory=dict)
    sparse: dict[str, dict[int, Any]] = field(default_factory=lambda: {key: {} for key in SPARSE})
    after: list[tuple[int, str, int]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    edge_bytes: dict[int, int] = field(default_factory=dict)
    edge_delays: dict[int, int] = field(default_factory=dict)
    tensors: dict[str, TensorDraft] = field(default_factory=dict)

    def index_names(self, first: int) -> None:
        """Enter the names from number ``first`` on into the index; a name that is there already is a fault."""
        added = self.names[first:]
        self.index.update(zip(reversed(added), range(len(self.names) - 1, first - 1, -1), strict=True))
        if len(self.index) < len(self.names):
            self.index.clear()
            for number, name in enumerate(self.names):
                if self.index.setdefault(name, number) != number and number >= first:
                    self.complain_twice(number, name)

    def give_edges(
        self, key: str, noun: str, column: dict[int, int], first: int, values: Sequence[int | None] | None
    ) -> None:
        """Give bytes or delays to the edges from number ``first`` on."""
        if values is None:
            return
        if len(values) != len(self.sources) - first:
            raise ValueError(f"{len(self.sources) - first} edges, but {len(values)} values of {key!r}")
        given = {number: value for number, value in enumerate(values, first) if value is not None}
        column.update(given)
        for number, value in given.items() if min(given.values(), default=0) < 0 else ():
            if value < 0:
                self.fault(f"a {noun} cannot be negative: {value}", ("edges", number, key))

    def hint(self, name: str, choices: Iterable[str]) -> str:
        """Return the nearest of the names that would do; only for the first faults, since it takes long."""
        return suggest(name, choices) if len(self.faults) < MOST_HINTS else "no more hints after so many faults"

    def complain_twice(self, number: int, name: str) -> None:
        """Record that an operator has the name of an earlier one."""
        first = Fault("first declared here", ("operators", self.index[name], "name"))
        self.fault(f"operator {name!r} is declared twice", ("operators", number, "name"), (first,))

    def fault(self, message: str, path: PathKey = (), related: tuple[Fault, ...] = ()) -> None:
        """Record something that is wrong."""
        self.faults.append(Fault(message, path, related=related))
