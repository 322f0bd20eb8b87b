"""Flat rows of figures: one per run for ``runs.csv``, one per operator for ``ops.csv``.

``docs/reference/metrics.md`` describes every column. Cells are numbers, text, booleans, or None where a figure does not
apply; times are ns, and ticks for graphs in ticks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from simsched.analysis.critical import realised_critical_path
from simsched.analysis.metrics import Metrics, metrics
from simsched.analysis.speeds import Speeds
from simsched.analysis.usage import Run
from simsched.graph.ranks import b_level, t_level

Cell = int | float | str | bool | None


def run_row(run: Run, figures: Metrics | None = None) -> dict[str, Cell]:
    """Return the figures of one run under their column names.

    Parameters
    ----------
    run : Result
    figures : Metrics, optional
        Where they have been computed already.
    """
    known = metrics(run) if figures is None else figures
    upper, lower = known.upper_bound, known.lower_bound
    by_name = {bound.name: bound.value for bound in known.bounds}
    peak = max(known.memory, key=lambda device: device.peak, default=None)
    return {
        "operators": len(run.problem.graph),
        "makespan_ns": known.makespan,
        "serial_ns": known.serial,
        "speedup": _rounded(known.speedup),
        "critical_path_ns": known.critical_path,
        "lower_bound_ns": lower.value,
        "lower_bound": lower.name,
        "gap": _rounded(known.gap),
        "upper_bound_ns": None if upper is None else upper.value,
        "amdahl_ns": by_name["amdahl"],
        "amdahl_textbook_ns": by_name.get("amdahl_textbook"),
        "machines": known.machines,
        "efficiency": _rounded(known.efficiency),
        "parallelism": _rounded(known.parallelism),
        "utilisation": _rounded(known.utilisation),
        "balance": _rounded(known.balance),
        "busy_ns": known.busy,
        "idle_ns": known.idle,
        "sm_utilisation": _rounded(known.sm_utilisation),
        "lost_ns": known.lost,
        "bandwidth_utilisation": _rounded(known.bandwidth_utilisation),
        "host_utilisation": _rounded(known.host_utilisation),
        "copies": known.copies.copies,
        "copied_bytes": known.copies.bytes,
        "copy_ns": known.copies.time,
        "copy_wait_ns": known.copies.waited,
        "peak_bytes": known.peak_bytes,
        "peak_at_ns": None if peak is None else peak.at,
        "capacity_bytes": None if peak is None else peak.capacity,
        "policy_calls": run.trace.calls,
    }


def op_rows(run: Run) -> Iterator[dict[str, Cell]]:
    """Yield the figures of every operator, by id, under their column names."""
    problem, trace, graph = run.problem, run.trace, run.problem.graph
    shortest = problem.shortest_durations(run.actual)
    up, down = b_level(graph, shortest), t_level(graph, shortest)
    length = max(up, default=0)
    realised = set(realised_critical_path(problem, trace))
    speeds = Speeds(run, [problem.stream_device[stream] for stream in trace.stream])
    held: dict[int, dict[str, int]] = {}
    for wait in trace.waits:
        reasons = held.setdefault(wait.op, {})
        reasons[wait.reason] = reasons.get(wait.reason, 0) + wait.end - wait.start
    for op in range(len(graph)):
        device = problem.stream_device[trace.stream[op]]
        cost, waits = problem.cost(op, device), held.get(op, {})
        slack = length - up[op] - down[op]
        yield {
            "op": op,
            "name": graph.names[op],
            "op_type": graph.op_types[op],
            "device": problem.devices[device].name,
            "stream": problem.stream_names[trace.stream[op]],
            "ready_ns": trace.ready[op],
            "dispatch_ns": trace.dispatch[op],
            "launched_ns": trace.launched[op] if trace.launched else None,
            "start_ns": trace.start[op],
            "end_ns": trace.end[op],
            "duration_ns": trace.end[op] - trace.start[op],
            "estimate_ns": problem.durations(device)[op],
            "lost_ns": trace.end[op] - trace.start[op] - speeds.alone(op),
            "wait_ns": trace.start[op] - trace.ready[op],
            "wait_resource_ns": waits.get("resource", 0),
            "wait_memory_ns": waits.get("memory", 0),
            "wait_queue_ns": waits.get("queue", 0),
            "b_level_ns": up[op],
            "t_level_ns": down[op],
            "slack_ns": slack,
            "on_critical_path": slack == 0,
            "on_realised_path": op in realised,
            "flops": cost.flops,
            "bytes": cost.bytes,
            "intensity": _rounded(cost.intensity),
            "bound": cost.bound,
            "sms": problem.demand(op, device).get("sms", 0),
            "workspace_bytes": problem.workspace(op, device),
            "output_bytes": sum(graph.tensor_bytes[tensor] for tensor in graph.outputs[op]),
            "reason": trace.reasons.get(op, ""),
        }


def _rounded(value: float | None) -> float | None:
    """Six decimals, so that rows compare byte by byte; None for what is not finite."""
    return round(value, 6) if value is not None and math.isfinite(value) else None
