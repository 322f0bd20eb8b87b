"""Driving a grid on all cores: what is finished is kept at once, so that an interruption costs a few runs at most."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simsched.errors import WorkerDiedError
from simsched.experiment.grid import Cell, cells_of, check_plots
from simsched.experiment.schema import Experiment
from simsched.experiment.store import Store, key_of, problem_hash, scheduler_hash
from simsched.experiment.worker import Job, execute, forget, prepare, problem_of, scheduler_of, shape_of
from simsched.output.folder import claim

Row = dict[str, Any]
Progress = Callable[[int, int], None]
"""Called with the number of finished runs and of all runs."""

LOG = "runs.jsonl"
CHUNK = 8
SMALL = 4
"""So few runs are not worth starting processes for."""


@dataclass(frozen=True, slots=True)
class Finished:
    """All rows of an experiment, in the order of its grid.

    Attributes
    ----------
    experiment : Experiment
    rows : list of dict
        What each run is, and what came of it.
    seconds : float
        Wall time of all schedulers together, of the runs that were computed now.
    computed, kept : int
        Runs that were computed now, and that were found finished.
    inputs : dict
        Names and content hashes of graphs and hardware.
    """

    experiment: Experiment
    rows: list[Row]
    seconds: float
    computed: int
    kept: int
    inputs: dict[str, Any]


def run_experiment(
    experiment: Experiment, folder: Path, *, jobs: int | None = None, progress: Progress | None = None
) -> Finished:
    """Run what is not finished yet of an experiment.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
        Where finished runs are kept, and found again.
    jobs : int, optional
        Number of processes; as many as there are cores by default. The results do not depend on it.
    progress : callable, optional

    Returns
    -------
    Finished

    Raises
    ------
    InputError, UnknownNameError
        If a graph, hardware, scheduler or cost cannot be used; before anything is computed, as far as possible.
    WorkerDiedError
        If a process died; what was finished is kept.
    KeyboardInterrupt
        After an interruption; what was finished is kept.
    """
    forget()
    cells = cells_of(experiment)
    check_plots(experiment, cells)
    keys, inputs = _keys(cells)
    _claim(folder)
    with Store(folder / LOG) as store:
        pending = {key: cell for key, cell in zip(keys, cells, strict=True) if key not in store.rows}
        total = len(set(keys))
        kept = total - len(pending)
        seconds, done = 0.0, kept
        if progress is not None:
            progress(done, total)
        with closing(_results(list(pending.items()), jobs or os.cpu_count() or 1)) as results:
            for key, row, spent in results:
                store.add(key, row)
                seconds, done = seconds + spent, done + 1
                if progress is not None:
                    progress(done, total)
        rows = [{**cell.columns(), **store.rows[key]} for key, cell in zip(keys, cells, strict=True)]
    return Finished(experiment, rows, seconds, len(pending), kept, inputs)


def _claim(folder: Path) -> None:
    """Claim the folder; with a log but without a manifest it is an interrupted experiment of ours."""
    if not (folder / LOG).is_file():
        claim(folder)


def _keys(cells: Sequence[Cell]) -> tuple[list[str], dict[str, Any]]:
    """Load every problem once, in this process, so that bad input is found before anything is computed."""
    keys = []
    graphs: dict[str, str] = {}
    hardware: dict[str, str] = {}
    specs = dict.fromkeys(cell.scheduler for cell in cells)
    schedulers = {spec: scheduler_hash(scheduler_of(spec)) for spec in specs}
    for shape, group in itertools.groupby(cells, key=shape_of):
        same = list(group)
        problem = problem_of(same[0])
        content = problem_hash(problem)
        graphs[same[0].graph.label] = problem.graph.content_hash
        hardware[shape.hardware] = problem.hardware.content_hash
        keys += [key_of(cell, content, schedulers[cell.scheduler]) for cell in same]
    return keys, {"graphs": graphs, "hardware": hardware}


def _results(jobs: Sequence[Job], processes: int) -> Generator[tuple[str, Row, float]]:
    if processes <= 1 or len(jobs) <= SMALL:
        for job in jobs:
            yield from execute([job])
        return
    size = max(1, min(CHUNK, len(jobs) // (4 * processes)))
    chunks = [jobs[start : start + size] for start in range(0, len(jobs), size)]
    pool = ProcessPoolExecutor(
        min(processes, len(chunks)), mp_context=multiprocessing.get_context("spawn"), initializer=prepare
    )
    try:
        with _shielded():
            waiting: set[Future[list[tuple[str, Row, float]]]] = {pool.submit(execute, chunk) for chunk in chunks}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()
    except BrokenProcessPool as error:
        raise WorkerDiedError(
            "a worker process died, perhaps for lack of memory; finished runs are kept: run the same command again, "
            "with a smaller --jobs"
        ) from error
    except BaseException:
        _stop(pool)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _shielded() -> Iterator[None]:
    """Start processes that an interruption does not reach: they inherit the mask; ours is restored."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop(pool: ProcessPoolExecutor) -> None:
    """End our workers without waiting for the runs that they are in the middle of."""
    pool.shutdown(wait=False, cancel_futures=True)
    for process in multiprocessing.active_children():
        process.terminate()
