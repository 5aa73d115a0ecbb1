"""Making a bot's process: where isolation is decided, and nothing else.

`Launcher` is the seam for sandboxes; `PlainLauncher` is the one without: its own session, a bare environment,
a scratch folder of its own, the fate of its parent.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from referee.bots import system
from referee.bots.prepare import Prepared
from referee.bots.removal import remove_tree
from referee.errors import BotFault, Verdict, VoidGame

_OURS = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EIO}
"""What can keep a process from being made that is the machine's fault and not the bot's."""


class Child:
    """A bot's process with its three pipes, as descriptors that never block, and a pidfd where there is one."""

    def __init__(self, popen: subprocess.Popen[bytes], scratch: Path, reaper: system.Reaper | None) -> None:
        self._popen = popen
        self._scratch = scratch
        self._reaper = reaper
        if reaper is not None:
            reaper.live.add(popen.pid)
        self.pid = popen.pid
        self.pidfd = system.open_pidfd(popen.pid)
        assert popen.stdin and popen.stdout and popen.stderr
        self.stdin, self.stdout, self.stderr = popen.stdin.fileno(), popen.stdout.fileno(), popen.stderr.fileno()
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)

    def close_stdin(self) -> None:
        """Tell the process that nothing more will come."""
        assert self._popen.stdin
        with contextlib.suppress(OSError):
            self._popen.stdin.close()

    def status(self) -> int | None:
        """The exit status, negative for a signal; None while the process lives."""
        return self._popen.poll()

    def end(self) -> int:
        """End the whole process tree, reap it, remove the scratch folder; returns the process's exit status."""
        system.kill_group(self.pid)
        self._popen.kill()
        status = self._popen.wait()
        if self._reaper is not None:
            self._reaper.live.discard(self.pid)
            self._reaper.sweep()
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            assert pipe
            with contextlib.suppress(OSError):
                pipe.close()
        remove_tree(self._scratch)
        return status


class Launcher(Protocol):
    """Makes bots' processes."""

    def launch(self, bot: Prepared) -> Child:
        """A new process of `bot`, its pipes connected.

        Raises BotFault (`start_failed`) where the bot's program cannot be started, VoidGame where the machine
        is to blame.
        """


@dataclass(frozen=True, slots=True)
class PlainLauncher:
    """Processes without isolation.

    `scratch` is a folder in which each process gets an empty folder of its own as HOME and TMPDIR, removed with
    it; `cores` are the ones a process may use, where that is not those of its parent; `reaper` ends what processes
    leave behind, in a referee's process where all children are bots.
    """

    scratch: Path
    reaper: system.Reaper | None = None
    cores: frozenset[int] | None = None

    def launch(self, bot: Prepared) -> Child:
        """See `Launcher`."""
        scratch = None
        try:
            scratch = Path(tempfile.mkdtemp(prefix="bot-", dir=self.scratch))
            popen = subprocess.Popen(
                [*_TIED_TO_PARENT, *bot.argv],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=bot.folder,
                env=bare_environment(scratch),
                start_new_session=True,
            )
        except OSError as error:
            if scratch is not None:
                remove_tree(scratch)
            if error.errno in _OURS:
                raise VoidGame(f"no process could be made for {bot.manifest.identity.name}: {error.strerror}") from None
            detail = f"the program could not be started: {error.strerror}: {error.filename or bot.argv[0]}"
            raise BotFault(Verdict.START_FAILED, detail) from None
        if self.cores is not None:
            system.pin_to(self.cores, popen.pid)
        return Child(popen, scratch, self.reaper)


def bare_environment(scratch: Path) -> dict[str, str]:
    """All that a bot finds in its environment: nothing of the referee's but PATH."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }


def _tied_to_parent() -> tuple[str, ...]:
    # Python's own way, preexec_fn, costs up to 30 ms with a large parent; util-linux's tool about one.
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()


_TIED_TO_PARENT = _tied_to_parent()
