"""What a walk through a graph gives: the nodes that run, with their values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simsched.graph.onnx_import.values import Value

if TYPE_CHECKING:
    import onnx


@dataclass(eq=False, slots=True)
class Step:
    """One node that runs.

    Attributes
    ----------
    name : str
    node : NodeProto
    inputs, outputs : list of (Value or None)
        By slot; None where a slot is left out.
    extra : list of Value
        What the graphs inside it read beside its inputs: values from outside, and constants.
    bodies : list of Body
    """

    name: str
    node: onnx.NodeProto
    inputs: list[Value | None]
    outputs: list[Value | None]
    extra: list[Value] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Body:
    """A graph inside a control-flow node, and how often it runs."""

    name: str
    trips: int
    walk: Walk


@dataclass(eq=False, slots=True)
class Walk:
    """What walking through a graph gave."""

    steps: list[Step]
    inputs: list[Value]
    outputs: list[Value | None]
