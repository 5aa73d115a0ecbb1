"""`referee db` as a user runs it: real databases, real bots, real processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import permutations
from pathlib import Path

import msgspec
import pytest
from command_line import ROOT, environment, in_terminal, referee_command
from processes import REFEREE, alive, descendants, wait_until
from rounds import ADA, BOB, CAT, a_round, database, game, games, play

from referee.cli.main import cli
from referee.store import VERSIONS, open_store
from referee.tournament.planning.league import League
from referee.tournament.rounds.schedule import Share

BOTS = ROOT / "tests" / "system" / "cli" / "players"
PLAIN = [str(BOTS / name) for name in ("high.py", "low.py")]
RASH = [*PLAIN, str(BOTS / "rash.py")]
NOBODY = 65534
ONE = a_round()


def referee(*words: str | Path, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = referee_command(*map(str, words), cwd=cwd)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def tournament(*words: str, cwd: Path, bots: list[str] = RASH) -> subprocess.CompletedProcess[str]:
    return referee("tournament", *bots, "--seed", "s", "-j", "2", *words, cwd=cwd)


def standings(db: str, cwd: Path) -> str:
    return referee("standings", db, "--json", cwd=cwd).stdout


def published(cwd: Path) -> bytes:
    return (cwd / "leaderboards" / "standings.json").read_bytes()


@pytest.fixture
def league(tmp_path: Path) -> Path:
    """A folder with two databases, shares of one round: a.db and b.db."""
    for number, name in enumerate(("a", "b"), 1):
        with database(tmp_path / f"{name}.db", ONE) as store:
            play(store, share=Share(number, 2), faulty=[CAT])
    return tmp_path


# -- merge


def test_shares_of_two_machines_are_published_as_by_one_machine(tmp_path: Path) -> None:
    one, here, there = (tmp_path / name for name in ("one", "here", "there"))
    for folder in (one, here, there):
        folder.mkdir()
    options = ("--deals", "4", "--players", "2,3")
    tournament(*options, cwd=one)
    tournament(*options, "--plan", "round.json", cwd=here)
    shutil.copy(here / "round.json", there)
    tournament(*options, "--shard", "1/2", cwd=here)
    tournament(*options, "--round", "round.json", "--shard", "2/2", "--db", "half.db", cwd=there)
    shutil.copy(there / "half.db", here)
    merged = referee("db", "merge", "referee.db", "half.db", cwd=here)
    assert merged.stdout == "referee.db: 18 games were added\n"
    assert merged.stderr == "round 1 of half.db: 18 games are new\nround 1 is closed; it was not sealed\n"
    assert standings("referee.db", here) == standings("referee.db", one)
    again = tournament(*options, cwd=here)
    assert "nothing is owed" in again.stderr
    assert published(here) == published(one)
    for folder in (here, one):
        referee("db", "check", cwd=folder)


def test_three_shares_with_a_withdrawn_bot_are_as_by_one_machine_in_any_order(tmp_path: Path) -> None:
    options = ("--deals", "6", "--max-faults", "2")
    tournament(*options, "--db", "one.db", cwd=tmp_path)
    tournament(*options, "--plan", "round.json", "--db", "plan.db", "--out", "plan", cwd=tmp_path)
    for number, jobs in enumerate(("1", "2", "4"), 1):
        words = ("--round", "round.json", "--shard", f"{number}/3", "--db", f"{number}.db", "-j", jobs)
        tournament(*options, *words, "--out", f"out-{number}", cwd=tmp_path)
    expected = standings("one.db", tmp_path)
    assert [one["name"] for one in json.loads(expected)["withdrawn"]] == ["rash"]
    for order in permutations("123", 3):
        into = f"into-{''.join(order)}.db"
        merged = referee("db", "merge", into, *(f"{number}.db" for number in order), cwd=tmp_path)
        assert "round 1 is closed" in merged.stderr
        assert standings(into, tmp_path) == expected


def test_merge_tells_what_was_there_what_differed_and_what_came_too_late(league: Path) -> None:
    line_up = (ADA, BOB)
    with database(league / "c.db", ONE) as store:
        store.add([game(ONE, line_up, deal, 0, way="again") for deal in range(4)])
    merged = referee("db", "merge", "a.db", "c.db", cwd=league)
    assert merged.stderr == (
        "round 1 of c.db: 2 games are new, 2 were there already, 2 of those went otherwise here, and the first stay\n"
        "round 1 is still open: it lacks 10 games\n"
    )
    referee("tournament", *PLAIN, "--close-round", "--db", "a.db", cwd=league)
    merged = referee("-q", "db", "merge", "a.db", "b.db", cwd=league)
    assert merged.stderr == (
        "round 1 of b.db: 0 games are new, 2 were there already, 2 of those went otherwise here, and the first stay, "
        "10 are left out, since the round is closed\n"
    )


def test_refused_merge_names_the_game_and_makes_no_database(league: Path) -> None:
    with closing(sqlite3.connect(league / "b.db")) as db:
        turned = "CASE places WHEN '12' THEN '21' ELSE '12' END"
        assert db.execute(f"UPDATE games SET places = {turned} WHERE deal = 1 AND rotation = 0").rowcount
        db.commit()
    done = referee("db", "merge", "new.db", "a.db", "b.db", cwd=league, code=2)
    assert done.stderr.startswith("referee: b.db cannot be merged: round 1, game ")
    assert done.stderr.endswith(": what is stored beside its record is not what the record says\n")
    assert not (league / "new.db").exists()


# -- info


def test_info_tells_of_rounds_and_bots_and_keeps_the_secret_of_an_open_round(league: Path) -> None:
    text = referee("db", "info", "a.db", cwd=league).stdout
    document = json.loads(referee("db", "info", "a.db", "--json", cwd=league).stdout)
    secret = ONE.secret.hex()
    assert secret not in text + json.dumps(document)
    assert (document["path"], document["games"], document["line_ups"], document["seasons"]) == ("a.db", 12, 3, 1)
    assert document["versions"] == {"store": 2, "record": 2, "rules": 1, "protocol": 1}
    assert document["size"] == (league / "a.db").stat().st_size
    [one] = document["rounds"]
    assert {**one, "opened": "", "faults": 0} == {
        **{"round": 1, "season": 1, "opened": "", "closed": None, "sealed": True, "commitment": ONE.commitment},
        **{
            "secret": None,
            "seed": None,
            "bots": 3,
            "games": 24,
            "played": 12,
            "owed": 12,
            "faults": 0,
            "withdrawn": [],
        },
    }
    assert one["faults"] > 0
    assert [(bot["name"], bot["hash"], bot["current"], bot["language"]) for bot in document["bots"]] == [
        (bot.name, bot.hash, True, "Python") for bot in (ADA, BOB, CAT)
    ]
    assert ONE.commitment in text
    assert f"cat   {CAT.hash[:8]}   current   Python" in text
    referee("db", "merge", "a.db", "b.db", cwd=league)
    after = referee("db", "info", "a.db", cwd=league).stdout
    assert f"its secret was {secret}" in after
    assert json.loads(referee("db", "info", "a.db", "--json", cwd=league).stdout)["rounds"][0]["owed"] == 0


def test_info_counts_what_a_withdrawal_leaves(tmp_path: Path) -> None:
    one = a_round(max_faults=2, block_size=1)
    with database(tmp_path / "a.db", one) as store:
        store.add(games(one, faulty=[ADA])[:6])
    [found] = json.loads(referee("db", "info", "a.db", "--json", cwd=tmp_path).stdout)["rounds"]
    assert [bot["name"] for bot in found["withdrawn"]] == ["ada"]
    with database(tmp_path / "b.db", one) as store:
        store.add(games(one, faulty=[ADA])[:6])
        play(store, faulty=[ADA])
        assert found["owed"] == store.counts().games - 6 < found["games"] - 6


def test_info_fits_a_terminal_and_obeys_nothing_that_a_bot_says(tmp_path: Path) -> None:
    with database(tmp_path / "a.db", a_round((ADA, BOB))) as store:
        store.save_bots({ADA: {"author": "[red]\x1b[31mada"}})
    shown = in_terminal("db", "info", str(tmp_path / "a.db"))
    assert "\x1b[31m" not in shown
    assert "[red]" in shown


# -- check


def test_check_names_the_first_twenty_findings_and_counts_all(tmp_path: Path) -> None:
    one = a_round(deals=10)
    with database(tmp_path / "a.db", one) as store:
        store.add(games(one))
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.execute("UPDATE records SET packed = randomblob(99) WHERE record <= 30")
        db.execute("UPDATE games SET round = 7 WHERE record = 40")
        db.commit()
    done = referee("db", "check", "a.db", cwd=tmp_path, code=1)
    *lines, last = done.stdout.splitlines()
    assert last == "a.db: 31 findings, of which 20 are shown"
    assert lines[0] == "round 7 was never opened, and has 1 game"
    assert len(lines) == 20
    assert all(line.endswith("its record cannot be read") for line in lines[1:])


def test_check_finds_that_games_of_a_closed_round_were_taken_out(tmp_path: Path) -> None:
    one = a_round(deals=10)
    with database(tmp_path / "a.db", one) as store:
        store.add(games(one)[:-2])
        League(store).close(one)
    assert referee("db", "check", "a.db", cwd=tmp_path).stdout == (
        "a.db: all is as it should be; 58 games, each played again\n"
    )
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.execute("DELETE FROM games WHERE record > 55")
        db.execute("DELETE FROM records WHERE record > 55")
        db.commit()
    done = referee("db", "check", "a.db", cwd=tmp_path, code=1)
    assert done.stdout.splitlines() == ["round 1 lacks 3 games that it had when it was closed", "a.db: 1 finding"]


def test_quick_check_leaves_out_the_replays(league: Path) -> None:
    with open_store(league / "a.db") as store:
        record = next(record for record in store.records() if len(record.steps) > 3)
    broken = msgspec.structs.replace(record, steps=record.steps[:-1])
    with closing(sqlite3.connect(league / "a.db")) as db:
        [[row]] = db.execute("SELECT record FROM games WHERE game_id = ?", (record.game_id,)).fetchall()
        db.execute("UPDATE records SET packed = ? WHERE record = ?", (broken.pack(), row))
        db.execute("UPDATE games SET decisions = decisions - 1 WHERE record = ?", (row,))
        db.commit()
    assert referee("db", "check", "a.db", "--quick", cwd=league).stdout == ("a.db: all is as it should be; 12 games\n")
    done = referee("db", "check", "a.db", cwd=league, code=1)
    assert "played again it ends otherwise than its record says" in done.stdout
    assert done.stdout.endswith("a.db: 1 finding\n")


@pytest.mark.parametrize("at", [1, 2, 3, 5, 8, 12])
def test_damaged_pages_are_findings_or_a_refusal_and_no_traceback(league: Path, at: int) -> None:
    content = bytearray((league / "a.db").read_bytes())
    assert len(content) > 4096 * at
    content[4096 * at : 4096 * at + 600] = os.urandom(600)
    (league / "a.db").write_bytes(content)
    done = referee_command("db", "check", "a.db", cwd=league)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert "internal" not in done.stderr


# -- backup


def test_backup_of_a_playing_tournament_is_whole_and_does_not_disturb_it(tmp_path: Path) -> None:
    words = ["tournament", *PLAIN, "--deals", "600", "-j", "2"]
    with subprocess.Popen(
        [*REFEREE, *words],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as playing:
        wait_until(lambda: (tmp_path / "referee.db").exists() and count(tmp_path / "referee.db") > 5)
        backups = []
        while playing.poll() is None and len(backups) < 3:
            path = tmp_path / f"{len(backups)}.db"
            done = referee("db", "backup", path.name, cwd=tmp_path)
            backups.append(int(done.stdout.split()[1]))
            assert path.stat().st_mode & 0o777 == 0o600
            assert count(path) == backups[-1]
        assert playing.wait() == 0, playing.stderr.read() if playing.stderr else ""
    assert backups == sorted(backups)
    assert backups[0] < 1200
    for number in range(len(backups)):
        referee("db", "check", f"{number}.db", cwd=tmp_path)
    assert count(tmp_path / "referee.db") == 1200


def count(path: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_backup_does_not_write_over_a_file_unless_forced(league: Path) -> None:
    before = (league / "b.db").read_bytes()
    done = referee("db", "backup", "a.db", "b.db", cwd=league, code=2)
    assert done.stderr.startswith("referee: b.db ") and "--force" in done.stderr
    assert (league / "b.db").read_bytes() == before
    referee("db", "backup", "a.db", "b.db", "--force", cwd=league, code=2)
    assert (league / "b.db").read_bytes() == before, "games of another database were lost"
    for more in ((), ("--force",)):
        done = referee("db", "backup", "--db", "a.db", "copy.db", *more, cwd=league)
        assert done.stdout == "copy.db: 12 games\n"
    assert referee("db", "backup", "a.db", "b.db", "c.db", cwd=league, code=2).stderr.startswith(
        "referee: one database"
    )


# -- refusals


def newer(path: Path, edit: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(edit)
        db.commit()


REFUSED = {
    "newer store": (lambda path: newer(path, "PRAGMA user_version = 3"), "newer referee (store version 3, this one knows 2)"),
    **{
        f"newer {part}": (
            lambda path, part=part: newer(path, f"UPDATE meta SET value = json_set(value, '$.{part}', 3)"),
            f"newer referee ({part} version 3, this one knows {VERSIONS[part]})",
        )
        for part in ("record", "rules", "protocol")
    },
    "of another program": (lambda path: newer(path, "PRAGMA application_id = 7"), "of another program"),
    "text": (lambda path: path.write_text("text\n" * 999), "is no database"),
    "empty": (lambda path: path.write_bytes(b""), "is empty"),
    **{
        f"cut to {size} bytes": (lambda path, size=size: os.truncate(path, size), "")
        for size in (99, 512, 1000, 4096, 6000, 8192, 20480, 30001)
    },
    "folder": (lambda path: (path.unlink(), path.mkdir()), "is a folder"),
    "pipe": (lambda path: (path.unlink(), os.mkfifo(path)), "is no ordinary file"),
    "missing": (lambda path: path.unlink(), "there is no database"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused_in_a_sentence_by_every_command(
    league: Path, case: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    spoil, said = REFUSED[case]
    path = league / "a.db"
    assert path.stat().st_size > 30001
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    monkeypatch.chdir(league)
    commands = ["info a.db", "check a.db", "backup a.db copy.db", "merge b.db a.db"]
    if case not in ("empty", "missing"):
        commands.append("merge a.db b.db")
    for words in commands:
        with pytest.raises(SystemExit) as ended:
            cli.main(["db", *words.split()])
        out, error = capfd.readouterr()
        assert (ended.value.code, out, error.count("\n")) == (2, "", 1), words
        assert error.startswith("referee: ")
        assert said in error
    assert (path.read_bytes() if path.is_file() else None) == before
    assert not (league / "copy.db").exists()


@pytest.fixture
def ordinary(league: Path) -> Iterator[Path]:
    """The folder, where somebody who is not root may write, and read nothing."""
    folder = Path(tempfile.mkdtemp())
    shutil.copy(league / "a.db", folder)
    (folder / "a.db").chmod(0)
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def test_database_that_may_not_be_read_is_refused(ordinary: Path) -> None:
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []
    for words in (["info"], ["check"]):
        done = subprocess.run(
            [*drop, *REFEREE, "db", *words, str(ordinary / "a.db")], env=environment(), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert "is not readable" in done.stderr or "may not be read" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_check_that_is_ended_leaves_no_process_and_no_traceback(tmp_path: Path, number: signal.Signals) -> None:
    one = a_round(deals=4000)
    some = game(one, (ADA, BOB), 0, 0)
    with database(tmp_path / "a.db", one) as store:  # games that are long to look at, and not one of them is due
        store.add([some._replace(deal=deal, rotation=rotation) for deal in range(4000) for rotation in (0, 1)])
    argv = [*REFEREE, "db", "check", "a.db"]
    with subprocess.Popen(
        argv, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as checking:
        wait_until(lambda: len(descendants(checking.pid)) > 2)
        family = descendants(checking.pid)
        checking.send_signal(number)
        assert "Traceback" not in checking.communicate(timeout=60)[1]
    assert checking.returncode == (-number if number == signal.SIGKILL else 130)
    wait_until(lambda: not any(map(alive, family)))


def test_check_that_loses_a_process_says_so(tmp_path: Path) -> None:
    one = a_round(deals=4000)
    some = game(one, (ADA, BOB), 0, 0)
    with database(tmp_path / "a.db", one) as store:
        store.add([some._replace(deal=deal, rotation=rotation) for deal in range(4000) for rotation in (0, 1)])
    argv = [*REFEREE, "db", "check", "a.db"]
    with subprocess.Popen(
        argv, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as all_:
        wait_until(lambda: len(descendants(all_.pid)) > 1)
        for pid in descendants(all_.pid) - {all_.pid}:
            os.kill(pid, signal.SIGKILL)
        error = all_.communicate(timeout=60)[1].decode()
    assert (all_.returncode, error) == (
        1, "referee: a process that looked at games has ended: is there enough memory?\n"
    )  # fmt: skip


def test_share_that_is_not_all_says_what_is_lacking(league: Path) -> None:
    done = referee("db", "merge", "new.db", "a.db", cwd=league)
    assert done.stderr.endswith("round 1 is still open: it lacks 12 games\n")
