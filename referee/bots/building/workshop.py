"""Builds in the box of a tier: a stranger's code with a folder to write to, and no more of the machine than a bot has.

In the tiers A and B the folder is a file system in memory that holds so much and no more. What is in it at the end is
taken out when the box is dead, through a descriptor that was opened before. In the tiers C and D it is a folder of the
cache, which is watched; what the watch misses is stopped before the disk is full. In all of them the bot is a copy, so
that nobody who was there while it was built has a file of it open, or owns one.
"""

from __future__ import annotations

import os
import select
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from referee.bots.building.disk_quota import DiskQuota
from referee.bots.building.fetching import FetchEnvironment, fetch_environment, redacted
from referee.bots.building.harvest import copy_out
from referee.bots.cache.build import BUILT, FAILED, STEP, BuildFailed, BuildTask, in_words, last_lines, remedy, script
from referee.bots.cache.prepare import Prepared
from referee.bots.process import system
from referee.bots.process.launcher import Child
from referee.bots.process.streams import HeadTail
from referee.bots.process.workbench import DEFAULT_BUILD, BuildLimits, Workbench
from referee.bots.sandbox.bubblewrap import SOURCE, shown_with_network
from referee.bots.sandbox.launching import build_user
from referee.bots.sandbox.probing import launcher_for
from referee.bots.source.tree import TreeLimits
from referee.bots.tiers import Tier
from referee.errors import BotFault, InputError, VoidGame

ENTRIES = 100_000
"""How many files, folders and links a build may leave."""
_NICE = "10"
"""A tenth of the processor where a game wants it too (sched(7)), and still so much that it comes to its end."""
_SHELL = "/bin/sh"
_LOOK_EVERY = 0.1
"""Seconds between two looks at the disk."""
_PIECE = 65536
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Workshop:
    """Builds at a tier, within limits; `fetch` gives them the machine's network, and what is needed to use it.

    `passed` are the names of variables that builds with the network get besides the usual ones.

    `reaper` is that of this process, by which in the tiers C and D a daemon is found that a build left behind. To be
    used from one thread at a time, which ends after the build.
    """

    tier: Tier
    limits: BuildLimits = DEFAULT_BUILD
    fetch: bool = False
    reaper: system.Reaper | None = field(default=None, repr=False)
    passed: tuple[str, ...] = ()

    def _environment(self) -> FetchEnvironment:
        return fetch_environment(os.environ, self.passed)

    def build(self, task: BuildTask) -> None:
        """See `Builder`."""
        name = str(task.bot.path)
        output = HeadTail(self.limits.output)
        try:
            with self._running(task) as child:
                running = _Running(child, output, time.monotonic() + self.limits.seconds)
                failure = running.failure(self._watch(task), self.limits.seconds)
                folder = None if failure else _open(child, task)
            # From here on all is dead that was in the box.
        except (VoidGame, BotFault) as error:
            raise InputError(f"its build could not be run: {error}") from None
        finally:
            log = redacted(output.text(), self._environment().variables) if self.fetch else output.text()
            task.log.write_text(log)
        if failure is not None:
            step = in_words(task.bot.build[min(running.step, len(task.steps) - 1)])
            help_ = remedy(log, name, fetch=self.fetch, allowed=task.runtime)
            raise BuildFailed(f"its build `{step}` {failure}{help_}{last_lines(log)}")
        assert folder is not None
        try:
            copy_out(folder, task.target, TreeLimits(ENTRIES, self.limits.size))
        except InputError as error:
            raise BuildFailed(str(error)) from None
        finally:
            os.close(folder)

    @contextmanager
    def _running(self, task: BuildTask) -> Iterator[Child]:
        """The build's process, which is dead afterwards with all that it started."""
        box, bench = self.limits.box, self._bench(task)
        launcher = launcher_for(self.tier, scratch=task.scratch, box=box, reaper=self.reaper, bench=bench)
        if self.tier is Tier.C and os.geteuid() == 0:
            _give(task.source, build_user())
        words = script(task.steps, source=SOURCE if self.tier.has_namespaces else None)
        nice = shutil.which("nice", path="/usr/bin:/bin") or "nice"
        child = launcher.launch(Prepared(task.bot, task.source, (nice, "-n", _NICE, _SHELL, "-c", words), task.runtime))
        try:
            yield child
        finally:
            child.end()
            if self.reaper is not None:
                self.reaper.sweep()

    def _watch(self, task: BuildTask) -> Callable[[], str | None]:
        """A look at whether it takes too much, where no box keeps it from that."""
        if self.tier.has_namespaces:
            return lambda: None
        return DiskQuota((task.source, task.scratch), self.limits.size + self.limits.box.tmp_size).exceeded

    def _bench(self, task: BuildTask) -> Workbench:
        """What its box has beyond a bot's. Raises InputError where it cannot have what it is to fetch with."""
        said = _rustup(task) if self.tier.is_boxed else _rustup(None)
        if not self.fetch:
            return Workbench(self.limits.size, environment=said)
        told = self._environment()
        certificates = told.beyond(shown_with_network()) if self.tier.is_boxed else ()
        return Workbench(self.limits.size, network=True, environment=said | told.variables, certificates=certificates)


def _rustup(task: BuildTask | None) -> dict[str, str]:
    """Where rustc is rustup's, it finds no compiler with another HOME unless it is told; None: it may read anything."""
    try:
        home = Path(os.environ.get("RUSTUP_HOME") or Path("~/.rustup").expanduser())
    except RuntimeError:  # a user without a home
        return {}
    allowed = task is None or any(home.is_relative_to(folder) for folder in task.runtime)
    return {"RUSTUP_HOME": str(home)} if allowed and _is_folder(home) else {}


def _is_folder(path: Path) -> bool:
    with suppress(OSError):
        return path.is_dir()
    return False


def _give(folder: Path, user: int) -> None:
    """Make a tree a user's."""
    for where, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            os.chown(Path(where) / name, user, user, follow_symlinks=False)


def _open(child: Child, task: BuildTask) -> int:
    """The folder that was built, as a descriptor."""
    try:
        inside = child.open_folder()
    except OSError as error:
        raise InputError(f"what its build made cannot be fetched from the sandbox: {error.strerror}") from None
    return os.open(task.source, _FOLDER) if inside is None else inside


class _Running:
    """A build that runs: what it prints, and what its script says of its steps, of which nothing is believed."""

    def __init__(self, child: Child, output: HeadTail, until: float) -> None:
        self.step = 0
        self._child = child
        self._until = until
        self._said = b""
        self._streams = {child.stderr: self._hear, child.stdout: output.add}
        self._poll = select.poll()
        for descriptor in (*self._streams, child.pidfd):
            if descriptor is not None:
                self._poll.register(descriptor, select.POLLIN)

    def failure(self, overrun: Callable[[], str | None], seconds: float) -> str | None:
        """Wait for its end, for `overrun` to name what it took too much of, or for time to be up.

        How it failed, None where it did not: then its processes are there still.
        """
        while True:
            if (left := self._until - time.monotonic()) <= 0:
                return f"did not end in {seconds:g} s and was killed (`referee build --time` gives it more)"
            self._poll.poll(min(left, _LOOK_EVERY) * 1000)
            status = self._child.status()
            self._read()
            ended = self._ended()
            if ended is not None:
                return ended or None
            if status is not None:
                return _in_words(status) if status else "ended the shell that ran it"
            if (too_much := overrun()) is not None:
                return f"{too_much}, and was killed"

    def _read(self) -> None:
        """Take what there is, a pipe full of each at most: a build that prints without end comes to its end, too.

        What the script says comes first: all that was printed before it was said is then in the other pipe.
        """
        for descriptor, take in list(self._streams.items()):
            piece = _now(descriptor)
            if piece is None:
                del self._streams[descriptor]
                self._poll.unregister(descriptor)
            else:
                take(piece)

    def _hear(self, piece: bytes) -> None:
        self._said = (self._said + piece)[-_PIECE:]

    def _ended(self) -> str | None:
        """By what the script says: None where it goes on, empty where all is built, else how it failed."""
        *lines, self._said = self._said.split(b"\n")
        for line in lines:
            match line.decode("utf-8", "replace").split():
                case [word] if word == BUILT:
                    return ""
                case [word, number] if word == STEP and number.isdecimal():
                    self.step = int(number[:9])
                case [word, number] if word == FAILED and number.isdecimal():
                    return _in_words(int(number[:9]))
        return None


def _in_words(status: int) -> str:
    """How a step ended; a status above 128 is a signal, as a shell tells it."""
    if status > 128:
        status = 128 - status
    return f"was killed by signal {-status}" if status < 0 else f"failed with exit status {status}"


def _now(descriptor: int) -> bytes | None:
    """What can be read at once; None where nothing will come any more."""
    try:
        return os.read(descriptor, _PIECE) or None
    except BlockingIOError:
        return b""
    except OSError:
        return None
