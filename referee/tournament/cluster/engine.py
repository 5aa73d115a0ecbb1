"""Blocks over a Dask cluster: one block is one task, and what is played comes in as events while it is played.

Why events (`subscribe_topic`) and neither results nor a `distributed.Queue`: results of a task are lost with its
worker, and a queue is another connection, so that what was put into it may come after the news that its worker is
lost. An event goes the way of the task's own states, in order: when Dask begins a task a second time, all that its
first worker said has come in. A second beginning is therefore how a loss is noticed; what the second worker plays of
that attempt is not counted, the attempt is cancelled, and what is missing is handed out under a new name. So nothing
is counted twice, also where a worker that was given up still speaks, and a loss costs one block at most.

Why the bots of a task are not Dask's to carry: data scattered to a worker is lost with it, and arguments travel with
every task. A block is sent without its bots. A machine whose cache lacks some says so, and gets the block again with
these; blocks of its other workers that lack them too wait meanwhile. So each machine receives a bot once.
"""

from __future__ import annotations

import contextlib
import pickle
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any

import msgspec
from distributed import Future

from referee.bots.cache.scratch import run_folder
from referee.errors import RefereeError
from referee.tournament.cluster import worker
from referee.tournament.cluster.bot_transfer import pack, traveller
from referee.tournament.cluster.connection import GRACE, Census, connected, within
from referee.tournament.cluster.dispatch_queue import Dispatch, PendingBlocks
from referee.tournament.cluster.worker import TOPIC, Begun, Ended, Lacking, Message, Order, Unable, WorkerReady
from referee.tournament.engine.losses import Losses, LostGame, LostWorker
from referee.tournament.engine.pool import Arrival, Notice
from referee.tournament.engine.worker_messages import Finished, WorkerConfig
from referee.tournament.rounds.schedule import Block
from referee.version import __version__

PATIENCE = 120.0
"""Seconds for which a run waits while the cluster has no worker."""
MAX_FAILURES = 3
"""How many blocks in a row may end by an error, without a game between them, until the run ends."""
_GO_ON = "what was played is kept, and the same command goes on"
_ABSENT = 3
"""How many counts in a row have to miss a worker until it is lost."""
_UNBEGUN = 10.0
"""Seconds for which a block waits for a worker to begin it, while some are free, until it is handed out anew."""
_TURN = 0.5
"""Seconds that one wait takes at most."""


@dataclass(slots=True)
class _Attempt:
    """A block that was handed out, under a name of its own; `missing` are the deals whose games have not come in.

    `wish` is the worker that is to play it, `worker` the one that does; `seen` is the last count that found it.
    """

    name: str
    block: Block
    missing: set[int]
    seen: int
    since: float
    future: Future | None = None
    wish: str = ""
    worker: str = ""
    machine: str = ""
    lacking: tuple[str, ...] = ()
    ended: bool = False


class Cluster:
    """The workers of a Dask cluster as an `Engine`, at most one block for each of their threads at a time.

    `address` is a scheduler's, or `local:N` for N workers on this machine. `job` says what is played, as for a worker
    of a `Pool`; the bots of it are packed at once, so that later changes of their folders change nothing. A run waits
    `patience` seconds for a cluster that has no worker. Raises InputError where there is no scheduler, or a bot is no
    longer what it was.
    """

    def __init__(self, address: str, job: WorkerConfig, *, patience: float = PATIENCE) -> None:
        self._address = address
        self._patience = patience
        self._run = secrets.token_hex(8)
        self._seatings = job.derivation.seatings
        self._job = replace(job, bots={}, derivation=job.derivation.only(()))
        self._bots = {bot: traveller(prepared.manifest) for bot, prepared in job.bots.items()}
        self._news: SimpleQueue[tuple[str, bytes | None]] = SimpleQueue()
        self._attempts: dict[str, _Attempt] = {}
        self._post = PendingBlocks()
        self._losses = Losses()
        self._failures = 0
        self._arrivals: deque[Arrival] = deque()
        self._stopping = False
        self._alone_since: float | None = None
        with contextlib.ExitStack() as opened:
            self.packs = opened.enter_context(run_folder())
            for prepared in job.bots.values():
                (self.packs / prepared.manifest.identity.hash).write_bytes(pack(prepared.manifest))
            self._client = opened.enter_context(connected(address, self.packs))
            self._census = opened.enter_context(contextlib.closing(Census(self._client)))
            self._client.subscribe_topic(TOPIC, self._hear)
            self._opened = opened.pop_all()

    @property
    def workers(self) -> int:
        """See `Engine.workers`."""
        return max(1, self._census.slots)

    def run(self, blocks: Iterator[Block], wait: Callable[[], float | None]) -> Iterator[Arrival | None]:
        """See `Engine.run`. Raises RefereeError where the scheduler or all workers are gone, or cannot play."""
        while True:
            self._hand_out(blocks)
            if not self._attempts:
                yield from self.arrived()
                if self._post.waiting and not self._stopping:  # whoever heard of it wants more
                    continue
                return
            self._listen(wait())
            self._check()
            self._look_after_workers()
            self._place_anew()
            if self._arrivals:
                yield from self.arrived()
            else:
                yield None

    def arrived(self) -> Iterator[Arrival]:
        """See `Engine.arrived`."""
        while self._arrivals:
            yield self._arrivals.popleft()

    def urge(self, block: Block) -> None:
        """See `Engine.urge`."""
        self._post.urge(Dispatch(block))

    def revise(self, change: Callable[[Block], Block]) -> None:
        """See `Engine.revise`."""
        self._post.revise(change)
        for attempt in self._attempts.values():
            attempt.block = change(attempt.block)

    def stop(self) -> None:
        """See `Engine.stop`."""
        self._stopping = True
        self._post.drop(lambda _: True)
        for attempt in [one for one in self._attempts.values() if not one.worker]:
            self._forget(attempt)
        within(GRACE, lambda: self._client.run(worker.stop, self._run, on_error="ignore"))

    def drop(self, unwanted: Callable[[Block], bool]) -> None:
        """See `Engine.drop`."""
        self._post.drop(unwanted)
        for attempt in [one for one in self._attempts.values() if unwanted(one.block)]:
            self._forget(attempt)

    def close(self) -> None:
        """See `Engine.close`."""
        for attempt in list(self._attempts.values()):
            self._forget(attempt)
        with self._opened.pop_all():
            if self._client.status == "running":
                within(GRACE, lambda: self._client.run(worker.end, self._run, on_error="ignore"))

    # -- handing out

    def _hand_out(self, blocks: Iterator[Block]) -> None:
        """Give the cluster as many blocks as it can play at once; one also where it has no worker yet."""
        while not self._stopping and len(self._attempts) + self._post.held < max(1, self._census.slots):
            parcel = self._next(blocks)
            if parcel is None:
                return
            self._submit(parcel)

    def _next(self, blocks: Iterator[Block]) -> Dispatch | None:
        """Return what is handed out next: none of its deals is in work in another rotation."""
        in_work = [attempt.block for attempt in self._attempts.values()]

        def is_free(block: Block) -> bool:
            return not any(block.bars(other) for other in in_work)

        parcel = self._post.next(is_free)
        if parcel is not None:
            return parcel
        for block in blocks:
            if is_free(block):
                return Dispatch(block)
            self._post.add(Dispatch(block))
        return None

    def _submit(self, parcel: Dispatch) -> None:
        block = parcel.block
        attempt = _Attempt(
            f"referee-{self._run}-{secrets.token_hex(8)}",
            block,
            set(block.deals),
            self._census.number,
            time.monotonic(),
            wish=parcel.worker,
        )
        order = Order(
            version=__version__,
            run=self._run,
            attempt=attempt.name,
            block=msgspec.structs.replace(block, seating=self._seatings.get(block.line_up)),
            job=self._job,
            bots=tuple(self._bots[bot] for bot in dict.fromkeys(block.line_up)),
            packed={name: (self.packs / name).read_bytes() for name in parcel.hashes},
        )
        self._attempts[attempt.name] = attempt
        self._post.sent(parcel, attempt.name)
        # The worker that lacks bots is a wish: where it is lost meanwhile, another takes them.
        wish: dict[str, Any] = {"workers": [parcel.worker], "allow_other_workers": True} if parcel.worker else {}
        attempt.future = self._client.submit(worker.play, order, key=attempt.name, pure=False, **wish)
        attempt.future.add_done_callback(lambda future: self._news.put((future.key, None)))

    # -- taking in

    def _hear(self, event: tuple[float, Any]) -> None:
        """An event has come; runs in Dask's thread."""
        with contextlib.suppress(TypeError, KeyError):  # another program's
            self._news.put((event[1]["attempt"], event[1]["message"]))

    def _listen(self, seconds: float | None) -> None:
        try:
            name, message = self._news.get(timeout=_TURN if seconds is None else min(seconds, _TURN))
            while True:
                attempt = self._attempts.get(name)
                if attempt is not None and message is None:
                    self._over(attempt)
                elif attempt is not None and message is not None:
                    # The scheduler's word is trusted: whoever can speak to it can run anything here and there.
                    self._take(attempt, pickle.loads(message))  # noqa: S301
                name, message = self._news.get_nowait()
        except Empty:
            pass

    def _take(self, attempt: _Attempt, message: Message) -> None:
        match message:
            case Begun() if attempt.worker:
                self._lost(attempt, f"the worker {attempt.worker} on {attempt.machine} was lost")
            case Begun():
                attempt.worker, attempt.machine = message.address, message.machine
                attempt.seen = self._census.number
            case Lacking():
                attempt.lacking = message.hashes
            case WorkerReady():
                self._post.delivered(attempt.name)
            case Unable():
                raise RefereeError(f"the machine {attempt.machine} of the cluster cannot play: {message.reason}")
            case Ended():
                attempt.ended = True
            case Finished():
                self._failures = 0
                self._arrivals.append(self._counted(attempt, message))
            case LostGame():
                attempt.missing.discard(message.deal)
                self._arrivals.append(message)
            case LostWorker():
                self._arrivals.append(message)
            case Notice():
                self._arrivals.append(Notice(f"{attempt.machine}: {message.text}"))

    def _counted(self, attempt: _Attempt, finished: Finished) -> Finished:
        finished.strike(attempt.missing)
        return finished

    def _over(self, attempt: _Attempt) -> None:
        """Dask has done with a task: all that was said in it has come in."""
        assert attempt.future is not None
        if attempt.future.status == "error":
            self._failed(attempt, attempt.future.exception())
        elif attempt.lacking:
            self._forget(attempt)
            self._post.add(Dispatch(attempt.block, attempt.lacking, attempt.worker, attempt.machine))
        elif attempt.ended:
            self._forget(attempt)
            if attempt.missing:  # its worker was told to leave, or it has to be found out why a game came to nothing
                self._post.add(Dispatch(attempt.block.only(attempt.missing)))
        elif attempt.future.status == "finished":
            self._lost(attempt, f"the worker {attempt.worker} on {attempt.machine} gave it up")

    def _forget(self, attempt: _Attempt) -> None:
        """Await nothing more of an attempt; where it is still played, that ends."""
        del self._attempts[attempt.name]
        if attempt.future is not None:
            attempt.future.cancel()
        self._post.delivered(attempt.name)

    # -- losses

    def _check(self) -> None:
        """Raise RefereeError where the scheduler is gone, or has had no worker for too long."""
        if self._client.status != "running":
            raise RefereeError(f"the scheduler at {self._address} is gone: {_GO_ON}")
        if self._census.slots:
            self._alone_since = None
            return
        now = time.monotonic()
        if self._alone_since is None:
            self._alone_since = now
        if now - self._alone_since > self._patience:
            raise RefereeError(f"the cluster at {self._address} has had no worker for {self._patience:.0f} s: {_GO_ON}")

    def _look_after_workers(self) -> None:
        """Give up what workers had that several counts have not found any more.

        Dask begins their blocks again by itself, by which their loss shows too; but not before a worker is free, and
        never where no worker was left for a moment and the block was meant for the one that is gone.
        """
        number, there = self._census.number, self._census.workers
        for attempt in list(self._attempts.values()):
            expected = attempt.worker or attempt.wish
            if not expected or expected in there:
                attempt.seen = number
            elif number - attempt.seen >= _ABSENT and attempt.worker:
                self._lost(attempt, f"the worker {attempt.worker} on {attempt.machine} was lost")
            elif number - attempt.seen >= _ABSENT:
                self._forget(attempt)
                self._post.add(Dispatch(attempt.block))

    def _place_anew(self) -> None:
        """Hand out elsewhere what waits behind another block although a worker is free.

        Dask puts a task in a worker's queue at once, here where a worker was just lost, and takes none away again of a
        kind that is mostly over quickly, as those that find bots lacking are.
        """
        waiting = [attempt for attempt in self._attempts.values() if not attempt.worker]
        if self._stopping or len(self._attempts) - len(waiting) >= self._census.slots:
            return
        for attempt in waiting:
            if time.monotonic() - attempt.since > _UNBEGUN:
                self._forget(attempt)
                self._post.add(Dispatch(attempt.block))

    def _failed(self, attempt: _Attempt, error: BaseException | None) -> None:
        """A task ended by an error that is not the bots': Dask gave it up, or the worker cannot run it."""
        self._failures += 1
        cause = " ".join(f"{type(error).__name__}: {error}".split())
        if self._failures >= MAX_FAILURES:
            raise RefereeError(
                f"the workers of {self._address} cannot play: {self._failures} blocks in a row ended by an error, "
                f"the last one so: {cause}"
            )
        self._lost(attempt, cause)

    def _lost(self, attempt: _Attempt, cause: str) -> None:
        """Hand out again what is missing of a block, without a game that has cost too many workers.

        The game that may be to blame is handed out by itself, so that the next loss tells.
        """
        self._forget(attempt)
        if not attempt.missing or self._stopping:
            return
        block, first = attempt.block, attempt.block.only(attempt.missing).deals[0]
        told = self._losses.count(block, first, cause)
        self._arrivals.extend(told)
        if not any(isinstance(one, LostGame) for one in told):
            self._post.add(Dispatch(block.only([first])))
        if others := attempt.missing - {first}:
            self._post.add(Dispatch(block.only(others)))
