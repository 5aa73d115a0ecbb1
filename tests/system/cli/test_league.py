"""A league of three rounds, killed ten times and half of it played as shards, ends as the same league in one go."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from processes import REFEREE, alive, descendants, wait_until

PLAIN = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain"
MAX_FAULTS = 5

STEPS = (
    (("ann", "bob", "cyd"), ("--deals", "16")),
    (("ann", "bob", "cyd", "dud"), ("--deals", "16", "--players", "2,3")),
    (("ann", "bob", "cyd", "dud", "eve"), ("--deals", "24", "--players", "2,3")),
)
"""The bots and what is asked of them, round by round; before the second bob changes, and dud, new, fails always."""

SHARED = (1, 2)
"""The steps of which another machine plays half."""


def write_bots(folder: Path, step: int) -> None:
    """The bots as they are at this step."""
    programs = {
        "ann": "first",
        "bob": "last" if step == 0 else "middle",
        "cyd": "middle",
        "dud": "fails",
        "eve": "last",
    }
    (folder / "bots").mkdir(exist_ok=True)
    for name in STEPS[step][0]:
        (folder / "bots" / f"{name}.py").write_text((PLAIN / f"{programs[name]}.py").read_text() + f"# {name}\n")


def words(step: int, *more: str, db: str = "referee.db") -> list[str]:
    names, asked = STEPS[step]
    bots = [f"bots/{name}.py" for name in names]
    conditions = ("--max-faults", str(MAX_FAULTS), "--seed", "league", "--jobs", "2", "--db", db)
    return [*REFEREE, "tournament", *bots, *asked, *conditions, *more]


def play(folder: Path, command: list[str]) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stderr


def games(db: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


def killed_after(folder: Path, command: list[str], db: Path, more: int) -> bool:
    """Kill the run and its group when so many more games are stored; whether it was still going."""
    goal = games(db) + more
    with (folder / "said.txt").open("wb") as said:
        run = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, process_group=0)
    wait_until(lambda: games(db) >= goal or run.poll() is not None)
    if run.poll() is not None:
        assert run.returncode == 0, (folder / "said.txt").read_text()
        return False
    family = descendants(run.pid)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    wait_until(lambda: not any(map(alive, family)))
    return True


def published(folder: Path) -> dict[str, bytes]:
    """All that was published, but for the time when it was."""
    return {path.name: path.read_bytes() for path in (folder / "leaderboards").iterdir() if path.name != "run.json"}


@pytest.fixture(scope="module")
def in_one_go(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("one-go")
    for step in range(len(STEPS)):
        write_bots(folder, step)
        play(folder, words(step))
    return published(folder)


def test_a_league_that_was_killed_ten_times_and_half_played_as_shards_ends_as_in_one_go(
    tmp_path: Path, in_one_go: dict[str, bytes]
) -> None:
    dice = random.Random("league")
    kills = 0
    for step in range(len(STEPS)):
        write_bots(tmp_path, step)
        if step in SHARED:
            play(tmp_path, words(step, "--plan", "round.json"))
            there, here = (
                words(step, "--round", "round.json", "--shard", "2/2", "--out", f"there-{step}", db="there.db"),
                words(step, "--shard", "1/2"),
            )
            for command, db in ((here, "referee.db"), (there, "there.db")):
                kills += sum(killed_after(tmp_path, command, tmp_path / db, dice.randrange(1, 15)) for _ in range(2))
                play(tmp_path, command)
            play(tmp_path, [*REFEREE, "db", "merge", "referee.db", "there.db"])
            for left in tmp_path.glob("there.db*"):
                left.unlink()
        else:
            kills += sum(
                killed_after(tmp_path, words(step), tmp_path / "referee.db", dice.randrange(1, 15)) for _ in range(4)
            )
        play(tmp_path, words(step))
    assert kills >= 10
    ours = published(tmp_path)
    assert sorted(ours) == sorted(in_one_go)
    assert [name for name in ours if ours[name] != in_one_go[name]] == []
    play(tmp_path, [*REFEREE, "db", "check", "referee.db"])


def test_the_league_is_what_it_should_be(in_one_go: dict[str, bytes]) -> None:
    document: dict[str, Any] = json.loads(in_one_go["standings.json"])
    assert [one["number"] for one in document["rounds"]] == [1, 2, 3]
    # 3 line-ups of two; then bob's and dud's 5, and the 4 of three; then 8 more deals of what is left, and all of eve's.
    assert [one["games"] for one in document["rounds"]] == [96, 5 * 32 + 4 * 48, 3 * 16 + 3 * 48 + 24 + 3 * 72]
    assert [(out["name"], out["round"], out["faults"]) for out in document["withdrawn"]] == [("dud", 2, MAX_FAULTS)]
    assert all(one["secret"] and not one["sealed"] for one in document["rounds"])
    two, three = document["tables"]
    assert {row["name"]: row["games"] for row in two["rows"]} == dict.fromkeys(("ann", "bob", "cyd", "eve"), 3 * 48)
    assert {row["name"]: row["games"] for row in three["rows"]} == dict.fromkeys(("ann", "bob", "cyd", "eve"), 3 * 72)
