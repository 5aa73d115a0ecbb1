"""What bots leave behind is ended, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from seats import Seat

Make = Callable[..., Seat]


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("mode", ["starts_an_orphan_and_plays_on", "starts_an_orphan_with_a_session_and_plays_on"])
def test_a_helper_lives_as_long_as_its_bot_whatever_other_bots_do(seat: Make, mode: str) -> None:
    table = seat(mode)
    notes = {step.note for step in table.play().steps if step.seat == 0}
    helpers = [int(note) for note in notes if note]
    assert all(map(lives, helpers))
    other = seat("exits")
    assert other.play().faults
    assert all(map(lives, helpers))
    table.player.kill()
    assert not any(map(lives, helpers))


def run_as_a_child_of(shell: str, then: str) -> list[int]:
    """Start `shell`, which becomes a Python that runs `then`; the numbers that they print."""
    code = f"import os, signal, time\nfrom referee.bots.process.system import Reaper, children\n{then}"
    done = subprocess.run(
        ["sh", "-c", f'{shell} exec "$0" -c "$1"', sys.executable, code],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=30,
    )
    return [int(line) for line in done.stdout.split()]


def test_children_from_before_are_left_alone() -> None:
    (sleeper,) = run_as_a_child_of("sleep 88 > /dev/null & echo $!;", "Reaper().sweep()")
    assert lives(sleeper)
    os.kill(sleeper, signal.SIGKILL)


def test_what_children_from_before_leave_behind_is_left_alone() -> None:
    then = "reaper = Reaper()\nfor pid in children(): os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)\nreaper.sweep()"
    (sleeper,) = run_as_a_child_of("(sleep 88 > /dev/null & echo $!; exec sleep 87 > /dev/null) & sleep 0.1;", then)
    assert lives(sleeper)
    os.kill(sleeper, signal.SIGKILL)
