"""What a killed run leaves is swept when the next one starts, and not when that ends."""

from __future__ import annotations

from pathlib import Path

from crashes.freezing import freeze_everything
from crashes.kills import Undisturbed
from crashes.league import PUBLISHED, League, kill_all, wait_for_games


def names(folder: Path, pattern: str = "*") -> set[str]:
    return {path.name for path in folder.glob(pattern)}


def killed_in_the_middle(undisturbed: Undisturbed, folder: Path) -> League:
    """A league whose referee, workers and bots were all killed at once, so that nobody could tidy up."""
    league = undisturbed.again(folder)
    run = league.begin()
    wait_for_games(run, league, 1)
    kill_all(freeze_everything(run.pid).pids)
    run.communicate(timeout=30)
    return league


def test_the_temporary_folder_of_a_killed_run_is_gone_before_the_next_one_plays(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    league = killed_in_the_middle(undisturbed, tmp_path / "league")
    temporary = league.folder / "tmp"
    (left,) = names(temporary)
    assert left.startswith("referee-run-")
    within = names(temporary / left)
    assert ".lock" in within
    assert {name.split("-")[0] for name in within - {".lock"}} <= {"bot"}
    run = league.begin()
    wait_for_games(run, league, len(league.acknowledged()) + 1)
    frozen = freeze_everything(run.pid)
    (present,) = names(temporary)
    frozen.go_on()
    assert present != left, "the killed run's folder is there while the next one plays"
    assert present.startswith("referee-run-")
    run.communicate(timeout=120)
    assert names(temporary) == set(), "the run that was not killed left its own"
    assert league.standings() == undisturbed.standings


def test_a_run_that_has_nothing_to_play_sweeps_too(short: Undisturbed, tmp_path: Path) -> None:
    league = short.again(tmp_path / "league")
    league.finish()
    left = league.folder / "tmp" / "referee-run-killed"
    (left / "bot-killed").mkdir(parents=True)
    (left / ".lock").touch()
    league.finish()
    assert names(league.folder / "tmp") == set()


def test_a_copy_of_a_bot_that_was_being_built_is_swept(short: Undisturbed, tmp_path: Path) -> None:
    league = short.again(tmp_path / "league", built=False)
    league.begin("renaming:1").communicate(timeout=60)
    cache = league.folder / "cache" / "referee" / "bots"
    left = names(cache, "*.making")
    assert len(left) == 2, "one that is being made, and the place for the one that it replaces"
    league.finish()
    assert names(cache, "*.making") == set()
    assert league.standings() == short.standings


def test_pages_that_were_not_moved_into_their_places_are_swept(short: Undisturbed, tmp_path: Path) -> None:
    league = short.again(tmp_path / "league")
    league.finish()
    league.begin("renaming:2").communicate(timeout=60)
    out = league.folder / "leaderboards"
    assert names(out, ".*.tmp"), "it was killed when all pages were in their places"
    league.finish()
    assert names(out) == PUBLISHED
    assert league.standings() == short.standings
