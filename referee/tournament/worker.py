"""A worker process: plays the blocks it is handed and sends the finished games back, until its referee is gone.

It is started as `python -m referee.tournament.worker FD`, where FD is one end of a socket pair. The referee's death,
of whatever kind, closes the other end: a thread that does nothing but read then ends every bot and the worker.
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

from referee.bots import system
from referee.bots.launcher import PlainLauncher
from referee.play import SystemClock
from referee.store import Stored
from referee.tournament.block import Parked, play_block
from referee.tournament.frames import read_frame, write_frame
from referee.tournament.orders import Finished, Job, Sending, Stop, Task
from referee.tournament.schedule import games_of

SEND_EVERY = 0.05
"""Finished games are sent together at most this many seconds apart."""


def main(descriptor: int) -> None:
    """Serve until the referee closes the connection."""
    connection = socket.socket(fileno=descriptor)
    connection.set_inheritable(False)
    reaper = system.Reaper()
    inbox: SimpleQueue[Job | Task] = SimpleQueue()
    stop = threading.Event()
    threading.Thread(target=_listen, args=(connection, inbox, stop, reaper), daemon=True).start()
    job = inbox.get()
    assert isinstance(job, Job)
    if job.cores is not None:
        system.pin_to(job.cores)
    launcher = PlainLauncher(job.scratch, reaper, job.bot_cores)
    while True:
        task = inbox.get()
        assert isinstance(task, Task)
        _play(task, job, launcher, stop, lambda finished: write_frame(connection, pickle.dumps(finished)))


def _play(
    task: Task, job: Job, launcher: PlainLauncher, stop: threading.Event, send: Callable[[Finished], None]
) -> None:
    games: list[Stored] = []
    parked: list[Parked] = []
    sent = time.monotonic()
    wait = 0.0 if task.sending is Sending.EACH else SEND_EVERY
    playing = play_block(
        games_of(task.block, job.secret),
        bots=job.bots,
        conditions=job.conditions,
        launcher=launcher,
        clock=SystemClock(),
    )
    for outcome in playing:
        if isinstance(outcome, Parked):
            parked.append(outcome)
        else:
            games.append(Stored.of(outcome))
        if stop.is_set():
            break
        if time.monotonic() - sent >= wait:
            send(Finished(tuple(games), tuple(parked), done=False))
            games.clear()
            parked.clear()
            sent = time.monotonic()
    wait = 0.0 if task.sending is Sending.EACH else SEND_EVERY
    playing.close()
    send(Finished(tuple(games), tuple(parked), done=True))


def _listen(
    connection: socket.socket, inbox: SimpleQueue[Job | Task], stop: threading.Event, reaper: system.Reaper
) -> None:
    while True:
        frame = read_frame(connection)
        if frame is None:
            _end_everything(reaper)
            return
        message = pickle.loads(frame)  # noqa: S301 - it comes from our own parent over a private socket
        if isinstance(message, Stop):
            stop.set()
        else:
            inbox.put(message)


def _end_everything(reaper: system.Reaper) -> None:
    for pid in list(reaper.live):
        system.kill_group(pid)
    reaper.live.clear()
    reaper.sweep()
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
