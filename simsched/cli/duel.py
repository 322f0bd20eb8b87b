"""``simsched duel``: a small instance on which one scheduler loses most to another."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from simsched.cli import console, exits
from simsched.cli.options import WholeType, json_option
from simsched.cli.session import make_schedulers
from simsched.output.tables import Table
from simsched.units import format_duration, plural

if TYPE_CHECKING:
    from simsched.result import Comparison
    from simsched.study.duel import Found, Listener, Scored
    from simsched.study.instance import Space

HARDWARE = "lanes:2,lanes:3,procs:2,procs:3"
GRAPH = "worst.yaml"
PERIOD = 1.0
"""Seconds between two words on how far the search is; twice as long every time."""


@click.command("duel", epilog="Example: simsched duel heft cpop --hardware procs:3 --steps 2000")
@click.argument("loser", metavar="A")
@click.argument("winner", metavar="B")
@click.option(
    "--graphs", "-g", "graph", metavar="GRAPH",
    help="Begin with this graph: a file, a name, or a generator such as fork_join:4. Default: random small graphs.",
)  # fmt: skip
@click.option(
    "--hardware", "-H", default=HARDWARE, metavar="NAME,...",
    help=f"One, or several to choose from. Default: {HARDWARE}.",
)  # fmt: skip
@click.option(
    "--vary", metavar="KIND,...",
    help="What may change: durations, unlike (durations by device), edges, delays, demands, operators, hardware. "
    "Default: everything.",
)  # fmt: skip
@click.option("--operators", type=WholeType(2, 64), default=8, metavar="N", help="At most. Default: 8.")
@click.option("--steps", type=WholeType(1, 10**7), default=1000, metavar="N", help="Instances to try. Default: 1000.")
@click.option("--seed", type=WholeType(0, 2**63 - 1), default=0, metavar="N", help="Default: 0.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Where the instance goes. Default: results/duel_A_B.",
)  # fmt: skip
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    loser: str,
    winner: str,
    graph: str | None,
    hardware: str,
    vary: str | None,
    operators: int,
    steps: int,
    seed: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Search for a small instance on which A loses most to B.

    Anneals graphs, durations, delays, demands and hardware towards the largest ratio of the two simulated makespans,
    then leaves out what the ratio does not need. The same seed finds the same instance. Ctrl-C keeps the best so far.

    Writes worst.yaml, which simsched compare can run, duel.json, and a picture of each run.
    """
    from simsched.output.folder import claim
    from simsched.study.duel import duel
    from simsched.study.spaces import make_space

    ((first, _),) = one(loser, "argument A")
    ((second, _),) = one(winner, "argument B")
    space = make_space(_words(hardware), graph=graph, vary=_words(vary or ""), operators=operators)
    folder = output or _folder(loser, winner)
    claim(folder)
    with _interruptions() as pending:
        teller = _teller(f"{loser} against {winner}", pending)
        found = duel(first, second, space, seed=seed, steps=steps, heard=teller)
    if found.best is None:
        raise _nothing_ran(loser, winner, found)
    report = _Report(loser, winner, space, found, found.best, folder, seed, steps)
    comparison = report.write()
    if as_json:
        console.emit(report.record())
    else:
        report.show()
    if found.interrupted:
        raise exits.InterruptedExit(f"the best of {plural(found.tried, 'instance')} so far is kept in {folder}")
    ctx.exit(exits.OK if comparison.valid else exits.RUN_FAILED)


def one(text: str, name: str) -> list[tuple[Any, str]]:
    """Make the one scheduler of an argument."""
    made = make_schedulers(text, name)
    if len(made) != 1:
        raise click.UsageError(f"{name}: expected one scheduler, got {text!r}", click.get_current_context())
    return made


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _folder(loser: str, winner: str) -> Path:
    from simsched.output.folder import slug

    return Path("results") / slug(f"duel_{loser}_{winner}", set())


def _nothing_ran(loser: str, winner: str, found: Found) -> Exception:
    from simsched.errors import SchedulerError

    if found.interrupted:
        return exits.InterruptedExit("nothing was found yet")
    return SchedulerError(f"none of {plural(found.tried, 'instance')} could be run under both {loser} and {winner}")


@contextmanager
def _interruptions() -> Iterator[list[int]]:
    """Keep note of Ctrl-C: a scheduler that searches takes the first one as a wish to end its own search alone."""
    pending: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        pending.append(number)
        signal.default_int_handler(number, frame)

    if threading.current_thread() is not threading.main_thread():
        yield pending
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield pending
    finally:
        signal.signal(signal.SIGINT, before)


def _teller(name: str, pending: Sequence[int]) -> Listener:
    """Say on stderr how far the search is, ever more rarely; end it where an interruption is pending."""
    began, told = monotonic(), 0.0

    def tell(tried: int, ratio: float) -> None:
        nonlocal told
        if pending:
            raise KeyboardInterrupt
        seconds = monotonic() - began
        if seconds >= max(PERIOD, 2 * told):
            told = seconds
            console.warn(f"{name}: {plural(tried, 'instance')}, {ratio:.3f} so far (Ctrl-C takes the best so far)")

    return tell


class _Report:
    """What is said and written of a search that has found something."""

    def __init__(
        self, loser: str, winner: str, space: Space, found: Found, best: Scored, folder: Path, seed: int, steps: int
    ) -> None:
        self.names, self.space, self.found, self.best = (loser, winner), space, found, best
        self.folder, self.seed, self.steps = folder, seed, steps
        self.hardware = space.hardware[best.instance.hardware][0]
        self.graph = space.graph(best.instance, f"duel_{loser}_{winner}")

    @property
    def again(self) -> str:
        """The command that runs both schedulers on the instance."""
        names = ",".join(self.names)
        quoted = f'"{names}"' if any(char in names for char in "()* ") else names
        return f"simsched compare {self.folder / GRAPH} --hardware {self.hardware} --schedulers {quoted}"

    def record(self) -> dict[str, Any]:
        """Return what is found as plain data."""
        best, found = self.best, self.found
        return {
            "loser": self.names[0],
            "winner": self.names[1],
            "ratio": round(best.ratio, 6),
            "loser_ns": best.loser,
            "winner_ns": best.winner,
            "hardware": self.hardware,
            "operators": len(best.instance),
            "edges": len(best.instance.edges),
            "time_unit": self.graph.time_unit,
            "first_ratio": round(found.first, 6),
            "seed": self.seed,
            "steps": self.steps,
            "vary": list(self.space.vary),
            "tried": found.tried,
            "failed": found.failed,
            "interrupted": found.interrupted,
            "history": [[number, round(ratio, 6)] for number, ratio in found.history],
        }

    def show(self) -> None:
        """Tell people."""
        loser, winner = self.names
        best, found, unit = self.best, self.found, self.graph.time_unit
        lengths = f"{format_duration(best.loser, unit)} against {format_duration(best.winner, unit)}"
        size = f"{plural(len(best.instance), 'operator')} and {plural(len(best.instance.edges), 'edge')}"
        if best.loser > best.winner:
            console.say(
                f"{loser} takes {best.ratio:.3f} times as long as {winner}: {lengths}, on {size} on {self.hardware}."
            )
        else:
            console.say(f"No instance was found on which {loser} takes longer than {winner}; at most {lengths}.")
        failed = f"; {found.failed} of them could not be run" if found.failed else ""
        console.say(
            f"{plural(found.tried, 'instance')} tried with seed {self.seed}{failed}; the first had {found.first:.3f}."
        )
        console.say()
        console.show(Table(("operator", "duration", "demands", "waits for"), list(self._rows()), wrap=3))
        console.say(f"\nwritten to {self.folder}: {GRAPH}, duel.json, and a picture of each run")
        console.line(f"again: {self.again}")

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        graph = self.graph
        for op, name in enumerate(graph.names):
            by_device = graph.device_durations.get(op)
            plain = graph.durations[op]
            times = list(by_device.values()) if by_device else [plain or 0]
            demands = ", ".join(f"{units} {what}" for what, units in graph.demands.get(op, {}).items())
            before = [self._before(source, op) for source in sorted(graph.pred[op])]
            duration = " / ".join(format_duration(time, graph.time_unit) for time in times)
            yield name, duration, demands or "-", ", ".join(before) or "-"

    def _before(self, source: int, target: int) -> str:
        delay = self.graph.delays.get((source, target), 0)
        name = self.graph.names[source]
        return f"{name} (+{format_duration(delay, self.graph.time_unit)})" if delay else name

    def write(self) -> Comparison:
        """Write the folder, and return the two runs as the referee sees them."""
        import sys

        from simsched.graph.dump import dump_graph, yaml_text
        from simsched.output.export import png
        from simsched.output.folder import slug, write_folder
        from simsched.output.provenance import command_of, manifest, to_bytes, to_text
        from simsched.plot.gantt import plot_gantt
        from simsched.problem import make_problem
        from simsched.run import compare

        problem = make_problem(self.graph, self.space.hardware[self.best.instance.hardware][1])
        comparison = compare(problem, list(self.names))
        files = {GRAPH: to_bytes(yaml_text(dump_graph(self.graph))), "duel.json": to_bytes(to_text(self.record()))}
        taken: set[str] = set()
        for result in comparison.results:
            files[f"{slug(result.label, taken)}.png"] = png(lambda result=result: plot_gantt(result))
        seconds = {result.label: result.scheduler_seconds for result in comparison.results}
        described = manifest(command_of(sys.argv[1:]), {"hardware": self.hardware, "seed": self.seed}, {}, files)
        write_folder(self.folder, files, described, {"scheduler_seconds": seconds})
        return comparison
