"""Malformed tables of tasks (.stg, .sm, .rcp): what is wrong, the text, and the exact message."""

from __future__ import annotations

from tests.golden.case import Case
from tests.unit.test_psplib import PATTERSON
from tests.unit.test_psplib import SMALL as PROJECT


def stg(what: str, text: str, message: str, error: str = "ConfigError") -> Case:
    return Case(f"stg: {what}", text, message, error, "tasks.stg")


def sm(what: str, old: str, new: str, message: str) -> Case:
    assert PROJECT.count(old) == 1, (what, PROJECT.count(old))
    return Case(f"sm: {what}", PROJECT.replace(old, new), message, file="project.sm")


def rcp(what: str, text: str, message: str, error: str = "ConfigError") -> Case:
    return Case(f"rcp: {what}", text, message, error, "project.rcp")


CASES = [
    stg(
        "empty",
        "# nothing but a comment\n",
        "tasks.stg:1:1: the file has no tasks; expected their number on the first line, then a row for each",
    ),
    stg("no number", "many\n0 0 0\n", "tasks.stg:1:1: the number of tasks is 'many'; expected a whole number"),
    stg(
        "a task in the header",
        "1 0 0\n",
        "tasks.stg: 2 problems\n"
        "  1:1: 1 task announced; expected 3 with the dummy entry and exit, or 1 if they are counted; found 0\n"
        "  1:3: expected the number of tasks alone on the first line",
    ),
    stg(
        "a missing row",
        "2\n0 0 0\n1 5 1 0\n2 7 1 1\n",
        "tasks.stg:1:1: 2 tasks announced; expected 4 with the dummy entry and exit, or 2 if they are counted; found 3",
    ),
    stg(
        "a short row",
        "2\n0 0 0\n1 5\n",
        "tasks.stg:3:3: the row has 2 words; expected 'task time predecessors...', for example '3 7 2 1 2'",
    ),
    stg(
        "values",
        "3\n0 -1 0\n1 2.5 1 0\n2 9999999999999999999999999 1 1\n",
        "tasks.stg: 3 problems\n"
        "  2:3: the time of task 0 is -1; expected at least 0\n"
        "  3:3: the time of task 1 is '2.5'; expected a whole number\n"
        "  4:3: the time of task 2 is '9999999999999999999999999'; expected at most 10**15",
    ),
    stg(
        "a wrong count of predecessors",
        "2\n0 0 0\n1 5 2 0\n",
        "tasks.stg:3:5: task 1: 2 predecessors announced, 1 given",
    ),
    stg(
        "predecessors",
        "4\n0 0 0\n1 5 1 1\n2 5 2 0 0\n3 5 1 9\n",
        "tasks.stg: 3 problems\n"
        "  3:7: task 1 lists itself as a predecessor\n"
        "  4:9: task 2 lists predecessor 0 twice\n"
        "  5:7: task 3: predecessor 9 is not in the file; its tasks are 0 to 3",
    ),
    stg("a task twice", "3\n0 0 0\n1 5 1 0\n1 6 1 0\n", "tasks.stg:4:1: task 1 is given twice (first on line 3)"),
    stg(
        "a cycle",
        "3\n0 0 0\n1 5 2 0 2\n2 5 1 1\n",
        "tasks.stg:4:7: the graph has a cycle: 1 -> 2 -> 1\n  4:7: 1 -> 2\n  3:9: 2 -> 1",
        "GraphError",
    ),
    sm(
        "a missing section",
        "RESOURCEAVAILABILITIES:",
        "RESOURCES THERE ARE:",
        "project.sm:1:1: there is no section 'RESOURCEAVAILABILITIES:'; is this a PSPLIB .sm file?",
    ),
    sm(
        "several modes",
        "   3        1          1           4",
        "   3        2          1           4",
        "project.sm:21:13: job 3 has 2 modes; "
        "multi-mode projects are not read: choose one mode for each job, and write a single-mode file",
    ),
    sm(
        "doubly constrained",
        "constrained        :  0   D",
        "constrained        :  1   D",
        "project.sm:11:34: 1 doubly constrained resources; only renewable resources are modelled",
    ),
    sm(
        "several projects",
        "projects                      :  1",
        "projects                      :  2",
        "project.sm:5:34: 2 projects; expected one",
    ),
    sm(
        "more than there is",
        "  2      1     5       3    0",
        "  2      1     5       5    2",
        "project.sm: 2 problems\n"
        "  28:3: job 2 demands 5 of R1, which has 4\n"
        "  28:3: job 2 demands 2 of R2, which has 1",
    ),
    sm(
        "a missing demand",
        "  3      1     7       2    1",
        "  3      1     7       2",
        "project.sm: 2 problems\n"
        "  21:4: job 3 has no row in the section 'REQUESTS/DURATIONS:'\n"
        "  29:3: the row has 4 words; expected job, mode, duration and 2 demands",
    ),
    sm(
        "a job too few",
        "supersource/sink ):  4",
        "supersource/sink ):  5",
        "project.sm:6:34: 5 jobs announced, 4 given in 'PRECEDENCE RELATIONS:'",
    ),
    sm(
        "a wrong count of successors",
        "   1        1          2           2   3",
        "   1        1          3           2   3",
        "project.sm:19:24: job 1: 3 successors announced, 2 given",
    ),
    sm(
        "a successor that is no job",
        "   2        1          1           4",
        "   2        1          1           7",
        "project.sm:20:36: job 2: successor 7 is not in the file; its jobs are 1 to 4",
    ),
    sm(
        "a second row of a job",
        "  3      1     7       2    1",
        "  2      1     7       2    1",
        "project.sm: 2 problems\n"
        "  21:4: job 3 has no row in the section 'REQUESTS/DURATIONS:'\n"
        "  29:3: job 2 has a second row; "
        "multi-mode projects are not read: choose one mode for each job, and write a single-mode file",
    ),
    rcp("empty", "", "project.rcp:1:1: the file ends here; expected the number of jobs, dummies included"),
    rcp(
        "cut short",
        PATTERSON[:-6],
        "project.rcp:6:5: the file ends here; expected the demand of job 4 for R2",
    ),
    rcp(
        "a letter",
        PATTERSON.replace("7 ", "x "),
        "project.rcp:5:1: the duration of job 3 is 'x'; expected a whole number",
    ),
    rcp(
        "too much",
        PATTERSON + "17\n",
        "project.rcp:7:1: expected the end of the file after job 4; is a count wrong?",
    ),
    rcp(
        "more than there is",
        PATTERSON.replace("3 0", "9 0"),
        "project.rcp:4:1: job 2 demands 9 of R1, which has 4",
    ),
    rcp(
        "successors",
        "3 0\n1 3 2 2 7\n1 1 2\n1 0\n",
        "project.rcp: 3 problems\n"
        "  2:7: job 1 lists successor 2 twice\n"
        "  2:9: job 1: successor 7 is not in the file; its jobs are 1 to 3\n"
        "  3:5: job 2 lists itself as a successor",
    ),
    rcp(
        "a cycle",
        "3 0\n1 1 2\n1 1 3\n1 1 1\n",
        "project.rcp:2:5: the graph has a cycle: 1 -> 2 -> 3 -> 1\n  2:5: 1 -> 2\n  3:5: 2 -> 3\n  4:5: 3 -> 1",
        "GraphError",
    ),
]
