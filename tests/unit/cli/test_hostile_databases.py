"""Databases of strangers, from the command line: no command obeys one, waits for one, or believes more than the check."""

from __future__ import annotations

import io
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path

import msgspec
import pytest
from rounds import ADA, BOB, CAT, a_round, database, game, play

from referee.cli.main import cli
from referee.errors import DatabaseError
from referee.record import GameRecord
from referee.store import Stored, open_store
from referee.tournament.audit.merging import merge

ONE = a_round(deals=2)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("honest") / "a.db"
    with database(path, ONE) as store:
        play(store, faulty=[CAT])
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    return path


def run(*words: str) -> int:
    """The exit code of a command, run in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        cli.main(list(words))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def commands(path: Path) -> list[list[str]]:
    db = str(path)
    game_id = game(ONE, (ADA, BOB), 0, 0).game_id
    return [
        ["standings", db, "--json"],
        ["standings", db, "--all-versions"],
        ["compare", "--db", db, "ada", "bob"],
        ["collusion", db],
        ["db", "info", db],
        ["export", db],
        ["export", db, "--format", "csv"],
        ["export", db, "--format", "json"],
        ["export", db, "--bot", "ada", "--faults"],
        ["replay", db, game_id],
        ["plan", "--db", db, "--players", "2"],
        ["db", "merge", str(path.with_name("into.db")), db],
    ]


VALUES = [None, "", "\x1b[31m", -1, 1, 7, 2**60, 1.5, b"\0", "{}", "[]", "9" * 40, "12", "1,1"]


def columns(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return [(table, row[1]) for table in tables for row in db.execute(f"PRAGMA table_info({table})")]


def damaged(honest: Path, folder: Path, table: str, column: str) -> Iterator[Path]:
    """The database, each time with another value in one column of one row."""
    for value in VALUES:
        path = Path(shutil.copy(honest, folder / "a.db"))
        for left in folder.glob("into.db*"):
            left.unlink()
        with closing(sqlite3.connect(path)) as db:
            key = {"games": "deal = 0 AND rotation = 0 AND line_up = 1", "meta": "1"}.get(table, "rowid = 1")
            try:
                changed = db.execute(f"UPDATE {table} SET {column} = ? WHERE {key}", (value,)).rowcount
            except sqlite3.IntegrityError:
                continue
            db.commit()
        assert changed == 1
        yield path


COLUMNS = {
    "meta": "key value",
    "bots": "bot name hash labels saved",
    "rounds": "round season manifest commitment secret seed sealed opened closed unplayed",
    "line_ups": "line_up bots",
    "records": "record packed",
    "games": "line_up deal rotation round game_id seats reason places forfeited faults decisions held record",
}
EVERY = [(table, column) for table, names in COLUMNS.items() for column in names.split()]


def test_all_columns_are_damaged(honest: Path) -> None:
    assert sorted(EVERY) == sorted(columns(honest))


@pytest.mark.parametrize(("table", "column"), EVERY)
def test_the_check_finds_whatever_a_command_refuses(honest: Path, tmp_path: Path, table: str, column: str) -> None:
    for path in damaged(honest, tmp_path, table, column):
        found = run("db", "check", str(path))
        assert found in (0, 1, 2)
        if found == 0:
            refused = [words for words in commands(path) if run(*words) != 0]
            assert not refused


def test_no_command_ends_with_an_internal_error(honest: Path, tmp_path: Path) -> None:
    for table, column in (("games", "places"), ("games", "seats"), ("bots", "labels"), ("rounds", "opened")):
        for path in damaged(honest, tmp_path, table, column):
            assert {run(*words) for words in commands(path)} <= {0, 1, 2}


def test_honest_databases_are_read_by_every_command(honest: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(honest, tmp_path / "a.db"))
    assert [words for words in commands(path) if run(*words) != 0] == []


def turned_round(stored: Stored) -> Stored:
    """The game with its places exchanged everywhere: in its columns and in its record, whose steps stay."""
    record = GameRecord.unpack(stored.packed)
    return Stored.of(msgspec.structs.replace(record, places=record.places[::-1]))


def test_a_result_that_the_steps_do_not_give_is_not_merged(tmp_path: Path) -> None:
    honest_game, other = game(ONE, (ADA, BOB), 0, 0), game(ONE, (ADA, BOB), 1, 0)
    forged = turned_round(honest_game)
    assert forged.result.places != honest_game.result.places
    with database(tmp_path / "forged.db", ONE) as store:
        store.add([other, forged])
    with pytest.raises(DatabaseError, match="played again"):
        merge(tmp_path / "into.db", [tmp_path / "forged.db"], lambda *_: None)
    assert not (tmp_path / "into.db").exists()
    with database(tmp_path / "into.db", ONE) as store:
        store.add([other])
    with pytest.raises(DatabaseError, match="played again"):
        merge(tmp_path / "into.db", [tmp_path / "forged.db"], lambda *_: None)
    with open_store(tmp_path / "into.db") as store:
        assert store.counts().games == 1
