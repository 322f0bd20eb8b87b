"""What a guided mode is made of: controls, a simulated run or several for each of their settings, and questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NamedTuple

from simsched.result import Result

LessonId = Literal["loop", "strategies", "critical_path"]
Runs = Sequence[Result]


class Text(NamedTuple):
    """A text in both languages of the page."""

    en: str
    zh: str

    def part(self) -> dict[str, str]:
        """Return ``Text`` of ``web/types.d.ts``."""
        return {"en": self.en, "zh": self.zh}


def same(text: str) -> Text:
    """Return a text that is the same in all languages: a number, names of operators."""
    return Text(text, text)


@dataclass(frozen=True)
class Control:
    """Something that the learner sets: a value and its label for each choice, and the one to begin with."""

    id: str
    label: Text
    values: Mapping[str, Text]
    initial: str

    def part(self) -> dict[str, Any]:
        """Return ``Control`` of ``web/types.d.ts``."""
        values = [{"value": value, "label": label.part()} for value, label in self.values.items()]
        return {"id": self.id, "label": self.label.part(), "values": values, "initial": self.initial}


@dataclass(frozen=True)
class Question:
    """A question; its answer is worked out from runs.

    Attributes
    ----------
    id : str
        Unique in its lesson.
    text, hint, lesson : Text
        What is asked, what helps after a wrong answer, what is said after the right one.
    kind : {"choice", "number", "reach"}
        One of several options; a number; or a setting of the controls that has to be found.
    options : sequence of Text
        Of a choice.
    answer : float or None
        Index of the right option, or the number.
    reached : sequence of str
        The settings that answer it.
    """

    id: str
    text: Text
    kind: Literal["choice", "number", "reach"]
    hint: Text
    lesson: Text
    options: Sequence[Text] = ()
    answer: float | None = None
    reached: Sequence[str] = ()

    def part(self) -> dict[str, Any]:
        """Return ``Question`` of ``web/types.d.ts``."""
        found: dict[str, Any] = {"id": self.id, "text": self.text.part(), "kind": self.kind}
        if self.kind == "choice":
            found["options"] = [option.part() for option in self.options]
        if self.kind == "reach":
            found["reached"] = list(self.reached)
        else:
            found["answer"] = self.answer
        return {**found, "hint": self.hint.part(), "lesson": self.lesson.part()}


@dataclass(frozen=True)
class Lesson:
    """One guided mode.

    Attributes
    ----------
    id : str
    title, introduction : Text
    controls : sequence of Control
    runs : mapping of str to sequence of Result
        What each setting shows, by the values of all controls joined with ``|``: runs of one graph.
    questions : sequence of Question
    """

    id: LessonId
    title: Text
    introduction: Text
    controls: Sequence[Control]
    runs: Mapping[str, Runs]
    questions: Sequence[Question]


def key(*values: object) -> str:
    """Return the name of a setting.

    Examples
    --------
    >>> key("free", "none", 8)
    'free|none|8'
    """
    return "|".join(str(value) for value in values)


def every_setting(controls: Sequence[Control], runs_of: Callable[..., Runs]) -> dict[str, Runs]:
    """Return the runs of every setting; ``runs_of`` gets the values of the controls in their order."""
    return {key(*values): runs_of(*values) for values in product(*(control.values for control in controls))}


def reaching(runs: Mapping[str, Runs], reaches: Callable[[Result], bool]) -> list[str]:
    """Return the settings of which some run is as asked."""
    return [setting for setting, shown in runs.items() if any(reaches(run) for run in shown)]


def only(found: Sequence[int]) -> int:
    """Return the one index that was found.

    Raises
    ------
    ValueError
        If there is none or there are several: the question then has no answer, or not one.
    """
    (one,) = found
    return one


def times(run: Result, name: str) -> tuple[int, int]:
    """Return start and end of an operator."""
    op = run.problem.graph.index[name]
    return run.trace.start[op], run.trace.end[op]


def names(run: Result, ops: Sequence[int]) -> str:
    """Return names of operators, with commas."""
    return ", ".join(run.problem.graph.names[op] for op in ops)
