"""How a run of the command line ends: one sentence on stderr, and an exit code of `docs/exit-codes.md`."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from enum import IntEnum

import click

from protocol.text import printable, readable
from referee.cli.interrupts import interrupted_by_signals, interrupts_not_ignored
from referee.cli.streams import OutputLost, lost_output
from referee.errors import BotsRefused, InputError, RefereeError


class ExitCode(IntEnum):
    """What a shell is told."""

    DONE = 0
    NEGATIVE = 1
    BAD_INPUT = 2
    NO_VERDICT = 3
    INTERNAL = 70
    INTERRUPTED = 130
    KILLED = 137
    BROKEN_PIPE = 141


_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})


def run(work: Callable[[], object], *, is_verbose: Callable[[], bool]) -> int:
    """Do `work`, say what went wrong with it, and return the exit code.

    `is_verbose` is called only after a failure, since `work` itself reads the options.
    """
    try:
        with interrupts_not_ignored(), interrupted_by_signals():
            code = _code_of(work)
            sys.stdout.flush()
        if lost := lost_output():
            return _output_lost(lost)
    except (KeyboardInterrupt, EOFError, click.Abort):
        say("interrupted")
        return ExitCode.INTERRUPTED
    except OutputLost as lost:
        return _output_lost(lost.error)
    except click.ClickException as error:
        say(" ".join(error.format_message().split("\n\t")), hint=_help_hint(error))
        return error.exit_code
    except BotsRefused as error:
        for line in error.lines:
            say(line)
        return ExitCode.BAD_INPUT
    except RefereeError as error:
        say(str(error))
        return ExitCode.BAD_INPUT if isinstance(error, InputError) else ExitCode.NEGATIVE
    except OSError as error:
        return _system_error(error, verbose=is_verbose())
    except Exception as error:
        return _internal(error, verbose=is_verbose())
    return code


def _code_of(work: Callable[[], object]) -> int:
    try:
        work()
    except click.exceptions.Exit as end:
        return end.exit_code
    return ExitCode.DONE


def say(text: str, *, hint: str = "") -> None:
    """Write `referee: …` to stderr as one line, with nothing in it that a terminal would obey."""
    with contextlib.suppress(OSError):
        click.echo("referee: " + printable(text), err=True)
        if hint:
            click.echo(hint, err=True)


def _help_hint(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"Try `{context.command_path} --help`." if context else ""


def _output_lost(error: OSError) -> int:
    """The exit code where standard output could not be written."""
    if isinstance(error, BrokenPipeError):
        return ExitCode.BROKEN_PIPE
    if error.errno == errno.EIO:  # the terminal went away
        return ExitCode.INTERRUPTED
    say(f"standard output cannot be written: {error.strerror}")
    return ExitCode.NEGATIVE


def _system_error(error: OSError, *, verbose: bool) -> int:
    of_file = f" {error.filename}" if error.filename else ""
    if error.errno in _DISK_FULL:
        say(f"cannot write{of_file}: {error.strerror}")
        return ExitCode.NEGATIVE
    if error.errno == errno.EFBIG:
        say(f"cannot write{of_file}: the size of files is limited here (ulimit -f)")
        return ExitCode.NEGATIVE
    if error.errno in _EXHAUSTED:
        say(f"this machine or a limit of it (ulimit) leaves too little to go on: {error.strerror}")
        return ExitCode.NEGATIVE
    if error.errno == errno.ENAMETOOLONG:  # whichever it was of all that were named
        say(f"no file can be called {readable(str(error.filename), 80)}: {error.strerror}")
        return ExitCode.BAD_INPUT
    if isinstance(error, FileNotFoundError) and _folder_is_gone():
        say("the current folder was removed: change to one that exists")
        return ExitCode.BAD_INPUT
    return _internal(error, verbose=verbose)


def _folder_is_gone() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - Path.cwd() is the same, with more to fail
    except FileNotFoundError:
        return True
    return False


def _internal(error: Exception, *, verbose: bool) -> int:
    what = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    if verbose:
        for line in "".join(traceback.format_exception(error)).splitlines():
            click.echo(line, err=True)
        say(f"internal error: {what}")
        return ExitCode.INTERNAL
    try:
        with tempfile.NamedTemporaryFile("w", prefix="referee-", suffix=".txt", delete=False, errors="replace") as file:
            traceback.print_exception(error, file=file)
        where = f"its traceback is in {file.name}"
    except OSError:
        where = "run it with -v to see the traceback"
    say(f"internal error: {what}; {where}")
    return ExitCode.INTERNAL
