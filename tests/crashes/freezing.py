"""SIGSTOP and SIGCONT for what a referee has started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass

from processes import descendants
from workers import workers

from crashes.league import League, wait_for_games


@dataclass(frozen=True)
class Frozen:
    """Processes that are stopped until they may go on."""

    pids: frozenset[int]

    def go_on(self) -> None:
        """Continue them all, the last that was started first."""
        for pid in sorted(self.pids, reverse=True):
            _send(pid, signal.SIGCONT)


def freeze_referee(referee: int) -> Frozen:
    """Stop the referee alone."""
    _send(referee, signal.SIGSTOP)
    return Frozen(frozenset({referee}))


def freeze_workers(referee: int) -> Frozen:
    """Stop all workers, and nobody else."""
    frozen: set[int] = set()
    while more := workers(referee) - frozen:
        for pid in more:
            _send(pid, signal.SIGSTOP)
        frozen |= more
    return Frozen(frozenset(frozen))


def freeze_everything(referee: int) -> Frozen:
    """Stop the referee, then its workers, then their bots: whoever waits for another is stopped before it."""
    frozen = {*freeze_referee(referee).pids, *freeze_workers(referee).pids}
    while more := descendants(referee) - frozen:
        for pid in more:
            _send(pid, signal.SIGSTOP)
        frozen |= more
    return Frozen(frozenset(frozen))


def silence(run: subprocess.Popen[bytes], league: League, games: int) -> Frozen:
    """When so many games are there, stop the bots and nobody else, at a moment at which there are some."""
    wait_for_games(run, league, games)
    while True:
        referee_and_workers = {*freeze_referee(run.pid).pids, *freeze_workers(run.pid).pids}
        bots = Frozen(freeze_everything(run.pid).pids - referee_and_workers)
        Frozen(frozenset(referee_and_workers)).go_on()
        if bots.pids:
            return bots
        assert run.poll() is None, "the run is over"


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
