"""Project scheduling files: PSPLIB's ``.sm`` (single mode) and Patterson's ``.rcp``.

Jobs hold whole units of renewable resources for their whole duration. The format of ``.sm`` is that of the
Project Scheduling Problem Library (Kolisch and Sprecher, "PSPLIB - a project scheduling problem library",
European Journal of Operational Research 96(1), 1996, doi:10.1016/S0377-2217(96)00170-1); ``.rcp`` is the older
one of Patterson's set, also written by RanGen::

    4 2               jobs with both dummies, resources
    6 5               capacities
    0  0 0  2  2 3    duration, a demand for each resource, number of successors, successors
    3  2 1  1  4      (jobs are numbered from 1 in the order of the file)
    7  1 5  1  4
    0  0 0  0
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simsched.config.files import read_text
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.graph.textfile import Reading, Word, build_located, words_by_line
from simsched.units import plural

PRECEDENCE = "PRECEDENCE RELATIONS:"
REQUESTS = "REQUESTS/DURATIONS:"
AVAILABILITY = "RESOURCEAVAILABILITIES:"
INFORMATION = "PROJECT INFORMATION:"
_NUMBER = re.compile(r"[+-]?[0-9]")
SECTIONS = (INFORMATION, PRECEDENCE, REQUESTS, AVAILABILITY)

MULTI_MODE = "multi-mode projects are not read: choose one mode for each job, and write a single-mode file"


@dataclass(slots=True)
class _Job:
    """One job while a file is read: its number's place, and what is known so far."""

    word: Word
    duration: int | None = None
    demands: Sequence[int] | None = None
    successors: list[tuple[int, Word]] = field(default_factory=list)


def load_sm(path: str | Path) -> Graph:
    """Read a PSPLIB single-mode file.

    Returns
    -------
    Graph
        In ticks; operators are named by the job numbers. Demands are renewable resources ``R1``, ``R2``, ...;
        their capacities are the graph's ``native`` hardware. A first or last job that takes no time and no
        resource is a dummy and stays, as an operator of type ``dummy``.

    Raises
    ------
    ConfigError
        If the file is malformed, has several modes or nonrenewable resources, or a job demands more of a
        resource than there is.
    GraphError
        If the jobs wait for each other in a cycle.
    """
    return parse_sm(read_text(path), str(path))


def load_rcp(path: str | Path) -> Graph:
    """Read a Patterson file; what comes back is as for :func:`load_sm`, and so are the errors."""
    return parse_rcp(read_text(path), str(path))


# --- .sm ---------------------------------------------------------------------------------------------------------


def parse_sm(text: str, source: str) -> Graph:
    """Read the text of a PSPLIB single-mode file; ``source`` is what messages call it. See :func:`load_sm`."""
    reading = Reading(source)
    header, sections = _sections(text)
    for title in (PRECEDENCE, REQUESTS, AVAILABILITY):
        if title not in sections:
            reading.fault(f"there is no section {title!r}; is this a PSPLIB .sm file?", (1, 1))
    reading.finish()
    _refuse_what_is_not_modelled(header, sections, reading)
    capacities = _capacities(sections[AVAILABILITY], reading)
    jobs: dict[int, _Job] = {}
    for row in sections[PRECEDENCE][1:]:
        _precedence_row(row, jobs, reading)
    reading.finish()
    for row in sections[REQUESTS][1:]:
        _request_row(row, jobs, len(capacities), reading)
    _check_job_count(header, jobs, sections[PRECEDENCE][0][0], reading)
    reading.finish()
    return _build(jobs, capacities, source, reading)


def _sections(text: str) -> tuple[dict[str, Word], dict[str, list[list[Word]]]]:
    """Split a file into ``key : value`` lines and titled sections; a section's first row is its title."""
    header: dict[str, Word] = {}
    sections: dict[str, list[list[Word]]] = {}
    rows: list[list[Word]] | None = None
    for words in words_by_line(text):
        line = " ".join(word.text for word in words)
        title = line.upper().replace("RESOURCE AVAIL", "RESOURCEAVAIL")
        if title in SECTIONS:
            rows = sections.setdefault(title, [words])
        elif line.startswith("**"):
            rows = None
        elif rows is None:
            key, colon, value = line.partition(":")
            if colon:
                header[key.strip().lower()] = words[len(words) - len(value.split())] if value.strip() else words[-1]
        elif len(rows) > 1 or _NUMBER.match(words[0].text):
            rows.append(words)  # what comes before the first number names the columns, or is a ruler
    return header, sections


def _refuse_what_is_not_modelled(
    header: dict[str, Word], sections: dict[str, list[list[Word]]], reading: Reading
) -> None:
    for key, word in header.items():
        if key.startswith(("- nonrenewable", "- doubly")) and word.text != "0":
            kind = key.removeprefix("- ")
            reading.fault(f"{word.text} {kind} resources; only renewable resources are modelled", word)
        elif key == "projects" and word.text != "1":
            reading.fault(f"{word.text} projects; expected one", word)
    for row in sections.get(INFORMATION, [])[1:]:
        if len(row) > 2 and row[2].text != "0":
            reading.fault(f"release date {row[2].text}; projects are started at 0 only", row[2])


def _capacities(section: list[list[Word]], reading: Reading) -> list[int]:
    rows = section[1:]
    if not rows:
        reading.stop("expected a row with the capacity of each resource after the section's heading", section[0][0])
    if len(rows) > 1:
        reading.fault("expected one row of capacities", rows[1][0])
    return reading.wholes(rows[0], "a capacity") or [0] * len(rows[0])


def _precedence_row(row: list[Word], jobs: dict[int, _Job], reading: Reading) -> None:
    if len(row) < 3:
        reading.fault("expected 'job modes successors...', for example '2 1 1 4'", row[-1])
        return
    number = reading.whole(row[0], "the job's number", lowest=1)
    if number is None:
        return
    if number in jobs:
        reading.fault(f"job {number} is given twice (first on line {jobs[number].word.line})", row[0])
        return
    jobs[number] = job = _Job(row[0])
    if row[1].text != "1":
        reading.stop(f"job {number} has {row[1].text} modes; {MULTI_MODE}", row[1])
    job.successors = _successors(number, row[2], row[3:], reading)


def _successors(number: int, count: Word, words: list[Word], reading: Reading) -> list[tuple[int, Word]]:
    announced = reading.whole(count, f"the number of successors of job {number}")
    if announced is not None and announced != len(words):
        found = f"{plural(announced, 'successor')} announced, {len(words)} given"
        reading.fault(f"job {number}: {found}", count)
    numbers = reading.wholes(words, f"a successor of job {number}")
    return [] if numbers is None else list(zip(numbers, words, strict=True))


def _request_row(row: list[Word], jobs: dict[int, _Job], resources: int, reading: Reading) -> None:
    expected = resources + 3
    if len(row) != expected:
        rule = f"expected job, mode, duration and {plural(resources, 'demand')}"
        reading.fault(f"the row has {plural(len(row), 'word')}; {rule}", row[0])
        return
    number = reading.whole(row[0], "the job's number", lowest=1)
    if number is None:
        return
    job = jobs.get(number)
    if job is None:
        reading.fault(f"job {number} is not in the section {PRECEDENCE!r}", row[0])
        return
    if job.duration is not None:
        reading.fault(f"job {number} has a second row; {MULTI_MODE}", row[0])
        return
    job.duration = reading.whole(row[2], f"the duration of job {number}") or 0
    job.demands = reading.wholes(row[3:], f"a demand of job {number}")
    job.word = row[0]


def _check_job_count(header: dict[str, Word], jobs: dict[int, _Job], title: Word, reading: Reading) -> None:
    stated = next((word for key, word in header.items() if key.startswith("jobs")), None)
    if stated is not None and stated.text != str(len(jobs)):
        reading.fault(f"{stated.text} jobs announced, {len(jobs)} given in {PRECEDENCE!r}", stated)
    if not jobs:
        reading.fault("the section has no jobs", title)
    for number, job in jobs.items():
        if job.duration is None:
            reading.fault(f"job {number} has no row in the section {REQUESTS!r}", job.word)


# --- .rcp --------------------------------------------------------------------------------------------------------


def parse_rcp(text: str, source: str) -> Graph:
    """Read the text of a Patterson file; ``source`` is what messages call it. See :func:`load_rcp`.

    Line breaks mean nothing in this format: a job's row may go on in the next line.

    Examples
    --------
    >>> parse_rcp("4 1  6  0 0 2 2 3  3 2 1 4  7 5 1 4  0 0 0", "tiny.rcp").native
    {'R1': 6}
    """
    reading = Reading(source)
    words = iter([word for row in words_by_line(text) for word in row])
    rest = _Words(words, reading)
    count = rest.next_number("the number of jobs, dummies included")
    resources = rest.next_number("the number of resources")
    capacities = [rest.next_number(f"the capacity of resource R{number + 1}") for number in range(resources)]
    jobs: dict[int, _Job] = {}
    for number in range(1, count + 1):
        duration = rest.next_number(f"the duration of job {number}")
        job = jobs[number] = _Job(rest.last, duration)
        job.demands = [rest.next_number(f"the demand of job {number} for R{r + 1}") for r in range(resources)]
        for _ in range(rest.next_number(f"the number of successors of job {number}")):
            other = rest.next_number(f"a successor of job {number}")
            job.successors.append((other, rest.last))
    surplus = next(words, None)
    if surplus is not None:
        reading.stop(f"expected the end of the file after job {count}; is a count wrong?", surplus)
    return _build(jobs, capacities, source, reading)


@dataclass
class _Words:
    """The words of a file in turn; the file's end, or a word that is no number, stops the reading."""

    words: Iterator[Word]
    reading: Reading
    last: Word = field(default=Word("", 1, 1))

    def next_number(self, what: str) -> int:
        word = next(self.words, None)
        if word is None:
            self.reading.stop(f"the file ends here; expected {what}", self.last)
        self.last = word
        number = self.reading.whole(word, what)
        if number is None:
            self.reading.finish()
        return number or 0


# --- both --------------------------------------------------------------------------------------------------------


def _build(jobs: dict[int, _Job], capacities: list[int], source: str, reading: Reading) -> Graph:
    names = [f"R{number + 1}" for number in range(len(capacities))]
    for number, job in jobs.items():
        _check_job(number, job, jobs, capacities, reading)
    reading.finish()
    builder = GraphBuilder(Path(source).stem, time_unit="tick", source=source)
    builder.native = dict(zip(names, capacities, strict=True))
    ends = {min(jobs, default=0), max(jobs, default=0)}
    for number, job in jobs.items():
        demands = {name: units for name, units in zip(names, job.demands or (), strict=True) if units}
        dummy = number in ends and not job.duration and not demands
        builder.add_op(str(number), "dummy" if dummy else "job", duration=job.duration, demands=demands)
    places = []
    for number, job in jobs.items():
        for other, word in job.successors:
            builder.add_edge(str(number), str(other))
            places.append(word.place)
    return build_located(builder, [job.word.place for job in jobs.values()], places)


def _check_job(number: int, job: _Job, jobs: dict[int, _Job], capacities: list[int], reading: Reading) -> None:
    for resource, (units, capacity) in enumerate(zip(job.demands or (), capacities, strict=True), start=1):
        if units > capacity:
            reading.fault(f"job {number} demands {units} of R{resource}, which has {capacity}", job.word)
    seen: set[int] = set()
    for other, word in job.successors:
        if other == number:
            reading.fault(f"job {number} lists itself as a successor", word)
        elif other not in jobs:
            reading.fault(f"job {number}: successor {other} is not in the file; its jobs are 1 to {len(jobs)}", word)
        elif other in seen:
            reading.fault(f"job {number} lists successor {other} twice", word)
        seen.add(other)
