"""From an experiment to its cells: one graph, hardware, scheduler, mode, level and seed each, in the file's order."""

from __future__ import annotations

import fnmatch
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simsched import units
from simsched.errors import ConfigError, Fault, SchedulerError, suggest
from simsched.experiment.schema import (
    Experiment,
    FileGraph,
    LaneSweep,
    MadeGraph,
    ProcSweep,
    Scalar,
    listed,
)
from simsched.graph.model import Graph
from simsched.noise import parse_noise
from simsched.output.records import RUN_COLUMNS
from simsched.scenario import Scenario

MOST_RUNS = 1_000_000
OPTIONAL_COLUMNS = ("launch", "device_model", "place")
"""What the table says only of experiments that set it."""
TEXT_COLUMNS = frozenset(
    {"graph", "hardware", "scheduler", "memory", "noise", "time_unit", "lower_bound", "error", *OPTIONAL_COLUMNS}
)


@dataclass(frozen=True, slots=True)
class GraphSpec:
    """One graph, by name or from a generator.

    Attributes
    ----------
    name : str
        Name, path or generator.
    made : bool
        Whether it comes from a generator.
    settings : tuple of (str, value)
        Dimensions, or parameters of the generator.
    """

    name: str
    made: bool = False
    settings: tuple[tuple[str, Scalar], ...] = ()

    @property
    def label(self) -> str:
        """What tables call it, e.g. ``chain(length=4)``."""
        inside = ", ".join(f"{key}={_text(value)}" for key, value in self.settings)
        return f"{self.name}({inside})" if inside or self.made else self.name

    def load(self, scenario: Scenario) -> Graph:
        """Load or generate the graph, repeated for the scenario's microbatches."""
        if not self.made:
            return scenario.load_graph(self.name)
        from simsched.graph.generators import generate

        return scenario.repeated(generate(self.label))


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of the grid, small enough to be sent to another process."""

    graph: GraphSpec
    scheduler: str
    scenario: Scenario

    def columns(self) -> dict[str, Any]:
        """Columns of the table that say which run this is."""
        scenario = self.scenario
        return {
            "graph": self.graph.label,
            "hardware": scenario.hardware,
            "scheduler": self.scheduler,
            "streams": scenario.streams,
            "memory": scenario.memory,
            "memory_capacity": scenario.memory_capacity,
            "microbatches": scenario.microbatches,
            "noise": None if scenario.noise is None else str(scenario.noise),
            "noise_level": 0.0 if scenario.noise is None else scenario.noise.level,
            "seed": scenario.seed,
            **{name: value for name in OPTIONAL_COLUMNS if (value := getattr(scenario, name)) is not None},
            **{f"graph.{key}": value for key, value in self.graph.settings},
        }


def cells_of(experiment: Experiment) -> list[Cell]:
    """Return every cell of an experiment's grid.

    Raises
    ------
    ConfigError
        If a pattern matches no graph, or a generator or scheduler is not known.
    """
    schedulers = _schedulers(experiment)
    axes: tuple[list[Any], ...] = (
        _graphs(experiment),
        list(_hardware(experiment)),
        listed(experiment.microbatches),
        listed(experiment.streams),
        listed(experiment.launch),
        listed(experiment.device_model),
        listed(experiment.place),
        [None if size is None else units.size(size) for size in listed(experiment.memory_capacity)],
        listed(experiment.memory),
        [parse_noise(level) for level in listed(experiment.noise)],
        listed(experiment.seeds),
        schedulers,
    )
    _check_size(experiment, math.prod(len(axis) for axis in axes))
    cells = []
    for combination in itertools.product(*axes):
        graph, hardware, microbatches, streams, launch, model, place, capacity, memory, noise, seed, scheduler = (
            combination
        )
        scenario = Scenario(
            hardware,
            {} if graph.made else {key: int(value) for key, value in graph.settings},
            experiment.strict,
            streams,
            memory,
            capacity,
            microbatches,
            seed,
            noise,
            experiment.cost_model,
            launch,
            model,
            place,
        )
        cells.append(Cell(graph, scheduler, scenario))
    return cells


def _check_size(experiment: Experiment, runs: int) -> None:
    if runs > MOST_RUNS:
        raise ConfigError(experiment.name, [Fault(f"the grid has {runs:,} runs; expected at most {MOST_RUNS:,}")])
    if not runs:
        raise ConfigError(experiment.name, [Fault("the grid is empty: a list of parameters, dims, lanes or procs is")])


def _schedulers(experiment: Experiment) -> list[str]:
    """Specs, each of which must be one that can be made."""
    from simsched.schedulers.registry import make_scheduler

    specs: list[str] = listed(experiment.schedulers)
    faults = []
    for number, spec in enumerate(specs):
        try:
            make_scheduler(spec)
        except SchedulerError as error:
            faults.append(Fault(str(error), ("schedulers", number)))
    if faults:
        raise ConfigError(experiment.name, faults)
    return specs


def _hardware(experiment: Experiment) -> Iterator[str]:
    for item in listed(experiment.hardware):
        if isinstance(item, LaneSweep):
            yield from (f"lanes:{count}" for count in listed(item.lanes))
        elif isinstance(item, ProcSweep):
            yield from (f"procs:{count}" for count in listed(item.procs))
        else:
            yield item


def _graphs(experiment: Experiment) -> list[GraphSpec]:
    found: list[GraphSpec] = []
    for number, item in enumerate(listed(experiment.graphs)):
        if isinstance(item, FileGraph):
            found += [GraphSpec(item.graph, False, settings) for settings in _combinations(item.dims)]
        elif isinstance(item, MadeGraph):
            _check_generator(experiment, number, item)
            found += [GraphSpec(item.generate, True, settings) for settings in _combinations(item.parameters)]
        else:
            found += [GraphSpec(name) for name in _matching(experiment, number, item)]
    return found


def _combinations(parameters: Mapping[str, Any]) -> Iterator[tuple[tuple[str, Scalar], ...]]:
    values = [listed(value) for value in parameters.values()]
    for combination in itertools.product(*values):
        yield tuple(zip(parameters, combination, strict=True))


def _matching(experiment: Experiment, number: int, pattern: str) -> Sequence[str]:
    """Return a name, or every known graph that a pattern with ``*`` or ``?`` matches."""
    if not any(char in pattern for char in "*?["):
        return [pattern]
    from simsched.data import names

    if "/" in pattern:
        from glob import glob

        matches = sorted(glob(pattern))
    else:
        matches = fnmatch.filter(names("graphs"), pattern)
    if not matches:
        raise ConfigError(experiment.name, [Fault(f"no graph matches {pattern!r}", ("graphs", number))])
    return matches


def _check_generator(experiment: Experiment, number: int, item: MadeGraph) -> None:
    from simsched.graph.generators import generator_names

    known = generator_names()
    if item.generate not in known:
        fault = Fault(
            f"unknown generator {item.generate!r}; {suggest(item.generate, known)}", ("graphs", number, "generate")
        )
        raise ConfigError(experiment.name, [fault])


def check_plots(experiment: Experiment, cells: Sequence[Cell]) -> None:
    """Refuse pictures of columns that the table will not have, before anything is computed.

    Raises
    ------
    ConfigError
        With all of them, and the nearest column of each.
    """
    columns = list(dict.fromkeys([*(key for cell in cells for key in cell.columns()), *RUN_COLUMNS]))
    faults = []
    for number, plot in enumerate(experiment.plots):
        wanted = [("x", plot.x), ("y", plot.y), *(("lines", name) for name in listed(plot.lines))]
        wanted += [("references", name) for name in plot.references] + [("where", name) for name in plot.where]
        wanted += [("panels", plot.panels)] if plot.panels else []
        for key, column in wanted:
            if column not in columns:
                message = f"the table has no column {column!r}; {suggest(column, columns)}"
                faults.append(Fault(message, ("plots", number, key)))
            elif key in ("y", "references") and column in TEXT_COLUMNS:
                faults.append(Fault(f"column {column!r} holds text; expected numbers", ("plots", number, key)))
    if faults:
        raise ConfigError(experiment.name, faults)
