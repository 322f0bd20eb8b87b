"""Scenario: everything about a run besides its graph and its scheduler, as it can be written down.

The command line and experiments say the same things in words (``--streams 4``, ``streams: [2, 4]``); this is where
words become a graph, hardware and a problem.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simsched.errors import ConfigError, Fault

if TYPE_CHECKING:
    from simsched.cost.base import CostModel
    from simsched.graph.model import Graph
    from simsched.hardware import DeviceModelName, HardwareProfile, LaunchMode
    from simsched.noise import Noise
    from simsched.problem import MemoryMode, Problem


@dataclass(frozen=True, slots=True)
class Scenario:
    """What shapes a run.

    Attributes
    ----------
    hardware : str
        Name, path or short form (``lanes:4``, ``procs:2``, ``native``).
    dims : mapping of str to int
        Values of symbolic dimensions.
    strict : bool
        Refuse graphs with operator types that the registry does not know.
    streams : int or None
        Streams of each device, instead of the profile's.
    memory : {"unbounded", "block", "strict"}
    memory_capacity : int or None
        Usable bytes of each device, instead of the profile's.
    microbatches : int or None
        Repeat the graph for so many microbatches.
    seed : int
        For schedulers that draw, and for noise.
    noise : Noise or None
    cost_model : str or None
        ``roofline``, ``roofline:tf32``, ``table:FILE``, ``table+roofline:FILE`` or ``package.module:function``.
    launch : {"free", "serial", "graph"} or None
        How kernels are launched, instead of the profile's way.
    device_model : {"lanes", "sm_share", "blocks"} or None
        How kernels share each device that has SMs, instead of the profile's choice.
    place : str or None
        Rule that fixes operators to devices, see :mod:`simsched.placement`; the scheduler chooses where there is none.
    """

    hardware: str
    dims: Mapping[str, int] = field(default_factory=dict)
    strict: bool = False
    streams: int | None = None
    memory: MemoryMode = "unbounded"
    memory_capacity: int | None = None
    microbatches: int | None = None
    seed: int = 0
    noise: Noise | None = None
    cost_model: str | None = None
    launch: LaunchMode | None = None
    device_model: DeviceModelName | None = None
    place: str | None = None

    def load_graph(self, name: str) -> Graph:
        """Load a graph by name or path, or make it (``chain(n=10)``), for this scenario."""
        from simsched.graph.io import load_graph

        return self.repeated(load_graph(name, dims=self.dims or None, strict=self.strict))

    def repeated(self, graph: Graph) -> Graph:
        """Return the graph for all microbatches."""
        if self.microbatches is None:
            return graph
        from simsched.graph.pipeline import microbatched

        return microbatched(graph, self.microbatches)

    def load_hardware(self, graph: Graph) -> HardwareProfile:
        """Load the hardware, with this scenario's streams, memory, device model and way to launch."""
        from simsched.profiles import load_hardware, with_launch, with_memory, with_model, with_streams

        hardware = load_hardware(self.hardware, graph)
        if self.streams is not None:
            hardware = with_streams(hardware, self.streams)
        if self.device_model is not None:
            hardware = with_model(hardware, self.device_model)
        if self.launch is not None:
            hardware = with_launch(hardware, self.launch)
        return hardware if self.memory_capacity is None else with_memory(hardware, self.memory_capacity)

    def problem(self, graph: Graph) -> Problem:
        """Cost a graph on this scenario's hardware, and place it if there is a rule.

        Raises
        ------
        InputError, UnknownNameError, CostError
            If the hardware, the cost model, the rule or a cost cannot be used.
        """
        from simsched.placement import placed_problem

        hardware, model = self.load_hardware(graph), load_cost_model(self.cost_model)
        return placed_problem(graph, hardware, model, self.place, seed=self.seed)

    def parameters(self) -> dict[str, Any]:
        """Return what differs from the defaults, for people and manifests; hardware and seed are always there."""
        found: dict[str, Any] = {"hardware": self.hardware, "seed": self.seed}
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            default = {} if item.name == "dims" else item.default
            if item.name not in found and value != default:
                found[item.name] = str(value) if item.name == "noise" else value
        return found


def load_cost_model(text: str | None) -> CostModel | None:
    """Find a cost model by its name.

    ``roofline``; ``roofline:tf32`` (fp32 products on TF32 units); ``table:FILE``; ``table+roofline:FILE`` (what is
    not in the table is left to the roofline); or ``package.module:function``.
    """
    if text is None or text == "roofline":
        return None
    kind, _, rest = text.partition(":")
    if text == "roofline:tf32":
        from simsched.cost.roofline import Roofline

        return Roofline(fp32_math="tf32")
    if kind in ("table", "table+roofline"):
        from simsched.cost.roofline import Roofline
        from simsched.cost.table_file import load_table

        return load_table(rest, Roofline() if kind == "table+roofline" else None)
    model = _import(text)
    if not callable(model):
        raise _not_a_model(text, f"it is {type(model).__name__}, which cannot be called")
    return model() if isinstance(model, type) else model  # type: ignore[no-any-return]


def _import(text: str) -> Any:
    from importlib import import_module

    module, _, name = text.partition(":")
    if not module or not name:
        raise _not_a_model(text, "write roofline, table:FILE or package.module:function")
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # the import of a user's module may raise anything
        raise _not_a_model(text, f"{type(error).__name__}: {error}") from error


def _not_a_model(text: str, why: str) -> ConfigError:
    return ConfigError(text, [Fault(f"cannot be used as a cost model: {why}")])
