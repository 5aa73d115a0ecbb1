"""What Linux offers for keeping processes together: orphans come to us, and none of a bot's tree survives it.

Where the system lacks a call (macOS), a function here does nothing and says so by its result.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Set
from pathlib import Path

from referee.bots.process.limits import Box

_TOOLS = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_OPEN_FILES = 4096
_PR_SET_CHILD_SUBREAPER = 36
_SWEEP_SECONDS = 1.0
_END_SECONDS = 5.0
guard: int | None = None
"""The pid of the process that guards this one and does nothing else (`referee.cli.guard`)."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.02
"""How long to wait for the killed to die, in seconds."""


def find_tool(name: str) -> str | None:
    """Return the path of a tool of the system: as PATH has it, else where systems keep it; None where it is missing."""
    return shutil.which(name) or shutil.which(name, path=_TOOLS)


def raise_open_files() -> None:
    """Let this process have as many open files as its hard limit allows, up to some thousands."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def open_pidfd(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process ends; None if the system has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def children() -> set[int]:
    """The pids of this process's children, dead but unreaped ones included; empty where /proc does not tell."""
    return set(_children_of(os.getpid()))


def _children_of(pid: int) -> list[int]:
    """The children of all threads of a process."""
    return [int(child) for task in threads_of(pid) for child in read_proc(f"{task}/children").split()]


def threads_of(pid: int) -> list[str]:
    """Where proc(5) has the threads of a process; none where it is gone."""
    place = f"/proc/{pid}/task"
    try:
        return [f"{place}/{thread}" for thread in os.listdir(place)]  # noqa: PTH208 - pathlib takes three times as long
    except OSError:
        return []


def stat_of(place: str) -> list[bytes]:
    """What `stat` of proc(5) says there of a process or thread, from its state on; nothing where it is gone."""
    return read_proc(f"{place}/stat").rpartition(b")")[2].split()


def read_proc(path: str) -> bytes:
    """Return the content of a file of proc(5), nothing if there is none. Without pathlib, which is slow."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    told = b""
    try:
        while more := os.read(descriptor, 65536):
            told += more
    except OSError:
        pass
    finally:
        os.close(descriptor)
    return told


def become_subreaper() -> bool:
    """Make orphaned descendants children of this process from now on; False where the system has no such call."""
    if not sys.platform.startswith("linux"):
        return False
    return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def end_descendants(spared: Set[int] = frozenset()) -> None:
    """Kill and reap all descendants of this process, a subreaper, except the children in `spared` and theirs.

    What a process forks before it dies becomes a child of this process, hence the loop. It ends after some seconds.
    """
    until = time.monotonic() + _END_SECONDS
    pause = _FIRST_PAUSE
    while (left := children() - spared) and time.monotonic() < until:
        for pid in [pid for child in left for pid in tree(child)]:
            kill(pid)
        if {pid for pid in left if _reap(pid)} != left:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


class Reaper:
    """Ends what bots leave behind: makes this process the one to which orphaned descendants come.

    `live` are the children that somebody here still looks after; any other child is a stray. Left alone are the
    children that this process had before, and whoever is in its own session, where nothing that leads or led a
    session of its own can be. A stray is its bot's while that lives: a bot is known by its session and, since a stray
    can leave that, by the HOME in its environment. A stray that shows neither is ended when no bot is left.
    """

    def __init__(self) -> None:
        self.live: set[int] = set()
        self._homes: dict[int, bytes] = {}
        self._not_ours = children()
        become_subreaper()

    def take(self, bot: int, home: Path | None) -> None:
        """Look after a bot, the leader of a session, in whose environment HOME is `home` as in no other's.

        None: it runs in a box that nothing leaves, so that no stray can be its own.
        """
        self._homes[bot] = b"" if home is None else b"HOME=" + bytes(home)
        self.live.add(bot)

    def over(self, bot: int) -> None:
        """Note that a bot was killed, so that its strays have no owner; it stays in `live` until `drop`."""
        self._homes.pop(bot, None)

    def drop(self, bot: int) -> None:
        """A bot has been reaped."""
        self.over(bot)
        self.live.discard(bot)

    def sweep(self, bot: int | None = None) -> None:
        """Kill and reap every stray that does not belong to a living bot, those of `bot`'s session among them.

        A killed stray's own children come to this process in turn, and so does what one forks before it dies: hence
        the loop, until a look finds neither the living nor the dead. It ends after a second: what forks faster than it
        can be killed is a sandbox's business, and what cannot be reaped yet waits for the next sweep.
        """
        until = time.monotonic() + _SWEEP_SECONDS
        pause = _FIRST_PAUSE
        doomed: set[int] = set()
        while True:
            strays = self._strays()
            reaped = {pid for pid in strays if _reap(pid)}
            # Once doomed, always: a process that is dying no longer shows HOME.
            doomed = {pid for pid in strays - reaped if pid in doomed or not self._is_spared(pid, bot)}
            if not (doomed or reaped) or time.monotonic() > until:
                return
            if doomed:
                for pid in doomed:
                    kill(pid)
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def orphans(self, bot: int) -> list[int]:
        """The strays that are a bot's by its session or its HOME, none that lives in a box; theirs are not sought."""
        home = self._homes.get(bot)
        return [pid for pid in self._strays() if _session(pid) == bot or (home and _home(pid) == home)]

    def _strays(self) -> set[int]:
        ours = os.getsid(0)
        return {pid for pid in children() - self.live - self._not_ours if _session(pid) != ours}

    def _is_spared(self, stray: int, bot: int | None) -> bool:
        session = _session(stray)
        homes = {pid: home for pid, home in self._homes.items() if pid in self.live}
        if not homes or session == bot:
            return False
        if session in homes:
            return True
        home = _home(stray)
        return home is None or home in homes.values()


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _home(pid: int) -> bytes | None:
    """`HOME=…` as it stands in a process's environment; None where it cannot be read, as of the dead."""
    with contextlib.suppress(OSError):
        for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if entry.startswith(b"HOME="):
                return entry
    return None


def _reap(pid: int) -> bool:
    """Take a dead child's status; False where it is not dead yet."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def exit_status(process: subprocess.Popen[bytes]) -> int | None:
    """The status of a child, negative for a signal, None while it lives.

    It is not reaped where the system can tell without (not on macOS before Python 3.13), so that its pid and its
    process group are still its own and may be signalled.
    """
    if process.returncode is not None or not hasattr(os, "waitid"):
        return process.poll()
    try:
        found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return process.poll()
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def kill(pid: int) -> None:
    """SIGKILL to one process, or nothing where it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def kill_group(pgid: int) -> None:
    """SIGKILL to a process group, or nothing where it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, signal.SIGKILL)


def tree(root: int) -> list[int]:
    """Return a process and its descendants, oldest first, as far as /proc lists them."""
    found = [root]
    for pid in found:
        found += _children_of(pid)
    return found


def limit(box: Box, pid: int) -> bool:
    """Set the limits of a single process, which its children inherit; False where the system has no such call."""
    try:
        for kind, most in (
            (resource.RLIMIT_DATA, box.memory),
            (resource.RLIMIT_FSIZE, box.file_size),
            (resource.RLIMIT_NOFILE, box.open_files),
            (resource.RLIMIT_CORE, 0),
        ):
            own = resource.getrlimit(kind)[1]
            allowed = most if own == resource.RLIM_INFINITY else min(most, own)
            resource.prlimit(pid, kind, (allowed, allowed))
    except (AttributeError, OSError, ValueError):
        return False
    return True


_OOM_SCORE = Path("/proc/self/oom_score_adj")


@contextlib.contextmanager
def first_to_go() -> Iterator[None]:
    """What is started inside is the first to be killed where memory runs out.

    In a box it cannot be taken back, nor where root may set it (CAP_SYS_RESOURCE).
    Where the system has no such thing (macOS) nothing happens.
    """
    before = None
    with contextlib.suppress(OSError):
        before = _OOM_SCORE.read_text()
        _OOM_SCORE.write_text("1000")
    try:
        yield
    finally:
        if before is not None:
            with contextlib.suppress(OSError):
                _OOM_SCORE.write_text(before)


def pin_to(cores: Set[int], pid: int = 0) -> bool:
    """Let a process (0: this one) run on `cores` only; False where the system has no such call or refuses."""
    try:
        os.sched_setaffinity(pid, cores)
    except (AttributeError, OSError):
        return False
    return True


def cores_of(pid: int) -> int:
    """How many cores a process may run on; those of the machine if it is gone or the system does not tell."""
    try:
        return len(os.sched_getaffinity(pid))
    except (AttributeError, OSError):
        return os.cpu_count() or 1


def usable_cores() -> list[int]:
    """The cores that this process may run on."""
    try:
        return sorted(os.sched_getaffinity(0))
    except AttributeError:
        return list(range(os.cpu_count() or 1))
