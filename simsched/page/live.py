"""The engine behind a live page: a request in, a response out, both as JSON text.

This is all that the page's worker calls. It and whatever it imports need only the standard library, simpy and yaml, so
that the same files run in a browser; results are those of the command line, to the last digit.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from simsched.config.plain import from_plain, to_plain
from simsched.cost.base import KernelCost
from simsched.cost.roofline import Roofline
from simsched.errors import ConfigError, Fault, InputError, SchedulerError, SimschedError
from simsched.graph.dump import dump_graph
from simsched.graph.model import Graph, OpId
from simsched.graph.plain import graph_from_plain
from simsched.hardware import Device, HardwareProfile
from simsched.page.changed import edit_graph
from simsched.page.document import page_document
from simsched.page.form import check_depth, check_request, check_spec
from simsched.page.written import Written, WrittenError, compile_scheduler
from simsched.problem import Problem, make_problem
from simsched.profiles.ranges import check_hardware
from simsched.profiles.variants import with_model
from simsched.result import Comparison, Failure, Result
from simsched.run import compare_named
from simsched.schedulers.base import Scheduler
from simsched.schedulers.registry import make_scheduler
from simsched.whatif.figures import edited
from simsched.whatif.variant import scaled_cost

Plain = dict[str, Any]

_NO_TEXT = re.compile("[\ud800-\udfff]")
"""Halves of characters, which cannot leave Python as they are."""

WARM_UP = ("topological", "critical_path", "greedy_ready", "memory_aware", "pipeline")
"""Schedulers that run once before a reader asks for anything."""


def answer(request: str) -> str:
    """Answer one request of a page.

    Parameters
    ----------
    request : str
        JSON: ``{"kind": "run", "problem": ..., "edits": ...}``. A problem is what a document's ``problem`` holds
        (``LiveProblem`` in ``web/types.d.ts``). Edits are those of :func:`simsched.page.changed.edit_graph`, and
        ``hardware`` (figures as of ``simsched whatif --set``), ``memory``, ``seed``, ``schedulers``.

    Returns
    -------
    str
        JSON: ``{"ok": true, "document": ..., "faults": [...]}``, where each fault is of a scheduler that was written
        in the page: ``{"scheduler", "message", "line"}``; or ``{"ok": false, "error": {"type", "message", "line"}}``.
    """
    try:
        return _text(_respond(_read(request)))
    except SimschedError as error:
        return _text({"ok": False, "error": _error(error)})
    except Exception as error:  # the page has nobody else to tell
        message = f"internal error: {type(error).__name__}: {error}; this is a fault of simsched, please report it"
        return _text({"ok": False, "error": {"type": "internal", "message": message}})


def _text(response: Plain) -> str:
    text = json.dumps(response, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _NO_TEXT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def warm_up() -> None:
    """Answer a small request once: what is imported and prepared at the first one then no longer delays a reader."""
    operators = [{"name": name, "duration": 1} for name in "abcd"]
    graph = {"name": "warm_up", "time_unit": "tick", "operators": operators}
    graph["edges"] = [{"from": "a", "to": "b", "bytes": 1}, ["a", "c"], ["b", "d"], ["c", "d"]]
    hardware = {"name": "lanes:2", "devices": [{"name": "d0", "streams": 2}]}
    schedulers = [{"spec": spec} for spec in WARM_UP]
    answer(json.dumps({"kind": "run", "problem": {"graph": graph, "hardware": hardware, "schedulers": schedulers}}))


def runs_again(result: Result) -> bool:
    """Whether a page can make a run again: noise, a placement and costs of another model are not in its problem."""
    problem = result.problem
    if result.actual is not None:
        return False
    again = make_problem(problem.graph, problem.hardware, seed=problem.seed)
    return (again.costs, again.allowed) == (problem.costs, problem.allowed)


def _read(request: str) -> Any:
    try:
        return check_depth(json.loads(request))
    except ValueError as error:
        raise ConfigError("request", [Fault(f"is not JSON: {error}")]) from None
    except RecursionError:
        raise ConfigError("request", [Fault("is nested too deeply")]) from None


def _error(error: SimschedError) -> Plain:
    line = error.line if isinstance(error, WrittenError) else None
    return {"type": type(error).__name__, "message": _words(error), **({} if line is None else {"line": line})}


def _words(error: SimschedError) -> str:
    """Say an error; there are no files and no options in a page that its source could name."""
    if not isinstance(error, InputError) or error.source != "--set":
        return str(error)
    return "\n".join(str(fault) for fault in error.faults)


def _respond(request: Any) -> Plain:
    live = _edited(*check_request(request))
    if not live.plain["schedulers"]:
        raise ConfigError("schedulers", [Fault("none is chosen; choose at least one")])
    made = _all_made(live.plain["schedulers"])
    comparison = _compared(live, made)
    written = [each for each in made if each.error is not None and each.is_written]
    if not comparison.results:
        raise written[0].error if len(made) == len(written) else _all_failed(comparison)  # type: ignore[misc]
    document = page_document(comparison.results, failures=comparison.failures, live=True)
    document["problem"] = live.plain
    faults = [{"scheduler": each.label, **_error(each.error)} for each in written if each.error is not None]
    return {"ok": True, "document": document, "faults": faults}


# --- from the plain problem to the problem ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Live:
    """A problem as it is to run: built, and in the plain form in which the page keeps it."""

    problem: Problem
    plain: Plain


@dataclass(frozen=True, slots=True)
class _Scaled:
    """The roofline model with operators that take another time than it says; see ``scaled_cost``."""

    factors: Mapping[str, Fraction]
    model: Roofline = field(default_factory=Roofline)

    def __call__(self, graph: Graph, op: OpId, device: Device) -> KernelCost:
        cost = self.model(graph, op, device)
        factor = self.factors.get(graph.names[op])
        return cost if factor is None else scaled_cost(cost, factor)


def _edited(plain: Plain, edits: Mapping[str, Any]) -> _Live:
    """Carry out edits on a problem, and build it."""
    changed = {**plain, **{key: edits[key] for key in ("memory", "seed", "schedulers") if edits.get(key) is not None}}
    graph = copy.deepcopy(plain["graph"])
    wanted = edit_graph(graph, edits)
    profile = check_hardware(from_plain(HardwareProfile, plain["hardware"], "hardware"))
    hardware = check_hardware(_hardware(profile, edits.get("hardware", {})))
    built = graph_from_plain(graph)
    scales = {name: Fraction(text) for name, text in plain["scales"].items() if name in built.index}
    times: dict[str, int] = {}
    for name, value in wanted.items():
        if isinstance(value, Fraction):
            scales[name] = scales.get(name, Fraction(1)) * value
        else:
            times[name] = value
            scales.pop(name, None)
    problem = make_problem(built, hardware, _Scaled(scales), seed=changed["seed"])
    if times:
        built = _timed(graph, problem, times, scales)
        problem = make_problem(built, hardware, _Scaled(scales), seed=changed["seed"])
    changed |= {"graph": dump_graph(built), "hardware": to_plain(hardware)}
    changed["scales"] = {name: str(factor) for name, factor in sorted(scales.items())}
    return _Live(problem, changed)


def _timed(graph: Plain, problem: Problem, times: Mapping[str, int], scales: dict[str, Fraction]) -> Graph:
    """Give operators that the cost model costs other times: as a factor, so that they still hold and draw what they do.

    What it says takes no time has no factor that changes it; there the time is stated.
    """
    shortest, rows = problem.shortest_durations(), {row["name"]: row for row in graph["operators"]}
    for name, time in times.items():
        estimate = shortest[problem.graph.index[name]]
        if estimate:
            scales[name] = Fraction(time, estimate)
        else:
            rows[name]["duration"] = time
    return graph_from_plain(graph)


def _hardware(profile: HardwareProfile, settings: Mapping[str, str]) -> HardwareProfile:
    """Return hardware with other figures, as ``simsched whatif --set`` changes them."""
    figures = {name: value for name, value in settings.items() if name.rpartition(".")[2] != "model"}
    changed = edited(profile, figures)[0] if figures else profile
    for name, value in settings.items():
        if name not in figures:
            changed = with_model(changed, value, name.rpartition(".")[0] or None)  # type: ignore[arg-type]
            changed = replace(changed, name=f"{changed.name} as {value}")
    return changed


# --- schedulers -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Made:
    """A scheduler of the page, or why there is none."""

    label: str
    is_written: bool
    scheduler: Scheduler | None = None
    error: SimschedError | None = None


def _all_made(schedulers: Sequence[Mapping[str, Any]]) -> list[_Made]:
    """Make all schedulers, each with a label of its own."""
    taken: set[str] = set()
    found = [_made(given) for given in schedulers]
    for each in found:
        label, number = each.label, 2
        while each.label in taken:
            each.label, number = f"{label} ({number})", number + 1
        taken.add(each.label)
    return found


def _made(given: Mapping[str, Any]) -> _Made:
    code, label = given.get("code"), given["spec"].strip()
    try:
        if code is None:
            return _Made(label, False, make_scheduler(check_spec(label)))
        scheduler = compile_scheduler(code)
        return _Made(label or scheduler.name, True, scheduler)
    except SimschedError as error:
        return _Made(label or "?", code is not None, error=error)


def _compared(live: _Live, made: Sequence[_Made]) -> Comparison:
    """Run all schedulers; one that cannot be made or carried out is among the failures, with its reason."""
    named = [(each.scheduler, each.label) for each in made if each.scheduler is not None]
    comparison = compare_named(live.problem, named, memory=live.plain["memory"], seed=live.problem.seed, explain=True)
    messages = {failure.label: failure.message for failure in comparison.failures}
    names: dict[str, str] = {}
    for each in made:
        if isinstance(each.scheduler, Written):
            names[each.label] = each.scheduler.name
            each.error = each.scheduler.failed
        if each.error is not None:
            messages[each.label] = _words(each.error)
    results = [replace(run, scheduler=names.get(run.label, run.scheduler)) for run in comparison.results]
    failures = tuple(Failure(each.label, messages[each.label]) for each in made if each.label in messages)
    return replace(comparison, results=tuple(results), failures=failures)


def _all_failed(comparison: Comparison) -> SchedulerError:
    return SchedulerError("\n".join(f"{label}: {message}" for label, message in comparison.failures))
