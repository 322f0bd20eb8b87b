"""What an experiment file may say, and the strict reading of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from simsched import units
from simsched.errors import ConfigError, Fault
from simsched.hardware import DeviceModelName, LaunchMode
from simsched.noise import parse_noise
from simsched.placement import parse_rule
from simsched.problem import MemoryMode

if TYPE_CHECKING:
    from os import PathLike

Name = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1, le=100_000)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Scalar = int | float | str | bool


def _check_size(text: str) -> str:
    units.size(text)
    return text


def _check_noise(value: str | float) -> str | float:
    try:
        parse_noise(value)
    except ConfigError as error:
        raise ValueError(error.faults[0].message) from None
    return value


def _check_rule(text: str) -> str:
    try:
        parse_rule(text)
    except ConfigError as error:
        raise ValueError(error.faults[0].message) from None
    return text


def _check_file_name(text: str) -> str:
    if not all(char.isalnum() or char in "_-" for char in text):
        raise ValueError(f"{text!r} is not a plain name; use letters, digits, '_' and '-'")
    return text


Size = Annotated[str, AfterValidator(_check_size)]
PlaceRule = Annotated[str, AfterValidator(_check_rule)]
NoiseLevel = Annotated[str | float, AfterValidator(_check_noise)]
FileName = Annotated[Name, AfterValidator(_check_file_name)]


class Strict(BaseModel):
    """Forbids unknown keys, and never reads text as a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FileGraph(Strict):
    """A graph by name or path, with values for its symbolic dimensions; lists are swept."""

    graph: Name
    dims: dict[str, Count | list[Count]] = {}


class MadeGraph(Strict):
    """A graph from a generator; lists among its parameters are swept."""

    generate: Name
    parameters: dict[str, Scalar | list[Scalar]] = {}


class LaneSweep(Strict):
    """``lanes: [1, 2, 4]``: the short form ``lanes:N`` for each."""

    lanes: Count | list[Count]


class ProcSweep(Strict):
    """``procs: [1, 2, 4]``: the short form ``procs:N`` for each."""

    procs: Count | list[Count]


class Plot(Strict):
    """One picture of the table.

    Attributes
    ----------
    file : str
        Name of the picture, without ``.png``.
    kind : {"lines", "bars", "points"}
    x, y : str
        Columns.
    lines : str or list of str
        Columns whose values make one line (one colour of bars, of points) each.
    panels : str or None
        Column whose values make one panel each.
    references : list of str
        Columns drawn as thin lines beside ``y``: bounds and models.
    where : dict of str to value
        Rows to draw: those whose column has this value, or one of these.
    """

    file: FileName
    kind: Literal["lines", "bars", "points"] = "lines"
    title: str = ""
    x: Name
    y: Name
    lines: Name | list[Name] = "scheduler"
    panels: Name | None = None
    references: list[Name] = []
    where: dict[str, Scalar | list[Scalar]] = {}
    log_x: bool = False
    log_y: bool = False


class Experiment(Strict):
    """A grid: every graph on every hardware under every scheduler, in every mode, at every level, with every seed.

    Attributes
    ----------
    name : str
        Also the folder under ``results/``.
    description : str
        The question that it answers.
    failures : {"reported", "expected"}
        Whether a run that cannot be carried out makes the command fail, or is one of the answers.
    """

    name: FileName
    description: str = ""
    graphs: Name | FileGraph | MadeGraph | list[Name | FileGraph | MadeGraph]
    hardware: Name | LaneSweep | ProcSweep | list[Name | LaneSweep | ProcSweep]
    schedulers: Name | list[Name]
    streams: Count | list[Count] | None = None
    memory: MemoryMode | list[MemoryMode] = "unbounded"
    memory_capacity: Size | list[Size] | None = None
    launch: LaunchMode | list[LaunchMode] | None = None
    device_model: DeviceModelName | list[DeviceModelName] | None = None
    place: PlaceRule | list[PlaceRule] | None = None
    microbatches: Count | list[Count] | None = None
    noise: NoiseLevel | list[NoiseLevel] | None = None
    seeds: Seed | list[Seed] = 0
    cost_model: Name | None = None
    strict: bool = False
    failures: Literal["reported", "expected"] = "reported"
    plots: list[Plot] = []


def load_experiment(name_or_path: str | PathLike[str]) -> Experiment:
    """Read an experiment by name or path.

    Raises
    ------
    ConfigError, UnknownNameError
        If there is no such file, or it is malformed.
    """
    from pydantic import TypeAdapter

    from simsched.config import located, read_document, validate
    from simsched.data import find

    document = read_document(find("experiments", name_or_path))
    experiment = validate(document, TypeAdapter(Experiment))
    faults = list(_empty_lists(experiment))
    if faults:
        raise located(document, faults)
    return experiment


def _empty_lists(experiment: Experiment) -> Iterable[Fault]:
    """Find empty lists, which would make an empty grid without a word, and repeated values."""
    for key in (
        "graphs",
        "hardware",
        "schedulers",
        "streams",
        "memory",
        "memory_capacity",
        "launch",
        "device_model",
        "place",
        "microbatches",
        "noise",
        "seeds",
    ):
        value: Any = getattr(experiment, key)
        if isinstance(value, list) and not value:
            yield Fault("an empty list makes an empty grid; leave the key out, or name at least one value", (key,))
        elif isinstance(value, list) and len({str(item) for item in value}) < len(value):
            yield Fault("a value is given twice", (key,))


def listed(value: Any) -> list[Any]:
    """Return a list as it is, and a single value as a list of one."""
    return value if isinstance(value, list) else [value]
