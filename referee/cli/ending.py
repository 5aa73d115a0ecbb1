"""How a run of the command line ends: one sentence on stderr, and an exit code of `docs/exit-codes.md`."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import sys
import tempfile
import traceback
from collections.abc import Callable
from enum import IntEnum

import click

from protocol.text import readable
from referee.cli.interrupts import interrupted_by_signals
from referee.errors import InputError, RefereeError


class ExitCode(IntEnum):
    """What a shell is told."""

    DONE = 0
    NEGATIVE = 1
    BAD_INPUT = 2
    NO_VERDICT = 3
    INTERNAL = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141


_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def run(work: Callable[[], object], *, is_verbose: Callable[[], bool]) -> int:
    """Do `work`, say what went wrong with it, and return the exit code.

    `is_verbose` is asked only after a failure, since `work` itself reads the options.
    """
    try:
        with interrupted_by_signals():
            work()
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return _flushed(end.exit_code)
    except (KeyboardInterrupt, EOFError, click.Abort):
        say("interrupted")
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        say(error.format_message(), hint=_help_hint(error))
        return error.exit_code
    except RefereeError as error:
        say(str(error))
        return ExitCode.BAD_INPUT if isinstance(error, InputError) else ExitCode.NEGATIVE
    except OSError as error:
        return _system_error(error, verbose=is_verbose())
    except Exception as error:
        return _internal(error, verbose=is_verbose())
    return ExitCode.DONE


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except OSError as error:
        return _system_error(error, verbose=False)
    return code


def say(text: str, *, hint: str = "") -> None:
    """Write `referee: …` to stderr, a line each, with nothing in it that a terminal would obey."""
    with contextlib.suppress(OSError):
        for line in text.splitlines():
            click.echo("referee: " + "".join(char if char.isprintable() else "?" for char in line), err=True)
        if hint:
            click.echo(hint, err=True)


def _help_hint(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"Try `{context.command_path} --help`." if context else ""


def _system_error(error: OSError, *, verbose: bool) -> int:
    if isinstance(error, BrokenPipeError) and _nobody_reads():
        return ExitCode.BROKEN_PIPE
    if error.errno in _DISK_FULL:
        say(f"cannot write{f' {error.filename}' if error.filename else ''}: {error.strerror}")
        _drop_output()
        return ExitCode.NEGATIVE
    if error.errno == errno.ENAMETOOLONG:  # whichever it was of all that were named
        say(f"no file can be called {readable(str(error.filename), 80)}: {error.strerror}")
        return ExitCode.BAD_INPUT
    return _internal(error, verbose=verbose)


def _nobody_reads() -> bool:
    """Whether it was standard output that broke; then what is left in it is thrown away."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        broken = any(event & select.POLLERR for _, event in poll.poll(0))
    except (OSError, ValueError):
        return False
    if broken:
        _drop_output()
    return broken


def _drop_output() -> None:
    """Let the interpreter's last flush of standard output succeed."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _internal(error: Exception, *, verbose: bool) -> int:
    what = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    if verbose:
        with contextlib.suppress(OSError):
            click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
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
