"""A database that is removed, renamed or replaced while it is played on: noticed, and its games are kept."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from cli.league import League
from command_line import environment
from processes import REFEREE, wait_until
from records import played

from crashes.disks import one_sentence
from referee.errors import DatabaseError, DatabaseGone
from referee.store import Stored, open_store

DB = Path("store", "referee.db")


def removed(folder: Path) -> None:
    (folder / DB).unlink()


def removed_with_its_log(folder: Path) -> None:
    for path in (folder / "store").iterdir():
        path.unlink()


def removed_with_its_folder(folder: Path) -> None:
    shutil.rmtree(folder / "store")


def renamed(folder: Path) -> None:
    (folder / DB).rename(folder / "store" / "elsewhere.db")


def replaced(folder: Path) -> None:
    shutil.copy(folder / "other.db", folder / "store" / "new.db")
    (folder / "store" / "new.db").replace(folder / DB)


WAYS = (removed, removed_with_its_log, removed_with_its_folder, renamed, replaced)


def stored(path: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            return int(db.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


def rescued(said: str) -> Path:
    (found,) = re.findall(r"\S+\.rescued(?:-\d+)?", said)
    return Path(found)


def begin(league: League, *words: str) -> subprocess.Popen[str]:
    (league.folder / "store").mkdir()
    (league.folder / "tmp").mkdir()
    with open_store(league.folder / "other.db", create=True) as other:
        other.claim()
        other.add([Stored.of(played())])
    return subprocess.Popen(
        [*REFEREE, *words, "--db", str(DB), "--jobs", "1"],
        cwd=league.folder, env=environment({"TMPDIR": str(league.folder / "tmp")}),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def end(run: subprocess.Popen[str], league: League, way: Callable[[Path], None]) -> tuple[int, str]:
    """Take the database away in the middle of the run, and return how many games it had by then and what was said."""
    with run:
        try:
            wait_until(lambda: stored(league.folder / DB) > 0 or run.poll() is not None, seconds=120)
            assert run.poll() is None, run.stderr and run.stderr.read()
            there = stored(league.folder / DB)
            way(league.folder)
            _, said = run.communicate(timeout=120)
            return there, said
        finally:
            run.kill()


@pytest.mark.parametrize("way", WAYS)
def test_a_tournament_ends_and_its_games_are_kept(tmp_path: Path, way: Callable[[Path], None]) -> None:
    league = League(tmp_path, "first", "last")
    run = begin(league, "tournament", *league.bots, "--deals", "100000")
    there, said = end(run, league, way)
    assert run.returncode == 1, said
    kept = rescued(one_sentence(said))
    assert kept.parent == tmp_path / ("tmp" if way is removed_with_its_folder else "store")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert stored(kept) >= there > 0
    if way is replaced:
        assert (tmp_path / DB).read_bytes() == (tmp_path / "other.db").read_bytes()
        assert stored(tmp_path / DB) == 1, "the log of the one was taken for the other's"
    if way is renamed:
        assert stored(tmp_path / "store" / "elsewhere.db") == stored(kept)
    assert league.run("db", "check", str(kept)).returncode == 0
    on = league.run("tournament", *league.bots, "--db", str(kept), "--close-round")
    assert on.returncode == 0, on.stderr


def test_a_duel_has_no_verdict_and_its_games_are_kept(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "middle")
    run = begin(league, "duel", *league.bots, "--s0", "0.4999", "--s1", "0.5001", "--max-deals", "100000")
    there, said = end(run, league, removed)
    assert run.returncode == 3, said
    assert stored(rescued(one_sentence(said))) >= there > 0


def test_it_is_noticed_at_the_end_at_the_latest(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a.db", create=True)
    store.claim()
    store.add([Stored.of(played())])
    (tmp_path / "a.db").unlink()
    with pytest.raises(DatabaseGone) as caught:
        store.close()
    store.close()  # once more does nothing
    assert stored(rescued(str(caught.value))) == 1


def test_an_earlier_rescue_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.db.rescued").write_text("mine")
    with pytest.raises(DatabaseGone) as caught, open_store(tmp_path / "a.db", create=True) as store:
        store.claim()
        store.add([Stored.of(played())])
        (tmp_path / "a.db").unlink()
    assert stored(rescued(str(caught.value))) == 1
    assert (tmp_path / "a.db.rescued").read_text() == "mine"


def test_what_comes_in_after_it_was_noticed_is_kept_too(tmp_path: Path) -> None:
    with pytest.raises(DatabaseGone) as caught, open_store(tmp_path / "a.db", create=True) as store:
        store.claim()
        (tmp_path / "a.db").unlink()
        with pytest.raises(DatabaseGone):
            store.add([Stored.of(played(deal=1))])
        store.add([Stored.of(played(deal=2))])
    assert stored(rescued(str(caught.value))) == 2


def test_a_database_that_is_replaced_before_it_is_claimed_is_not_played_on(tmp_path: Path) -> None:
    for name in ("a.db", "b.db"):
        open_store(tmp_path / name, create=True).close()
    with open_store(tmp_path / "a.db") as store:
        (tmp_path / "b.db").replace(tmp_path / "a.db")
        with pytest.raises(DatabaseError):
            store.claim()
