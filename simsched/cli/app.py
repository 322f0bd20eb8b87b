"""The top command: its sub-commands by name, loaded when they are used, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from simsched import _version
from simsched.cli import exits, streams

COMMANDS = {
    "run": ("run", "Run one scheduler on graphs, and tell what happened."),
    "compare": ("compare", "Compare schedulers on graphs."),
    "explain": ("explain", "Say why a run took as long as it did, or why operators ran when they did."),
    "whatif": ("whatif", "Run again with something changed, and show what it does."),
    "streams": ("streams_advice", "Say how many streams are worth having, and why no more."),
    "experiment": ("experiment", "Run an experiment: a grid of runs, resumed where it stopped."),
    "rank": ("rank", "Rank schedulers over many runs, and say which differences are real."),
    "duel": ("duel", "Search for a small instance on which A loses most to B."),
    "list": ("list", "List what can be named."),
    "check": ("check", "Say what files are, and whether they are valid."),
    "profile": ("profile", "List, show, check or begin hardware profiles."),
    "plot": ("plot", "Draw one picture, from names or from recorded runs."),
    "page": ("page", "Write one HTML file that replays runs side by side."),
    "serve": ("serve", "Show runs in the browser, change them there, and run again."),
}


class HelpfulGroup(click.Group):
    """A group that says which command may have been meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was asked for, or say which one may have been meant."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            from simsched.errors import suggest

            raise click.UsageError(f"unknown command {args[0]!r}; {suggest(args[0], known)}", ctx)
        return super().resolve_command(ctx, args)


# click keeps the lines of a paragraph that begins with a backspace character.
HELP = """Simulate how schedulers run a computation graph on given hardware.

In which order, on which streams; how long it takes; how much memory; what the limit is; and why.

\b
Exit codes: 0 all is well; 1 a run failed or broke a rule; 2 bad input;
130 interrupted; 141 the reader of a pipe has gone; 143 told to end.
"""


class LazyGroup(HelpfulGroup):
    """A group that imports a command's module when the command is used.

    Parameters
    ----------
    lazy : mapping of str to (str, str)
        Command name to its module under :mod:`simsched.cli` and the line that ``--help`` shows.
    """

    def __init__(self, *args: Any, lazy: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of commands, in the order in which a newcomer needs them."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in self.lazy:
            return None
        command = import_module(f"simsched.cli.{self.lazy[cmd_name][0]}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.lazy.items()])


def _look_here() -> None:
    """Find users' own schedulers and cost models where the command is typed; last, so that they hide nothing."""
    with suppress(OSError):  # the working directory may be gone
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())


class _ReaderGoneError(Exception):
    """Whoever read our output has closed the pipe."""


class App(LazyGroup):
    """The group that turns every error into one message and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click must not see that a reader has gone, for it would make that exit code 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGoneError from error

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line; see :mod:`simsched.cli.exits` for the exit codes."""
        _look_here()
        if not standalone_mode:
            return super().main(args, prog_name, standalone_mode=False, **extra)
        streams.open_missing()
        streams.end_in_order()
        try:
            code = super().main(args, prog_name, standalone_mode=False, **extra)
            sys.stdout.flush()
        except (BrokenPipeError, _ReaderGoneError):
            # The reader has gone: nobody is left to tell, and the final flush must not complain either.
            streams.silence(sys.stdout)
            code = exits.PIPE
        except (Exception, KeyboardInterrupt) as error:
            code = exits.report(error)
        streams.settle()
        sys.exit(code if isinstance(code, int) else exits.OK)


@click.command(
    cls=App,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=HELP,
    epilog="Example: simsched compare inception_v1 --hardware a100_sxm_80gb",
)
@click.version_option(_version.__version__, prog_name="simsched", message="%(prog)s %(version)s")
def main() -> None:
    """Run the command line."""
