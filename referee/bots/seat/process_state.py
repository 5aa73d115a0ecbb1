"""What a bot's processes are doing while no answer comes, for the detail of its fault."""

from __future__ import annotations

import contextlib
import fcntl
import platform
import termios
from collections.abc import Iterator
from enum import Enum, auto
from itertools import islice
from pathlib import Path

_READ_CALLS = {"x86_64": "0", "aarch64": "63", "riscv64": "63", "armv7l": "3", "i686": "3", "ppc64le": "3"}
"""By machine: the number of `read`."""
_LOOKED_AT = 256
"""Threads of a bot that are looked at: it may have any number of them."""


class Doing(Enum):
    """What a tree of processes does: the first of these that one of its threads shows."""

    STOPPED = auto()
    COMPUTING = auto()
    READING = auto()
    """It is blocked in a read of the bot's stdin."""
    WAITING = auto()
    """It sleeps, or waits for something else."""
    UNKNOWN = auto()


def unread(pipe: int) -> int | None:
    """Return how many bytes of a pipe, given by either end, are unread; None if the system does not report it."""
    try:
        return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, b"\0\0\0\0"), "little")
    except OSError:
        return None


def doing(pid: int, stdin: int) -> Doing:
    """What a process and all that descend from it do; `stdin` is our end of the pipe that is its stdin.

    One look, which may come at an unlucky moment. Takes about 0.1 ms for each thread, of which it looks at 256.
    """
    try:
        pipe = str(Path(f"/proc/self/fd/{stdin}").readlink())
    except OSError:
        return Doing.UNKNOWN
    seen = {_doing(task, pipe) for task in islice(_tasks(pid), _LOOKED_AT)}
    return next((one for one in Doing if one in seen), Doing.UNKNOWN)


def _tasks(pid: int) -> Iterator[Path]:
    waiting, known = [pid], {pid}
    while waiting:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{waiting.pop()}/task").iterdir():
                yield task
                with contextlib.suppress(OSError):
                    born = set(map(int, (task / "children").read_text().split())) - known
                    waiting += born
                    known |= born


def _doing(task: Path, pipe: str) -> Doing:
    try:
        state = (task / "stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return Doing.UNKNOWN
    if state in "Tt":
        return Doing.STOPPED
    if state == "R":
        return Doing.COMPUTING
    return Doing.READING if state == "S" and _reads(task, pipe) else Doing.WAITING


def _reads(task: Path, pipe: str) -> bool:
    """True if a thread that sleeps does so in a read of that pipe."""
    try:
        call, descriptor, *_ = (task / "syscall").read_text().split()
        reads = call == _READ_CALLS.get(platform.machine())
        return reads and str((task / "fd" / str(int(descriptor, 16))).readlink()) == pipe
    except (OSError, ValueError):
        return False
