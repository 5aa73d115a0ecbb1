"""Boxes: processes of bots in bubblewrap, told how they ended by its status, ended by the first process in them.

As root a box is made by a user of its own, since root in a plain user namespace could still read root's files; its
number hangs on the worker, so that no worker's boxes can count or signal another's.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import select
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from referee.bots import system
from referee.bots.environment import boxed_path
from referee.bots.launcher import Child, no_process, reap_late
from referee.bots.limits import DEFAULT_BOX, Box
from referee.bots.prepare import Prepared
from referee.bots.sandbox.bubblewrap import BOT, GROUP, PASSWD, Descriptors, box_options, limits_inside, tools
from referee.bots.sandbox.seccomp import Sockets, filter_for
from referee.bots.sandbox.tiers import Tier, Unproven
from referee.bots.workbench import Workbench
from referee.errors import VoidGame

_BEGIN_MS = 5_000
"""How long a box may take to come into being, in ms, before it is the machine's fault."""
_END_MS = 1_000
_FIRST_USER = 0x6000_0000
"""Far above the numbers that systems and containers give to people."""
_FIRST_SIGNAL_STATUS = 128
_LONGEST_STATUS = 4096


def box_user() -> int:
    """The user, and group, as whom root makes the boxes of this process."""
    return _FIRST_USER + os.getpid()


@cache
def dropping() -> tuple[str, ...]:
    """The command that turns root into the boxes' user and becomes what follows; empty for anyone else."""
    if os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise Unproven("setpriv, by which root becomes another user, is not installed", "apt-get install util-linux")
    user = str(box_user())
    return (
        *(setpriv, "--reuid", user, "--regid", user, "--clear-groups"),
        *("--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"),
    )


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
        stderr_kept: int,
    ) -> None:
        super().__init__(popen, None, reaper, stderr_kept=stderr_kept)
        self._first, self._first_pidfd = first, first_pidfd
        self._told = told
        self._own_status: int | None = None

    def status(self) -> int | None:
        """See `Child`. A shell's rule holds: a status above 128 is a signal, since that is what bubblewrap tells."""
        if self._own_status is None and super().status() is not None:
            self._own_status = self._status_told()
        return self._own_status

    def _status_told(self) -> int:
        code = _last_of(_read_now(self._told), "exit-code")
        if code is None:
            raise VoidGame("the sandbox failed, and not the bot in it")
        return code if code <= _FIRST_SIGNAL_STATUS else _FIRST_SIGNAL_STATUS - code

    def processes(self) -> list[int]:
        """See `Child`: all that is in the box."""
        return system.tree(self._first)

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
    _filter: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Look for what is needed once, so that no start has to."""
        tools()
        dropping()
        rules = filter_for(Sockets.USUAL)
        if rules is None:
            raise Unproven(f"there is no filter of system calls for {platform.machine()}", "use x86-64 or AArch64")
        object.__setattr__(self, "_filter", rules)

    def launch(self, bot: Prepared) -> Child:
        """See `Launcher`."""
        reap_late(self.reaper)
        _check_folder(bot)
        try:
            told, tell = os.pipe()
            try:
                with contextlib.ExitStack() as files:
                    files.callback(os.close, tell)
                    popen = self._spawn(bot, tell, files)
                return self._settled(bot, popen, told)
            except BaseException:
                os.close(told)
                raise
        except OSError as error:
            raise no_process(bot, f"{error.strerror}: {error.filename}") from None

    def _spawn(self, bot: Prepared, tell: int, files: contextlib.ExitStack) -> subprocess.Popen[bytes]:
        passed = Descriptors(_file(files, self._filter), tell, _file(files, PASSWD), _file(files, GROUP))
        options = box_options(
            self.tier,
            self.box,
            folder=bot.folder,
            runtime=bot.runtime,
            path=boxed_path(bot.runtime),
            descriptors=passed,
            bench=self.bench,
        )
        arguments = _file(files, b"\0".join(map(os.fsencode, options)) + b"\0")
        command = (*dropping(), tools().bwrap, "--args", str(arguments), "--", *limits_inside(self.box), *bot.argv)
        with _on(self.cores), system.first_to_go():
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd="/",
                env={},
                pass_fds=(arguments, *passed),
                start_new_session=True,
            )

    def _settled(self, bot: Prepared, popen: subprocess.Popen[bytes], told: int) -> Child:
        """The child, once bubblewrap has said which process is the first of the box."""
        first = _last_of(_read_line(told), "child-pid")
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
        return BoxedChild(popen, self.reaper, first=first, first_pidfd=pidfd, told=told, stderr_kept=self.box.stderr)


def _check_folder(bot: Prepared) -> None:
    """Raise VoidGame where no box could be made of a bot's copy, while the reason can still be told."""
    if not bot.folder.is_dir():
        raise no_process(bot, f"its copy is no longer whole: {bot.folder}")
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


def _read_line(descriptor: int) -> bytes:
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


def _last_of(lines: bytes, key: str) -> int | None:
    """The number that bubblewrap told under `key`, the last one where there are several."""
    found = None
    for line in lines.splitlines():
        with contextlib.suppress(ValueError, AttributeError):
            found = json.loads(line).get(key, found)
    return found if isinstance(found, int) else None


def _is_over(pidfd: int, ms: int) -> bool:
    """Whether a process ends in time."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(ms))


def _quoted(said: bytes) -> str:
    from protocol.text import readable

    return f": {readable(said.strip(), 200)}" if said.strip() else ""


def reachable(folder: Path) -> bool:
    """Whether the user that makes boxes can reach a folder: as root another one, who is a stranger to it."""
    if os.geteuid() != 0:
        return True
    real = Path(os.path.realpath(folder))
    return all(place.stat().st_mode & 0o001 for place in (real, *real.parents))
