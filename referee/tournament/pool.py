"""The referee's side of its workers: hands out blocks, takes games in, replaces workers that are lost.

A lost worker loses only the games of its block that it had not sent: those are handed out again.
"""

from __future__ import annotations

import pickle
import selectors
import socket
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from referee.bots import system
from referee.record import LineUp
from referee.tournament.frames import read_frame, write_frame
from referee.tournament.orders import Finished, Job, Sending, Stop, Task
from referee.tournament.schedule import Block

MAX_LOSSES = 3
"""How many workers one game may cost before it is given up for this run."""


@dataclass(frozen=True, slots=True)
class LostGame:
    """A game that cost `MAX_LOSSES` workers; it stays owed."""

    line_up: LineUp
    rotation: int
    deal: int


Arrival = Finished | LostGame


@dataclass(eq=False)
class _Worker:
    process: subprocess.Popen[bytes]
    connection: socket.socket
    job: Job
    task: Task | None = None
    missing: set[int] = field(default_factory=set)


class Pool:
    """Some workers on this machine. `reaper` is given where all children of this process are workers."""

    def __init__(self, jobs: list[Job], *, reaper: system.Reaper | None = None) -> None:
        self._reaper = reaper
        self._selector = selectors.DefaultSelector()
        self._again: deque[Task] = deque()
        self._losses: Counter[LostGame] = Counter()
        self._stopping = False
        self._workers = [self._start(job) for job in jobs]

    def run(self, blocks: Iterator[Block], wait: Callable[[], float | None]) -> Iterator[Arrival | None]:
        """Play `blocks`, yielding what comes in, and None when `wait()` seconds went by with nothing.

        `wait` is asked before each wait. Ends when all blocks are done or, after `stop`, when the games in hand are.
        """
        for worker in self._workers:
            self._hand_out(worker, blocks)
        while any(worker.task is not None for worker in self._workers):
            ready = self._selector.select(wait())
            if not ready:
                yield None
            for key, _ in ready:
                yield from self._receive(key.data, blocks)

    def stop(self) -> None:
        """Finish the games in hand and start no other."""
        self._stopping = True
        for worker in self._workers:
            self._send(worker, Stop())

    def close(self) -> None:
        """End all workers at once, their bots with them."""
        for worker in self._workers:
            worker.connection.close()
        for worker in self._workers:
            self._end(worker)
        self._workers.clear()
        self._selector.close()

    def _start(self, job: Job) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-P", "-m", "referee.tournament.worker", str(theirs.fileno())]
            # A session of its own: Ctrl-C at the terminal is for the referee, which then tells its workers.
            process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
            )
        worker = _Worker(process, ours, job)
        if self._reaper is not None:
            self._reaper.live.add(process.pid)
        self._selector.register(ours, selectors.EVENT_READ, worker)
        self._send(worker, job)
        return worker

    def _hand_out(self, worker: _Worker, blocks: Iterator[Block]) -> None:
        worker.task = None if self._stopping else self._next(blocks)
        if worker.task is not None:
            worker.missing = set(worker.task.block.deals)
            self._send(worker, worker.task)

    def _next(self, blocks: Iterator[Block]) -> Task | None:
        if self._again:
            return self._again.popleft()
        block = next(blocks, None)
        return None if block is None else Task(block)

    def _send(self, worker: _Worker, message: object) -> None:
        try:
            write_frame(worker.connection, pickle.dumps(message))
        except OSError:
            return  # the loss shows when its end of the connection is read

    def _receive(self, worker: _Worker, blocks: Iterator[Block]) -> Iterator[Arrival]:
        frame = read_frame(worker.connection)
        if frame is None:
            yield from self._lost(worker, blocks)
            return
        finished: Finished = pickle.loads(frame)  # noqa: S301 - it comes from our own worker over a private socket
        worker.missing.difference_update(game.deal for game in finished.games)
        worker.missing.difference_update(parked.game.deal for parked in finished.parked)
        if finished.done:
            self._hand_out(worker, blocks)
        yield finished

    def _lost(self, worker: _Worker, blocks: Iterator[Block]) -> Iterator[Arrival]:
        self._selector.unregister(worker.connection)
        worker.connection.close()
        self._end(worker)
        self._workers.remove(worker)
        if self._stopping:
            return
        if worker.task is not None and worker.missing:
            yield from self._salvage(worker.task.block, sorted(worker.missing))
        fresh = self._start(worker.job)
        self._workers.append(fresh)
        self._hand_out(fresh, blocks)

    def _salvage(self, block: Block, missing: list[int]) -> Iterator[LostGame]:
        """Hand out again what a lost worker had not sent, without a game that has cost too many."""
        # The first one missing is the game that was being played, or of the first loss one shortly before it.
        suspect = LostGame(block.line_up, block.rotation, missing[0])
        self._losses[suspect] += 1
        if self._losses[suspect] == MAX_LOSSES:
            yield suspect
            missing = missing[1:]
        if missing:
            self._again.append(Task(msgspec.structs.replace(block, deals=tuple(missing)), Sending.EACH))

    def _end(self, worker: _Worker) -> None:
        """Reap a worker whose connection is closed: it ends its bots by itself, unless it is dead."""
        try:
            worker.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
        if self._reaper is not None:
            self._reaper.live.discard(worker.process.pid)
            self._reaper.sweep()
