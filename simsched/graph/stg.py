"""Standard Task Graph files (``.stg``): tasks with a time and predecessors, no communication.

The format of the Standard Task Graph Set (Tobita and Kasahara, "A standard task graph set for fair evaluation
of multiprocessor scheduling algorithms", Journal of Scheduling 5(5), 2002, doi:10.1002/jos.116)::

    2                 number of tasks without the two dummies
    0  0  0           task, time, number of predecessors, predecessors
    1  5  1  0
    2  7  2  0  1
    3  0  1  2        the last task is the dummy exit
    # comments

Some files count the dummies in the first line: both countings are accepted, and nothing in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simsched.config.files import read_text
from simsched.graph.builder import GraphBuilder
from simsched.graph.model import Graph
from simsched.graph.textfile import Reading, Word, build_located, words_by_line
from simsched.units import plural

ROW = "'task time predecessors...', for example '3 7 2 1 2'"


@dataclass(frozen=True, slots=True)
class _Task:
    name: str
    word: Word
    time: int
    predecessors: list[tuple[str, Word]]


def load_stg(path: str | Path) -> Graph:
    """Read a Standard Task Graph file.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Graph
        In ticks; operators are named by the task numbers, in the order of the file. A first or last task of
        time 0 is a dummy: it stays, as an operator of type ``dummy`` that takes no time.

    Raises
    ------
    ConfigError
        If the file is malformed; all faults, each with line and column.
    GraphError
        If the tasks wait for each other in a cycle.
    """
    return parse_stg(read_text(path), str(path))


def parse_stg(text: str, source: str) -> Graph:
    r"""Read the text of a Standard Task Graph file; ``source`` is what messages call it. See :func:`load_stg`.

    Examples
    --------
    >>> parse_stg("1\n0 0 0\n1 5 1 0\n2 0 1 1\n", "tiny.stg")
    Graph('tiny': 3 operators, 2 edges, 0 tensors)
    """
    reading = Reading(source)
    rows = words_by_line(text, comment="#")
    if not rows:
        reading.stop("the file has no tasks; expected their number on the first line, then a row for each", (1, 1))
    announced = _header(rows[0], reading)
    tasks = [task for row in rows[1:] if (task := _task(row, reading)) is not None]
    if announced is not None and len(rows) - 1 not in (announced, announced + 2):
        rule = f"{announced + 2} with the dummy entry and exit, or {announced} if they are counted"
        reading.fault(f"{plural(announced, 'task')} announced; expected {rule}; found {len(rows) - 1}", rows[0][0])
    reading.finish()
    _check_names(tasks, reading)
    reading.finish()
    return _build(tasks, source)


def _header(row: list[Word], reading: Reading) -> int | None:
    if len(row) > 1:
        reading.fault("expected the number of tasks alone on the first line", row[1])
    return reading.whole(row[0], "the number of tasks")


def _task(row: list[Word], reading: Reading) -> _Task | None:
    if len(row) < 3:
        reading.fault(f"the row has {plural(len(row), 'word')}; expected {ROW}", row[-1])
        return None
    number = reading.whole(row[0], "the task's number")
    time = reading.whole(row[1], f"the time of task {row[0].text}")
    announced = reading.whole(row[2], f"the number of predecessors of task {row[0].text}")
    numbers = reading.wholes(row[3:], f"a predecessor of task {row[0].text}")
    if announced is not None and announced != len(row) - 3:
        found = f"{plural(announced, 'predecessor')} announced, {len(row) - 3} given"
        reading.fault(f"task {row[0].text}: {found}", row[2])
    if number is None or time is None or numbers is None:
        return None
    # Names are the numbers themselves, so that "007" and "7" are one task.
    predecessors = [(str(other), word) for other, word in zip(numbers, row[3:], strict=True)]
    return _Task(str(number), row[0], time, predecessors)


def _check_names(tasks: list[_Task], reading: Reading) -> None:
    first: dict[str, Word] = {}
    for task in tasks:
        if task.name in first:
            reading.fault(f"task {task.name} is given twice (first on line {first[task.name].line})", task.word)
        first.setdefault(task.name, task.word)
    for task in tasks:
        seen: set[str] = set()
        for name, word in task.predecessors:
            if name == task.name:
                reading.fault(f"task {name} lists itself as a predecessor", word)
            elif name in seen:
                reading.fault(f"task {task.name} lists predecessor {name} twice", word)
            elif name not in first:
                last = tasks[-1].name
                reading.fault(
                    f"task {task.name}: predecessor {name} is not in the file; its tasks are {tasks[0].name} to {last}",
                    word,
                )
            seen.add(name)


def _build(tasks: list[_Task], source: str) -> Graph:
    builder = GraphBuilder(Path(source).stem, time_unit="tick", source=source)
    ends = {0, len(tasks) - 1}
    for position, task in enumerate(tasks):
        dummy = position in ends and task.time == 0
        builder.add_op(task.name, "dummy" if dummy else "task", duration=task.time)
    places = []
    for task in tasks:
        for name, word in task.predecessors:
            builder.add_edge(name, task.name)
            places.append(word.place)
    return build_located(builder, [task.word.place for task in tasks], places)
