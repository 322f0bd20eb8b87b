"""Exit codes of the command line, and the one message that goes with each.

====  =============================================================================
0     all is well
1     a run could not be carried out, or the referee found that it breaks a rule
2     bad input: a file, a name, an option
70    a fault of simsched itself
130   interrupted
141   the reader of a pipe has gone
143   told to end (SIGTERM)
====  =============================================================================
"""

from __future__ import annotations

import os
from contextlib import suppress

import click

from simsched.cli import console
from simsched.errors import SchedulerError, SimschedError, TraceError, WorkerDiedError

OK = 0
RUN_FAILED = 1
BAD_INPUT = 2
INTERNAL = 70
INTERRUPTED = 130
PIPE = 141
TERMINATED = 143


class InterruptedExit(click.ClickException):
    """An interruption after which something remains; the message says what, and how to go on."""

    exit_code = INTERRUPTED


def code_of(error: BaseException) -> int:
    """Return the exit code for an error."""
    if isinstance(error, (SchedulerError, TraceError, WorkerDiedError, MemoryError)):
        return RUN_FAILED
    if isinstance(error, (SimschedError, OSError)):
        return BAD_INPUT
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        return error.exit_code
    return INTERNAL


def report(error: BaseException) -> int:
    """Write one message for an error to stderr and return the exit code."""
    if os.environ.get("SIMSCHED_DEBUG") and not isinstance(error, click.ClickException):
        import traceback

        traceback.print_exception(error)
    # Where not even stderr can be written, the exit code is all that is left to say.
    with suppress(OSError):
        console.warn(message_of(error))
    return code_of(error)


def message_of(error: BaseException) -> str:
    """Return what a user is told."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return str(error)
    if isinstance(error, click.UsageError):
        hint = f"\nTry '{error.ctx.command_path} --help'." if error.ctx is not None else ""
        return f"error: {_usage(error)}{hint}"
    if isinstance(error, InterruptedExit):
        return f"interrupted; {error.format_message()}"
    if isinstance(error, click.ClickException):
        return f"error: {error.format_message()}"
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return "interrupted"
    if isinstance(error, SimschedError):
        return f"error: {error}"
    if isinstance(error, MemoryError):
        return "error: this machine has too little memory for that"
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"error: {place}{(error.strerror or str(error)).lower()}"
    return (
        f"internal error: {type(error).__name__}: {error}\n"
        "This is a fault of simsched, not of your input. Set SIMSCHED_DEBUG=1 to see where, and please report it."
    )


def _usage(error: click.UsageError) -> str:
    """Say a usage error of click in the words of the rest of the program."""
    if isinstance(error, click.NoSuchOption):
        from simsched.errors import suggest

        names = [name for param in error.ctx.command.params for name in param.opts] if error.ctx else []
        long = [name for name in names if name.startswith("--")]
        return f"unknown option {error.option_name!r}; {suggest(error.option_name, [*long, '--help'])}"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        extra = error.param.type.get_missing_message(error.param, error.ctx)
        return f"missing {error.param.param_type_name} {_name(error.param)}" + (f"; {extra}" if extra else "")
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"{_name(error.param)}: {error.message.rstrip('.')}"
    text = error.format_message()
    return (text[:1].lower() + text[1:]).rstrip(".")


def _name(param: click.Parameter) -> str:
    """Return what the user writes for a parameter: its long option, or the word in the usage line."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return str(param.metavar or param.name)
