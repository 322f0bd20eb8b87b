"""What a graph builder has collected and not yet checked as a whole: columns by insertion number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from simsched.errors import Fault, PathKey
from simsched.graph.model import TensorKind

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
    sparse: dict[str, dict[int, Any]] = field(default_factory=lambda: {key: {} for key in SPARSE})
    after: list[tuple[int, str, int]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    edge_bytes: dict[int, int] = field(default_factory=dict)
    edge_delays: dict[int, int] = field(default_factory=dict)
    tensors: dict[str, TensorDraft] = field(default_factory=dict)

    def fault(self, message: str, path: PathKey = (), related: tuple[Fault, ...] = ()) -> None:
        """Record something that is wrong."""
        self.faults.append(Fault(message, path, related=related))
