"""The schema of profile files. Figures read as ``80 GiB @tag``; everything else is a choice of the model.

Imported only when a profile is read, because pydantic is.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, TypeAdapter

from simsched import units
from simsched.hardware import DeviceKind, DeviceModelName, LaunchMode, LinkSharing, ThreadLaw
from simsched.profiles.figures import UNKNOWN, Parsed, bits, fraction, identifier, part, ratio, reader, size, whole

Count = Annotated[Parsed, PlainValidator(reader(whole, "108"), json_schema_input_type=int | str)]
Size = Annotated[Parsed, PlainValidator(reader(size, "80 GiB"), json_schema_input_type=str)]
Bandwidth = Annotated[Parsed, PlainValidator(reader(units.bandwidth, "2039 GB/s"), json_schema_input_type=str)]
Rate = Annotated[Parsed, PlainValidator(reader(units.flops, "312 TFLOP/s"), json_schema_input_type=str)]
Clock = Annotated[Parsed, PlainValidator(reader(units.frequency, "1410 MHz"), json_schema_input_type=str)]
Time = Annotated[Parsed, PlainValidator(reader(units.duration, "2.6 us"), json_schema_input_type=str)]
Share = Annotated[Parsed, PlainValidator(reader(fraction, "0.8"), json_schema_input_type=float | str)]
Part = Annotated[Parsed, PlainValidator(reader(part, "0.05"), json_schema_input_type=float | str)]
Ratio = Annotated[Parsed, PlainValidator(reader(ratio, "3.6"), json_schema_input_type=float | str)]
Bits = Annotated[Parsed, PlainValidator(reader(bits, "5120 bit"), json_schema_input_type=str)]
Name = Annotated[str, AfterValidator(identifier)]
Priority = Annotated[int, Field(ge=-1000, le=1000)]

# The default of every figure, read as if the file said so.
NOTHING: Any = UNKNOWN


class Section(BaseModel):
    """A mapping with fixed keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, validate_default=True)


class SourceSection(Section):
    """Where figures come from."""

    kind: Literal["measured", "datasheet", "derived", "illustrative"]
    cite: Annotated[str, Field(min_length=1)]


class RatesSection(Section):
    """Peaks by dtype, dense."""

    fp64: Rate = NOTHING
    fp32: Rate = NOTHING
    tf32: Rate = NOTHING
    fp16: Rate = NOTHING
    bf16: Rate = NOTHING
    fp8: Rate = NOTHING
    fp4: Rate = NOTHING
    int32: Rate = NOTHING
    int16: Rate = NOTHING
    int8: Rate = NOTHING
    int4: Rate = NOTHING


class MultiplyAddsSection(Section):
    """Multiply-adds per matrix unit and clock, by dtype."""

    fp64: Count = NOTHING
    fp32: Count = NOTHING
    tf32: Count = NOTHING
    fp16: Count = NOTHING
    bf16: Count = NOTHING
    fp8: Count = NOTHING
    fp4: Count = NOTHING
    int8: Count = NOTHING
    int4: Count = NOTHING


class PeaksSection(Section):
    """Peaks of the vector units and of the matrix units."""

    vector: RatesSection = Field(default_factory=RatesSection)
    matrix: RatesSection = Field(default_factory=RatesSection)


class ClocksSection(Section):
    """The clocks at which the peaks hold; they may differ."""

    vector: Clock = NOTHING
    matrix: Clock = NOTHING


class UnitsSection(Section):
    """Arithmetic units of one SM."""

    vector_lanes: Count = NOTHING
    matrix_units: Count = NOTHING
    matrix_fma: MultiplyAddsSection = Field(default_factory=MultiplyAddsSection)


class MemorySection(Section):
    """Device memory."""

    capacity: Size = NOTHING
    usable: Size = NOTHING
    bandwidth: Bandwidth = NOTHING
    clock: Clock = NOTHING
    bus: Bits = NOTHING


class LimitsSection(Section):
    """What fits on one SM at a time."""

    warps: Count = NOTHING
    threads: Count = NOTHING
    blocks: Count = NOTHING
    registers: Count = NOTHING
    shared_memory: Size = NOTHING
    shared_memory_block: Size = NOTHING
    warp_size: Count = NOTHING


class EfficiencySection(Section):
    """Fractions of the peaks that good kernels reach."""

    matrix: Share = NOTHING
    vector: Share = NOTHING
    bandwidth: Share = NOTHING


class ThreadsSection(Section):
    """Cores that one operator takes, and how much faster they make it."""

    per_operator: Annotated[int, Field(ge=1, le=100_000)]
    law: ThreadLaw
    serial: Part | None = None
    table: dict[str, Ratio] = Field(default_factory=dict)
    core_bandwidth: Bandwidth = NOTHING


class DeviceSection(Section):
    """One device."""

    name: Name
    kind: DeviceKind
    model: DeviceModelName
    streams: Annotated[int, Field(ge=1, le=100_000)]
    sms: Count = NOTHING
    cores: Count = NOTHING
    units: UnitsSection = Field(default_factory=UnitsSection)
    clocks: ClocksSection = Field(default_factory=ClocksSection)
    peaks: PeaksSection = Field(default_factory=PeaksSection)
    efficiency: EfficiencySection = Field(default_factory=EfficiencySection)
    memory: MemorySection = Field(default_factory=MemorySection)
    l2: Size = NOTHING
    sm_limits: LimitsSection | None = None
    max_resident_kernels: Count = NOTHING
    copy_engines: Count = NOTHING
    launch: Time = NOTHING
    launch_in_graph: Time = NOTHING
    resources: dict[Name, Count] = Field(default_factory=dict)
    stream_priorities: list[Priority] = Field(default_factory=list)
    threads: ThreadsSection | None = None


class LinkSection(Section):
    """A link between two devices or switches."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    latency: Time = NOTHING
    bandwidth: Bandwidth = NOTHING
    sharing: LinkSharing = "full_duplex"


class HostSection(Section):
    """The host that launches kernels."""

    launch: Time = NOTHING
    mode: LaunchMode = "free"
    threads: Annotated[int, Field(ge=1, le=100_000)] = 1
    graph_launch: Time = NOTHING
    sync: Time = NOTHING
    event: Time = NOTHING


class ProfileSection(Section):
    """A whole profile file."""

    name: Name | None = None
    description: str = ""
    sources: dict[Name, SourceSection] = Field(default_factory=dict)
    devices: Annotated[list[DeviceSection], Field(min_length=1)]
    switches: list[Name] = Field(default_factory=list)
    links: list[LinkSection] = Field(default_factory=list)
    host: HostSection = Field(default_factory=HostSection)


ADAPTER = TypeAdapter(ProfileSection)
