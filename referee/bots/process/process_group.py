"""All processes of a bot together: reading their processor time, suspending and resuming them.

`find` returns their pids at this moment; every fork changes them. Where the system lacks `/proc` or the clocks of
processes (macOS), the processor time is 0, and only the processes that `find` returns can be suspended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable

from referee.bots.process.system import stat_of, threads_of

FindPids = Callable[[], list[int]]

_NS_A_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_DEAD = (b"Z", b"X", b"x")
_AT_REST = (b"T", b"t", b"D")
"""States of a thread that is stopped, or for long in the kernel, such as a parent after `vfork`."""
_EXITING = 0x4
"""The kernel's PF_EXITING, among the flags in a thread's `stat`."""
_MOST_SECONDS = 0.05
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0001, 0.002
"""Between two looks at those that would not stop, in seconds."""


def clock_of(pid: int) -> int:
    """The number of a process's own clock of processor time, for `time.clock_gettime_ns`.

    The kernel's `MAKE_PROCESS_CPUCLOCK` of the scheduler's clock, which is what clock_getcpuclockid(3) returns: all
    threads, to the ns. Anybody may read it, from any namespace in which the process has a pid.
    """
    return ~pid << 3 | 2


def own_ns(pid: int) -> int | None:
    """The processor time of a process without its children, in ns; None where it is gone."""
    try:
        return time.clock_gettime_ns(clock_of(pid))
    except (AttributeError, OSError):
        return None


class CpuUsage:
    """The processor time of a bot's processes from the first on, in ns; never less than it was.

    Exact for all that was ever seen, up to its last sight, and for those that were never seen but reaped by another
    of them, as far as these are more than the seen ones that are gone. A process that was born and died unreaped
    between two readings is not counted.
    """

    def __init__(self) -> None:
        self.newborn_at_work = False
        """True if the last reading found a process, ready to run, that the one before had not found."""
        self._living: dict[int, int] = {}
        self._gone = 0
        self._reaped_unseen = 0

    def read(self, find: FindPids) -> int:
        """Their processor time now."""
        own: dict[int, int] = {}
        reaped = 0
        newborn = False
        # The kernel's lists of children may lack some while others of them die.
        for pid in self._living.keys() | set(find()):
            used = own_ns(pid)
            if used is not None:
                own[pid] = used
                state, of_children = _state_and_reaped_ns(pid)
                reaped += of_children
                newborn = newborn or (state == b"R" and pid not in self._living)
        for pid, used in self._living.items():
            if own.get(pid, -1) < used:  # gone; its number may be another's by now
                self._gone += used
        self.newborn_at_work = newborn and bool(self._living)
        self._living = own
        # In what was reaped are some of the gone, and one cannot tell which.
        self._reaped_unseen = max(self._reaped_unseen, reaped - self._gone)
        return sum(own.values()) + self._gone + self._reaped_unseen


def suspend(find: FindPids) -> bool:
    """Suspend all processes, also those that are born meanwhile. True if none was running at the last look.

    A parent may be stopped too late for its child, and a child may wake its parent. So the loop repeats, for 50 ms at
    most. It waits until each thread has stopped, because a thread may be in the middle of a fork. It also waits for
    processes that are ending, since their end may wake their parent: by a signal that they chose, or because the
    kernel resumes a stopped process group that loses its last relative.
    """
    until = time.monotonic() + _MOST_SECONDS
    pause = _FIRST_PAUSE
    signalled: set[int] = set()
    running = find()
    while running:
        if not signalled.isdisjoint(running):
            if time.monotonic() > until:
                return False
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        for pid in running:
            _signal(pid, signal.SIGSTOP)
        signalled.update(running)
        # Youngest first: a parent that was seen stopped may be woken by a child that ends only after that.
        running = [pid for pid in reversed(find()) if not _is_at_rest(pid)]
    return True


def resume(find: FindPids) -> None:
    """Resume all processes."""
    for pid in find():
        _signal(pid, signal.SIGCONT)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _state_and_reaped_ns(pid: int) -> tuple[bytes, int]:
    """A process's state, and the processor time of the children that it has reaped, and of theirs, to 10 ms."""
    fields = stat_of(f"/proc/{pid}")
    return (fields[0], (int(fields[13]) + int(fields[14])) * _NS_A_TICK) if fields else (b"", 0)


def _is_at_rest(pid: int) -> bool:
    """True if all threads of a process stand still, or are over."""
    rests, threads = _rests(f"/proc/{pid}")
    return rests and (threads <= 1 or all(_rests(thread)[0] for thread in threads_of(pid)))


def _rests(place: str) -> tuple[bool, int]:
    """True if the thread that proc(5) has there stands still or is over, and how many its process has."""
    fields = stat_of(place)
    if not fields:
        return True, 0
    state, flags = fields[0], int(fields[6])
    return state in _DEAD or (state in _AT_REST and not flags & _EXITING), int(fields[17])
