"""Schedulers that somebody writes in a page: compiled, guarded, and answered with the line of what goes wrong."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar

from simsched.errors import SchedulerError, SimschedError
from simsched.problem import Problem
from simsched.schedulers.base import Policy, View

FILE = "<your scheduler>"
MODULE = "your_scheduler"
MOST_LINES = 3_000_000
"""Lines that a scheduler may execute in one run: a loop without an end is told with its line."""
MOST_SAID = 500
"""Letters of an error's text that are shown."""

T = TypeVar("T")


class WrittenError(SchedulerError):
    """Something is wrong with a scheduler that was written in a page.

    Attributes
    ----------
    line : int or None
        One-based line of its text.
    """

    def __init__(self, message: str, line: int | None) -> None:
        self.line = line
        super().__init__(f"line {line}: {message}" if line is not None else message)


def compile_scheduler(code: str) -> Written:
    """Return the scheduler of a text: its last class with a method ``start``.

    Parameters
    ----------
    code : str
        A Python module.

    Raises
    ------
    WrittenError
        If it cannot be compiled or run, holds no such class, or the class cannot be made without arguments.
    """
    try:
        compiled = compile(code, FILE, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise WrittenError(_named(error, getattr(error, "msg", None) or str(error)), line) from None
    module = types.ModuleType(MODULE)
    sys.modules[MODULE] = module  # dataclasses look their module up
    lines = _Lines()
    lines.watch(lambda: exec(compiled, module.__dict__))
    return lines.watch(lambda: _last_scheduler(module))


def _last_scheduler(module: types.ModuleType) -> Written:
    kinds = [kind for kind in module.__dict__.values() if isinstance(kind, type) and kind.__module__ == MODULE]
    able = [kind for kind in kinds if callable(getattr(kind, "start", None))]
    if not able:
        raise WrittenError("there is no class with a method start(self, problem)", None)
    return Written(str(able[-1].__name__), able[-1]())


class Written:
    """A scheduler that does what another one does, within limits, and says the line where that one fails.

    Parameters
    ----------
    name : str
    scheduler : object
        With a method ``start``.

    Attributes
    ----------
    failed : WrittenError or None
        What went wrong in the last run.
    """

    def __init__(self, name: str, scheduler: Any) -> None:
        self.name = name
        self.scheduler = scheduler
        self.failed: WrittenError | None = None

    def start(self, problem: Problem) -> Policy:
        """Start the other scheduler."""
        self.failed = None
        lines = _Lines()
        policy = self._kept(lambda: lines.watch(lambda: self.scheduler.start(problem)))
        if not callable(policy):
            self._kept(_refuse(f"start returned {type(policy).__name__}; expected a policy, which can be called"))
        most = len(problem.graph) + 1

        def decide(view: View) -> list[tuple[int, int, str]]:
            # What is answered may run code of its own as well, where it is shown.
            return self._kept(lambda: lines.watch(lambda: [_row(each) for each in _taken(policy(view), most)]))

        return decide

    def _kept(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except WrittenError as error:
            self.failed = error
            raise


def _refuse(message: str) -> Callable[[], None]:
    def refuse() -> None:
        raise WrittenError(message, None)

    return refuse


def _taken(answer: Iterable[Any] | None, most: int) -> list[Any]:
    """Take the dispatches of one answer, at most one more than there are operators: the engine refuses the last."""
    if answer is None:
        raise WrittenError("the policy returned None; expected a list of (operator, stream, reason)", None)
    return list(islice(answer, most))


def _row(answer: Any) -> tuple[int, int, str]:
    """Check the form of one dispatch."""
    whole = isinstance(answer, tuple) and 2 <= len(answer) <= 3 and all(type(each) is int for each in answer[:2])
    if not whole or not isinstance(answer[-1], (str, int)):
        shown = repr(answer)
        raise WrittenError(
            f"the policy answered with {shown[:80]}; expected (operator, stream, reason): two whole numbers and a text",
            None,
        )
    return answer[0], answer[1], str(answer[2]) if len(answer) == 3 else ""


class _Lines:
    """Counts the lines of the written text that are executed, over all calls of one run.

    What takes long within one line is not seen; for that the page gives up after some seconds and starts a new worker.
    """

    def __init__(self) -> None:
        self.left = MOST_LINES

    def watch(self, action: Callable[[], T]) -> T:
        """Run something; an error in it becomes one that names the line of the text."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            return action()
        except SimschedError as error:
            if isinstance(error, WrittenError) and error.line is not None:
                raise
            raise WrittenError(str(error), _line_of(error)) from error
        except BaseException as error:  # also what ends a program: here it ends a scheduler
            raise WrittenError(_named(error, _text_of(error)), _line_of(error)) from error
        finally:
            sys.settrace(before)

    def _enter(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename == FILE else None

    def _line(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        self.left -= 1
        if self.left <= 0:
            message = f"more than {MOST_LINES:,} lines were executed; does this loop end?"
            raise WrittenError(message, frame.f_lineno)
        return self._line


def _named(error: BaseException, text: str) -> str:
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _text_of(error: BaseException) -> str:
    """What an error says, cut where it is long; its class may be a written one that cannot say it."""
    try:
        text = str(error)
    except BaseException:
        return ""
    return text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]}..."


def _line_of(error: BaseException) -> int | None:
    """Return the innermost line of the written text that an error passed."""
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
