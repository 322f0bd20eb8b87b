"""How good the estimates are that a scheduler sees: exact, means of types, nothing, noisy, or the user's own.

The truth of a run is never touched: only the problem that a scheduler plans on is another one. The modes are those of
J. Beránek, S. Böhm, V. Cima, "Analysis of workflow schedulers in simulated distributed environments", Journal of
Supercomputing 78, 2022, doi:10.1007/s11227-022-04438-y, and noise beside them. Only durations are changed; sizes of
tensors stay known.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Sequence

from simsched.cost.base import KernelCost
from simsched.cost.table_file import load_table
from simsched.errors import ConfigError, SchedulerError, UnknownNameError
from simsched.noise import Noise, actual_durations
from simsched.problem import Problem

Columns = Sequence[Sequence[int]]
"""Durations in ns by device and operator; what an operator takes where it may not run is not looked at."""
Info = Callable[[Problem, int], Columns]
"""``info(problem, seed)``: the durations that a scheduler sees."""

MODES = ("exact", "mean", "blind", "noisy")
DEFAULT_NOISE = 0.2
TABLES = (".csv", ".json", ".json.gz")
_NOISY = re.compile(r"noisy\s*\(\s*([0-9.eE+-]+)\s*\)\Z")


def parse_info(text: str) -> Info:
    """Read a mode: ``exact``, ``mean``, ``blind``, ``noisy``, ``noisy(0.3)``, or the path of a table of durations.

    Raises
    ------
    UnknownNameError, SchedulerError
        If it is none of these.
    """
    text = text.strip()
    named = {"exact": exact, "mean": mean_of_types, "blind": blind, "noisy": noisy(DEFAULT_NOISE)}
    if text in named:
        return named[text]
    if text.endswith(TABLES):
        return from_table(text)
    if not text.startswith("noisy("):
        raise UnknownNameError("info", text, [*MODES, "noisy(LEVEL)", *(f"FILE{ending}" for ending in TABLES)])
    match = _NOISY.match(text)
    try:
        if match is None:
            raise ValueError
        return noisy(float(match[1]))
    except ValueError:
        raise SchedulerError(f"info: {text!r} is not a level of noise; write for example noisy(0.3)") from None
    except ConfigError as error:
        raise SchedulerError(f"info: {text!r}: {error}") from None


def exact(problem: Problem, seed: int) -> Columns:
    """The problem's own estimates, which are the truth of a run without noise."""
    del seed
    return [problem.durations(device) for device in range(len(problem.devices))]


def mean_of_types(problem: Problem, seed: int) -> Columns:
    """Every operator takes the mean of all operators of its type on that device, rounded."""
    del seed
    columns = []
    types = problem.graph.op_types
    for device in range(len(problem.devices)):
        own = problem.durations(device)
        sums: dict[str, tuple[int, int]] = {}
        able = [device in problem.allowed_devices(op) for op in range(len(types))]
        for op, op_type in enumerate(types):
            if able[op]:
                total, count = sums.get(op_type, (0, 0))
                sums[op_type] = total + own[op], count + 1
        means = {op_type: _mean(total, count) for op_type, (total, count) in sums.items()}
        columns.append([means[op_type] if able[op] else own[op] for op, op_type in enumerate(types)])
    return columns


def blind(problem: Problem, seed: int) -> Columns:
    """All operators take equally long everywhere: the mean over operators and the devices that may run them.

    Only how it compares with transfers matters; were it 1 ns, every transfer would look immense.
    """
    del seed
    places = [(op, device) for op in range(len(problem.graph)) for device in problem.allowed_devices(op)]
    mean = _mean(sum(problem.durations(device)[op] for op, device in places), len(places)) if places else 0
    return [[mean] * len(problem.graph)] * len(problem.devices)


def noisy(level: float) -> Info:
    """Every estimate times a lognormal factor of mean 1, the same on all devices.

    Parameters
    ----------
    level : float
        Standard deviation of the factor's logarithm, from 0 to 5.
    """
    noise = Noise("lognormal", level)

    def info(problem: Problem, seed: int) -> Columns:
        # Other factors than those of a run's noise with this seed, or a scheduler would be told the truth.
        digest = hashlib.sha256(f"estimates {seed}".encode()).digest()
        return actual_durations(problem, noise, int.from_bytes(digest[:8], "big")) or exact(problem, seed)

    return info


def from_table(path: str) -> Info:
    """The user's own: a table as for ``--cost-model table``; operators that are not in it keep their estimate."""

    def info(problem: Problem, seed: int) -> Columns:
        del seed
        table, graph = load_table(path), problem.graph
        columns = []
        for device, described in enumerate(problem.devices):
            own = problem.durations(device)
            told = [table.find(graph, op, described) for op in range(len(graph))]
            columns.append([own[op] if time is None else time for op, time in enumerate(told)])
        return columns

    return info


def with_durations(problem: Problem, columns: Columns) -> Problem:
    """Return a problem with other durations, and all else the same.

    Raises
    ------
    SchedulerError
        If they are not whole numbers of at least 0, one by device and operator.
    """
    graph, devices = problem.graph, range(len(problem.devices))
    if [len(column) for column in columns] != [len(graph)] * len(devices):
        raise SchedulerError(f"info: expected {len(devices)} columns of {len(graph)} durations in ns, one by device")
    for column in columns:
        odd = [time for time in column if not isinstance(time, int) or time < 0]
        if odd:
            raise SchedulerError(f"info: a duration is a whole number of ns of at least 0, got {odd[0]!r}")
    stated: list[int | None] = list(graph.durations)
    by_device = dict(graph.device_durations)
    costs = [dict(row) for row in problem.costs]
    names = [device.name for device in problem.devices]
    for op in range(len(graph)):
        places = problem.allowed_devices(op)
        for device in places:
            if op in costs[device]:
                costs[device][op] = _lasting(costs[device][op], columns[device][op])
        times = {names[device]: columns[device][op] for device in places if op not in costs[device]}
        if len(set(times.values())) == 1 and stated[op] is not None:
            stated[op] = next(iter(times.values()))
        elif times:
            stated[op], by_device[op] = None, times
    changed = dataclasses.replace(graph, durations=stated, device_durations=by_device)
    return dataclasses.replace(problem, graph=changed, costs=tuple(costs))


def _lasting(cost: KernelCost, duration: int) -> KernelCost:
    """A cost that takes another time; its last wave has the same part of it."""
    tail = cost.tail_ns * duration // cost.duration if cost.duration else 0
    return dataclasses.replace(cost, duration=duration, tail_ns=tail, launch_ns=min(cost.launch_ns, duration))


def _mean(total: int, count: int) -> int:
    """Rounded to whole ns, halves up; what takes time takes at least 1 ns."""
    return max((2 * total + count) // (2 * count), 1 if total else 0)
