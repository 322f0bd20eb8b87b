"""Work of control-flow operators, whose bodies travel in an attribute as rows of plain data.

``bodies`` is a list of ``{"name", "trips", "operators"}``; an operator is ``{"op_type", "attributes", "inputs",
"outputs"}``, and a tensor ``[name, bytes, shape, dtype]``. The rule: a body costs the sum of its operators, times
its trips; of several bodies (the branches of an ``If``) the dearest counts, by flops and then by bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simsched.cost.work import CannotCount, Work, unknown
from simsched.graph.model import Operator, Tensor, TensorKind

BODIES = "bodies"


def body_work(op: Operator, work: Callable[[Operator], Work]) -> Work:
    """Count a control-flow operator.

    Parameters
    ----------
    op : Operator
        With an attribute ``bodies``.
    work : callable
        Counts one operator of a body.
    """
    try:
        totals = [_body_total(op, body, work) for body in op.attributes[BODIES]]
        return max(totals, key=lambda total: (total.flops, total.bytes), default=unknown(op, "it has no body"))
    except (CannotCount, KeyError, TypeError, ValueError) as error:
        return unknown(op, f"attribute 'bodies' cannot be read: {error!r}")


def _body_total(op: Operator, body: Mapping[str, Any], work: Callable[[Operator], Work]) -> Work:
    trips = body["trips"]
    parts = [work(body_operator(row)) for row in body["operators"]]
    unknown_types = sorted(
        {row["op_type"] for row, part in zip(body["operators"], parts, strict=True) if not part.known}
    )
    leader = max(parts, key=lambda part: (part.flops, part.bytes), default=Work(0, 0, 0, "none"))
    return Work(
        flops=trips * sum(part.flops for part in parts),
        bytes_read=trips * sum(part.bytes_read for part in parts),
        bytes_written=trips * sum(part.bytes_written for part in parts),
        unit=leader.unit,
        known=not unknown_types,
        dtype=leader.dtype,
        tiles=leader.tiles,
        elements=leader.elements,
        reason=f"no rule for {', '.join(map(repr, unknown_types))} in its body" if unknown_types else "",
    )


def body_operator(row: Mapping[str, Any]) -> Operator:
    """Turn a row of a body into an operator that a rule can read."""
    return Operator(
        id=-1,
        name=row.get("name", ""),
        op_type=row["op_type"],
        duration=None,
        inputs=tuple(map(_tensor, row["inputs"])),
        outputs=tuple(map(_tensor, row["outputs"])),
        attributes=row.get("attributes", {}),
        demands={},
        reads=(),
        writes=(),
        device=None,
    )


def _tensor(row: Sequence[Any]) -> Tensor:
    name, size, shape, dtype = row
    return Tensor(name, size, None if shape is None else tuple(shape), dtype, TensorKind.ACTIVATION, None, ())
