"""What Linux offers for keeping processes together: orphans come to us, and none of a bot's tree survives it.

Where the system lacks a call (macOS), a function here does nothing and says so by its result.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Set
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def open_pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def children() -> set[int]:
    """The pids of this process's children, dead but unreaped ones included; empty where /proc does not tell."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in Path("/proc/self/task").iterdir():
            with contextlib.suppress(OSError):
                found.update(map(int, (task / "children").read_text().split()))
    return found


class Reaper:
    """Ends what bots leave behind: makes this process the one to which orphaned descendants come.

    For a process whose children are all bots: any child that is not in `live` counts as a stray.
    """

    def __init__(self) -> None:
        self.live: set[int] = set()
        if sys.platform.startswith("linux"):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def sweep(self) -> None:
        """Kill and reap every stray.

        A killed stray's own children come to this process in turn, hence the loop. A process that forks faster
        than it can be killed is a sandbox's business; the loop is bounded.
        """
        for _ in range(1000):
            strays = children() - self.live
            if not strays:
                return
            for pid in strays:
                kill(pid)
            for pid in strays:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)


def kill(pid: int) -> None:
    """SIGKILL to one process, or nothing where it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def kill_group(pgid: int) -> None:
    """SIGKILL to a process group, or nothing where it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, signal.SIGKILL)


def pin_to(cores: Set[int], pid: int = 0) -> bool:
    """Let a process (0: this one) run on `cores` only; False where the system has no such call or refuses."""
    try:
        os.sched_setaffinity(pid, cores)
    except (AttributeError, OSError):
        return False
    return True


def usable_cores() -> list[int]:
    """The cores that this process may run on."""
    try:
        return sorted(os.sched_getaffinity(0))
    except AttributeError:
        return list(range(os.cpu_count() or 1))
