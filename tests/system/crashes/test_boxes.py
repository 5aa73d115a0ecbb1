"""A league in boxes whose referee or worker is killed: nothing of a box is left, and it ends as one in none."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Collection
from pathlib import Path

import pytest
from command_line import BEST_SANDBOX
from processes import alive, descendants, wait_until

from crashes.league import League, wait_for_games
from referee.bots.sandbox.cgroups import home_or_none


class Boxed(League):
    """A league as a user plays it."""

    @property
    def surroundings(self) -> dict[str, str]:
        """The environment, with the best sandbox of the machine."""
        return super().surroundings | BEST_SANDBOX


def tables(league: League) -> object:
    """The published standings, without what is said of the rounds."""
    return json.loads(league.standings())["tables"]


@pytest.mark.parametrize("whom", ["the referee", "a worker"])
def test_a_league_in_boxes_that_is_killed_leaves_nothing_and_ends_as_one_in_none(public_path: Path, whom: str) -> None:
    league = Boxed.new(public_path / "boxed", deals=30)
    run = league.begin()
    wait_for_games(run, league, 20)
    family: set[int] = set()

    def play_in_boxes() -> bool:
        """Between two blocks a worker has none."""
        family.clear()
        family.update(descendants(run.pid))
        boxes = [pid for pid in family if b"bwrap" in _command(pid)]
        return len(boxes) >= 2 and len(_groups(family)) >= (2 if home_or_none() else 0)

    wait_until(play_in_boxes)
    workers = [pid for pid in family if b"referee.tournament.engine.worker" in _command(pid)]
    if whom == "the referee":
        os.kill(run.pid, signal.SIGKILL)
        run.communicate()
        wait_until(lambda: not any(map(alive, family)), seconds=10)
        assert _groups(family) == set()
        assert "isolation A" in league.finish().stderr
    else:
        os.kill(workers[0], signal.SIGKILL)
        assert b"isolation A" in run.communicate()[1]
        assert run.returncode == 0
    assert not any(map(alive, family))
    assert _groups(family) == set()
    assert league.left_over() == set()
    assert len(league.stored()) == league.games
    other = league.again(public_path / "plain")
    League(other.folder, other.deals, other.jobs).finish()
    assert tables(league) == tables(other)


def _groups(makers: Collection[int]) -> set[Path]:
    """The cgroups of boxes that were made by one of these processes."""
    home = home_or_none()
    found = [place for folder in home.folders.values() for place in folder.glob("referee-box-*")] if home else []
    return {place for place in found if int(place.name.split("-")[3]) in makers}


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
