"""What runs inside a Dask worker: one block is one Dask task, played by a pool of one worker process of ours.

Bots are never children of a Dask worker. Dask runs tasks in threads, and a parent-death signal follows the thread that
forked; our own worker process forks in its main thread, and ends itself and its bots when its connection breaks, so
that a Dask worker that is killed leaves nothing behind. A bot that kills its parent costs a process of ours and no
Dask worker, and the pool deals with it as on one machine.

What comes in is sent on at once as events of the Dask worker. They travel in the stream that also carries the states
of tasks: the scheduler has passed on all that a worker said before it tells of its loss. A task has no result.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pickle
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path

from dask.typing import Key
from distributed import Status, Worker, get_worker

from referee.bots.building.workshop import Workshop
from referee.bots.cache.prepare import Prepared
from referee.bots.cache.scratch import run_folder
from referee.bots.process import system
from referee.bots.sandbox.probing import require
from referee.bots.source.manifest import BotSpec
from referee.bots.source.programs import BOXED_PATH, HOST, HostView
from referee.errors import BotsRefused, InputError
from referee.record import Bot
from referee.tournament.cluster.bot_transfer import at_hand, receive
from referee.tournament.engine.losses import LostGame
from referee.tournament.engine.pool import Arrival, Pool
from referee.tournament.engine.worker_messages import Finished, WorkerConfig
from referee.tournament.rounds.schedule import Block
from referee.version import __version__

TOPIC = "referee"
"""Under which events travel. One for all runs: a scheduler keeps the last thousand events of every topic."""
IDLE = 5.0
"""Seconds after a block until a thread's worker process is ended, unless another block of the same run comes."""
_LOOK_EVERY = 0.1
"""Seconds between two looks at whether a block is still wanted."""


@dataclass(frozen=True, slots=True)
class Order:
    """A block to play, and what is needed for it.

    `job` is what a worker is told, without bots and scratch folder, which are the machine's own. `bots` are those of
    the block; `packed` are those of them that this machine is known to lack, by hash.
    """

    version: str
    run: str
    attempt: str
    block: Block
    job: WorkerConfig
    bots: tuple[BotSpec, ...]
    packed: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Begun:
    """A task was begun: by which Dask worker, on which machine. A second one of an attempt is Dask's own retry."""

    address: str
    machine: str


@dataclass(frozen=True, slots=True)
class Lacking:
    """The task ends, since its machine lacks the bots of these hashes."""

    hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """All bots of the block are built on this machine."""


@dataclass(frozen=True, slots=True)
class Unable:
    """The task ends, since this machine cannot play the block, and no try on it would help."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The task ends by itself. Games of it that were not sent are to be played by another."""


Message = Begun | Lacking | WorkerReady | Unable | Ended | Arrival
Say = Callable[[Message], None]

_stopping: set[str] = set()
"""The runs whose games in hand are the last ones."""


def play(order: Order) -> None:
    """Play a block and say what comes of it. This is the task."""
    worker = get_worker()
    key = worker.get_current_task()

    def say(message: Message) -> None:
        worker.log_event(TOPIC, {"attempt": order.attempt, "message": pickle.dumps(message)})

    say(Begun(worker.address, socket.gethostname()))
    if order.version != __version__:
        say(Unable(f"it has referee {__version__}, and this is {order.version}: install the same version there"))
        return
    with _bench_of_this_thread(worker).at(order.run) as bench:
        try:
            require(order.job.conditions.isolation)
            lacking = bench.outfit(order)
        except BotsRefused as refused:
            say(Unable("; ".join(f"{name} cannot play: {reason}" for name, reason in refused.reasons.items())))
            return
        except InputError as error:
            say(Unable(str(error)))
            return
        if lacking:
            say(Lacking(lacking))
            return
        say(WorkerReady())
        _play(order, bench, say, lambda: _standing(worker, key))


def _view(order: Order, bot: BotSpec) -> HostView:
    """What a bot will see here; the folders that it asks for were allowed where the tournament was begun."""
    return HostView(BOXED_PATH, tuple(map(Path, bot.runtime))) if order.job.conditions.isolation.is_boxed else HOST


def stop(run: str) -> None:
    """Let the games in hand of a run be its last ones; runs in every Dask worker."""
    _stopping.add(run)


async def end(run: str) -> None:
    """End what is left of a run, and return when it is gone; runs in every Dask worker."""
    for bench in list(_benches.values()):
        await asyncio.to_thread(bench.end, run)


def _play(order: Order, bench: Bench, say: Say, standing: Callable[[], _Standing]) -> None:
    pool = bench.pool(order.job)
    stopped = False
    for arrival in pool.run(iter([order.block]), lambda: _LOOK_EVERY):
        if arrival is not None:
            say(arrival)
        now = standing()
        if not stopped and _came_to_nothing(arrival):  # its referee finds out why before it hands out the rest
            stopped = True
            pool.stop()
        if now is _Standing.UNWANTED:
            bench.clear()
            return
        if not stopped and (now is _Standing.LEAVING or order.run in _stopping):
            stopped = True
            pool.stop()
    if stopped:  # such a pool plays no more
        bench.clear()
    say(Ended())


def _came_to_nothing(arrival: Arrival | None) -> bool:
    return isinstance(arrival, LostGame) or (isinstance(arrival, Finished) and bool(arrival.parked))


class _Standing(Enum):
    """How things stand with a block that is being played."""

    WANTED = auto()
    UNWANTED = auto()
    """It was cancelled, its referee or the scheduler is gone, or the Dask worker ends at once."""
    LEAVING = auto()
    """The Dask worker is to end soon."""


def _standing(worker: Worker, key: Key) -> _Standing:
    task = worker.state.tasks.get(key)
    if task is None or task.state == "cancelled" or worker.status in (Status.closing, Status.closed, Status.failed):
        return _Standing.UNWANTED
    return _Standing.LEAVING if worker.status is Status.closing_gracefully else _Standing.WANTED


class Bench:
    """What one thread of a Dask worker keeps from block to block: the run's bots that are built, and a pool of one."""

    def __init__(self, reaper: system.Reaper | None) -> None:
        self._reaper = reaper
        self._busy = threading.Lock()
        self._run = ""
        self._bots: dict[Bot, Prepared] = {}
        self._pool: Pool | None = None
        self._open = contextlib.ExitStack()
        self._idle: threading.Timer | None = None

    @contextlib.contextmanager
    def at(self, run: str) -> Iterator[Bench]:
        """Inside, this is the run's, and nobody else's; some time afterwards its process is ended."""
        if self._idle is not None:
            self._idle.cancel()
        with self._busy:
            if run != self._run:
                self.clear()
                self._run, self._bots = run, {}
            try:
                yield self
            finally:
                self._idle = threading.Timer(IDLE, self.end, (run,))
                self._idle.daemon = True
                self._idle.start()

    def outfit(self, order: Order) -> tuple[str, ...]:
        """Build the order's bots, or find them built; the hashes of those that would have to come first.

        Raises BotsRefused.
        """
        new: dict[Bot, Prepared] = {}
        lacking: list[str] = []
        for bot in order.bots:
            if bot.identity in self._bots:
                continue
            packed = order.packed.get(bot.identity.hash)
            view = _view(order, bot)
            prepared = at_hand(bot, view=view)
            if prepared is None and packed is not None:
                with run_folder() as scratch:
                    builder = Workshop(order.job.conditions.isolation, reaper=self._reaper)
                    prepared = receive(bot, packed, scratch, view=view, builder=builder)
            if prepared is None:
                lacking.append(bot.identity.hash)
            else:
                new[bot.identity] = prepared
        if new:
            self.clear()  # the process that is there knows only the bots of its beginning
            self._bots |= new
        return tuple(lacking)

    def pool(self, job: WorkerConfig) -> Pool:
        """A pool of one worker process that knows all bots which are built."""
        if self._pool is None:
            scratch = self._open.enter_context(run_folder())
            cores = job.cores or self._open.enter_context(_own_processor())
            whole = replace(job, bots=dict(self._bots), scratch=scratch, cores=cores)
            self._pool = self._open.enter_context(contextlib.closing(Pool([whole], reaper=self._reaper)))
        return self._pool

    def clear(self) -> None:
        """End the process, with all that descends from it."""
        self._pool = None
        self._open.close()

    def end(self, run: str) -> None:
        """End the process if it is still this run's, as soon as no block is played by it."""
        with self._busy:
            if run == self._run:
                self.clear()


_benches: dict[int, Bench] = {}
"""By thread."""
_reaper: system.Reaper | None = None


def _bench_of_this_thread(worker: Worker) -> Bench:
    global _reaper
    # Only where no other thread starts processes can any child that nobody looks after be told for a bot's stray.
    if _reaper is None and worker.state.nthreads == 1:
        _reaper = system.Reaper()
    return _benches.setdefault(threading.get_ident(), Bench(_reaper))


@contextlib.contextmanager
def _own_processor() -> Iterator[frozenset[int] | None]:
    """A processor of this machine that no other Dask worker has taken for its games; None where there is none left."""
    folder = Path(tempfile.gettempdir()) / f"referee-processors-{os.getuid()}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
    for core in system.usable_cores():
        try:
            lock = os.open(folder / str(core), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            break
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield frozenset({core})
            return
        except BlockingIOError:
            continue
        finally:
            os.close(lock)
    yield None
