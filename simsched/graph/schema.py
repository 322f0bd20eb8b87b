"""The graph file: one schema for its two spellings, YAML and JSON. Importing this module imports pydantic.

Shapes and units are checked here, names and orders by the builder. Typed dictionaries rather than models, since a
graph may have a hundred thousand operators: they validate six times faster.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required

from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    TypeAdapter,
    ValidationInfo,
    WithJsonSchema,
    with_config,
)
from typing_extensions import TypedDict

from simsched.config.validation import shown
from simsched.graph.attributes import TIME_SCALES, TimeScale
from simsched.graph.quantities import NO_UNIT, read_duration, read_flops, read_macs, read_size, read_time
from simsched.graph.tensors import DTYPE_BITS
from simsched.graph.textfile import LARGEST

FORMAT = 1
DEEPEST_ATTRIBUTE = 50
_NESTING = frozenset({dict, list})

_STRICT = ConfigDict(extra="forbid", strict=True)
_EDGE = "an edge is [from, to], or {from: ..., to: ..., bytes: ..., delay: ...}"


# --- values ----------------------------------------------------------------------------------------------------


def _delay(value: Any, info: ValidationInfo) -> int:
    return read_time(value, info.context or NO_UNIT)


def _duration(value: Any, info: ValidationInfo) -> int | dict[str, int]:
    return read_duration(value, info.context or NO_UNIT)


def _format(value: Any) -> int:
    if type(value) is not int or value != FORMAT:
        raise ValueError(f"format {shown(value)} is not known; this simsched reads format {FORMAT}")
    return value


def _attributes(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse attributes nested so deeply that later steps could not follow; flat ones, the usual, at a glance."""
    level = [item for item in value.values() if type(item) in _NESTING]
    if not any(type(item) is dict or type(part) in _NESTING for item in level for part in item):
        return value
    for _ in range(DEEPEST_ATTRIBUTE):
        if not level:
            return value
        parts = (part for item in level for part in (item.values() if isinstance(item, dict) else item))
        level = [part for part in parts if type(part) in _NESTING]
    raise ValueError(f"nested more than {DEEPEST_ATTRIBUTE} levels deep")


def _quantity(description: str, example: str) -> WithJsonSchema:
    schema = {"type": ["integer", "number", "string"], "minimum": 0, "description": description}
    return WithJsonSchema(schema | {"examples": [example]})


_TIME_TEXT = "With a unit (ns, us, ms, s), or a plain number under the file's time_unit."
_TIME_SCHEMA = {"type": ["integer", "number", "string"], "minimum": 0, "description": _TIME_TEXT}
Name = Annotated[str, Field(strict=False, coerce_numbers_to_str=True, min_length=1)]
Delay = Annotated[Any, PlainValidator(_delay), WithJsonSchema(_TIME_SCHEMA)]
Duration = Annotated[
    Any,
    PlainValidator(_duration),
    WithJsonSchema({"anyOf": [_TIME_SCHEMA, {"type": "object", "additionalProperties": _TIME_SCHEMA}]}),
]
Size = Annotated[
    Any, PlainValidator(read_size), _quantity("Bytes; with a unit (4 MiB, 4 MB) or a plain number.", "4 MiB")
]
Flops = Annotated[Any, PlainValidator(read_flops), _quantity("Operations, 2 x multiply-adds.", "3.6 GFLOP")]
Macs = Annotated[Any, PlainValidator(read_macs), _quantity("Multiply-adds; 2 flops each.", "1.8 GMAC")]
Format = Annotated[int, PlainValidator(_format), WithJsonSchema({"const": FORMAT})]
Units = Annotated[int, Field(ge=0, le=LARGEST)]
Attributes = Annotated[dict[str, Any], AfterValidator(_attributes)]


# --- the file --------------------------------------------------------------------------------------------------


@with_config(_STRICT)
class OperatorSpec(TypedDict, total=False):
    """One operator."""

    name: Required[Annotated[Name, Field(description="Unique in the graph.")]]
    op_type: Annotated[Name, Field(description="Conv, MatMul, Relu, ...; decides the cost where no duration is given.")]
    duration: Annotated[Duration, Field(description="Time alone on a device, or a mapping of device to time.")]
    inputs: Annotated[list[Name], Field(description="Tensors that it reads, in its own order.")]
    outputs: Annotated[list[Name], Field(description="Tensors that it makes.")]
    attributes: Annotated[Attributes, Field(description="What the cost model may need: kernel_shape, group, ...")]
    demands: Annotated[dict[str, Units], Field(description="Units of renewable resources that it holds: {sms: 2}.")]
    reads: Annotated[list[Name], Field(description="Named buffers that it reads.")]
    writes: Annotated[list[Name], Field(description="Named buffers that it overwrites.")]
    after: Annotated[list[Name], Field(description="Operators that must finish first.")]
    device: Annotated[Name, Field(description="The only device that may run it.")]
    flops: Flops
    macs: Macs
    bytes: Annotated[Size, Field(description="Bytes moved to and from memory.")]
    workspace: Annotated[Size, Field(description="Bytes that live only while it runs.")]
    alias: Annotated[dict[Name, Name], Field(description="Outputs that are views of an input: {output: input}.")]
    inplace: Annotated[dict[Name, Name], Field(description="Outputs that overwrite an input: {output: input}.")]


@with_config(_STRICT)
class TensorSpec(TypedDict, total=False):
    """One tensor: its bytes, or shape and dtype."""

    name: Required[Annotated[Name, Field(description="Unique in the graph.")]]
    shape: list[Annotated[int, Field(ge=0)]]
    dtype: Annotated[str, Field(json_schema_extra={"enum": list(DTYPE_BITS)})]
    bytes: Size
    kind: Literal["activation", "input", "parameter", "output"]


EdgeSpec = TypedDict(
    "EdgeSpec",
    {
        "from": Required[Name],
        "to": Required[Name],
        "bytes": Annotated[Size, Field(description="Bytes that the edge carries; without them it only orders.")],
        "delay": Annotated[Delay, Field(description="Time that it costs between different devices.")],
    },
    total=False,
)
with_config(_STRICT)(EdgeSpec)


def _edge_form(value: Any) -> str | None:
    if isinstance(value, dict):
        return "<mapping>"
    return "<pair>" if isinstance(value, list) and len(value) == 2 else None


Edge = Annotated[
    Annotated[list[Name], Field(min_length=2, max_length=2), Tag("<pair>")] | Annotated[EdgeSpec, Tag("<mapping>")],
    Discriminator(_edge_form, custom_error_type="edge_form", custom_error_message=_EDGE),
]


@with_config(_STRICT)
class GraphSpec(TypedDict, total=False):
    """A computation graph for simsched."""

    simsched: Annotated[Format, Field(description="Version of this format; 1 where it is left out.")]
    name: Annotated[Name, Field(description="The file's name where it is left out.")]
    description: str
    source: Annotated[str, Field(description="Where the graph comes from.")]
    time_unit: Annotated[
        Literal["ns", "us", "ms", "s", "tick"],
        Field(description="Unit of plain numbers in durations and delays; a tick has no length in seconds."),
    ]
    operators: Required[list[OperatorSpec]]
    tensors: list[TensorSpec]
    edges: list[Edge]
    native: Annotated[dict[str, Units], Field(description="Resource capacities for hardware 'native'.")]
    notes: list[str]


ADAPTER: TypeAdapter[GraphSpec] = TypeAdapter(GraphSpec)


def time_scale(data: Any) -> TimeScale:
    """Return how the durations of a file are written; in ns where its ``time_unit`` is not valid."""
    unit = data.get("time_unit") if isinstance(data, dict) else None
    if unit is None:
        return NO_UNIT
    return TimeScale.named(unit if isinstance(unit, str) and unit in TIME_SCALES else "ns")


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of graph files, for editors."""
    schema = ADAPTER.json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "simsched graph"}
