"""The main job as a user runs it: real bots, real processes, a real database, and what is left of them."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from processes import REFEREE, wait_until

BOTS = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain"
NAMES = ("first.py", "last.py", "middle.py")
DEALS = 40


def command(*more: str, names: Sequence[str] = NAMES, jobs: int = 2) -> list[str]:
    return ["tournament", *(str(BOTS / name) for name in names), "--seed", "s", "--jobs", str(jobs), *more]


def referee(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*REFEREE, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False, timeout=300
    )


def standings(folder: Path) -> bytes:
    return (folder / "leaderboards" / "standings.json").read_bytes()


def played(folder: Path) -> int:
    """Games in the database, as another process sees it."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'referee.db'}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = referee(*command("--deals", str(DEALS), jobs=1), cwd=folder)
    assert done.returncode == 0, done.stderr
    return standings(folder)


def test_a_tournament_plays_every_line_up_and_says_where_its_leaderboard_is(tmp_path: Path) -> None:
    done = referee(*command("--deals", "3", "--players", "2,3"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "27 games, of which 0 were played before: 27 to play" in done.stderr
    assert "leaderboard: leaderboards/index.html" in done.stdout
    files = {path.name for path in (tmp_path / "leaderboards").iterdir()}
    assert files == {
        "index.html",
        "standings.md",
        "standings.csv",
        "standings.json",
        "run.json",
        "rounds.json",
        "round-1.json",
    }
    tables = json.loads(standings(tmp_path))["tables"]
    assert [(table["players"], table["games"]) for table in tables] == [(2, 18), (3, 9)]


def test_the_same_command_again_plays_nothing_and_changes_nothing(tmp_path: Path) -> None:
    referee(*command("--deals", "3"), cwd=tmp_path)
    before = standings(tmp_path)
    again = referee(*command("--deals", "3"), cwd=tmp_path)
    assert again.returncode == 0
    assert "nothing is owed" in again.stderr
    assert standings(tmp_path) == before


def test_more_deals_and_a_new_bot_play_only_what_is_owed(tmp_path: Path) -> None:
    referee(*command("--deals", "2", names=NAMES[:2]), cwd=tmp_path)
    more = referee(*command("--deals", "3"), cwd=tmp_path)
    assert "round 2: 14 games, of which 0 were played before: 14 to play" in more.stderr


def test_numbers_do_not_depend_on_jobs(tmp_path: Path, undisturbed: bytes) -> None:
    assert referee(*command("--deals", str(DEALS), jobs=3), cwd=tmp_path).returncode == 0
    assert standings(tmp_path) == undisturbed


def test_other_rules_on_the_same_database_are_refused_naming_the_difference(tmp_path: Path) -> None:
    referee(*command("--deals", "1"), cwd=tmp_path)
    other = referee(*command("--deals", "1", "--rule", "scoring=winner"), cwd=tmp_path)
    assert other.returncode == 2
    assert "--rule scoring=places, not winner" in other.stderr
    assert "Traceback" not in other.stderr


def test_refusals_are_listed_at_once_and_nothing_is_played(tmp_path: Path) -> None:
    (tmp_path / "no-command").mkdir()
    (tmp_path / "no-command" / "bot.toml").write_text("language = 'x'\n")
    done = referee(*command("--deals", "1"), "no-command", "missing", cwd=tmp_path)
    assert done.returncode == 2
    assert "no-command" in done.stderr
    assert "missing" in done.stderr
    assert "play the others with --skip-refused\n" in done.stderr
    assert not (tmp_path / "referee.db").exists()
    skipped = referee(*command("--deals", "1", "--skip-refused"), "no-command", "missing", cwd=tmp_path)
    assert skipped.returncode == 0, skipped.stderr
    assert "left out: " in skipped.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--players", "4"), "a table of 4 needs 4 bots that play at it, and there are 3"),
        (("--out", "/proc/no/such"), "choose another with --out"),
        (("--cores-per-bot", "1000"), "--cores-per-bot 1000"),
        (("--db", "no/such/file.db"), "no/such"),
    ],
)
def test_a_run_that_is_refused_leaves_nothing_behind(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = referee(*command(*words), cwd=tmp_path)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr
    assert not list(tmp_path.glob("*.db"))


def test_the_database_with_its_secret_is_for_its_owner_alone(tmp_path: Path) -> None:
    referee(*command("--deals", "1"), cwd=tmp_path)
    assert (tmp_path / "referee.db").stat().st_mode & 0o077 == 0


def test_a_bot_that_fails_every_game_loses_them_and_the_others_play_on(tmp_path: Path) -> None:
    done = referee(*command("--deals", "3", "--players", "3", names=(*NAMES[:2], "fails.py")), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(standings(tmp_path))["tables"][0]["rows"]}
    assert (rows["fails"]["faults"], rows["fails"]["score"]) == (9, 0)
    assert rows["first"]["faults"] == 0
    assert re.search(
        r"fails: 9 faults, such as crash: it exited with status 5 .* \(referee replay referee.db \w+\)", done.stderr
    )


def begin(folder: Path) -> subprocess.Popen[bytes]:
    """A tournament that leads its own process group, as a shell starts it."""
    return subprocess.Popen(
        [*REFEREE, *command("--deals", str(DEALS))],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        process_group=0,
    )


def reached(run: subprocess.Popen[bytes], folder: Path, goal: int) -> bool:
    """Wait until so many games are stored, or the run is over; whether it still runs."""
    wait_until(lambda: played(folder) >= goal or run.poll() is not None)
    return run.poll() is None


def test_of_two_referees_on_one_database_the_second_says_so(tmp_path: Path) -> None:
    first = begin(tmp_path)
    try:
        assert reached(first, tmp_path, 1)
        second = referee(*command("--deals", str(DEALS)), cwd=tmp_path)
        assert second.returncode == 2
        assert re.search(rf"another referee .*{first.pid}", second.stderr)
    finally:
        first.kill()
        first.communicate()
