"""Every exception of simsched, in one tree.

A message says what is wrong, where (file:line:column when it came from a file), what was expected and
what to write instead. All faults of one input are reported together.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PathKey = tuple[str | int, ...]
MOST_COMPARED = 2000


class SimschedError(Exception):
    """Base of all errors that simsched raises on purpose."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with one input.

    Attributes
    ----------
    message : str
        What is wrong and what to write instead.
    path : tuple of str or int
        Where in the data, e.g. ``("operators", 3, "duration")``; empty for the whole input.
    line, column : int or None
        One-based position in the file, where it is known.
    related : tuple of Fault
        Other places that belong to it, e.g. each edge of a cycle.
    """

    message: str
    path: PathKey = ()
    line: int | None = None
    column: int | None = None
    related: tuple[Fault, ...] = ()

    @property
    def where(self) -> str:
        """The path as text, e.g. ``operators[3].duration``."""
        text = ""
        for key in self.path:
            if isinstance(key, int):
                text += f"[{key}]"
            else:
                text += f".{key}" if text else key
        return text

    def __str__(self) -> str:
        position = f"{self.line}:{self.column}" if self.line is not None else ""
        parts = [part for part in (position, self.where) if part]
        head = "  ".join(parts)
        return f"{head}: {self.message}" if head else self.message


class InputError(SimschedError):
    """Something that a user wrote cannot be used.

    Parameters
    ----------
    source : str
        The file, or a short name of the input.
    faults : sequence of Fault
        Everything that is wrong with it, at least one.
    """

    def __init__(self, source: str, faults: Sequence[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__(source, self.faults)

    def __str__(self) -> str:
        if len(self.faults) == 1:
            fault = self.faults[0]
            place = f"{self.source}:{fault.line}:{fault.column}" if fault.line is not None else self.source
            where = f"{fault.where}: " if fault.where else ""
            return "\n".join([f"{place}: {where}{fault.message}", *(f"  {other}" for other in fault.related)])
        lines = [f"{self.source}: {len(self.faults)} problems"]
        for fault in self.faults:
            lines += [f"  {fault}", *(f"    {other}" for other in fault.related)]
        return "\n".join(lines)


class ConfigError(InputError):
    """A file (profile, graph, experiment, schedule) is malformed."""


class GraphError(InputError):
    """A graph is not a valid DAG of operators and tensors."""


class CostError(SimschedError):
    """An operator has no cost on a device, or its cost is not usable."""


class MissingExtraError(SimschedError):
    """An optional dependency is not installed; the message says which extra brings it."""


class UnknownNameError(SimschedError):
    """A name that is not known, with the nearest valid ones."""

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.choices = tuple(choices)
        super().__init__(kind, name, self.choices)

    def __str__(self) -> str:
        return f"unknown {self.kind} {self.name!r}; {suggest(self.name, self.choices)}"


class WorkerDiedError(SimschedError):
    """A worker process ended without an answer, e.g. because the machine ran out of memory."""


class SchedulerError(SimschedError):
    """A run cannot be carried out as the scheduler asked."""


class InvalidDispatchError(SchedulerError):
    """A policy dispatched an operator twice, on a forbidden stream, or one that does not exist."""


class SchedulerStalledError(SchedulerError):
    """Nothing is running, operators are ready, and the policy dispatches none of them."""


class DeadlockError(SchedulerError):
    """Dispatched operators wait for each other, and nothing can move."""


class OutOfMemoryError(SchedulerError):
    """An operator's outputs do not fit into the device's memory.

    Attributes
    ----------
    needed : int
        The smallest capacity, in bytes, with which this run would have gone past this point.
    """

    def __init__(self, message: str, needed: int) -> None:
        self.needed = needed
        super().__init__(message)


class TraceError(SimschedError):
    """The referee found that a run breaks the rules.

    Attributes
    ----------
    violations : tuple of str
        Each broken rule, with operators and times.
    """

    def __init__(self, violations: Sequence[str]) -> None:
        self.violations = tuple(violations)
        shown = "\n".join(f"  {text}" for text in self.violations[:20])
        more = f"\n  (+{len(self.violations) - 20} more)" if len(self.violations) > 20 else ""
        super().__init__(f"the run breaks {len(self.violations)} rules\n{shown}{more}")


def suggest(name: str, choices: Iterable[str]) -> str:
    """Return ``did you mean 'x'?``, or the list of valid names.

    Examples
    --------
    >>> suggest("memory_bandwith", ["memory_bandwidth", "streams"])
    "did you mean 'memory_bandwidth'?"
    >>> suggest("zzz", ["a", "b"])
    'expected one of: a, b'
    >>> suggest("a100", ["a100_sxm_40gb", "a100_sxm_80gb", "h100_sxm"])
    "did you mean 'a100_sxm_40gb' or 'a100_sxm_80gb'?"
    """
    known = list(choices)
    longer = [choice for choice in known if choice.startswith(name)] if len(name) >= 2 else []
    if 2 <= len(longer) <= 4:
        return f"did you mean {' or '.join(map(repr, longer))}?"
    near = difflib.get_close_matches(name, _comparable(name, known), n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    if not known:
        return "there are none"
    shown = ", ".join(known[:30]) + (", ..." if len(known) > 30 else "")
    return f"expected one of: {shown}"


def _comparable(name: str, known: list[str]) -> list[str]:
    """Choices worth a close look, which takes long: of very many, those that begin or end like the name."""
    if len(known) <= MOST_COMPARED:
        return known
    half = max(1, len(name) // 2)
    head, tail = name[:half], name[-half:]
    similar = [other for other in known if other.startswith(head) or other.endswith(tail)]
    similar.sort(key=lambda other: (abs(len(other) - len(name)), other))
    return similar[:MOST_COMPARED]
