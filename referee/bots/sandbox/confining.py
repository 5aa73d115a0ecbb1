"""Processes that gave up what they could: the tier C, where the system has no namespaces for us."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from referee.bots.cache.prepare import Prepared
from referee.bots.cache.removal import remove_tree
from referee.bots.process import system
from referee.bots.process.environment import bare_environment, boxed_path, told_memory
from referee.bots.process.launcher import OURS, Child, check_copy, no_process, reap_late, starting
from referee.bots.process.limits import DEFAULT_BOX, Box
from referee.bots.process.process_limits import process_limits
from referee.bots.process.workbench import Workbench
from referee.bots.sandbox.bubblewrap import etc_of_network, of_etc
from referee.bots.sandbox.confine import READY
from referee.bots.sandbox.launching import build_user, next_user
from referee.bots.sandbox.seccomp import Rights, filter_for
from referee.bots.tiers import TierUnavailable
from referee.errors import VoidGame, system_words

_CONFINE = Path(__file__).with_name("confine.py")
_EXECUTE = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ssl/openssl.cnf")
"""The last one is for Node, which takes it for broken where it may not be read."""
_WRITE = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
_LONGEST_REPORT = 64


class ConfinedChild(Child):
    """A bot of tier C; `confine.py` reports to `told`."""

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        scratch: Path,
        reaper: system.Reaper | None,
        *,
        told: int,
        name: str,
        memory_limit: int,
        stderr_kept: int,
    ) -> None:
        self._told = told
        self._report: bytes | None = None
        super().__init__(popen, scratch, reaper, name=name, memory_limit=memory_limit, stderr_kept=stderr_kept)

    def status(self) -> int | None:
        """See `Child`."""
        status = super().status()
        if status is not None and self._report is None:
            self._report = os.read(self._told, _LONGEST_REPORT)
        if self._report is None:
            return status
        ready, _, error = self._report.partition(READY)
        if ready or not self._report:
            raise VoidGame("the program that confines a bot failed, and not the bot")
        if error and int(error) in OURS:
            raise VoidGame(f"the bot's program could not be executed: {os.strerror(int(error))}")
        return status

    def _close(self) -> None:
        super()._close()
        os.close(self._told)
        if self._report is None:
            self._report = READY


@dataclass(frozen=True, slots=True)
class ConfiningLauncher:
    """Processes of the tier C; see `PlainLauncher` for the fields. Raises TierUnavailable if there is no filter.

    With a `bench` something is built: the folder can be written to.
    """

    scratch: Path
    reaper: system.Reaper | None = None
    cores: frozenset[int] | None = None
    box: Box = DEFAULT_BOX
    bench: Workbench | None = None
    landlock: int = 6
    """The newest version of Landlock to use. An older one shows what an older kernel would do."""

    def __post_init__(self) -> None:
        """Root's bots are another user's processes, who has to get to their folders."""
        if filter_for(Rights()) is None:
            raise TierUnavailable(
                f"there is no filter of system calls for {platform.machine()}", "use x86-64 or AArch64"
            )
        if os.geteuid() == 0:
            self.scratch.chmod(0o711)

    def launch(self, bot: Prepared) -> Child:
        """See `Launcher`."""
        reap_late(self.reaper)
        check_copy(bot)
        try:
            scratch = Path(tempfile.mkdtemp(prefix="bot-", dir=self.scratch))
        except OSError as error:
            raise no_process(bot, system_words(error)) from None
        with starting:
            return self._start(bot, scratch)

    def _start(self, bot: Prepared, scratch: Path) -> Child:
        told, tell = os.pipe()
        try:
            with system.first_to_go(), os.fdopen(tell, "wb"):
                popen = self._spawn(bot, scratch, tell)
        except OSError as error:
            os.close(told)
            remove_tree(scratch)
            raise no_process(bot, system_words(error)) from None
        if self.cores is not None:
            system.pin_to(self.cores, popen.pid)
        return ConfinedChild(
            popen,
            scratch,
            self.reaper,
            told=told,
            name=bot.manifest.identity.name,
            memory_limit=self.box.memory_in_all,
            stderr_kept=self.box.stderr,
        )

    def _spawn(self, bot: Prepared, scratch: Path, report: int) -> subprocess.Popen[bytes]:
        user = None
        if os.geteuid() == 0:
            user = next_user() if self.bench is None else build_user()
        if user is not None:
            os.chown(scratch, user, user)
        network = self.bench is not None and self.bench.network
        more = {} if self.bench is None else self.bench.environment
        certificates = () if self.bench is None else self.bench.certificates
        read = [*of_etc(), *(etc_of_network() if network else ()), *certificates, bot.folder, *bot.runtime]
        building = self.bench is not None
        rights = Rights(sockets=network, modes=building, times=building)
        settings = {
            "execute": [*_EXECUTE, *map(str, read)],
            "write": [*_WRITE, str(scratch), *(() if self.bench is None else (str(bot.folder),))],
            "network": network,
            "limits": _limits(self.box, user),
            "user": user,
            "report": report,
            "landlock": self.landlock,
            "parent": os.getpid(),
            "filter": (filter_for(rights) or b"").hex(),
        }
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(_CONFINE), json.dumps(settings), *bot.argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=(report,),
            cwd=bot.folder,
            env=bare_environment(scratch) | told_memory(self.box) | {"PATH": boxed_path(bot.runtime)} | more,
            start_new_session=True,
        )


def _limits(box: Box, user: int | None) -> list[tuple[int, int, int]]:
    """What a single process may have; how many there may be only where their user has no others."""
    processes = None if user is None else box.processes
    return [(kind, soft, hard) for _, kind, soft, hard in process_limits(box, processes=processes)]
