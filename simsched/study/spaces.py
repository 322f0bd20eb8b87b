"""Where a duel may search, from what is written on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simsched.errors import ConfigError, Fault, suggest
from simsched.graph.io import load_graph
from simsched.problem import make_problem
from simsched.profiles import load_hardware
from simsched.study.instance import VARY, Instance, Space, Vary, instance_of

MOST_OPERATORS = 64
STEPS = 100
"""Steps of time of the longest duration, unless a graph of whole ticks says otherwise."""
STEP_NS = 1000


def make_space(
    hardware: Sequence[str], *, graph: str | None = None, vary: Sequence[str] = (), operators: int = 8
) -> Space:
    """Make the space of a search.

    Parameters
    ----------
    hardware : sequence of str
        Names of hardware, one of which each instance runs on.
    graph : str, optional
        Name, path or generator of the graph to begin with.
    vary : sequence of str
        What may be changed, of :data:`VARY`; everything by default. What the hardware has no room for is left out.
    operators : int
        Operators of the largest instance, where the graph has no more.

    Raises
    ------
    ConfigError, UnknownNameError, CostError
        If a name is not known, the graph is too large, or nothing is left that may vary.
    """
    profiles = tuple((name, load_hardware(name)) for name in hardware)
    ideal = all(name.startswith(("lanes:", "procs:")) for name in hardware)
    space = Space(profiles, VARY, operators, STEPS, 1 if ideal else STEP_NS, "tick" if ideal else "ns")
    if graph is not None:
        space = _from_graph(space, graph)
    kept = _kept(space, vary)
    if not kept:
        message = f"nothing is left to vary: one kind of hardware without room for {', '.join(vary)}"
        raise ConfigError("duel", [Fault(message)])
    return replace(space, vary=kept)


def _kept(space: Space, vary: Sequence[str]) -> tuple[Vary, ...]:
    for kind in vary:
        if kind not in VARY:
            raise ConfigError("duel", [Fault(f"{kind!r} is nothing that can vary; {suggest(kind, VARY)}")])
    room = {
        "unlike": space.places > 1,
        "delays": space.places > 1,
        "demands": any(space.resources(number) for number in range(len(space.hardware))),
        "hardware": len(space.hardware) > 1,
    }
    asked = vary or VARY
    return tuple(kind for kind in VARY if kind in asked and room.get(kind, True))


def _from_graph(space: Space, name: str) -> Space:
    """Begin with a graph, in its own unit and, where it counts in ticks, in its own numbers."""
    graph = load_graph(name)
    if not 2 <= len(graph) <= MOST_OPERATORS:
        message = f"has {len(graph)} operators; a duel begins with 2 to {MOST_OPERATORS}"
        raise ConfigError(name, [Fault(message)])
    problem = make_problem(graph, space.hardware[0][1])
    longest = max(max(problem.durations(device)) for device in range(len(problem.devices)))
    step = 1 if graph.time_unit == "tick" else max(1, longest // STEPS)
    start: Instance = instance_of(problem, space.places, step)
    most = max(STEPS, *map(max, start.durations), *(delay for _, _, delay in start.edges))
    return replace(space, most=max(space.most, len(start)), longest=most, step=step, unit=graph.time_unit, start=start)
