"""`referee duel` as an author and his CI use it: real bots, real processes, and a verdict that nothing disturbs."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, in_terminal, referee_command
from processes import REFEREE, wait_until

PLAIN = ROOT / "tests" / "system" / "bots" / "programs" / "plain"
FIRST, LAST = str(PLAIN / "first.py"), str(PLAIN / "last.py")
GREEDY, RANDOM = str(ROOT / "example_bots" / "greedy"), str(ROOT / "example_bots" / "random")
REAL = ("duel", GREEDY, RANDOM, "--seed", "s", "--alpha", "0.001", "--json")
"""A duel of some hundred deals: long enough to be interrupted twice on a fast machine."""
COARSE = ("--s1", "0.7", "--seed", "s")
"""A question that is soon answered."""

Document = dict[str, Any]


def duel(*words: str, cwd: Path, status: int) -> Document:
    """A duel's document; it ends with that exit code."""
    done = referee_command("duel", *words, "--json", cwd=cwd, seconds=300)
    assert done.returncode == status, done.stderr
    found: Document = json.loads(done.stdout)
    return found


def played(folder: Path) -> int:
    """Games in the database, as another process sees it."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'duel.db'}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


def copy(program: str, folder: Path, name: str) -> str:
    shutil.copy(program, folder / f"{name}.py")
    return f"{name}.py"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = referee_command(*REAL, "--jobs", "1", cwd=folder, seconds=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_greedy_is_better_than_random_and_the_document_says_how_that_was_found(undisturbed: str) -> None:
    found = json.loads(undisturbed)
    assert (found["verdict"], found["new"]["name"], found["old"]["name"]) == ("better", "greedy", "random")
    assert 1000 <= found["wealth_better"] < 1000 * 1.08  # the verdict came with the last deal that counts
    assert found["wealth_not_better"] < 1
    assert sum(found["half_points"]) == found["deals"] < 400
    points = sum(half_points * deals for half_points, deals in enumerate(found["half_points"]))
    assert found["score"] == round(points / (4 * found["deals"]), 6)
    assert (found["new"]["faults"], found["old"]["faults"], found["max_deals"]) == (0, 0, 20_000)
    assert len(found["secret"]) == 32


def test_the_page_lists_the_fields_of_the_document(undisturbed: str) -> None:
    section = (ROOT / "docs" / "duel.md").read_text("utf-8").partition("\n## The document\n")[2]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert re.findall("`(.*?)`", " ".join(rows)) == list(json.loads(undisturbed))


def test_the_verdict_does_not_depend_on_jobs(tmp_path: Path, undisturbed: str) -> None:
    done = referee_command(*REAL, "--jobs", "3", cwd=tmp_path, seconds=300)
    assert (done.returncode, done.stdout) == (0, undisturbed), done.stderr


def begin(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*REFEREE, *REAL, "--jobs", "2"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0,
    )  # fmt: skip


def disturbed(folder: Path, goal: int, number: signal.Signals) -> tuple[int, str, str]:
    """Send a signal to a duel that has so many games; its exit code and what it said."""
    with begin(folder) as run:
        wait_until(lambda: played(folder) >= goal or run.poll() is not None)
        assert run.poll() is None, "it was over too soon"
        run.send_signal(number)
        said, words = run.communicate(timeout=120)
        return run.returncode, said, words


def test_a_duel_that_was_killed_and_interrupted_has_the_verdict_of_one_undisturbed(
    tmp_path: Path, undisturbed: str
) -> None:
    assert disturbed(tmp_path, 5, signal.SIGKILL)[0] == -signal.SIGKILL
    kept = played(tmp_path)
    code, said, words = disturbed(tmp_path, kept + 1, signal.SIGINT)
    assert (code, json.loads(said)["verdict"], json.loads(said)["secret"]) == (130, None, None), words
    assert "stopped; to go on: REFEREE_DUEL_SANDBOX=D referee duel " in words
    assert played(tmp_path) > kept >= 5
    done = referee_command(*REAL, "--jobs", "1", cwd=tmp_path, seconds=300)
    assert (done.returncode, done.stdout) == (0, undisturbed), done.stderr
    before = played(tmp_path)
    again = referee_command(*REAL, cwd=tmp_path)
    assert (again.returncode, again.stdout, played(tmp_path)) == (0, undisturbed, before)
    checked = referee_command("db", "check", "duel.db", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_bot_is_not_better_than_its_copy_and_with_few_deals_nobody_knows(tmp_path: Path) -> None:
    """Neither has dice, but they break ties by labels, which differ between rotations: deals need not come out even."""
    twin = copy(FIRST, tmp_path, "twin")
    found = duel(FIRST, twin, *COARSE, cwd=tmp_path, status=1)
    assert (found["verdict"], found["deals"]) == ("not better", sum(found["half_points"]))
    found = duel(FIRST, twin, "--seed", "s", "--max-deals", "4", "--db", "few.db", cwd=tmp_path, status=3)
    assert (found["verdict"], sum(found["half_points"])) == (None, 4)
    assert found["secret"] is not None


def test_a_bot_against_a_copy_of_itself_under_another_name_is_told_to_be_the_same(tmp_path: Path) -> None:
    mine, same = copy(FIRST, tmp_path, "mine"), copy(FIRST, tmp_path, "same")
    for new, old, said in ((mine, same, True), (mine, mine, True), (mine, LAST, False)):
        words = ("--max-deals", "1", "--seed", "s", "--jobs", "1", "--db", f"{Path(old).name}.db")
        told = referee_command("duel", new, old, *words, cwd=tmp_path).stderr
        assert ("are the same bot, byte for byte: neither is better" in told) is said, told


def test_a_bot_may_play_against_itself(tmp_path: Path) -> None:
    done = referee_command("duel", FIRST, FIRST, *COARSE, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("not better: first (new) scores less than 0.7 against first (old), after ")


def test_two_versions_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder, program in (("new", FIRST), ("old", LAST)):
        (tmp_path / folder).mkdir()
        copy(program, tmp_path / folder, "mine")
    found = duel("new/mine.py", "old/mine.py", *COARSE, cwd=tmp_path, status=0)
    assert (found["verdict"], found["new"]["name"], found["old"]["name"]) == ("better", "mine", "mine")
    assert found["new"]["hash"] != found["old"]["hash"]


def test_at_three_seats_new_sits_among_copies_of_old(tmp_path: Path) -> None:
    found = duel(LAST, FIRST, *COARSE, "--players", "3", cwd=tmp_path, status=1)
    assert (found["verdict"], found["players"], len(found["half_points"])) == ("not better", 3, 13)
    records = [json.loads(line) for line in referee_command("export", "duel.db", cwd=tmp_path).stdout.splitlines()]
    assert len(records) >= 3 * found["deals"]
    assert all(sorted(seat["name"] for seat in record["seats"]) == ["first", "first", "last"] for record in records)
    assert referee_command("db", "check", "duel.db", cwd=tmp_path).returncode == 0
    assert referee_command("standings", "duel.db", cwd=tmp_path).returncode == 0


def test_faults_lose_the_duel_and_are_told(tmp_path: Path) -> None:
    """A score of 0 each time: 2.12 ** 4 = 20.2."""
    found = duel(str(PLAIN / "fails.py"), FIRST, *COARSE, cwd=tmp_path, status=1)
    assert (found["deals"], found["score"], found["new"]["faults"], found["old"]["faults"]) == (4, 0, 8, 0)


def test_whoever_was_at_fault_is_told_with_a_game_that_shows_it(tmp_path: Path) -> None:
    done = referee_command("duel", str(PLAIN / "fails.py"), FIRST, *COARSE, cwd=tmp_path)
    found = re.search(r"^fails: 8 faults, such as .* \(referee (replay duel\.db [0-9a-f]{16})\)$", done.stderr, re.M)
    assert found, done.stderr
    assert "first: " not in done.stderr, "who was never at fault is not named"
    assert "fails is at fault" in referee_command(*found[1].split(), cwd=tmp_path).stdout


def test_elo_points_are_scores_in_other_words(tmp_path: Path) -> None:
    found = duel(
        FIRST, LAST, "--elo0", "-20", "--elo1", "150", "--max-deals", "1", "--seed", "s", cwd=tmp_path, status=3
    )
    assert found["s0"] == pytest.approx(1 / (1 + 10 ** (20 / 400)))
    assert found["s1"] == pytest.approx(1 / (1 + 10 ** (-150 / 400)))


def test_in_words_it_says_what_was_found_and_quietly_nothing_else(tmp_path: Path) -> None:
    done = referee_command("duel", LAST, FIRST, *COARSE, "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    sentence, numbers = done.stdout.splitlines()
    assert sentence == "not better: last scores less than 0.7 against first, after 4 deals"
    for part in ("4 of 20,000 deals", "score 0.0000", "K- 20.20 of 20", "faults 0 and 0"):
        assert part in numbers


def test_on_a_terminal_a_line_shows_how_it_stands(tmp_path: Path) -> None:
    shown = in_terminal("duel", FIRST, LAST, *COARSE, "--db", str(tmp_path / "duel.db"))
    assert "first against last: " in shown
    assert "K+ " in shown


# -- other settings, other bots


def test_other_settings_are_refused_and_the_difference_is_named(tmp_path: Path) -> None:
    duel(FIRST, LAST, *COARSE, cwd=tmp_path, status=0)
    for more, said in (
        (("--alpha", "0.01"), "--alpha 0.05, not 0.01"),
        (("--players", "3"), "--players 2, not 3"),
        (("--move-time", "2s"), "--move-time 1s, not 2s"),
        (("--seed", "t"), "--seed s, not t"),
    ):
        done = referee_command("duel", FIRST, LAST, *COARSE, *more, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n"), said in done.stderr) == (2, 1, True), done.stderr


def test_a_changed_bot_begins_a_new_duel_and_one_of_another_name_is_refused(tmp_path: Path) -> None:
    mine, old = copy(FIRST, tmp_path, "mine"), copy(FIRST, tmp_path, "old")
    words = ("--seed", "s", "--jobs", "1")
    run = subprocess.Popen([*REFEREE, "duel", mine, old, *words], cwd=tmp_path, stderr=subprocess.DEVNULL)
    with run:
        wait_until(lambda: played(tmp_path) > 0)
        run.kill()
    refused = referee_command("duel", LAST, old, *words, cwd=tmp_path)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "a duel of mine against old that has no verdict yet" in refused.stderr
    copy(LAST, tmp_path, "mine")
    done = referee_command("duel", mine, old, *COARSE, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "round 1, a duel of them as they were, is closed without a verdict, and a new one begins" in done.stderr
    assert "round 2: mine against old" in done.stderr
    checked = referee_command("db", "check", "duel.db", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_duel_and_a_tournament_have_databases_of_their_own(tmp_path: Path) -> None:
    duel(FIRST, LAST, *COARSE, "--max-deals", "1", cwd=tmp_path, status=3)
    done = referee_command("tournament", FIRST, LAST, "--deals", "1", "--db", "duel.db", cwd=tmp_path)
    assert (done.returncode, "duel.db holds duels" in done.stderr) == (2, True), done.stderr
    assert referee_command("tournament", FIRST, LAST, "--deals", "1", "--quiet", cwd=tmp_path).returncode == 0
    done = referee_command("duel", FIRST, LAST, "--db", "referee.db", cwd=tmp_path)
    assert (done.returncode, "referee.db holds the games of a tournament" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((FIRST,), "Missing argument 'OLD'"),
        ((FIRST, "no-such-bot"), "no-such-bot"),
        ((FIRST, str(ROOT / "README.md")), "README.md is not a bot: a duel is between two"),
        ((FIRST, LAST, "--s0", "0.6"), "s0 is to be below s1, and both between 0 and 1, not 0.6 and 0.52"),
        ((FIRST, LAST, "--s0", "0.5", "--elo0", "0"), "--s0 and --elo0 say the same in two ways: give one of them"),
        ((FIRST, LAST, "--elo1", "1e9"), "--elo1 is a number of points such as 10, not 1e+09"),
        ((FIRST, LAST, "--elo1", "nan"), "--elo1 is a number of points"),
        ((FIRST, LAST, "--alpha", "0"), "alpha is a probability above 0, and .5 at most, not 0"),
        ((FIRST, LAST, "--beta", "5"), "beta is a probability"),
        ((FIRST, LAST, "--players", "7"), "--players"),
        ((FIRST, LAST, "--max-deals", "0"), "--max-deals"),
        ((FIRST, LAST, "--db", "no/such/file.db"), "no/such"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing_behind(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = referee_command("duel", *words, cwd=tmp_path)
    lines = [line for line in done.stderr.splitlines() if line.startswith("referee: ")]
    assert (done.returncode, len(lines), said in lines[0]) == (2, 1, True), done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_where_no_game_can_be_played_there_is_no_verdict(tmp_path: Path) -> None:
    """Not exit code 1, which would say that the bot is not better."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\nif 'referee.tournament.engine.worker' in sys.orig_argv:\n    os._exit(9)\n"
    )
    done = referee_command("duel", FIRST, LAST, *COARSE, cwd=tmp_path, env={"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    assert "referee: " in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert referee_command("duel", FIRST, LAST, *COARSE, cwd=tmp_path).returncode == 0
