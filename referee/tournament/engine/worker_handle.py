"""A worker as its referee sees it: a process, a connection that never blocks, and what it has in hand."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from referee.bots.process import system
from referee.tournament.engine.framing import FrameBuffer, frame
from referee.tournament.engine.table_players import Moving
from referee.tournament.engine.worker_messages import (
    BlockTask,
    Drop,
    Failed,
    Finished,
    Heartbeat,
    Moved,
    Stop,
    WorkerConfig,
)

GRACE = 2.0
"""Seconds that workers have to end themselves and their bots before they are killed."""
_READ = 1 << 20
_TAIL = 4096

Message = Finished | Heartbeat | Failed | Moved


class Remote:
    """A worker that runs. Raises OSError where it cannot be started, and then leaves nothing behind."""

    def __init__(self, job: WorkerConfig) -> None:
        self.job = job
        self.task: BlockTask | None = None
        self.missing: set[int] = set()
        """Deals of the task whose games have not come in."""
        self.spoke = False
        """Whether anything ever came from it."""
        self.heard = 0.0
        """When something last came from it, by whatever clock its owner reads."""
        self.failure = ""
        """Why it ends, where that is known before its end."""
        self.failed = False
        """Whether it ends by an error of ours."""
        self.moving = Moving()
        """The moves of the game in hand, where they are told."""
        self._frames = FrameBuffer()
        self._outbox = bytearray()
        with contextlib.ExitStack() as undo:
            # A file and no pipe: nobody need read it for the worker to go on.
            self._stderr: IO[bytes] = undo.enter_context(tempfile.TemporaryFile())
            self.connection, theirs = socket.socketpair()
            undo.enter_context(self.connection)
            with theirs:
                self.process = _spawn(theirs.fileno(), self._stderr)
            undo.pop_all()
        self.connection.setblocking(False)
        self.send(job)

    def send(self, message: WorkerConfig | BlockTask | Stop | Drop) -> None:
        """Send as much as the connection takes now; the rest waits for `flush`."""
        self._outbox += frame(pickle.dumps(message))
        self.flush()

    def flush(self) -> None:
        """Send more of what waits; that the other end is gone shows when it is read from."""
        try:
            while self._outbox:
                del self._outbox[: self.connection.send(self._outbox)]
        except BlockingIOError:
            pass
        except OSError:
            self._outbox.clear()

    @property
    def has_unsent(self) -> bool:
        """Whether `flush` has something to do."""
        return bool(self._outbox)

    def receive(self) -> list[Message] | None:
        """The messages that have come in whole, without waiting; None where the other end is gone."""
        try:
            piece = self.connection.recv(_READ)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not piece:
            return None
        # They come from our own worker over a private socket.
        return [pickle.loads(message) for message in self._frames.feed(piece)]  # noqa: S301

    def cause(self) -> str:
        """Why a worker that has ended did so, in words: what it said itself, or its last line and its status."""
        if self.failure:
            return self.failure
        status = self.process.returncode
        if status is not None and status < 0:
            with contextlib.suppress(ValueError):
                return f"it was killed by {signal.Signals(-status).name}"
        return self._last_line() or f"it ended with status {status} and said nothing"

    def _last_line(self) -> str:
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - _TAIL))
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return "".join(letter if letter.isprintable() else "?" for letter in lines[-1].strip()) if lines else ""

    def kill(self) -> None:
        """End the process, stopped or not, with all that descends from it."""
        for pid in _tree(self.process.pid):
            system.kill(pid)
        self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=GRACE)

    def close(self) -> None:
        """Let go of what the process had of ours: its connection, whose end it notices, and its stderr."""
        self.connection.close()
        self._stderr.close()


def close_all(workers: Iterable[Remote]) -> None:
    """End workers side by side: each ends its bots by itself, and one that has not after `GRACE` is killed."""
    workers = list(workers)
    for worker in workers:
        worker.close()
    until = time.monotonic() + GRACE
    for worker in workers:
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.process.wait(timeout=max(0.0, until - time.monotonic()))
    for worker in workers:
        if worker.process.poll() is None:
            worker.kill()


def _spawn(descriptor: int, stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [*_WOKEN_AT_THE_END, sys.executable, "-P", "-m", "referee.tournament.engine.worker", str(descriptor)]
    # A session of its own: Ctrl-C at the terminal is for the referee, which then tells its workers.
    return subprocess.Popen(
        command, pass_fds=[descriptor], stdin=subprocess.DEVNULL, stderr=stderr, start_new_session=True
    )


def _woken_at_the_end() -> tuple[str, ...]:
    # A worker that a bot has stopped would not notice the referee's death: it is continued then, and ends itself.
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "CONT", "--") if setpriv else ()


_WOKEN_AT_THE_END = _woken_at_the_end()


def _tree(pid: int) -> list[int]:
    """A process and its descendants, itself first; only itself where /proc does not tell."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += [int(word) for word in (task / "children").read_text().split()]
    return found
