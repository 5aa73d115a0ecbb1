"""A full disk, at whatever place: one sentence, what was committed stays, and with room the same command goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crashes.disks import Mounts, fill, mounts, one_sentence
from crashes.kills import Undisturbed
from crashes.league import League, game_ids


@pytest.fixture(name="disks")
def _disks() -> Iterator[Mounts]:
    with mounts() as made:
        yield made


def on_a_disk(undisturbed: Undisturbed, tmp_path: Path, *more: str, built: bool = True) -> tuple[League, Path]:
    """The undisturbed league again, and an empty folder in it to put a disk at."""
    league = undisturbed.league.again(tmp_path / "league", built=built, more=more)
    place = league.folder / "disk"
    place.mkdir()
    return league, place


def goes_on(disks: Mounts, league: League, undisturbed: Undisturbed, out: Path) -> None:
    """The same command ends as if nothing had been."""
    done = disks.referee(league)
    assert done.returncode == 0, f"with room it did not go on: {done.stderr}"
    assert (disks.seen(out) / "standings.json").read_bytes() == undisturbed.standings, "the standings differ"
    assert not league.processes(), "processes were left"
    assert not list((league.folder / "tmp").iterdir()), "temporary folders were left"


def test_a_database_that_fills_its_disk_in_the_middle_of_a_run_keeps_what_it_has(
    undisturbed: Undisturbed, tmp_path: Path, disks: Mounts
) -> None:
    league, place = on_a_disk(undisturbed, tmp_path, "--db", "disk/referee.db")
    disks.small(place, "320k")
    run = disks.referee(league)
    assert run.returncode == 2, f"exit code {run.returncode}: {run.stderr}"
    assert "the disk of disk/referee.db is full" in one_sentence(run.stderr)
    assert "make room and run the same again" in run.stderr
    again = disks.referee(league)
    assert again.returncode == 2, f"still full: exit code {again.returncode}: {again.stderr}"
    one_sentence(again.stderr)
    disks.make_room(place)
    kept = disks.referee(league, "export", "disk/referee.db", "--format", "jsonl").stdout.splitlines()
    assert 0 < len(kept) < league.games, f"{len(kept)} games were kept"
    goes_on(disks, league, undisturbed, league.folder / "leaderboards")
    assert sorted(game_ids(disks.seen(place) / "referee.db")) == sorted(undisturbed.games)


def test_what_was_committed_can_be_read_while_the_disk_is_full(
    undisturbed: Undisturbed, tmp_path: Path, disks: Mounts
) -> None:
    league, place = on_a_disk(undisturbed, tmp_path, "--db", "disk/referee.db")
    disks.small(place, "320k")
    disks.referee(league)
    fill(disks.seen(place))
    read = disks.referee(league, "export", "disk/referee.db", "--format", "jsonl")
    assert read.returncode == 0, f"exit code {read.returncode}: {read.stderr}"
    assert 0 < len(read.stdout.splitlines()) < league.games


def test_a_leaderboard_whose_disk_is_full_costs_no_game(
    undisturbed: Undisturbed, tmp_path: Path, disks: Mounts
) -> None:
    league, place = on_a_disk(undisturbed, tmp_path, "--out", "disk")
    disks.small(place, "16k")
    run = disks.referee(league)
    assert run.returncode == 2, f"exit code {run.returncode}: {run.stderr}"
    assert "cannot publish into disk: No space left on device" in one_sentence(run.stderr)
    assert sorted(league.stored()) == sorted(undisturbed.games), "games were lost"
    assert not list(disks.seen(place).glob(".*")), "half a leaderboard was left"
    disks.make_room(place)
    goes_on(disks, league, undisturbed, place)


def test_bots_that_cannot_be_copied_to_a_full_cache_are_refused_before_anything_is_played(
    undisturbed: Undisturbed, tmp_path: Path, disks: Mounts
) -> None:
    league, _ = on_a_disk(undisturbed, tmp_path, built=False)
    cache = league.folder / "cache"
    disks.small(cache, "64k")
    ballast = fill(disks.seen(cache))
    run = disks.referee(league)
    assert run.returncode == 2, f"exit code {run.returncode}: {run.stderr}"
    assert "Traceback" not in run.stderr
    assert "No space left on device" in run.stderr
    assert not league.database.exists(), "a database was begun"
    assert not list(disks.seen(cache).rglob("*.making")), "half a copy was left"
    ballast.unlink()
    disks.make_room(cache)
    goes_on(disks, league, undisturbed, league.folder / "leaderboards")


def test_a_run_whose_bots_find_no_room_for_a_folder_ends_and_charges_nobody(
    undisturbed: Undisturbed, tmp_path: Path, disks: Mounts
) -> None:
    league, _ = on_a_disk(undisturbed, tmp_path)
    temporary = league.folder / "tmp"
    # For the root, the run's folder, its lock, two workers' stderr and one bot's folder, of which a game needs two.
    disks.small(temporary, "64k", files=6)
    run = disks.referee(league)
    assert run.returncode == 1, f"exit code {run.returncode}: {run.stderr}"
    assert (
        "games come to nothing on this machine, and so did one between programs of the referee's own" in run.stderr
    ), run.stderr
    assert "No space left on device" in run.stderr
    assert "nobody was charged with it" in run.stderr
    assert "Traceback" not in run.stderr
    disks.make_room(temporary)
    goes_on(disks, league, undisturbed, league.folder / "leaderboards")


def test_a_temporary_folder_on_a_full_disk_is_no_reason_for_other_standings(
    undisturbed: Undisturbed, tmp_path: Path, disks: Mounts
) -> None:
    league, _ = on_a_disk(undisturbed, tmp_path)
    temporary = league.folder / "tmp"
    disks.small(temporary, "64k", files=100)
    fill(disks.seen(temporary))
    run = disks.referee(league)
    assert run.returncode in (0, 2), f"exit code {run.returncode}: {run.stderr}"
    assert "Traceback" not in run.stderr
    (disks.seen(temporary) / "ballast").unlink()
    goes_on(disks, league, undisturbed, league.folder / "leaderboards")
