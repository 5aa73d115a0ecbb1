"""Tournaments that stop by themselves: real bots and processes, and a stop that nothing disturbs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from clusters import children, machines
from command_line import ROOT, environment, referee_command
from processes import REFEREE, wait_until

PLAIN = ROOT / "tests" / "system" / "bots" / "programs" / "plain"
GREEDY, RANDOM, MEMORY = (str(ROOT / "example_bots" / name) for name in ("greedy", "random", "memory"))
FIELD = (GREEDY, RANDOM, MEMORY)
UNTIL = ("--until-settled=all", "--indifference", "0.3", "--max-deals", "300", "--seed", "s")
"""Random is far below the others, and these are alike: settled after some tens of deals."""


def play(folder: Path, *words: str, status: int = 0) -> str:
    done = referee_command("tournament", *words, cwd=folder, seconds=300)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def published(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "leaderboards" / "standings.json").read_text())
    return found


def pages(folder: Path) -> dict[str, bytes]:
    """What depends on the games alone."""
    return {page.name: page.read_bytes() for page in (folder / "leaderboards").iterdir() if page.name != "run.json"}


def games(folder: Path) -> Counter[frozenset[str]]:
    """How many games each line-up played; none where there is no database yet."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'referee.db'}?mode=ro", uri=True)) as db:
            names = dict(db.execute("SELECT bot, name FROM bots"))
            rows = db.execute("SELECT bots, count(*) FROM games JOIN line_ups USING (line_up) GROUP BY 1").fetchall()
    except sqlite3.Error:
        return Counter()
    return Counter({frozenset(names[int(bot)] for bot in bots.split(",")): count for bots, count in rows})


def twin(folder: Path, program: str, name: str) -> str:
    shutil.copy(PLAIN / f"{program}.py", folder / f"{name}.py")
    return str(folder / f"{name}.py")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    play(folder, *FIELD, *UNTIL, "--jobs", "1")
    return folder


def test_a_league_stops_when_its_order_is_settled_and_the_page_says_how(undisturbed: Path) -> None:
    notes = published(undisturbed)["notes"]
    (deals,) = set(games(undisturbed).values())
    assert deals // 2 < 300 and deals // 2 % 10 == 0
    words = f"played until the order of all bots up to 0.3 was settled, after {deals // 2} of at most 300 deals"
    assert words in notes[0]
    assert all(words in (undisturbed / "leaderboards" / page).read_text() for page in ("index.html", "standings.md"))
    manifest = json.loads((undisturbed / "leaderboards" / "round-1.json").read_text())
    rule = {"top": None, "alpha": 0.05, "indifference": 0.3, "adaptive": False, "every": 10}
    assert manifest["until"] == rule
    (shown,) = published(undisturbed)["rounds"]
    assert (shown["unplayed"], shown["played"], shown["games"]) == (0, sum(games(undisturbed).values()), 3 * 2 * 300)
    assert f"{shown['played']:,} of at most 1,800" in (undisturbed / "leaderboards" / "index.html").read_text()
    assert words in " ".join(referee_command("standings", cwd=undisturbed).stdout.split())


def test_it_stops_where_it_stopped_with_more_jobs(undisturbed: Path, tmp_path: Path) -> None:
    play(tmp_path, *FIELD, *UNTIL, "--jobs", "2")
    assert pages(tmp_path) == pages(undisturbed)


def test_it_stops_where_it_stopped_after_it_was_killed(undisturbed: Path, tmp_path: Path) -> None:
    whole = games(undisturbed).total()
    for goal in (5, whole // 2):
        with subprocess.Popen(
            [*REFEREE, "tournament", *FIELD, *UNTIL, "--jobs", "2"],
            cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0,
        ) as run:  # fmt: skip
            wait_until(lambda goal=goal: games(tmp_path).total() >= goal or run.poll() is not None)
            assert run.poll() is None, "it was over too soon"
            run.send_signal(signal.SIGKILL)
    assert games(tmp_path).total() < whole
    play(tmp_path, *FIELD, *UNTIL, "--jobs", "2")
    assert pages(tmp_path) == pages(undisturbed)
    checked = referee_command("db", "check", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_cluster_stops_where_one_machine_stops_though_a_worker_is_lost_in_the_middle(
    undisturbed: Path, tmp_path: Path
) -> None:
    league = tmp_path / "league"
    league.mkdir()
    with machines(tmp_path / "machines", workers=2) as cluster:
        words = [*REFEREE, "tournament", *FIELD, *UNTIL, "--cluster", cluster.address]
        with subprocess.Popen(words, cwd=league, env=environment(), stderr=subprocess.PIPE, text=True) as run:
            wait_until(lambda: games(league).total() >= 5 or run.poll() is not None)
            assert run.poll() is None, "it was over too soon"
            lost = children(cluster.workers[0].pid)
            assert lost
            for pid in lost:
                os.kill(pid, signal.SIGKILL)
            _, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    assert pages(league) == pages(undisturbed)
    assert games(league) == games(undisturbed)
    assert referee_command("db", "check", cwd=league).returncode == 0


def test_the_same_command_again_plays_nothing_and_a_game_that_went_is_missed(undisturbed: Path, tmp_path: Path) -> None:
    shutil.copy(undisturbed / "referee.db", tmp_path)
    before = games(tmp_path)
    said = play(tmp_path, *FIELD, *UNTIL)
    assert "nothing is owed" in said and games(tmp_path) == before
    with closing(sqlite3.connect(tmp_path / "referee.db")) as db, db:
        db.execute("DELETE FROM games WHERE game_id = (SELECT max(game_id) FROM games)")
    checked = referee_command("db", "check", cwd=tmp_path)
    assert checked.returncode == 1
    assert "round 1 lacks games that it had when it was closed" in checked.stdout + checked.stderr


def test_equal_bots_stop_at_the_last_deal_and_the_page_says_that_they_are_not_settled(tmp_path: Path) -> None:
    bots = [twin(tmp_path, "first", name) for name in ("one", "two")]
    play(tmp_path, *bots, "--until-settled", "--max-deals", "25", "--seed", "s")
    assert set(games(tmp_path).values()) == {50}
    assert published(tmp_path)["notes"] == [
        "Round 1, tables of 2: not settled after 25 of at most 25 deals a line-up: one and two are not told apart"
    ]


def test_with_a_number_of_places_only_those_are_settled(tmp_path: Path) -> None:
    bots = [twin(tmp_path, program, name) for program, name in (("first", "low"), ("first", "lower"))]
    said = play(tmp_path, GREEDY, *bots, "--until-settled", "1", "--max-deals", "100", "--seed", "s")
    assert "until the first place was settled, after " in said
    assert max(games(tmp_path).values()) < 200


def test_racing_plays_fewer_games_of_settled_bots(tmp_path: Path) -> None:
    """The twins are never told apart, and all others are soon."""
    bots = [twin(tmp_path, "first", name) for name in ("one", "two")]
    words = ("--until-settled", "--adaptive", "--max-deals", "120", "--seed", "s")
    play(tmp_path, GREEDY, RANDOM, *bots, *words)
    played = games(tmp_path)
    assert played[frozenset({"one", "two"})] == 240
    assert played[frozenset({"greedy", "random"})] < 240
    assert played[frozenset({"greedy", "one"})] == 240
    assert any("compare strengths" in note for note in published(tmp_path)["notes"])
    checked = referee_command("db", "check", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_bot_that_is_withdrawn_in_the_middle_is_waited_for_by_nobody(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import sys\nfor line in sys.stdin:\n    raise SystemExit\n")
    words = ("--until-settled=all", "--max-deals", "300", "--max-faults", "3", "--seed", "s")
    for jobs in ("1", "2"):
        folder = tmp_path / jobs
        folder.mkdir()
        play(folder, GREEDY, RANDOM, str(broken), *words, "--jobs", jobs)
        played = games(folder)
        assert played[frozenset({"greedy", "random"})] < 600
        assert sum(count for bots, count in played.items() if "broken" in bots) < 60
        assert "was settled" in published(folder)["notes"][0]
        assert referee_command("db", "check", cwd=folder).returncode == 0
    assert pages(tmp_path / "1") == pages(tmp_path / "2")


def test_a_new_bot_is_settled_in_a_round_of_its_own_and_a_fixed_length_counts_what_was_played(tmp_path: Path) -> None:
    low = twin(tmp_path, "first", "low")
    words = ("--until-settled=1", "--max-deals", "60", "--seed", "s")
    play(tmp_path, GREEDY, low, *words)
    first = games(tmp_path)[frozenset({"greedy", "low"})]
    play(tmp_path, GREEDY, low, twin(tmp_path, "first", "new"), *words)
    assert games(tmp_path)[frozenset({"greedy", "low"})] > first
    assert [one["number"] for one in published(tmp_path)["rounds"]] == [1, 2]
    before = games(tmp_path)
    assert "nothing is owed" in play(tmp_path, GREEDY, low, "--deals", "5")
    assert games(tmp_path) == before


def test_a_round_whose_bot_has_changed_is_not_settled_and_the_next_one_is(tmp_path: Path) -> None:
    low, lower = (twin(tmp_path, "first", name) for name in ("low", "lower"))
    words = ("--until-settled=1", "--max-deals", "60", "--seed", "s")
    play(tmp_path, GREEDY, low, lower, *words, "--plan", "round.json")
    with Path(low).open("a") as file:
        file.write("# changed\n")
    said = play(tmp_path, GREEDY, low, lower, *words)
    assert "Round 1, tables of 2: closed before it was settled" in said
    assert "Round 2, tables of 2: played until the first place was settled" in said
    first, second = published(tmp_path)["rounds"]
    assert first["unplayed"] > 0 == second["unplayed"]
    checked = referee_command("db", "check", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_round_goes_to_another_machine_whole_and_not_in_shares(tmp_path: Path) -> None:
    low = twin(tmp_path, "first", "low")
    there = tmp_path / "there"
    there.mkdir()
    words = ("--max-deals", "60", "--until-settled=all", "--seed", "s")
    play(tmp_path, GREEDY, low, *words, "--plan", "round.json")
    said = play(tmp_path, GREEDY, low, "--shard", "1/2", status=2)
    assert "cannot tell when to stop" in said.splitlines()[-1] and not games(tmp_path)
    play(there, GREEDY, low, "--round", "../round.json")
    merged = referee_command("db", "merge", "referee.db", "there/referee.db", cwd=tmp_path)
    assert merged.returncode == 0, merged.stderr
    assert "nothing is owed" in play(tmp_path, GREEDY, low, *words)
    assert pages(tmp_path) == pages(there)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--adaptive",), "--adaptive says something of --until-settled only"),
        (("--max-deals", "5"), "--max-deals says something of --until-settled only"),
        (("--until-settled", "--deals", "5"), "with --until-settled give --max-deals"),
        (("--until-settled", "--shard", "1/2"), "a share cannot tell when to stop"),
        (("--until-settled", "0"), "'0' is no number of places"),
        (("--until-settled", "--alpha", "0.6"), "0.6 is not in the range"),
        (("--until-settled", "--alpha", "nan"), "--alpha is a number, not nan"),
        (("--until-settled", "--indifference", "1"), "1.0 is not in the range"),
        (("--until-settled", "--max-deals", "0"), "0 is not in the range"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    said = play(tmp_path, GREEDY, RANDOM, *words, status=2)
    (line,) = [line for line in said.splitlines() if not line.startswith("Try ")]
    assert why in line and not (tmp_path / "referee.db").exists()


def test_what_is_said_of_settling_may_wait_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_text(
        "until-settled = 3\nmax-deals = 50\nadaptive = true\nalpha = 0.01\nindifference = 0\ndeals = 7\n"
    )
    shown = referee_command("config", "show", GREEDY, "--file", "league.toml", "--json", cwd=tmp_path)
    values = {key: one["value"] for key, one in json.loads(shown.stdout).items()}
    assert (values["until-settled"], values["max-deals"], values["alpha"], values["adaptive"]) == (3, 50, 0.01, True)
    refused = referee_command(
        "config", "show", GREEDY, "--file", "league.toml", "--until-settled", "none", cwd=tmp_path
    )
    assert refused.returncode == 0 and 'until-settled = "none"' in refused.stdout
    (tmp_path / "league.toml").write_text('alpha = "much"\n')
    refused = referee_command("config", "show", GREEDY, "--file", "league.toml", cwd=tmp_path)
    assert (refused.returncode, "line 1: alpha: a number, without quotes, is wanted" in refused.stderr) == (2, True)
