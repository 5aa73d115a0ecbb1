"""Making boxes: processes of bots in bubblewrap, each in a control group of its own where there are any.

As root each box is made by a user of its own, since root in a plain user namespace could still read root's files, and
since the kernel counts some things by user: no box can signal another or see what it counts.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from referee.bots.cache.prepare import Prepared
from referee.bots.process import system
from referee.bots.process.environment import boxed_path
from referee.bots.process.launcher import Child, check_copy, no_process, reap_late, starting
from referee.bots.process.limits import DEFAULT_BOX, Box
from referee.bots.process.workbench import Workbench
from referee.bots.sandbox import cgroups
from referee.bots.sandbox.boxed import BoxedChild, last_of, read_line
from referee.bots.sandbox.bubblewrap import GROUP, PASSWD, Descriptors, box_options, limits_inside, tools
from referee.bots.sandbox.cgroup_homes import Home
from referee.bots.sandbox.seccomp import Rights, filter_for
from referee.bots.tiers import Tier, TierUnavailable
from referee.errors import system_words

_SHELL = "/bin/sh"
_FIRST_USER = 0x6000_0000
"""Far above the numbers that systems and containers give to people."""
_USERS = 64
"""How many users a process has for its boxes: number 0 for builds, the others in turn. Far more than sit at a table."""
_turns = itertools.cycle(range(1, _USERS))


def build_user() -> int:
    """The user, and group, as which root runs builds at tier C."""
    return _FIRST_USER + os.getpid() * _USERS


def next_user() -> int:
    """The user, and group, as which root makes the next box of this process."""
    return build_user() + next(_turns)


def dropping() -> tuple[str, ...]:
    """The command that turns root into the next box's user and becomes what follows; empty for anyone else."""
    if os.geteuid() != 0:
        return ()
    user = str(next_user())
    return (_setpriv(), "--reuid", user, "--regid", user, *_WITHOUT_RIGHTS)


_WITHOUT_RIGHTS = ("--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--")


@cache
def _setpriv() -> str:
    setpriv = system.find_tool("setpriv")
    if setpriv is None:
        raise TierUnavailable(
            "setpriv, by which root becomes another user, is not installed", "apt-get install util-linux"
        )
    return setpriv


@dataclass(frozen=True, slots=True)
class SandboxLauncher:
    """Processes in boxes: the tiers A and B.

    `reaper` and `cores` are those of `PlainLauncher`. To be used from one thread that lives as long as the process,
    since a box ends with the thread that made it. With a `bench` something is built in them. Raises Unproven where the
    machine lacks the tools.
    """

    tier: Tier
    box: Box = DEFAULT_BOX
    reaper: system.Reaper | None = None
    cores: frozenset[int] | None = None
    bench: Workbench | None = None
    grouped: bool = True
    _filter: bytes = field(init=False, repr=False)
    _groups: Home | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Look for what is needed once, so that no start has to."""
        tools()
        dropping()
        rules = filter_for(Rights(modes=True, sockets=self.bench is not None, times=self.bench is not None))
        if rules is None:
            raise TierUnavailable(
                f"there is no filter of system calls for {platform.machine()}", "use x86-64 or AArch64"
            )
        object.__setattr__(self, "_filter", rules)
        object.__setattr__(self, "_groups", cgroups.home_or_none() if self.grouped else None)

    def launch(self, bot: Prepared) -> Child:
        """See `Launcher`."""
        reap_late(self.reaper)
        _check_folder(bot)
        try:
            with starting, contextlib.ExitStack() as failing:
                group = self._new_group()
                if group is not None:
                    failing.callback(group.remove)
                told, tell = os.pipe()
                failing.callback(os.close, told)
                rules, give = os.pipe()
                with open(give, "wb", buffering=0) as leash:
                    popen = self._spawn(bot, tell, rules, group)
                    child = self._settled(bot, popen, told, group)
                    failing.pop_all()
                    # Only a box that has reported its pid ends with us. It begins nothing without its filter, and where
                    # we are killed before this it fails for want of one.
                    with contextlib.suppress(BrokenPipeError):
                        leash.write(self._filter)
                return child
        except OSError as error:
            raise no_process(bot, system_words(error)) from None

    def _new_group(self) -> cgroups.Group | None:
        if self._groups is None:
            return None
        return cgroups.new_group(self._groups, self.box, more=0 if self.bench is None else self.bench.size)

    def _spawn(self, bot: Prepared, tell: int, rules: int, group: cgroups.Group | None) -> subprocess.Popen[bytes]:
        """Bubblewrap, which begins with its work when it has its arguments: by then it is in its group.

        `tell` and `rules`, the ends of pipes that are bubblewrap's, are closed here.
        """
        with contextlib.ExitStack() as files:
            files.callback(os.close, tell)
            files.callback(os.close, rules)
            passed = Descriptors(rules, tell, _file(files, PASSWD), _file(files, GROUP))
            options = box_options(
                self.tier,
                self.box,
                folder=bot.folder,
                runtime=bot.runtime,
                path=boxed_path(bot.runtime),
                descriptors=passed,
                bench=self.bench,
            )
            arguments, give = os.pipe()
            with open(give, "wb", buffering=0) as given:
                with open(arguments, "rb"), _on(self.cores), system.first_to_go():
                    popen = self._started(bot, (arguments, *passed), group)
                words = b"".join(os.fsencode(option) + b"\0" for option in options)
                with contextlib.suppress(BrokenPipeError):  # it has failed, and says why on its stderr
                    while words:
                        words = words[given.write(words) :]
        return popen

    def _started(self, bot: Prepared, passed: Sequence[int], group: cgroups.Group | None) -> subprocess.Popen[bytes]:
        """Bubblewrap, which waits for its arguments from the first of the descriptors that are passed."""
        outside, inside = _detour(passed)
        limits = limits_inside(self.box)

        def start() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                (*outside, *dropping(), tools().bwrap, "--args", str(passed[0]), "--", *inside, *limits, *bot.argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd="/",
                env={},
                pass_fds=passed,
                start_new_session=True,
            )

        return start() if group is None else group.start(start)

    def _settled(
        self, bot: Prepared, popen: subprocess.Popen[bytes], told: int, group: cgroups.Group | None
    ) -> BoxedChild:
        """The child, once bubblewrap has said which process is the first of the box."""
        first = last_of(read_line(told), "child-pid")
        pidfd = None if first is None else system.open_pidfd(first)
        if first is None or pidfd is None:
            popen.kill()
            popen.wait()
            assert popen.stdin and popen.stdout and popen.stderr
            os.set_blocking(popen.stderr.fileno(), False)
            said = popen.stderr.read() or b""
            for pipe in (popen.stdin, popen.stdout, popen.stderr):
                pipe.close()
            raise no_process(bot, f"the sandbox could not start{_quoted(said)}")
        os.set_blocking(told, False)
        return BoxedChild(
            popen,
            self.reaper,
            first=first,
            first_pidfd=pidfd,
            told=told,
            group=group,
            name=bot.manifest.identity.name,
            memory_limit=self.box.memory_in_all,
            stderr_kept=self.box.stderr,
        )


def _detour(taken: Sequence[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what to put before bubblewrap and before the bot, so that only the bot has its stdin and stdout.

    Bubblewrap has two processes that live as long as the bot. They close all descriptors except stdin, stdout, stderr
    and those that it was told of. So the bot's pipes pass it under other numbers; otherwise a bot that closes its
    stdout would not be seen to. Not every shell knows descriptors above 9.
    """
    into, out = [number for number in range(3, 10) if number not in taken][:2]
    outside = f'unset PWD; exec "$@" {into}<&0 {out}>&1 </dev/null >/dev/null'
    inside = f'exec "$@" <&{into} >&{out} {into}<&- {out}>&-'
    return (_SHELL, "-c", outside, "sh"), (_SHELL, "-c", inside, "sh")


def _check_folder(bot: Prepared) -> None:
    """Raise VoidGame where no box could be made of a bot's copy, while the reason can still be told."""
    check_copy(bot)
    if not reachable(bot.folder):
        raise no_process(bot, f"the user that makes sandboxes cannot enter {bot.folder}")


@contextlib.contextmanager
def _on(cores: frozenset[int] | None) -> Iterator[None]:
    """Inside, this thread runs on `cores`, and so does what it starts: from its first moment, and it cannot leave."""
    before = None if cores is None else system.usable_cores()
    try:
        if cores is not None:
            system.pin_to(cores)
        yield
    finally:
        if before is not None:
            system.pin_to(frozenset(before))


def _file(opened: contextlib.ExitStack, content: bytes) -> int:
    """A file in memory, to be read once from its beginning."""
    descriptor = os.memfd_create("referee")
    opened.callback(os.close, descriptor)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _quoted(said: bytes) -> str:
    from protocol.text import readable

    return f": {readable(said.strip(), 200)}" if said.strip() else ""


def reachable(folder: Path) -> bool:
    """True if the user that makes boxes can reach a folder: as root another one, who is a stranger to it."""
    if os.geteuid() != 0:
        return True
    real = Path(os.path.realpath(folder))
    return all(place.stat().st_mode & 0o001 for place in (real, *real.parents))
