"""A control group for each box, where this machine lets us make one: limits and accounts of all its processes together.

Two kinds of machine do. With version 2 of Linux's cgroups the referee's own group must be delegated to it and hold
nobody else, as `systemd-run --scope -p Delegate=yes` arranges it; no process may be in a group that hands controllers
on, so the referee moves into one of its own beside those of the boxes. With version 1 root makes a group in each of
three hierarchies, below the referee's own: so what limits the referee limits them.

Who is in a group before anything of the bot's runs: with version 1 the thread that starts a box goes into the group,
starts it, and comes back, since moving another process would wait some 12 ms for the kernel; with version 2, which
moves no single threads, the box is moved, while it waits for its arguments.

A group's name identifies its creator, so that the groups of a killed referee can be found and no others are removed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

from referee.bots.process import system
from referee.bots.process.limits import MIB, Box
from referee.bots.process.system import read_proc
from referee.bots.sandbox.cgroup_homes import Home, Version, find_home
from referee.bots.tiers import TierUnavailable
from referee.errors import system_words

_LARGEST_PAGES = 4 * MIB
"""How much a group with version 1 may lack of its limit when a page that it asks for does not fit any more."""
_WRAPPERS = 2
"""Bubblewrap's own processes of a box: one outside, the first one inside."""
PREFIX = "referee-box-"
"""How the names of boxes' groups begin; the tag of their maker follows, and a number."""


@dataclass(frozen=True, slots=True)
class _Files:
    """Where the kernel keeps what, by hierarchy (of version 2 there is one) and file."""

    limits: Callable[[int, int], Iterator[tuple[str, str, int, bool]]]
    """From bytes and processes: hierarchy, file, value, and whether every kernel has the file."""
    out_of_memory: tuple[str, str]
    cpu: tuple[str, str]


def _limits_one(memory: int, processes: int) -> Iterator[tuple[str, str, int, bool]]:
    yield "memory", "memory.limit_in_bytes", memory, True
    yield "memory", "memory.memsw.limit_in_bytes", memory, False
    yield "pids", "pids.max", processes, True


def _limits_two(memory: int, processes: int) -> Iterator[tuple[str, str, int, bool]]:
    yield "", "memory.max", memory, True
    yield "", "memory.swap.max", 0, False
    yield "", "pids.max", processes, True


_FILES = {
    Version.ONE: _Files(_limits_one, ("memory", "memory.oom_control"), ("cpuacct", "cpuacct.usage")),
    Version.TWO: _Files(_limits_two, ("", "memory.events"), ("", "cpu.stat")),
}


class Group:
    """The group of one box. Its descriptors stay open, so that reading costs one call. Raises OSError.

    When it is removed, its accounts are read a last time and returned from then on.
    """

    def __init__(self, home: Home, name: str, *, memory: int, processes: int) -> None:
        self.memory = memory
        self._home = home
        self._folders = {hierarchy: folder / name for hierarchy, folder in home.folders.items()}
        self._cpu = self._out_of_memory = -1
        self._last: tuple[int, int, bool] | None = None
        files = _FILES[home.version]
        try:
            for folder in self._folders.values():
                folder.mkdir()
            for hierarchy, file, value, always in files.limits(memory, processes):
                with contextlib.nullcontext() if always else contextlib.suppress(FileNotFoundError):
                    _write(self._folders[hierarchy] / file, b"%d" % value)
            self._cpu = self._open(*files.cpu)
            self._out_of_memory = self._open(*files.out_of_memory)
        except OSError:
            self.remove()
            raise

    def _open(self, hierarchy: str, file: str) -> int:
        return os.open(self._folders[hierarchy] / file, os.O_RDONLY | os.O_CLOEXEC)

    def start(self, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """A process in the group; with version 2 it is put there when `start` returns, and is to wait till then."""
        if self._home.version is Version.TWO:
            popen = start()
            with contextlib.suppress(ProcessLookupError):  # it has failed, which is reported elsewhere
                _write(self._folders[""] / "cgroup.procs", b"%d" % popen.pid)
            return popen
        try:
            _bring_this_thread(self._folders)
            return start()
        finally:
            _bring_this_thread(self._home.folders)

    def cpu_ns(self) -> int:
        """The processor time of all who ever were in the group, in ns; what runs just now is up to a tick behind."""
        if self._last is not None:
            return self._last[0]
        told = os.pread(self._cpu, 4096, 0)
        return int(told) if self._home.version is Version.ONE else 1000 * _number(told, b"usage_usec")

    def killed(self) -> int:
        """How many of the group's processes the kernel has killed for want of memory, its own or the machine's."""
        if self._last is not None:
            return self._last[1]
        return _number(os.pread(self._out_of_memory, 4096, 0), b"oom_kill")

    def met_its_limit(self) -> bool:
        """True if the group has ever had all the memory that it may have."""
        if self._last is not None:
            return self._last[2]
        if self._home.version is Version.TWO:
            return _number(os.pread(self._out_of_memory, 4096, 0), b"oom") > 0
        most = read_proc(str(self._folders["memory"] / "memory.max_usage_in_bytes"))
        return int(most or b"0") >= self.memory - _LARGEST_PAGES

    def remove(self) -> None:
        """Remove the group, whose processes are over; where the kernel is not done with them it is done later."""
        if self._last is None:
            with contextlib.suppress(OSError):  # it was not made
                self._last = self.cpu_ns(), self.killed(), self.met_its_limit()
        for descriptor in (self._cpu, self._out_of_memory):
            if descriptor >= 0:
                os.close(descriptor)
        self._cpu = self._out_of_memory = -1
        _late.extend(folder for folder in self._folders.values() if not remove_folder(folder))


_late: list[Path] = []
"""Folders of groups that could not be removed yet."""
_numbers = count()


def new_group(home: Home, box: Box, *, more: int = 0) -> Group:
    """A group for one box, which has `more` bytes of files than a bot's. Raises OSError."""
    remove_late()
    name = f"{PREFIX}{home.maker.tag}-{next(_numbers)}"
    return Group(home, name, memory=box.memory_in_all + more, processes=box.processes + _WRAPPERS)


def remove_late() -> None:
    """Remove the groups of this process that could not be removed when their boxes ended."""
    _late[:] = [folder for folder in _late if not remove_folder(folder)]


def home() -> Home:
    """Where this process makes groups, found out, once, by making one and starting a process in it.

    Raises Unproven: why it can make none, and what would help.
    """
    found = _found()
    if isinstance(found, TierUnavailable):
        raise found
    return found


def home_or_none() -> Home | None:
    """Where this process makes groups, None where it can make none."""
    found = _found()
    return found if isinstance(found, Home) else None


@cache
def _found() -> Home | TierUnavailable:
    try:
        found = find_home()
    except TierUnavailable as why:
        return why
    try:
        group = new_group(found, Box())
        try:
            group.start(lambda: subprocess.Popen([system.find_tool("true") or "true"], stdin=subprocess.DEVNULL)).wait()
            group.killed()
        finally:
            group.remove()
    except OSError as error:
        return TierUnavailable(f"no cgroup can be made: {system_words(error)}", found.version.remedy)
    return found


def home_that_was_used() -> Home | None:
    """Where this process has made groups, None where it has not, or could not."""
    return home_or_none() if _found.cache_info().currsize else None


def remove_folder(folder: Path) -> bool:
    """True if a group is gone. The kernel removes none that has a process in it."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _bring_this_thread(folders: Mapping[str, Path]) -> None:
    for folder in folders.values():
        _write(folder / "tasks", b"0")


def _write(file: Path, value: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, value)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from None
    finally:
        os.close(descriptor)


def _number(lines: bytes, key: bytes) -> int:
    """The number behind `key` in lines of keys and numbers; 0 where there is none."""
    return next((int(line[len(key) + 1 :]) for line in lines.splitlines() if line.startswith(key + b" ")), 0)
