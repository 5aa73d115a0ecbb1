"""Runs the commands that build a bot, within a time limit, in an environment that tells them nothing.

A build is the author's code run as you, without a sandbox: build only what you would run.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from protocol.text import readable
from referee.bots.botfile import Command
from referee.bots.environment import bare_environment
from referee.bots.programs import resolve
from referee.bots.system import kill_group, wait_for_end
from referee.errors import InputError

_SHOWN_LINES = 12
_LINE_WIDTH = 200
_TAIL = 8192


def run_build(steps: Sequence[Command], folder: Path, *, scratch: Path, log: Path, seconds: float) -> None:
    """Run `steps` one after the other in `folder`, all of them within `seconds`.

    `scratch` is their HOME and TMPDIR, `log` where their output goes. Raises InputError, with the end of that
    output, where a step fails or time is up; nothing that a step started in its process group is left in any case.
    """
    deadline = time.monotonic() + seconds
    with log.open("xb") as output:
        for step in steps:
            words = readable(shlex.join(step), _LINE_WIDTH)
            output.write(f"$ {words}\n".encode())
            output.flush()
            failure = _run_step(step, folder, _environment(scratch), output, deadline)
            if failure:
                raise InputError(f"its build `{words}` {failure}{_tail(log)}")


def _run_step(
    step: Command, folder: Path, environment: dict[str, str], output: BinaryIO, deadline: float
) -> str | None:
    """Run one command; how it failed, or None."""
    try:
        process = subprocess.Popen(
            [resolve(step[0]), *step[1:]],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return f"could not be started: {error.strerror}"
    in_time = False
    try:
        in_time = wait_for_end(process, deadline - time.monotonic())
    finally:
        kill_group(process.pid)  # before it is reaped: afterwards the number may be another's
        status = process.wait()
    if not in_time:
        return "did not end in time and was killed"
    if status < 0:
        return f"was killed by signal {-status}"
    return f"failed with exit status {status}" if status else None


def _environment(scratch: Path) -> dict[str, str]:
    environment = bare_environment(scratch)
    # Where rustc is rustup's, it finds no compiler with another HOME unless it is told.
    rustup = Path(os.environ.get("RUSTUP_HOME") or Path("~/.rustup").expanduser())
    if rustup.is_dir():
        environment["RUSTUP_HOME"] = str(rustup)
    return environment


def _tail(log: Path) -> str:
    """The last lines of a log, indented below a sentence; nothing where only our own line stands in it."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL))
        lines = file.read().rstrip().split(b"\n")[-_SHOWN_LINES:]
    return "".join(f"\n    {readable(line, _LINE_WIDTH)}" for line in lines if not line.startswith(b"$ "))
