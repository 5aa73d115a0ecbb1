"""A bot in a box: bubblewrap reports how it ended, and killing the first process ends it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess

from referee.bots.process import process_group, system
from referee.bots.process.launcher import Child
from referee.bots.sandbox.bubblewrap import BOT
from referee.bots.sandbox.cgroups import Group
from referee.errors import VoidGame

_BEGIN_MS = 5_000
"""How long a box may take to come into being, in ms, before it is the machine's fault."""
_END_MS = 60_000
"""How long a box may take to end: a process may be in a call of the kernel that no signal interrupts."""
_FIRST_SIGNAL_STATUS = 128
_LONGEST_STATUS = 4096


class BoxedChild(Child):
    """A bot in a box. Its process, `pid`, is bubblewrap's, which lives as long as the bot does and no longer."""

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        reaper: system.Reaper | None,
        *,
        first: int,
        first_pidfd: int,
        told: int,
        group: Group | None,
        name: str,
        memory_limit: int,
        stderr_kept: int,
    ) -> None:
        super().__init__(popen, None, reaper, name=name, memory_limit=memory_limit, stderr_kept=stderr_kept)
        self._group = group
        self.counts_all = group is not None
        self._first, self._first_pidfd = first, first_pidfd
        self._told = told
        self._own_status: int | None = None

    def status(self) -> int | None:
        """See `Child`. As in a shell, a status above 128 is a signal: bubblewrap reports signals so."""
        if self._own_status is None and super().status() is not None:
            self._own_status = self._status_told()
        return self._own_status

    def _status_told(self) -> int:
        code = last_of(_read_now(self._told), "exit-code")
        if code is None and self.memory_used_up() is not None:
            return -signal.SIGKILL  # the kernel chose bubblewrap for the memory that the bot took
        if code is None:
            raise VoidGame("the sandbox failed, and not the bot in it")
        return code if code <= _FIRST_SIGNAL_STATUS else _FIRST_SIGNAL_STATUS - code

    def processes(self) -> list[int]:
        """See `Child`: all that is in the box."""
        return system.tree(self._first)

    def _read_cpu_ns(self) -> int:
        """See `Child.cpu_ns`: with a group nothing is missed, and bubblewrap's own few ms are in it."""
        if self._group is None:
            return super()._read_cpu_ns()
        for pid in self.processes():  # asked for its clock, the kernel adds to the group's what runs at this moment
            process_group.own_ns(pid)
        return self._group.cpu_ns()

    def memory_used_up(self) -> int | None:
        """See `Child`."""
        group = self._group
        if group is None:
            return super().memory_used_up()
        return group.memory if group.killed() and group.met_its_limit() else None

    def killed_for_want_of_memory(self) -> bool:
        """See `Child`: a group counts its own."""
        group = self._group
        if group is None:
            return super().killed_for_want_of_memory()
        return bool(group.killed()) and not group.met_its_limit()

    def watch_memory(self, now: int, *, answered: bool) -> None:
        """See `Child`: a group does that itself."""
        if self._group is None:
            super().watch_memory(now, answered=answered)

    def open_folder(self) -> int:
        """A descriptor of /bot as it is in the box, through which it can be read when the box is gone."""
        return os.open(f"/proc/{self._first}/root{BOT}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def _kill(self) -> None:
        """Kill the first process of the box, and with it, in the kernel, all of its others."""
        with contextlib.suppress(VoidGame):
            self.status()
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._first_pidfd, signal.SIGKILL)
        if not _is_over(self._first_pidfd, _END_MS) or self.pidfd is None or not _is_over(self.pidfd, _END_MS):
            self._popen.kill()
        # Where bubblewrap itself was killed the box is ours to reap.
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PIDFD, self._first_pidfd, os.WEXITED | os.WNOHANG)

    def _reap(self) -> int:
        status = super()._reap()
        if self._own_status is not None:
            return self._own_status
        return _FIRST_SIGNAL_STATUS - status if status > _FIRST_SIGNAL_STATUS else status

    def _close(self) -> None:
        super()._close()
        os.close(self._first_pidfd)
        os.close(self._told)
        if self._group is not None:
            self._group.remove()


def read_line(descriptor: int) -> bytes:
    """The first line that comes in time, or what there is of it."""
    said = b""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while b"\n" not in said and poll.poll(_BEGIN_MS):
        piece = os.read(descriptor, _LONGEST_STATUS)
        if not piece:
            break
        said += piece
    return said


def _read_now(descriptor: int) -> bytes:
    with contextlib.suppress(OSError):
        return os.read(descriptor, _LONGEST_STATUS)
    return b""


def last_of(lines: bytes, key: str) -> int | None:
    """Return the number that bubblewrap reported under `key`, the last one if there are several."""
    found = None
    for line in lines.splitlines():
        with contextlib.suppress(ValueError, AttributeError):
            found = json.loads(line).get(key, found)
    return found if isinstance(found, int) else None


def _is_over(pidfd: int, ms: int) -> bool:
    """True if a process ends in time."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(ms))
