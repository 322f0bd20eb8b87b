"""Options that several commands share, and the types of their values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from simsched.errors import ConfigError, suggest
from simsched.problem import MEMORY_MODES
from simsched.profiles.variants import DEVICE_MODELS, LAUNCH_MODES
from simsched.scenario import Scenario

if TYPE_CHECKING:
    from simsched.problem import MemoryMode

Command = TypeVar("Command", bound=Callable[..., Any])


# These bases became generic only in click 8.2 and 8.4; older ones do as well.
class Word(click.Choice):  # type: ignore[type-arg]
    """One of a few words; a wrong one is answered with the nearest."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """List the words."""
        return f"expected one of: {', '.join(map(str, self.choices))}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word."""
        if value not in self.choices:
            self.fail(f"{value!r} is not a choice; {suggest(str(value), map(str, self.choices))}", param, ctx)
        return str(value)


class SizeType(click.ParamType):  # type: ignore[type-arg]
    """A capacity such as ``24 GiB``."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return bytes."""
        from simsched import units

        if isinstance(value, int):
            return value
        try:
            size = units.size(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if not size:
            self.fail(f"expected a positive size such as '24 GiB', got {value!r}", param, ctx)
        return size


class WholeType(click.ParamType):  # type: ignore[type-arg]
    """A whole number between two limits."""

    name = "number"

    def __init__(self, lowest: int, highest: int) -> None:
        self.lowest = lowest
        self.highest = highest

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        text = str(value)
        if not (text.isascii() and text.isdigit() and len(text) < 20 and self.lowest <= int(text) <= self.highest):
            self.fail(f"expected a whole number from {self.lowest} to {self.highest}, got {text!r}", param, ctx)
        return int(text)


class DimType(click.ParamType):  # type: ignore[type-arg]
    """A symbolic dimension and its value, ``batch=8``."""

    name = "name=number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Return the name and the number."""
        if isinstance(value, tuple):
            return value
        name, equals, number = value.partition("=")
        digits = number.isascii() and number.isdigit()
        if not name or not equals or not digits or len(number) >= 20 or not int(number):
            self.fail(f"{value!r} is not a name and a positive whole number; write for example batch=8", param, ctx)
        return name, int(number)


class NoiseType(click.ParamType):  # type: ignore[type-arg]
    """A noise level, see :mod:`simsched.noise`."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a Noise or None."""
        from simsched.noise import parse_noise

        try:
            return parse_noise(value)
        except ConfigError as error:
            self.fail(error.faults[0].message, param, ctx)


class PlaceType(click.ParamType):  # type: ignore[type-arg]
    """A placement rule, see :mod:`simsched.placement`."""

    name = "rule"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the rule as it is written, when it is one."""
        from simsched.placement import parse_rule

        try:
            parse_rule(value)
        except ConfigError as error:
            self.fail(error.faults[0].message, param, ctx)
        return str(value)


def stack(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Make one decorator of several options, shown in ``--help`` in this order."""

    def apply(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return apply


graphs_argument = click.argument("graphs", nargs=-1, metavar="GRAPH...")
hardware_option = click.option(
    "--hardware", "-H", metavar="NAME", help="Profile name or file, lanes:4, procs:4, or native."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON for machines, one object a line.")
output_option = click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write tables, traces and pictures.",
)


def _option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    return click.option(*names, **settings)


_MODES = "unbounded: record the peak; block: wait for room; strict: refuse to exceed."
_LAUNCHES = "free: launches cost the host nothing; serial: one after the other; graph: all at once."
_PLACES = 'Fix operators to devices: fastest, round_robin, balanced, contiguous, or "Conv*=gpu; *=cpu".'
DIM_HELP = "Value of a symbolic dimension of an ONNX model: batch=8. May be repeated."
_SEED = WholeType(0, 2**63 - 1)
_MANY = WholeType(1, 100_000)

scenario_options = stack(
    hardware_option,
    _option("--dim", "dims", type=DimType(), multiple=True, metavar="NAME=N", help=DIM_HELP),
    _option("--strict", is_flag=True, help="Refuse operator types of unknown cost."),
    _option("--streams", type=_MANY, metavar="N", help="Streams of each device. Default: the profile's."),
    _option(
        "--memory",
        type=Word(MEMORY_MODES),
        metavar="MODE",
        help=f"{_MODES} Default: unbounded, or block with a capacity.",
    ),
    _option("--memory-capacity", type=SizeType(), metavar="SIZE", help='Usable memory of each device: "24 GiB".'),
    _option("--launch", type=Word(LAUNCH_MODES), metavar="MODE", help=f"{_LAUNCHES} Default: the profile's."),
    _option(
        "--device-model",
        type=Word(DEVICE_MODELS),
        metavar="MODEL",
        help=f"How kernels share a device: {', '.join(DEVICE_MODELS)}. Default: the profile's.",
    ),
    _option("--place", type=PlaceType(), metavar="RULE", help=_PLACES),
    _option(
        "--microbatches",
        type=_MANY,
        metavar="M",
        help="Repeat the graph for M microbatches: parts of a batch, which share its parameters.",
    ),
    _option("--seed", type=_SEED, default=0, metavar="N", help="For noise and random choices. Default: 0."),
    _option(
        "--noise",
        type=NoiseType(),
        metavar="LEVEL",
        help="Actual durations are the estimates times a random factor: 0.2, lognormal(0.2), uniform(0.2).",
    ),
    _option(
        "--cost-model",
        metavar="NAME",
        help="How long operators take: roofline, table:FILE, or package.module:function. Default: roofline.",
    ),
)
check_option = click.option(
    "--no-check",
    "check",
    is_flag=True,
    default=True,
    flag_value=False,
    help="Leave out the referee, which checks every run.",
)


def need_graphs(graphs: tuple[str, ...]) -> None:
    """Refuse an empty list of graphs, and say what to write."""
    if not graphs:
        ctx = click.get_current_context()
        raise click.UsageError(
            "no graph given; name one or more, for example: inception_v1 ('simsched list graphs')", ctx
        )


_SCENARIO_NAMES = (
    "strict", "streams", "memory_capacity", "microbatches", "seed", "noise", "cost_model", "launch", "device_model",
    "place",
)  # fmt: skip


def make_scenario(options: dict[str, Any]) -> Scenario:
    """Take the scenario's options out of a command's."""
    hardware = options.pop("hardware")
    if not hardware:
        message = "no hardware given; write for example --hardware a100_sxm_80gb or --hardware lanes:4"
        raise click.UsageError(f"{message} ('simsched list hardware')", click.get_current_context())
    dims = dict(options.pop("dims"))
    memory = options.pop("memory") or ("unbounded" if options["memory_capacity"] is None else "block")
    rest = {name: options.pop(name) for name in _SCENARIO_NAMES}
    return Scenario(hardware, dims, memory=cast("MemoryMode", memory), **rest)
