"""Processes that look at games, one on each processor, over socket pairs: they end with whoever asks them.

Those of `concurrent.futures` outlive a killed parent, and show tracebacks where one is interrupted.
"""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from queue import SimpleQueue
from typing import TypeVar

from referee.bots.process import system
from referee.errors import RefereeError
from referee.store import Stored
from referee.tournament.audit.due import Due, examine
from referee.tournament.engine.framing import read_frame, write_frame

_AHEAD = 2
"""Batches for each process that are read ahead."""

_Batch = TypeVar("_Batch")
Asked = tuple[Due, list[Stored]]


class Examiners:
    """A context that has the processes. Raises RefereeError where one of them ends by itself."""

    def __init__(self) -> None:
        self._undo = ExitStack()
        self._free: SimpleQueue[socket.socket] = SimpleQueue()
        self._count = len(system.usable_cores())

    def __enter__(self) -> Examiners:
        with ExitStack() as undo:
            self._threads = undo.enter_context(ThreadPoolExecutor(self._count))
            for _ in range(self._count):
                self._free.put(_start(undo))
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._undo.close()

    def examine(self, asked: Iterable[tuple[_Batch, Asked]]) -> Iterator[tuple[_Batch, list[str | None]]]:
        """For each of some batches what `due.examine` says of it, in their order, a few of them at once."""
        waiting: deque[tuple[_Batch, Future[list[str | None]]]] = deque()
        for batch, question in asked:
            waiting.append((batch, self._threads.submit(self._ask, question)))
            if len(waiting) > (1 + _AHEAD) * self._count:
                first, answer = waiting.popleft()
                yield first, answer.result()
        for batch, answer in waiting:
            yield batch, answer.result()

    def _ask(self, question: Asked) -> list[str | None]:
        connection = self._free.get()
        try:
            write_frame(connection, pickle.dumps(question))
            answer = read_frame(connection)
        except OSError:
            answer = None
        finally:
            self._free.put(connection)
        if answer is None:
            raise RefereeError("a process that looked at games has ended: is there enough memory?")
        found: list[str | None] = pickle.loads(answer)  # noqa: S301 - from our own child over a private socket
        return found


def _start(undo: ExitStack) -> socket.socket:
    """Start one; `undo` ends it."""
    ours, theirs = socket.socketpair()
    undo.enter_context(ours)
    with theirs:
        command = [sys.executable, "-P", "-m", "referee.tournament.audit.examiners", str(theirs.fileno())]
        # A session of its own: Ctrl-C at the terminal is for the referee.
        process = undo.enter_context(
            subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True)
        )
    undo.callback(process.kill)
    undo.callback(ours.shutdown, socket.SHUT_RDWR)
    return ours


def main(descriptor: int) -> None:
    """Look at games until the other end is closed."""
    with socket.socket(fileno=descriptor) as connection, suppress(OSError):
        while (question := read_frame(connection)) is not None:
            due, games = pickle.loads(question)  # noqa: S301 - from our own parent over a private socket
            write_frame(connection, pickle.dumps(examine(due, games)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
