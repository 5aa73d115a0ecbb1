"""Where nothing can be written a tournament says so before it plays, and what is there can be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from crashes.disks import Mounts, mounts, one_sentence
from crashes.kills import Undisturbed
from crashes.league import League


@pytest.fixture(name="disks")
def _disks() -> Iterator[Mounts]:
    with mounts() as made:
        yield made


def refused(disks: Mounts, league: League, reason: str) -> None:
    """The command ends with exit code 2 and one sentence that gives the reason, and plays nothing."""
    before = league.stored()
    run = disks.referee(league)
    assert run.returncode == 2, f"exit code {run.returncode}: {run.stderr}"
    assert reason in one_sentence(run.stderr)
    assert league.stored() == before, "games were played"
    assert not league.left_over(), f"{league.left_over()} were left"


def goes_on(disks: Mounts, league: League, undisturbed: Undisturbed) -> None:
    """The same command ends as if nothing had been."""
    done = disks.referee(league)
    assert done.returncode == 0, done.stderr
    assert league.standings() == undisturbed.standings, "the standings differ"


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_database_that_is_read_only_is_refused_and_can_be_read(
    short: Undisturbed, tmp_path: Path, disks: Mounts, what: str
) -> None:
    league = short.league.again(tmp_path / "league", more=("--db", "store/referee.db"))
    (league.folder / "store").mkdir()
    league.finish()
    place = league.folder / "store"
    disks.read_only(place if what == "folder" else place / "referee.db")
    more = League(league.folder, league.deals + 1, league.jobs, league.more)
    refused(disks, more, "store/referee.db may not be written by this user")
    read = disks.referee(league, "standings", "store/referee.db", "--json")
    assert read.returncode == 0, read.stderr
    assert read.stdout.encode() == short.standings, "what is read differs"
    disks.writable(place if what == "folder" else place / "referee.db")
    goes_on(disks, league, short)


@pytest.mark.parametrize("index", ["there", "gone"])
def test_a_database_of_a_killed_run_in_a_read_only_folder_is_read_whole_or_says_how_it_can_be(
    short: Undisturbed, tmp_path: Path, disks: Mounts, index: str
) -> None:
    league = short.league.again(tmp_path / "league", more=("--db", "store/referee.db"))
    place = league.folder / "store"
    place.mkdir()
    league.begin("games:3").communicate(timeout=300)
    if index == "gone":  # as after a power cut
        (place / "referee.db-shm").unlink()
    disks.read_only(place)
    if index == "gone":  # refused so early that the killed run's folder is left to the next run
        run = disks.referee(league)
        assert run.returncode == 2, f"exit code {run.returncode}: {run.stderr}"
        assert "store/referee.db" in one_sentence(run.stderr)
    else:
        refused(disks, league, "store/referee.db may not be written by this user")
    read = disks.referee(league, "export", "store/referee.db", "--format", "jsonl")
    if index == "gone":
        assert read.returncode == 2, f"exit code {read.returncode}: {read.stderr}"
        assert "copy both files to a folder of your own" in one_sentence(read.stderr)
    else:
        assert read.returncode == 0, f"exit code {read.returncode}: {read.stderr}"
        assert {json.loads(line)["game_id"] for line in read.stdout.splitlines()} == league.acknowledged()
    disks.writable(place)
    goes_on(disks, league, short)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("leaderboards", "leaderboards may not be written by this user; choose another folder with --out"),
        ("cache", "XDG_CACHE_HOME says where"),
    ],
)
def test_a_folder_that_is_read_only_is_refused_before_anything_is_played(
    short: Undisturbed, tmp_path: Path, disks: Mounts, name: str, reason: str
) -> None:
    league = short.league.again(tmp_path / "league", built=name != "cache")
    (league.folder / name).mkdir(exist_ok=True)
    disks.read_only(league.folder / name)
    run = disks.referee(league)
    assert run.returncode == 2, f"exit code {run.returncode}: {run.stderr}"
    assert "Traceback" not in run.stderr
    assert reason in run.stderr
    assert not league.database.exists(), "a database was begun"
    disks.writable(league.folder / name)
    goes_on(disks, league, short)
