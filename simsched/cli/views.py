"""Results as people read them: a sentence that says it all, then tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from simsched.analysis.bounds import Bound, best_lower
from simsched.analysis.critical import realised_critical_path
from simsched.analysis.metrics import Metrics, metrics
from simsched.cli import console
from simsched.output.records import unknown_types
from simsched.output.tables import Table
from simsched.problem import Problem
from simsched.result import Comparison, Failure, Result
from simsched.units import format_duration, format_size, plural

NAMES_SHOWN = 12


def show_comparison(comparison: Comparison) -> None:
    """Print the comparison of schedulers on one graph."""
    limits = comparison.bounds()
    figures = {id(result): metrics(result, limits) for result in comparison.results}
    console.say(title(comparison.problem))
    console.say(headline(comparison, figures))
    console.say()
    console.show(_runs_table(comparison, figures))
    for failure in comparison.failures:
        console.say(f"\n{failure.scheduler} failed. {failure.message}")
    _show_violations(comparison)
    _show_bounds(comparison, limits)
    _show_remarks(comparison, figures.values())


def show_run(comparison: Comparison) -> None:
    """Print the one run of a comparison in detail."""
    limits = comparison.bounds()
    for failure in comparison.failures:
        console.say(title(comparison.problem))
        console.say(f"{failure.scheduler} failed. {failure.message}")
        _show_bounds(comparison, limits)
        return
    (result,) = comparison.results
    found = metrics(result, limits)
    unit = result.problem.graph.time_unit
    console.say(title(result.problem))
    gap = _above(found)
    speed = f"{found.speedup:.2f} times as fast as one operator after the other"
    console.say(f"{result.label}: {format_duration(found.makespan, unit)}, {speed}, {gap}{_verdict(result)}.")
    console.say()
    console.show(Table(("figure", "value"), list(_figures(result, found)), wrap=1))
    console.say()
    console.show(_streams_table(found))
    _show_violations(comparison)
    _show_bounds(comparison, limits)
    _show_remarks(comparison, [found])


def headline(comparison: Comparison, figures: dict[int, Metrics]) -> str:
    """Which scheduler wins, by how much, and how far from the bound it is."""
    sound = [result for result in comparison.results if result.valid is not False]
    if not sound:
        return "No run is valid." if comparison.results else "No scheduler could carry out its run."
    best = min(result.makespan for result in sound)
    winners = [result for result in sound if result.makespan == best]
    found = figures[id(winners[0])]
    unit = comparison.problem.graph.time_unit
    names = _joined([result.label for result in winners])
    verb = "takes" if len(winners) == 1 else "all take" if len(winners) > 2 else "both take"
    speed = f"{found.speedup:.2f} times as fast as one operator after the other"
    if found.makespan >= found.serial:
        speed = "no faster than one operator after the other"
    return f"{names} {verb} {format_duration(best, unit)}: {speed}, {_above(found)}."


def _above(found: Metrics) -> str:
    """Say the gap in words."""
    bound = found.lower_bound
    if found.makespan == bound.value:
        return f"and no schedule can be shorter ({bound.name})"
    return f"{_percent(found.gap)} above the lower bound ({bound.name})"


def _verdict(result: Result) -> str:
    return {True: "; the referee finds it valid", False: "; the referee finds it INVALID", None: ""}[result.valid]


def title(problem: Problem) -> str:
    """Name a graph with its size, and the hardware."""
    graph = problem.graph
    size = f"{plural(len(graph), 'operator')}, {plural(graph.edge_count, 'edge')}"
    return f"{graph.name} ({size}) on {problem.hardware.name}"


def _runs_table(comparison: Comparison, figures: dict[int, Metrics]) -> Table:
    unit = comparison.problem.graph.time_unit
    shares_sms = any(use.resource == "sms" for found in figures.values() for use in found.resources)
    headers = (
        "scheduler",
        ">makespan",
        ">speed-up",
        f">{_gap_header(comparison)}",
        ">peak",
        ">SM use" if shares_sms else ">use",
        ">own time",
        "valid",
    )
    rows = []
    for run in comparison.runs():
        if isinstance(run, Failure):
            rows.append((run.scheduler, "failed", *("-",) * 5, "no"))
            continue
        found = figures[id(run)]
        use = found.sm_utilisation or 0.0 if shares_sms else found.utilisation
        rows.append(
            (
                run.label,
                format_duration(found.makespan, unit),
                f"{found.speedup:.2f}x",
                _percent(found.gap),
                format_size(found.peak_bytes) if found.peak_bytes else "-",
                f"{100 * use:.0f} %",
                format_duration(run.scheduler_seconds * 1e9),
                {True: "yes", False: "NO", None: "-"}[run.valid],
            )
        )
    return Table(headers, rows)


def _gap_header(comparison: Comparison) -> str:
    """Name what gaps are measured from, where a scheduler has proved anything."""
    if comparison.proved_ns is None:
        return "gap"
    lowest = best_lower(comparison.bounds()).value
    reached = any(result.valid is not False and result.makespan <= lowest for result in comparison.results)
    return "gap to optimum" if reached else "gap to proved bound"


def _figures(result: Result, found: Metrics) -> Iterable[tuple[str, str]]:
    unit = result.problem.graph.time_unit
    names = result.problem.graph.names
    yield "makespan", format_duration(found.makespan, unit)
    yield "one after the other", format_duration(found.serial, unit)
    yield "critical path", format_duration(found.critical_path, unit)
    yield "lower bound", f"{format_duration(found.lower_bound.value, unit)} ({found.lower_bound.name})"
    if result.proved is not None:
        plan = f"the plan takes {format_duration(result.proved.planned, unit)}"
        bound = f"no schedule is shorter than {format_duration(result.proved.bound, unit)}"
        yield "proved", f"{bound}; {plan}: {result.proved.status}"
    yield "at once, on average", f"{found.parallelism:.2f} operators of at most {found.machines}"
    yield "load balance", f"{100 * found.balance:.0f} % (mean over largest busy time of the streams)"
    for use in found.resources:
        yield (
            f"{use.device}/{use.resource}",
            f"{100 * use.utilisation:.0f} % used, at most {use.peak} of {use.capacity}",
        )
    yield from _shared_figures(found, unit)
    for memory in found.memory:
        if memory.peak:
            of = f" of {format_size(memory.capacity)}" if memory.capacity is not None else ""
            yield (
                f"{memory.device} peak memory",
                f"{format_size(memory.peak)}{of}, at {format_duration(memory.at, unit)}",
            )
            yield "  then running", _listed([names[op] for op in memory.operators]) or "nothing"
            largest = [f"{name} {format_size(size)}" for name, size in memory.tensors[:5]]
            yield "  largest tensors", _listed(largest)
    path = realised_critical_path(result.problem, result.trace)
    yield "what decided the end", " > ".join(_shortened([names[op] for op in path]))
    yield "scheduler's own time", f"{format_duration(result.scheduler_seconds * 1e9)}, asked {result.trace.calls} times"
    if result.noise:
        yield "noise", f"{result.noise}, seed {result.seed}"


def _shared_figures(found: Metrics, unit: str) -> Iterable[tuple[str, str]]:
    """What operators shared, where they did."""
    for use in found.bandwidth:
        lost = f"; kernels took {format_duration(use.lost, unit)} longer than alone, together" if use.lost else ""
        yield f"{use.device} bandwidth", f"{100 * use.utilisation:.0f} % used{lost}"
    if found.copies.copies:
        copies, waited = found.copies, found.copies.waited
        queued = f", waited {format_duration(waited, unit)} for engines or memory" if waited else ""
        took = f"took {format_duration(copies.time, unit)}{queued}, together"
        yield "between devices", f"{plural(copies.copies, 'copied tensor')}, {format_size(copies.bytes)}; {took}"
    for thread in found.host:
        name = "host" if len(found.host) == 1 else f"host, thread {thread.thread}"
        yield name, f"{100 * thread.utilisation:.0f} % busy, {plural(thread.launches, 'kernel')} launched"


def _streams_table(found: Metrics) -> Table:
    used = [stream for stream in found.streams if stream.operators]
    rows = [(stream.name, str(stream.operators), f"{100 * stream.utilisation:.0f} %") for stream in used[:32]]
    if len(used) < len(found.streams):
        rows.append((f"(+{len(found.streams) - len(used)} that ran nothing)", "0", "0 %"))
    return Table(("stream", ">operators", ">busy"), rows)


def _show_bounds(comparison: Comparison, limits: Sequence[Bound]) -> None:
    unit = comparison.problem.graph.time_unit
    kinds = {"lower": "lower bound", "upper": "upper bound", "model": "a model, no bound"}
    rows = [(bound.name, format_duration(bound.value, unit), kinds[bound.kind], bound.statement) for bound in limits]
    console.say()
    console.show(Table(("bound", ">value", "kind", "what it says"), rows, wrap=3))


def _show_violations(comparison: Comparison) -> None:
    for result in comparison.results:
        if result.violations:
            console.say(f"\n{result.label} breaks {len(result.violations)} rules:")
            for text in result.violations[:20]:
                console.say(f"  {text}")


def _show_remarks(comparison: Comparison, figures: Iterable[Metrics]) -> None:
    unknown = unknown_types(comparison.problem)
    if unknown:
        listed = ", ".join(f"{row['op_type']} ({row['operators']}, {100 * row['share']:.1f} %)" for row in unknown)
        console.say(
            f"\nOperator types of unknown cost, costed by their bytes (number, share of serial time): {listed}."
        )
    notes = [*comparison.problem.graph.notes, *(note for found in figures for note in found.notes)]
    for note in dict.fromkeys(notes):
        console.say(f"\nNote: {note}.")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share != float("inf") else "-"


def _listed(names: Sequence[str]) -> str:
    rest = f" (+{len(names) - NAMES_SHOWN} more)" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + rest


def _shortened(names: Sequence[str]) -> list[str]:
    """Both ends of a long chain."""
    if len(names) <= NAMES_SHOWN:
        return list(names)
    half = NAMES_SHOWN // 2
    return [*names[:half], f"... {len(names) - 2 * half} more ...", *names[-half:]]


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
