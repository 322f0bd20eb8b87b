"""The table cost model: durations that were measured, by operator name, or by operator type and output shape.

:mod:`simsched.cost.table_file` reads tables from files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from simsched.cost.base import CostModel, KernelCost
from simsched.cost.footprint import footprint, sms_held
from simsched.cost.peaks import find_peak
from simsched.cost.registry import work_of
from simsched.errors import CostError
from simsched.graph.model import Graph, OpId
from simsched.hardware import Device

Shape = tuple[int, ...]
LISTED = 20


class Key(NamedTuple):
    """What a row of a table is about; None matches anything.

    Attributes
    ----------
    operator : str or None
        Its name.
    op_type : str or None
    shape : tuple of int or None
        Of its first output.
    device : str or None
    """

    operator: str | None = None
    op_type: str | None = None
    shape: Shape | None = None
    device: str | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """Measured durations as a cost model.

    The row that says most decides: operator name before operator type with shape before operator type; and among
    these, one for the device before one for any device. A measured duration includes the launch.

    Parameters
    ----------
    durations : mapping of Key to int
        Nanoseconds.
    source : str
        What messages call the table.
    fallback : CostModel, optional
        Asked for operators that are not in the table. Without one, they are an error that lists all of them.

    Examples
    --------
    >>> from simsched.graph.builder import GraphBuilder
    >>> builder = GraphBuilder("pair")
    >>> names = builder.add_op("a", "Conv"), builder.add_op("b", "Relu")
    >>> table = Table({Key(op_type="Conv"): 700, Key("b"): 11})
    >>> [table(builder.build(), op, Device("d0")).duration for op in (0, 1)]
    [700, 11]
    """

    durations: Mapping[Key, int]
    source: str = "table"
    fallback: CostModel | None = None

    def __call__(self, graph: Graph, op: OpId, device: Device) -> KernelCost:
        """Return the measured cost of one operator on one device.

        Raises
        ------
        CostError
            If the table has no row for it and there is no fallback; lists every operator that lacks one. A view,
            which runs no kernel, needs no row.
        """
        work = work_of(graph, op)
        workspace = graph.workspace.get(op, 0)
        duration = self.find(graph, op, device)
        if duration is None:
            if self.fallback is not None:
                return self.fallback(graph, op, device)
            if work.unit != "none":
                raise CostError(self._missing(graph, device))
            return KernelCost(0, workspace=workspace, bound="none")
        peak = find_peak(device, work.unit, work.dtype) if work.flops else None
        occupied = footprint(graph, op, work, device, peak)
        # Of the whole that was measured, the last wave takes the part that it would of what is computed.
        tail = int(duration * occupied.tail / occupied.compute) if occupied.tail else 0
        return KernelCost(
            duration=duration,
            flops=work.flops,
            bytes=work.bytes,
            sms=sms_held(graph, op, device, occupied, duration),
            workspace=workspace,
            bound="measured",
            known=work.known,
            grid=occupied.grid,
            block=occupied.block,
            tail_ns=tail,
            peak_ns=occupied.peak_ns,
        )

    def find(self, graph: Graph, op: OpId, device: Device) -> int | None:
        """Return the duration of the row that says most about an operator, or None."""
        return next((self.durations[key] for key in _keys(graph, op, device) if key in self.durations), None)

    def _missing(self, graph: Graph, device: Device) -> str:
        """List every operator that the table would be asked for and does not know, by type."""
        asked = [op for op in graph.without_duration if work_of(graph, op).unit != "none"]
        by_type: dict[str, list[OpId]] = {}
        for op in asked:
            if self.find(graph, op, device) is None:
                by_type.setdefault(graph.op_types[op], []).append(op)
        missing = sum(map(len, by_type.values()))
        lines = [
            f"{self.source}: no duration for {missing} of {len(asked)} operators on device {device.name!r}; "
            "add rows for them, or fall back to another cost model"
        ]
        for op_type, ops in by_type.items():
            shown = ", ".join(_shown(graph, op) for op in ops[:LISTED])
            more = f" and {len(ops) - LISTED} more" if len(ops) > LISTED else ""
            lines.append(f"  {len(ops)} {op_type}: {shown}{more}")
        return "\n".join(lines)


def _keys(graph: Graph, op: OpId, device: Device) -> Iterator[Key]:
    name, op_type, shape = graph.names[op], graph.op_types[op], output_shape(graph, op)
    for here in (device.name, None):
        yield Key(operator=name, device=here)
    if shape is not None:
        for here in (device.name, None):
            yield Key(op_type=op_type, shape=shape, device=here)
    for here in (device.name, None):
        yield Key(op_type=op_type, device=here)


def output_shape(graph: Graph, op: OpId) -> Shape | None:
    """Return the shape of an operator's first output, or None where it is not known."""
    outputs = graph.outputs[op]
    shape = graph.tensor_shapes[outputs[0]] if outputs else None
    return None if shape is None else tuple(shape)


def _shown(graph: Graph, op: OpId) -> str:
    shape = output_shape(graph, op)
    size = f" ({'x'.join(map(str, shape))})" if shape else ""
    return f"{graph.names[op]!r}{size}"
