"""Names for schedulers: ``greedy_ready:spt``, ``memory_aware(slack=0.2)``, ``my_package:MyScheduler(x=1)``.

A parameter may be a scheduler itself: ``online(scheduler=heft(insertion=false))``, or short ``online(heft)``.

Names live in the entry-point group ``simsched.schedulers``; the built-ins use it too. A plugin that cannot be loaded,
or a name that two distributions claim, is an error when that name is used, not before.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from importlib import metadata
from typing import Any

from simsched.errors import SchedulerError, UnknownNameError, suggest
from simsched.schedulers.base import Scheduler

GROUP = "simsched.schedulers"

BUILTIN: Mapping[str, str] = {
    "serial": "simsched.schedulers.serial:Serial",
    "topological": "simsched.schedulers.topological:Topological",
    "critical_path": "simsched.schedulers.critical_path:CriticalPath",
    "greedy_ready": "simsched.schedulers.greedy_ready:GreedyReady",
    "memory_aware": "simsched.schedulers.memory_aware:MemoryAware",
    "pipeline": "simsched.schedulers.pipeline:Pipeline",
    "random": "simsched.schedulers.random:Random",
    "follow": "simsched.schedulers.follow:Follow",
    "heft": "simsched.schedulers.heft:Heft",
    "cpop": "simsched.schedulers.ranked:Cpop",
    "peft": "simsched.schedulers.ranked:Peft",
    "mcp": "simsched.schedulers.ranked:Mcp",
    "hlfet": "simsched.schedulers.ranked:Hlfet",
    "etf": "simsched.schedulers.pairs:Etf",
    "dls": "simsched.schedulers.pairs:Dls",
    "olb": "simsched.schedulers.mapping:Olb",
    "met": "simsched.schedulers.mapping:Met",
    "mct": "simsched.schedulers.mapping:Mct",
    "min_min": "simsched.schedulers.mapping:MinMin",
    "max_min": "simsched.schedulers.mapping:MaxMin",
    "sufferage": "simsched.schedulers.mapping:Sufferage",
    "sgs": "simsched.schedulers.sgs:Sgs",
    "hu": "simsched.schedulers.unit_tasks:Hu",
    "coffman_graham": "simsched.schedulers.unit_tasks:CoffmanGraham",
    "parametric": "simsched.schedulers.parametric:Parametric",
    "anytime": "simsched.schedulers.anytime:Anytime",
    "optimal": "simsched.exact.optimal:Optimal",
    "portfolio": "simsched.portfolio:Portfolio",
    "online": "simsched.schedulers.dynamic.online:Online",
    "informed": "simsched.schedulers.dynamic.informed:Informed",
    "work_stealing": "simsched.schedulers.dynamic.stealing:WorkStealing",
}
"""The same rows as in pyproject.toml, so that a source checkout works without being installed."""

_SPEC = re.compile(r"(?P<head>[^()]+?)\s*(?:\((?P<arguments>.*)\))?\s*\Z", re.DOTALL)


def scheduler_names() -> list[str]:
    """Names that can be used, built-ins first."""
    return [*BUILTIN, *(name for name in sorted(_claims()) if name not in BUILTIN)]


def make_scheduler(spec: str) -> Scheduler:
    """Make a scheduler from text.

    Parameters
    ----------
    spec : str
        ``name``, ``name:value`` (the first parameter), ``name(parameter=value, ...)``, or an import path
        ``package.module:Object`` with or without parameters. Where the first parameter is a scheduler, its spec may
        stand first in the brackets without the parameter's name: ``online(heft(insertion=false), threshold=0.2)``.

    Raises
    ------
    UnknownNameError
        If the name or a parameter is not known.
    SchedulerError
        If the text is malformed, a value has the wrong type, or a plugin cannot be loaded.
    """
    match = _SPEC.match(spec.strip())
    if match is None:
        raise SchedulerError(f"{spec!r} is not a scheduler; write name, name:value or name(parameter=value)")
    head, arguments = match["head"].strip(), match["arguments"]
    name, colon, short = head.partition(":")
    if colon and name not in scheduler_names():
        factory = _load(head, f"scheduler {head!r}")
        short = ""
    else:
        factory = _named(name)
    fields = _parameters(factory)
    values = _keywords(spec, name, arguments, fields)
    if colon and short:
        if not fields:
            raise SchedulerError(f"{name} takes no parameters; write just {name!r}")
        values = {next(iter(fields)): short} | values
    typed = {key: _typed(name, key, text, fields[key]) for key, text in values.items()}
    try:
        made = factory(**typed)
    except TypeError as error:
        raise SchedulerError(f"cannot make scheduler {spec!r}: {error}") from error
    if not isinstance(made, Scheduler):
        raise SchedulerError(f"{spec!r} is not a scheduler: it has no method start(problem)")
    return made


def scheduler_class(name: str) -> Callable[..., Any]:
    """Return what makes a named scheduler, for its docstring and its parameters.

    Raises
    ------
    UnknownNameError, SchedulerError
        If the name is not known, or its plugin cannot be loaded.
    """
    return _named(name)


def scheduler_spec(scheduler: object) -> str:
    """Canonical text of a scheduler: its name and the parameters that differ from their defaults."""
    kind = type(scheduler)
    path = f"{kind.__module__}:{kind.__qualname__}"
    name = next((known for known, target in BUILTIN.items() if target == path), kind.__qualname__)
    if not dataclasses.is_dataclass(scheduler):
        return name
    changed = [
        f"{field.name}={_written(getattr(scheduler, field.name))}"
        for field in dataclasses.fields(scheduler)
        if getattr(scheduler, field.name) != field.default
    ]
    return f"{name}({', '.join(changed)})" if changed else name


def _written(value: object) -> str:
    """Write a parameter as a spec has it; what only Python can say, by its name."""
    if isinstance(value, Scheduler):
        return scheduler_spec(value)
    if callable(value):
        return str(getattr(value, "__qualname__", type(value).__qualname__))
    return str(value).lower() if isinstance(value, bool) else str(value)


def split_specs(text: str) -> list[str]:
    """Split a comma-separated list, leaving commas inside parentheses alone.

    Examples
    --------
    >>> split_specs("serial, memory_aware(slack=0.2,tight=0.1),greedy_ready:spt")
    ['serial', 'memory_aware(slack=0.2,tight=0.1)', 'greedy_ready:spt']
    """
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            parts.append(current)
            current = ""
        else:
            current += letter
    parts.append(current)
    return [part.strip() for part in parts if part.strip()]


def _claims() -> dict[str, list[tuple[str, str]]]:
    """Per name: (distribution, import path) of each claim that is not our own."""
    return _claims_on(tuple(sys.path))


@cache
def _claims_on(path: tuple[str, ...]) -> dict[str, list[tuple[str, str]]]:
    """Look through all distributions on the search path, which takes long enough to do it once."""
    del path
    found: dict[str, list[tuple[str, str]]] = {}
    for point in metadata.entry_points(group=GROUP):
        if BUILTIN.get(point.name) != point.value:
            owner = point.dist.name if point.dist is not None else "?"
            found.setdefault(point.name, []).append((owner, point.value))
    return found


def _named(name: str) -> Callable[..., Any]:
    claims = _claims().get(name, [])
    if name in BUILTIN:
        claims = [("simsched", BUILTIN[name]), *claims]
    if not claims:
        raise UnknownNameError("scheduler", name, scheduler_names())
    if len(claims) > 1:
        owners = ", ".join(f"{owner} ({target})" for owner, target in claims)
        raise SchedulerError(f"scheduler {name!r} is claimed by several distributions: {owners}; uninstall all but one")
    return _load(claims[0][1], f"scheduler {name!r}")


def _load(target: str, what: str) -> Callable[..., Any]:
    module, _, attribute = target.partition(":")
    try:
        loaded: Any = importlib.import_module(module)
        for part in attribute.split("."):
            loaded = getattr(loaded, part)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(error.name + ".")):
            raise UnknownNameError("scheduler", target, scheduler_names()) from error
        raise SchedulerError(f"{what} cannot be loaded from {target!r}: {error}") from error
    except Exception as error:  # a plugin's import may raise anything; the user needs to know which one it was
        raise SchedulerError(f"{what} cannot be loaded from {target!r}: {type(error).__name__}: {error}") from error
    return typing.cast("Callable[..., Any]", loaded)


def _parameters(factory: Any) -> dict[str, Any]:
    if isinstance(factory, type) and dataclasses.is_dataclass(factory):
        hints = typing.get_type_hints(factory)
        return {field.name: hints[field.name] for field in dataclasses.fields(factory) if field.init}
    return {}


def _keywords(spec: str, name: str, arguments: str | None, fields: Mapping[str, Any]) -> dict[str, str]:
    values: dict[str, str] = {}
    for number, part in enumerate(split_specs(arguments or "")):
        key, equals, value = part.partition("=")
        key, value = key.strip(), value.strip()
        if number == 0 and (not equals or "(" in key) and _takes_scheduler(fields):
            key, equals, value = next(iter(fields)), "=", part
        if not equals or not value:
            raise SchedulerError(f"{spec!r}: expected parameter=value, got {part!r}")
        if key not in fields:
            hint = suggest(key, fields) if fields else "it takes none"
            raise SchedulerError(f"scheduler {name!r} has no parameter {key!r}; {hint}")
        if key in values:
            raise SchedulerError(f"{spec!r}: parameter {key!r} is given twice")
        values[key] = value
    return values


def _takes_scheduler(fields: Mapping[str, Any]) -> bool:
    """Whether the first parameter is a scheduler."""
    return Scheduler in typing.get_args(next(iter(fields.values()), None))


_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
"""What a parameter of each type is called in messages."""


def _typed(name: str, key: str, text: str, hint: Any) -> Any:
    """Convert a parameter's text to the type that its field declares."""
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    kinds = typing.get_args(hint) if union else (hint,)
    for kind in _KINDS:
        if kind not in kinds:
            continue
        if kind is bool:
            if text in ("true", "false"):
                return text == "true"
            continue
        try:
            return kind(text)
        except ValueError:
            continue
    wanted = " or ".join(words for kind, words in _KINDS.items() if kind in kinds)
    raise SchedulerError(f"scheduler {name!r}: parameter {key!r} must be {wanted or hint}, got {text!r}")
