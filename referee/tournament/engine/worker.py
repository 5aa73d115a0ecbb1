"""A worker process: plays the blocks it is handed and sends the finished games back, until its referee is gone.

It is started as `python -m referee.tournament.engine.worker FD`, where FD is one end of a socket pair. When the referee
dies, however it dies, the other end closes: a thread that only reads then ends every bot and the worker.
Another thread sends: what is finished, soon after it is, and a sign of life where nothing is.
"""

from __future__ import annotations

import contextlib
import pickle
import socket
import sys
import threading
import time
import traceback
from collections import deque
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple, NoReturn

from referee.bots.process import system
from referee.bots.process.launcher import Launcher
from referee.bots.sandbox.last import end_everything
from referee.bots.sandbox.probing import launcher_for
from referee.play import SystemClock
from referee.store import Stored
from referee.tournament.engine.block import BlockListener, Parked, Void, play_block
from referee.tournament.engine.framing import read_frame, write_frame
from referee.tournament.engine.trials import Tried, hold
from referee.tournament.engine.worker_messages import (
    BlockTask,
    Drop,
    Failed,
    Finished,
    Heartbeat,
    Moved,
    Sending,
    Stop,
    WorkerConfig,
)
from referee.tournament.rounds.schedule import games_of

SEND_AFTER = 0.05
"""A finished game is sent so many seconds after it ended, with those that ended meanwhile."""
BEAT_EVERY = 1.0
"""Seconds without a finished game after which a worker says that it lives."""


class Outbox:
    """What goes to the referee. The playing thread only puts games in; `serve`, in a thread of its own, sends them."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._outcomes: deque[tuple[Stored | Parked | Void | Tried, int]] = deque()
        self._news = threading.Event()
        self._sending = threading.Lock()

    def put(self, outcome: Stored | Parked | Void | Tried, ms: int = 0) -> None:
        """A game is over, or an attempt at one, and took `ms`."""
        self._outcomes.append((outcome, ms))
        self._news.set()

    def send(self, *, done: bool = False) -> None:
        """Send what is there, at once; with `done`, as the last of a block. Raises OSError."""
        with self._sending:
            self._news.clear()
            outcomes = [self._outcomes.popleft() for _ in range(len(self._outcomes))]
            if outcomes or done:
                self._write(_finished(outcomes, done=done))

    def say(self, message: Heartbeat | Failed | Moved) -> None:
        """Send a message that is no game. Raises OSError."""
        with self._sending:
            self._write(message)

    def serve(self) -> None:
        """Send for as long as somebody listens."""
        with contextlib.suppress(OSError):
            while True:
                if self._news.wait(BEAT_EVERY):
                    time.sleep(SEND_AFTER)
                    self.send()
                else:
                    self.say(Heartbeat())

    def _write(self, message: Finished | Heartbeat | Failed | Moved) -> None:
        write_frame(self._connection, pickle.dumps(message))


def _finished(outcomes: list[tuple[Stored | Parked | Void | Tried, int]], *, done: bool) -> Finished:
    return Finished(
        tuple([one for one, _ in outcomes if isinstance(one, Stored)]),
        tuple([one for one, _ in outcomes if isinstance(one, Parked)]),
        done,
        tuple([one for one, _ in outcomes if isinstance(one, Void)]),
        tuple([one for one, _ in outcomes if isinstance(one, Tried)]),
        sum([ms for _, ms in outcomes]),
    )


class Brakes(NamedTuple):
    """Why no further game of a block is begun: all is to stop, or this block is not wanted any more."""

    stop: threading.Event
    drop: threading.Event


def main(descriptor: int) -> NoReturn:
    """Serve until the referee closes the connection, or by an error of ours, which it is told."""
    connection = socket.socket(fileno=descriptor)
    connection.set_inheritable(False)
    reaper = system.Reaper()
    outbox = Outbox(connection)
    inbox: SimpleQueue[WorkerConfig | BlockTask] = SimpleQueue()
    brakes = Brakes(threading.Event(), threading.Event())
    threading.Thread(target=_listen, args=(connection, inbox, brakes), daemon=True).start()
    try:
        _work(inbox, outbox, brakes, reaper)
    except BaseException as error:
        with contextlib.suppress(OSError):
            outbox.send()
            outbox.say(Failed(_in_words(error)))
    end_everything()


def _work(
    inbox: SimpleQueue[WorkerConfig | BlockTask], outbox: Outbox, brakes: Brakes, reaper: system.Reaper
) -> NoReturn:
    job = inbox.get()
    assert isinstance(job, WorkerConfig)
    if job.cores is not None:
        system.pin_to(job.cores)
    launcher = launcher_for(
        job.conditions.isolation,
        scratch=job.scratch,
        box=job.conditions.box,
        reaper=reaper,
        cores=job.bot_cores,
    )
    outbox.say(Heartbeat())
    threading.Thread(target=outbox.serve, daemon=True).start()
    known_ponderers: set[str] = set()
    while True:
        task = inbox.get()
        assert isinstance(task, BlockTask)
        _play(task, job, launcher, brakes, outbox, known_ponderers)
        # Only now are the block's processes gone; its games went out as they ended.
        outbox.send(done=True)


def _play(
    task: BlockTask, job: WorkerConfig, launcher: Launcher, brakes: Brakes, outbox: Outbox, known_ponderers: set[str]
) -> None:
    block, each = task.block, task.sending is Sending.EACH
    games, clock = games_of(block, job.secret, of_round=job.round, derivation=job.derivation), SystemClock()
    if block.trial is not None:
        held = hold(block.trial, next(games), bots=job.bots, conditions=job.conditions, launcher=launcher, clock=clock)
        outbox.put(held)
        return
    playing = play_block(
        games,
        bots=job.bots,
        conditions=job.conditions,
        launcher=launcher,
        clock=clock,
        known_ponderers=known_ponderers,
        absent=dict(block.absent),
        replays=block.replays,
        ears=BlockListener(outbox.put, (lambda seat, action: outbox.say(Moved(seat, action))) if each else None),
    )
    with contextlib.closing(playing):
        for outcome in playing:
            if isinstance(outcome, Parked):
                outbox.put(outcome)
                return  # before more of this table is played, it is to be found out why
            outbox.put(Stored.of(outcome), outcome.ms)
            if each:
                outbox.send()
            if brakes.stop.is_set() or brakes.drop.is_set():
                return


def _listen(connection: socket.socket, inbox: SimpleQueue[WorkerConfig | BlockTask], brakes: Brakes) -> None:
    while True:
        frame = read_frame(connection)
        if frame is None:
            end_everything()
        message = pickle.loads(frame)  # noqa: S301 - it comes from our own parent over a private socket
        if isinstance(message, Stop):
            brakes.stop.set()
        elif isinstance(message, Drop):
            brakes.drop.set()
        else:
            # Here, where messages come in turn: what was set for the last block is over, and this one's comes later.
            brakes.drop.clear()
            inbox.put(message)


def _in_words(error: BaseException) -> str:
    """One line: what was raised, and where."""
    what = " ".join("".join(traceback.format_exception_only(error)).split())
    places = traceback.extract_tb(error.__traceback__)
    return f"{what} ({Path(places[-1].filename).name}, line {places[-1].lineno})" if places else what


if __name__ == "__main__":
    main(int(sys.argv[1]))
