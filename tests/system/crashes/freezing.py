"""SIGSTOP and SIGCONT for what a referee has started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from processes import descendants, state, wait_until
from workers import workers

from crashes.league import League, wait_for_games


@dataclass(frozen=True)
class Frozen:
    """Processes that are stopped until they may go on."""

    pids: frozenset[int]
    bots: frozenset[int] = frozenset()
    """Those that are answering others of them."""

    def go_on(self) -> None:
        """Continue them, bots only when whoever waits for them has looked: their silence is not to be their fault.

        Who is stopped in the middle of vfork(2) cannot look before its child goes on, and waits for no answer.
        """
        waiting = {pid: _turns(pid) for pid in self.pids - self.bots}
        for pid in waiting:
            _send(pid, signal.SIGCONT)
        if self.bots:
            wait_until(lambda: all(_turns(pid) != before or state(pid) == "D" for pid, before in waiting.items()))
        for pid in self.bots:
            _send(pid, signal.SIGCONT)


def _turns(pid: int) -> list[str]:
    """How often a process's main thread has had a processor and given it up; another value when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return ["gone"]
    return [line for line in lines if "ctxt_switches" in line]


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
    """Stop the bots, then their workers, then the referee: who waits for an answer still waits when it goes on."""
    frozen: set[int] = set()
    while more := descendants(referee) - frozen:
        ours = {referee, *workers(referee)}
        for pid in (*sorted(more - ours), *sorted(more & ours, reverse=True)):
            _send(pid, signal.SIGSTOP)
        frozen |= more
    return Frozen(frozenset(frozen), frozenset(frozen) - {referee} - workers(referee))


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
