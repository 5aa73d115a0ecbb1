"""The referee's side of its workers: hands out blocks, takes games in, replaces workers that are lost.

A lost worker loses only the games of its block that it had not sent: those are handed out again. Nothing here waits
for one worker: a worker that is stopped, stuck or slow costs the others nothing.
"""

from __future__ import annotations

import selectors
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from referee.bots.process import system
from referee.bots.sandbox import cgroup_leavings
from referee.errors import RefereeError
from referee.tournament.engine.losses import Losses, LostGame, LostWorker
from referee.tournament.engine.table_players import Moving
from referee.tournament.engine.worker_handle import Remote, close_all
from referee.tournament.engine.worker_messages import (
    BlockTask,
    Drop,
    Failed,
    Finished,
    Moved,
    Sending,
    Stop,
    WorkerConfig,
)
from referee.tournament.rounds.schedule import Block

MAX_STILLBORN = 3
"""How many workers in a row may end before their first word until no more are started."""
SILENCE = 10.0
"""Seconds after which a worker that has a block and says nothing is taken for stuck."""
_NEWCOMER = 6
"""How many times as long a worker may take for its first word: on a busy machine it is slow to start."""
_TURN = 0.5
"""Seconds that one wait takes at most."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that whoever runs the tournament should know, in one sentence."""

    text: str


Arrival = Finished | LostGame | LostWorker | Notice


class Pool:
    """Workers on this machine, at most one for each of `jobs`, started as there is something to do for them.

    `reaper` is given where all children of this process are workers. A worker that has a block and says nothing for
    `silence` seconds is killed, with all that descends from it, and counts as lost.
    """

    def __init__(
        self, jobs: Iterable[WorkerConfig], *, reaper: system.Reaper | None = None, silence: float = SILENCE
    ) -> None:
        self._reaper = reaper
        self._silence = silence
        self._spare = deque(jobs)
        self._workers: list[Remote] = []
        self._selector = selectors.PollSelector()  # costs no descriptor
        self._again: deque[BlockTask] = deque()
        self._losses = Losses()
        self._at_once = max(2, len(system.usable_cores()))
        self._stillborn = 0
        self._trouble = ""
        self._said_fewer = False
        self._news: deque[Arrival] = deque()
        self._listened = 0.0
        self._stopping = False

    @property
    def workers(self) -> int:
        """See `Engine.workers`."""
        return max(1, len(self._workers) + len(self._spare))

    def run(self, blocks: Iterator[Block], wait: Callable[[], float | None]) -> Iterator[Arrival | None]:
        """Play `blocks`, yielding what comes in, and None where nothing did for `wait()` seconds, or less.

        Ends when all blocks are done or, after `stop`, when the games in hand are.
        Raises RefereeError where there is something to play and no worker can be started.
        """
        while True:
            growing = self._dispatch(blocks)
            if not any(worker.task for worker in self._workers):
                yield from self.arrived()
                if self._again and not self._stopping:  # whoever heard of it wants more
                    continue
                return
            ready = self._listen(0.0 if growing else wait())
            for worker, events in ready:
                self._serve(worker, events)
            self._end_silent()
            if self._news:
                yield from self.arrived()
            else:
                yield None

    def arrived(self) -> Iterator[Arrival]:
        """What came in and was not yielded yet: there may be some where `run` was left in the middle."""
        while self._news:
            yield self._news.popleft()

    def urge(self, block: Block) -> None:
        """Play this block before all others, of which none is known to be the next; not after `stop`."""
        self._again.appendleft(BlockTask(block, Sending.EACH))

    def revise(self, change: Callable[[Block], Block]) -> None:
        """See `Engine.revise`: what a worker plays it plays on, and what it does not come to is handed out anew."""
        self._again = deque(replace(task, block=change(task.block)) for task in self._again)
        for worker in self._workers:
            if worker.task is not None:
                worker.task = replace(worker.task, block=change(worker.task.block))

    def stop(self) -> None:
        """Finish the games in hand and start no other."""
        self._stopping = True
        for worker in self._workers:
            worker.send(Stop())
            self._watch(worker)

    def drop(self, unwanted: Callable[[Block], bool]) -> None:
        """Give up the blocks in hand that are `unwanted`: the game that is being played of each is the last of it."""
        self._again = deque(task for task in self._again if not unwanted(task.block))
        for worker in self._workers:
            if worker.task is not None and unwanted(worker.task.block):
                worker.missing.clear()
                worker.send(Drop())
                self._watch(worker)

    def close(self) -> None:
        """End all workers at once, their bots with them; harmless a second time."""
        workers, self._workers = self._workers, []
        self._spare.clear()
        self._selector.close()
        close_all(workers)
        self._forget(workers)

    # -- handing out

    def _dispatch(self, blocks: Iterator[Block]) -> bool:
        """Give every idle worker a block and, where blocks are left, start one more; whether it started one."""
        if self._stopping:
            return False
        for worker in self._workers:
            if worker.task is None:
                task = self._next(blocks)
                if task is None:
                    return False
                self._hand_out(worker, task)
        if self._spare and sum(not worker.spoke for worker in self._workers) >= self._at_once:
            return False
        task = self._next(blocks) if self._spare or not self._workers else None
        if task is None:
            return False
        fresh = self._start()
        if fresh is None:
            self._again.appendleft(task)
            self._go_on_with_fewer()
            return False
        self._hand_out(fresh, task)
        return True

    def _next(self, blocks: Iterator[Block]) -> BlockTask | None:
        """Return the next task none of whose deals is in work in another rotation; those that have to wait are kept."""
        in_work = [worker.task.block for worker in self._workers if worker.task is not None]
        for task in self._again:
            if not any(task.block.bars(other) for other in in_work):
                self._again.remove(task)
                return task
        for block in blocks:
            if not any(block.bars(other) for other in in_work):
                return BlockTask(block)
            self._again.append(BlockTask(block))
        return None

    def _hand_out(self, worker: Remote, task: BlockTask) -> None:
        worker.task = task
        worker.missing = set(task.block.deals)
        worker.moving = Moving()
        worker.heard = self._listened
        worker.send(task)
        self._watch(worker)

    def _start(self) -> Remote | None:
        if not self._spare:
            return None
        try:
            worker = Remote(self._spare[0])
        except OSError as error:
            self._trouble = error.strerror or str(error)
            return None
        self._spare.popleft()
        if self._reaper is not None:
            self._reaper.live.add(worker.process.pid)
        self._selector.register(worker.connection, selectors.EVENT_READ, worker)
        self._workers.append(worker)
        return worker

    def _go_on_with_fewer(self) -> None:
        """No further worker can be started. Raises RefereeError where there is none left."""
        self._spare.clear()
        if not self._workers:
            raise RefereeError(f"no worker process can be started on this machine: {self._trouble}")
        if not self._said_fewer:
            self._said_fewer = True
            count = "1 worker" if len(self._workers) == 1 else f"{len(self._workers)} workers"
            self._news.append(Notice(f"no more than {count} can be started on this machine: {self._trouble}"))

    # -- taking in

    def _listen(self, seconds: float | None) -> list[tuple[Remote, int]]:
        """Wait for news, and count the time of having listened.

        A turn counts for no longer than it was meant to take: while this process is itself stopped, suspended or
        busy elsewhere, no worker grows silent.
        """
        began = time.monotonic()
        ready = self._selector.select(_TURN if seconds is None else min(seconds, _TURN))
        self._listened += min(time.monotonic() - began, _TURN)
        return [(key.data, events) for key, events in ready]

    def _watch(self, worker: Remote) -> None:
        """Wait for what is worth waiting for: news, and room where something is still unsent."""
        writing = selectors.EVENT_WRITE if worker.has_unsent else 0
        self._selector.modify(worker.connection, selectors.EVENT_READ | writing, worker)

    def _serve(self, worker: Remote, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            worker.flush()
            self._watch(worker)
        if not events & selectors.EVENT_READ:
            return
        messages = worker.receive()
        if messages is None:
            self._lost(worker)
            return
        worker.heard = self._listened
        for message in messages:
            if isinstance(message, Failed):
                worker.failure, worker.failed = message.reason, True
                continue
            if isinstance(message, Moved):
                worker.moving.told(message.seat, message.action)
                continue
            if not worker.spoke:
                worker.spoke = True
                self._stillborn = 0
            if isinstance(message, Finished):
                self._finished(worker, message)

    def _finished(self, worker: Remote, finished: Finished) -> None:
        finished.strike(worker.missing)
        if finished.done:
            if worker.task is not None and worker.missing and not self._stopping:  # it ended with a parked game
                self._again.append(BlockTask(worker.task.block.only(worker.missing), Sending.EACH))
            worker.task = None
        self._news.append(finished)

    # -- losses

    def _end_silent(self) -> None:
        for worker in list(self._workers):
            patience = self._silence if worker.spoke else self._silence * _NEWCOMER
            if worker.task is not None and self._listened - worker.heard > patience:
                worker.failure = f"it said nothing for {patience:.0f} s"
                self._lost(worker)

    def _lost(self, worker: Remote) -> None:
        self._selector.unregister(worker.connection)
        self._workers.remove(worker)
        worker.kill()
        cause = worker.cause()
        worker.close()
        self._forget([worker])
        task = worker.task
        if not worker.spoke:
            self._count_stillborn(cause)
            if task is not None:
                self._again.appendleft(task)
        elif task is not None and worker.missing and not self._stopping:
            self._salvage(task.block.only(worker.missing), cause, worker)
        if self._stillborn < MAX_STILLBORN:
            self._spare.append(worker.job)

    def _count_stillborn(self, cause: str) -> None:
        self._stillborn += 1
        if self._stillborn == MAX_STILLBORN:
            self._trouble = f"{MAX_STILLBORN} in a row ended before they said anything, the last one so: {cause}"
            if any(worker.spoke for worker in self._workers):
                self._go_on_with_fewer()
            self._spare.clear()

    def _salvage(self, block: Block, cause: str, worker: Remote) -> None:
        """Hand out again what a lost worker had not sent, without a game that has cost too many."""
        # The first one missing is the game that was being played, or of the first loss one shortly before it.
        missing = list(block.deals)
        told = self._losses.count(block, missing[0], cause, moves=worker.moving.moves(), ours=worker.failed)
        self._news.extend(told)
        if any(isinstance(one, LostGame) for one in told):
            missing = missing[1:]
        if missing:
            self._again.append(BlockTask(block.only(missing), Sending.EACH))

    def _forget(self, workers: list[Remote]) -> None:
        """They have ended: end what they left behind."""
        if self._reaper is not None and workers:
            self._reaper.live.difference_update(worker.process.pid for worker in workers)
            self._reaper.sweep()
            cgroup_leavings.sweep()
