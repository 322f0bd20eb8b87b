"""One run of a document: its trace in columns, its figures, and why everything ran when it did."""

from __future__ import annotations

import math
from typing import Any

from simsched.analysis.bounds import Bound
from simsched.analysis.critical import realised_critical_path
from simsched.analysis.explain import Explanation
from simsched.analysis.metrics import metrics
from simsched.page.reasons_part import reasons_part
from simsched.page.rounding import tidy
from simsched.page.use_part import memory_part, spans_part, usage_part
from simsched.result import Result
from simsched.trace import Transfer


def run_part(run: Result, label: str, machine: int, limits: tuple[Bound, ...]) -> dict[str, Any]:
    """Return ``RunPart`` of ``web/types.d.ts``.

    Parameters
    ----------
    run : Result
    label : str
        What the page calls it.
    machine : int
        Index of its machine.
    limits : tuple of Bound
        The bounds of its machine.
    """
    trace, story = run.trace, Explanation(run)
    return {
        "label": label,
        "canonical": run.scheduler,
        "machine": machine,
        "memory": run.memory,
        "makespan": trace.makespan,
        "valid": run.valid,
        "violations": list(run.violations or ()),
        "figures": figures_part(run, limits),
        "stream": list(trace.stream),
        "dispatch": list(trace.dispatch),
        "ready": list(trace.ready),
        "start": list(trace.start),
        "end": list(trace.end),
        "launched": list(trace.launched),
        "order": list(trace.launch_order),
        "reasons": {str(op): reason for op, reason in sorted(trace.reasons.items())},
        "path": list(realised_critical_path(run.problem, trace)),
        "parts": reasons_part(story),
        "memory_steps": memory_part(run),
        "spans": spans_part(run),
        "usage": usage_part(run, story.speeds),
        "cohorts": [[*row[:4], [list(place) for place in row.places]] for row in trace.cohorts],
        "transfers": [_transfer(move) for move in trace.transfers],
        "work": work_part(run, story),
    }


def figures_part(run: Result, limits: tuple[Bound, ...]) -> dict[str, Any]:
    """Return ``Figures`` of ``web/types.d.ts``."""
    found = metrics(run, limits)
    return {
        "speedup": _figure(found.speedup),
        "gap": _figure(found.gap),
        "utilisation": _figure(found.utilisation),
        "sm_utilisation": _figure(found.sm_utilisation),
        "bandwidth_utilisation": _figure(found.bandwidth_utilisation),
        "lower_bound": found.lower_bound.value,
        "lower_bound_name": found.lower_bound.name,
        "peak_bytes": found.peak_bytes,
    }


def _figure(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else tidy(value)


def _transfer(move: Transfer) -> list[int]:
    ends = [move.source, move.target, move.from_device, move.to_device]
    return [*ends, move.start, move.end, move.bytes, move.tensor, move.asked]


def work_part(run: Result, story: Explanation) -> dict[str, Any]:
    """Return ``Work`` of ``web/types.d.ts``: what each operator cost on the device that ran it."""
    costs = [run.problem.cost(op, where) for op, where in enumerate(story.timelines.device)]
    words: list[str] = list(dict.fromkeys(cost.bound for cost in costs))
    return {
        "flops": [cost.flops for cost in costs],
        "bytes": [cost.bytes for cost in costs],
        "sms": [cost.sms for cost in costs],
        "compute": [round(cost.compute_ns) for cost in costs],
        "memory": [round(cost.memory_ns) for cost in costs],
        "estimate": [cost.duration for cost in costs],
        "alone": [story.speeds.alone(op) for op in range(len(costs))],
        "bounds": words,
        "bound": [words.index(cost.bound) for cost in costs],
    }
