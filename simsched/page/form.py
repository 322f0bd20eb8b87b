"""Whether a request of a page has the form of one: links are shared, and somebody may have cut or changed them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

from simsched.config.plain import from_plain
from simsched.errors import ConfigError, Fault, SchedulerError
from simsched.problem import MemoryMode
from simsched.schedulers.registry import BUILTIN

Amounts = Mapping[str, int]
Names = Sequence[str]
_MOST_DEPTH = 100
_BETWEEN_NAMES = re.compile("[(),=+]")
_RATIO = re.compile(r"[0-9]{1,30}(/0*[1-9][0-9]{0,29})?")


@dataclass(frozen=True, slots=True)
class _Operator:
    name: str
    op_type: str = "op"
    duration: int | Amounts | None = None
    inputs: Names = ()
    outputs: Names = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    demands: Amounts = field(default_factory=dict)
    reads: Names = ()
    writes: Names = ()
    device: str | None = None
    flops: int | None = None
    bytes: int | None = None
    workspace: int | None = None
    alias: Mapping[str, str] = field(default_factory=dict)
    inplace: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Tensor:
    name: str
    shape: Sequence[int] | None = None
    dtype: str | None = None
    bytes: int | None = None
    kind: str = "activation"


@dataclass(frozen=True, slots=True)
class _Graph:
    name: str
    time_unit: Literal["ns", "tick"]
    operators: Sequence[_Operator]
    tensors: Sequence[_Tensor] = ()
    edges: Sequence[Any] = ()
    simsched: int = 1
    description: str = ""
    source: str = ""
    native: Amounts | None = None
    notes: Names = ()


@dataclass(frozen=True, slots=True)
class _Scheduler:
    spec: str
    code: str | None = None


@dataclass(frozen=True, slots=True)
class _Problem:
    graph: _Graph
    hardware: Mapping[str, Any]
    schedulers: Sequence[_Scheduler]
    memory: MemoryMode = "unbounded"
    seed: int = 0
    scales: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _NewOperator:
    name: str = ""
    duration: str | int = ""
    op_type: str = ""
    after: Names = ()


@dataclass(frozen=True, slots=True)
class _Edits:
    """What each means is written at :func:`simsched.page.changed.edit_graph`."""

    durations: Mapping[str, str | int] = field(default_factory=dict)
    tensors: Mapping[str, str | int] = field(default_factory=dict)
    remove_operators: Names = ()
    remove_edges: Sequence[tuple[str, str]] = ()
    add_operators: Sequence[_NewOperator] = ()
    add_edges: Sequence[Any] = ()
    hardware: Mapping[str, str] = field(default_factory=dict)
    memory: MemoryMode | None = None
    seed: int | None = None
    schedulers: Sequence[_Scheduler] | None = None


def check_request(request: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the problem and the edits of a request, when they have the form that a page gives them.

    Raises
    ------
    ConfigError
        With every part that is wrong.
    """
    if not isinstance(request, dict) or request.get("kind") != "run":
        raise ConfigError("request", [Fault("expected a mapping with kind: run, problem and edits")])
    problem, edits = request.get("problem"), request.get("edits") or {}
    checked = from_plain(_Problem, problem, "problem")
    from_plain(_Edits, edits, "edits")
    assert isinstance(problem, dict)
    _check_edges("problem", problem["graph"].get("edges", ()))
    _check_edges("edits", edits.get("add_edges", ()))
    wrong = [text for text in checked.scales.values() if not _RATIO.fullmatch(text)]
    if wrong:
        raise ConfigError("problem", [Fault(f"{wrong[0]!r} is not a factor; write for example 3/2", ("scales",))])
    defaults = {"memory": checked.memory, "seed": checked.seed, "scales": dict(checked.scales)}
    return {**problem, **defaults}, edits


def check_depth(request: Any) -> Any:
    """Return a request that is not nested too deeply for what goes through it by recursion.

    Raises
    ------
    ConfigError
    """
    level, depth = [request], 0
    while level:
        if depth > _MOST_DEPTH:
            raise ConfigError("request", [Fault(f"is nested more than {_MOST_DEPTH} levels deep")])
        mappings = (each.values() for each in level if isinstance(each, dict))
        lists = (each for each in level if isinstance(each, list))
        level = [inner for part in chain(mappings, lists) for inner in part if isinstance(inner, (dict, list))]
        depth += 1
    return request


def check_spec(spec: str) -> str:
    """Return the text of a scheduler that names none but those that simsched comes with.

    On the command line a name may also be an import path. Links are shared, and what they name must not be imported
    and called before their reader agrees: who wants another scheduler writes it in the page.

    Raises
    ------
    SchedulerError
    """
    heads = (head.strip() for part in _BETWEEN_NAMES.split(spec) for head in part.split(":")[:-1])
    for head in heads:
        if head not in BUILTIN:
            message = f"{head!r} is no scheduler of simsched, and a page imports no others; write it in the page"
            raise SchedulerError(message)
    return spec


def _check_edges(source: str, edges: Sequence[Any]) -> None:
    """Check a list of edges: pairs of names, or mappings with ``from``, ``to`` and perhaps ``bytes`` and ``delay``."""
    for number, edge in enumerate(edges):
        pair = isinstance(edge, list) and len(edge) == 2 and all(isinstance(name, str) for name in edge)
        row = isinstance(edge, dict) and edge.keys() <= {"from", "to", "bytes", "delay"}
        named = row and isinstance(edge.get("from"), str) and isinstance(edge.get("to"), str)
        amounts = (edge.get(key) for key in ("bytes", "delay")) if named else ()
        texts = source == "edits"
        fits = all(each is None or type(each) is int or (texts and isinstance(each, str)) for each in amounts)
        if not pair and not (named and fits):
            message = "expected [from, to], or {from, to, bytes, delay}"
            raise ConfigError(source, [Fault(message, ("edges", number))])
