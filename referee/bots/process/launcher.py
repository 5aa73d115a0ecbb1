"""Making a bot's process: where isolation is decided, and nothing else.

`Launcher` is the seam for sandboxes (`referee.bots.sandbox`); `PlainLauncher` is the one without: its own session, a
bare environment, a scratch folder of its own, limits, the fate of its parent.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from protocol.text import readable
from referee.bots.cache.prepare import Prepared
from referee.bots.cache.removal import remove_tree
from referee.bots.process import process_group, system
from referee.bots.process.environment import bare_environment, told_memory
from referee.bots.process.limits import DEFAULT_BOX, Box
from referee.bots.process.memory import LOOK_EVERY, memory_of, oom_kills
from referee.bots.process.workbench import Workbench
from referee.errors import BotFault, Verdict, VoidGame, system_words

starting = threading.Lock()
"""Held while a process is being made, until it can be found and ended; who ends everything keeps it for good."""

OURS = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EIO}
"""What can keep a process from being made that is the machine's fault and not the bot's."""


_KILLED = -signal.SIGKILL
_COSTS = 20
"""A look at memory is followed by this many times its processor time without another."""
_REAP_TRIES, _REAP_SECONDS = 50, 0.02
"""How often, and how long each time, a killed process is waited for: it may be held by one that traces it."""
_living: weakref.WeakSet[Child] = weakref.WeakSet()
"""The children of this process that have not been ended."""
_unreaped: list[subprocess.Popen[bytes]] = []
"""Killed processes that could not be reaped in time, kept until they can be."""


_STARTERS = ("setpriv:", "prlimit:", "confine:")
"""How the errors begin of the programs that stand in front of a bot and become it."""
_NOT_FOUND = 127
_NOT_EXECUTED = (126, _NOT_FOUND)
"""The exit statuses of a program that could not execute what it was to."""
_REASON = 80


class Child:
    """A bot's process with its three pipes, as descriptors that never block, and a pidfd where there is one.

    `stderr_kept` is how many bytes of its stderr are to be kept from the beginning, and from the end.
    """

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        scratch: Path | None,
        reaper: system.Reaper | None,
        *,
        name: str = "",
        memory_limit: int | None = None,
        stderr_kept: int = DEFAULT_BOX.stderr,
    ) -> None:
        self._popen = popen
        self._scratch = scratch
        self._reaper = reaper
        self._last_status: int | None = None
        self._usage = process_group.CpuUsage()
        self.memory_limit = memory_limit
        """How many bytes all of its processes may have together, as far as `watch_memory` sees to it."""
        self._look_at_memory = 0
        self._over = self._answered = False
        self._oom_before = self._oom_kills = oom_kills()
        _living.add(self)
        self.name = name
        """The bot's."""
        self.last_cpu_ns = 0
        """What `cpu_ns` returned the last time."""
        self.counts_all = False
        """True if `cpu_ns` also counts processes that no look found."""
        if reaper is not None:
            reaper.take(popen.pid, scratch)
        self.pid = popen.pid
        self.pidfd = system.open_pidfd(popen.pid)
        self.stderr_kept = stderr_kept
        assert popen.stdin and popen.stdout and popen.stderr
        self.stdin, self.stdout, self.stderr = popen.stdin.fileno(), popen.stdout.fileno(), popen.stderr.fileno()
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)

    def close_stdin(self) -> None:
        """Tell the process that nothing more will come."""
        assert self._popen.stdin
        with contextlib.suppress(OSError):
            self._popen.stdin.close()

    def memory_used_up(self) -> int | None:
        """How many bytes all of its processes may have together, where one was killed because they had more."""
        return self.memory_limit if self._over else None

    def killed_for_want_of_memory(self) -> bool:
        """True if the kernel has just killed some process for want of memory, and this bot was within its limit.

        "Just" is since about its last answer, so that a bot that ends itself finds no older kill to hide behind.
        """
        return not self._over and oom_kills() > self._oom_before

    def watch_memory(self, now: int, *, answered: bool) -> None:
        """End the bot if its processes have more memory together than they may, at the clock's time `now`.

        Looks at most every 50 ms; takes about 30 us for each process. `answered` is True if the bot has answered since
        the last call, so that no earlier kill was its own.
        """
        self._answered = self._answered or answered
        if self.memory_limit is None or now < self._look_at_memory:
            return
        began = time.thread_time_ns()
        if self._answered:
            self._answered = False
            self._oom_before, self._oom_kills = self._oom_kills, oom_kills()
        pids = self.processes()
        if memory_of(pids, limit=self.memory_limit) > self.memory_limit:
            self._over = True
            for pid in pids:
                system.kill(pid)
        self._look_at_memory = now + max(LOOK_EVERY, _COSTS * (time.thread_time_ns() - began))

    def status(self) -> int | None:
        """The exit status, negative for a signal; None while the process lives.

        Raises VoidGame where it is not the bot that failed but what it runs in.
        """
        return system.exit_status(self._popen)

    def open_folder(self) -> int | None:
        """A descriptor of the bot's folder where the process has another view of it than the referee; else None."""
        return None

    def processes(self) -> list[int]:
        """The pids of the bot's processes, as far as they can be found.

        Itself, its descendants, and those orphans that can be recognised as its own.
        """
        found = system.tree(self.pid)
        for orphan in self._reaper.orphans(self.pid) if self._reaper is not None else ():
            found += system.tree(orphan)
        return found

    def cpu_ns(self) -> int:
        """Return the processor time that the bot's processes have used so far, in ns.

        See `process_group.CpuUsage` for what is not counted. It never falls. Takes about 20 us for each process.
        """
        self.last_cpu_ns = self._read_cpu_ns()
        return self.last_cpu_ns

    def _read_cpu_ns(self) -> int:
        return self._usage.read(self.processes)

    def newborn_at_work(self) -> bool:
        """True if the last `cpu_ns` found a process at work that the one before had not found."""
        return self._usage.newborn_at_work

    def suspend(self) -> None:
        """Suspend all of the bot's processes, also those that are born meanwhile, until `resume`.

        Harmless a second time. Gives up after 50 ms if the bot resumes its processes faster.
        """
        process_group.suspend(self.processes)

    def resume(self) -> None:
        """Resume all of the bot's processes."""
        process_group.resume(self.processes)

    def end(self) -> int:
        """End the whole process tree, reap it, remove the scratch folder; harmless a second time.

        Returns the process's exit status, that of SIGKILL where it could not be reaped within a second.
        """
        if self._last_status is None:
            self._kill()
            self._last_status = self._reap()
            _living.discard(self)
            self._close()
            if self._scratch is not None:
                remove_tree(self._scratch)
        return self._last_status

    def _kill(self) -> None:
        system.kill_group(self.pid)  # before it is reaped: afterwards the number may be another's
        self._popen.kill()

    def _reap(self) -> int:
        for _ in range(_REAP_TRIES):
            try:
                status = self._popen.wait(_REAP_SECONDS)
            except subprocess.TimeoutExpired:
                if self._reaper is not None:
                    self._reaper.over(self.pid)
                    self._reaper.sweep(self.pid)
                continue
            if self._reaper is not None:
                self._reaper.drop(self.pid)
                self._reaper.sweep(self.pid)
            return status
        _unreaped.append(self._popen)
        return _KILLED

    def _close(self) -> None:
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            assert pipe
            with contextlib.suppress(OSError):
                pipe.close()


class Launcher(Protocol):
    """Makes bots' processes."""

    def launch(self, bot: Prepared) -> Child:
        """A new process of `bot`, its pipes connected.

        Raises BotFault (`start_failed`) where the bot's program cannot be started, VoidGame where the machine
        is to blame.
        """


@dataclass(frozen=True, slots=True)
class PlainLauncher:
    """Processes without isolation: the tier D.

    `scratch` is a folder in which each process gets an empty folder of its own as HOME and TMPDIR, removed with
    it; `cores` are the ones a process may use, where that is not those of its parent; `reaper` ends what processes
    leave behind, in a referee's process where all children are bots. `box` are the limits, of which those hold that a
    single process can have; where the system has no such call (macOS) none. With a `bench` something is built.
    """

    scratch: Path
    reaper: system.Reaper | None = None
    cores: frozenset[int] | None = None
    box: Box = DEFAULT_BOX
    bench: Workbench | None = None

    def launch(self, bot: Prepared) -> Child:
        """See `Launcher`."""
        reap_late(self.reaper)
        check_copy(bot)
        more = {} if self.bench is None else self.bench.environment
        tie = _tied_to_parent()
        scratch = self._own_folder(bot)
        with starting:
            return self._start([*tie, *bot.argv], bot, scratch, more)

    def _start(self, command: list[str], bot: Prepared, scratch: Path, more: dict[str, str]) -> Child:
        try:
            with system.first_to_go():
                popen = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    cwd=bot.folder,
                    env=bare_environment(scratch) | told_memory(self.box) | more,
                    start_new_session=True,
                )
        except OSError as error:
            remove_tree(scratch)
            if command[0] != bot.argv[0]:  # what was to be started here is the tool, which is not the bot's
                raise no_process(bot, system_words(error)) from None
            raise cannot_start(bot, error.errno or 0) from None
        if self.cores is not None:
            system.pin_to(self.cores, popen.pid)
        system.limit(self.box, popen.pid)
        return Child(
            popen,
            scratch,
            self.reaper,
            name=bot.manifest.identity.name,
            memory_limit=self.box.memory_in_all,
            stderr_kept=self.box.stderr,
        )

    def _own_folder(self, bot: Prepared) -> Path:
        try:
            return Path(tempfile.mkdtemp(prefix="bot-", dir=self.scratch))
        except OSError as error:
            raise no_process(bot, system_words(error)) from None


def most_memory() -> tuple[str, int] | None:
    """Return which of this process's bots has most memory now, and how many bytes; None where none lives."""
    found = [(child.name, memory_of(child.processes())) for child in list(_living)]
    found = [one for one in found if one[1]]
    return max(found, key=lambda one: one[1], default=None)


def check_copy(bot: Prepared) -> None:
    """Raise VoidGame where a bot's copy is gone. Only before its start: afterwards it may have removed it itself."""
    program = bot.argv[0]
    if not bot.folder.is_dir() or not (Path(program).is_absolute() or (bot.folder / program).exists()):
        raise no_process(bot, f"its copy is no longer whole: {bot.folder}")


def cannot_start(bot: Prepared, error: int) -> BotFault | VoidGame:
    """Whose fault it is that a bot's program could not be executed, by the error number that the system returned."""
    if error in OURS:
        return no_process(bot, os.strerror(error))
    return BotFault(Verdict.START_FAILED, not_executable(bot, os.strerror(error), missing=error == errno.ENOENT))


def not_executable(bot: Prepared, reason: str, *, missing: bool) -> str:
    """Return why a bot's program could not be executed; `missing`: the system found no such file."""
    program = bot.argv[0]
    cause = f"the program could not be started: {reason}: {program}"
    if missing and (bot.folder / program).exists():
        cause += " (it is there; what is not is the interpreter named in its first line)"
    return cause


def seems_not_executed(bot: Prepared, status: int | None, log: str) -> str | None:
    """Return why a bot's program seems not to have been executed, by its exit status and stderr; None where it was.

    Only words for its author: the bot may have written them itself, so no verdict may depend on them.
    """
    last = log.rstrip("\n").rpartition("\n")[2]
    named, _, reason = last.rpartition(f"{bot.argv[0]}: ")
    if status not in _NOT_EXECUTED or not named.startswith(_STARTERS):
        return None
    return not_executable(bot, readable(reason, _REASON), missing=status == _NOT_FOUND)


def no_process(bot: Prepared, reason: str) -> VoidGame:
    """What is raised where the machine is to blame that a bot has no process."""
    return VoidGame(f"no process could be made for {bot.manifest.identity.name}: {reason}")


def reap_late(reaper: system.Reaper | None) -> None:
    """Reap what could not be reaped when it was ended."""
    for popen in [one for one in _unreaped if one.poll() is not None]:
        _unreaped.remove(popen)
        if reaper is not None:
            reaper.drop(popen.pid)


@cache
def _tied_to_parent() -> tuple[str, ...]:
    # Python's own way, preexec_fn, costs up to 30 ms with a large parent; util-linux's tool about one. Others of the
    # same name, such as busybox's, lack the option.
    tool = system.find_tool("setpriv")
    tie = (tool, "--pdeathsig", "KILL", "--") if tool else ()
    try:
        works = (
            bool(tie)
            and subprocess.run([*tie, system.find_tool("true") or "true"], capture_output=True, check=False).returncode
            == 0
        )
    except OSError:
        works = False
    return tie if works else ()
