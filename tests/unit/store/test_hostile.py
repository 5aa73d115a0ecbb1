"""Databases that somebody forged: each is refused, or read, within a bound of processor time and memory."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from records import ANNA, BERT, played

from referee.errors import DatabaseError, RefereeError
from referee.store import Stored, open_store
from referee.store.database import plain_errors
from referee.store.guarding import Connection

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT "


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("honest") / "a.db"
    with open_store(path, create=True) as store:
        store.claim()
        store.save_bots({ANNA: {"language": "Python"}, BERT: {}})
        store.add([Stored.of(played(deal=deal)) for deal in range(30)])
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    return path


@pytest.fixture
def path(honest: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(honest, tmp_path / "a.db"))


@contextmanager
def bounded(seconds: float = 3.0) -> Iterator[None]:
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds


def forge(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            db.execute(statement)


FORGED = {
    "an endless view for a table": ("DROP TABLE meta", f"CREATE VIEW meta AS {ENDLESS}x AS key, 1 AS value FROM n"),
    "an endless view for games": (
        "DROP TABLE games",
        f"CREATE VIEW games AS {ENDLESS}1 AS line_up, x AS deal, 0 AS rotation, 1 AS round FROM n",
    ),
    "a trigger": (
        "CREATE TRIGGER t AFTER INSERT ON games BEGIN UPDATE games SET places = '21' WHERE deal = new.deal; END",
    ),
    "a table more": ("CREATE TABLE notes (text)",),
    "a virtual table": ("CREATE VIRTUAL TABLE notes USING fts5(text)",),
    "a generated column": ("ALTER TABLE bots ADD COLUMN more AS (hex(randomblob(100000000)))",),
    "an index on an expression": ("CREATE INDEX slow ON games (hex(game_id))",),
    "an index less": ("DROP INDEX faulty",),
    "a check": (
        "UPDATE sqlite_schema SET sql = replace(sql, 'value TEXT', 'value TEXT CHECK (length(value) > 0)')"
        " WHERE name = 'meta'",
    ),
    "a default that computes": (
        "UPDATE sqlite_schema SET sql = replace(sql, '''{}''', '(hex(zeroblob(100000000)))') WHERE name = 'bots'",
    ),
    "two tables in one place": (
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'records')"
        " WHERE name = 'bots'",
    ),
    "an escape in a name": ('CREATE TABLE "\x1b[31mred\x07" (text)',),
}


@pytest.mark.parametrize("statements", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("create", [False, True])
def test_another_schema_is_refused_at_opening(path: Path, statements: tuple[str, ...], create: bool) -> None:
    forge(path, *statements)
    with bounded(), pytest.raises(DatabaseError) as refused:
        open_store(path, create=create)
    assert str(refused.value).isprintable()


def bushy(path: Path, table: str) -> None:
    """Make a table of a few pages that has 200^6 rows: every branch leads to the same next page."""
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    with closing(sqlite3.connect(path)) as db:
        root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
    pages = len(data) // size
    data += data[(root - 1) * size : root * size]
    numbers = [root, *range(pages + 2, pages + 7), pages + 1]
    data += bytes(5 * size)
    for page, child in pairwise(numbers):
        data[(page - 1) * size : page * size] = branch(size, child)
    data[28:32] = (len(data) // size).to_bytes(4, "big")
    data[92:96] = data[24:28]
    path.write_bytes(data)


def branch(size: int, child: int) -> bytes:
    cells = [struct.pack(">IB", child, 1 + number % 100) for number in range(200)]
    start = size - 5 * len(cells)
    head = struct.pack(">BHHHBI", 5, 0, len(cells), start, 0, child)
    places = b"".join((start + 5 * number).to_bytes(2, "big") for number in range(len(cells)))
    return (head + places).ljust(start, b"\0") + b"".join(cells)


@pytest.mark.parametrize("table", ["bots", "line_ups", "rounds"])
def test_a_table_without_end_is_damaged(path: Path, table: str) -> None:
    if table == "rounds":
        forge(path, "INSERT INTO rounds VALUES (1, 1, '', '', '', NULL, 0, '2026-01-01T00:00:00Z', NULL, 0)")
    bushy(path, table)
    with bounded(20), open_store(path) as store:
        assert [*store.damage(), *store.unreadable()]


def test_a_signal_interrupts_a_statement_that_takes_long(tmp_path: Path) -> None:
    path = tmp_path / "large.db"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # so that the statement may take long

    def heard(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, heard)
    db = sqlite3.connect(":memory:", factory=Connection)
    db.guard(path)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt), plain_errors(path):
            db.execute(f"{ENDLESS}count(*) FROM n").fetchone()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        db.close()


def test_a_statement_has_a_budget(path: Path) -> None:
    db = sqlite3.connect(":memory:", factory=Connection)
    db.guard(path)
    with closing(db), bounded(), pytest.raises(DatabaseError, match="does not end"), plain_errors(path):
        db.execute(f"{ENDLESS}count(*) FROM n").fetchone()


STRANGE = (
    "UPDATE bots SET name = char(27) || '[31mred' WHERE name = 'anna'",
    "UPDATE bots SET name = '=cmd()' WHERE name = 'anna'",
    "UPDATE bots SET name = char(8238) || 'x' WHERE name = 'anna'",
    "UPDATE bots SET name = '../anna' WHERE name = 'anna'",
    "UPDATE bots SET name = 'anna' || char(10) WHERE name = 'anna'",
    "UPDATE bots SET hash = char(27) || ']0;title' || char(7) WHERE name = 'anna'",
    "UPDATE bots SET hash = upper(hash) WHERE name = 'anna'",
    "UPDATE bots SET labels = '{\"a\":' || '[' WHERE name = 'anna'",
    "UPDATE bots SET labels = replace(hex(zeroblob(50000)), '0', '[') WHERE name = 'anna'",
    "UPDATE bots SET labels = '{\"author\": 7}' WHERE name = 'anna'",
    "UPDATE bots SET labels = '[]' WHERE name = 'anna'",
    "UPDATE line_ups SET bots = '1'",
    "UPDATE line_ups SET bots = '2,1'",
    "UPDATE games SET seats = '00'",
    "UPDATE games SET seats = '0'",
    "UPDATE games SET places = '1'",
    "UPDATE games SET places = '03'",
    "UPDATE games SET places = '٣١'",
    "UPDATE games SET forfeited = '5', faults = 1",
    "UPDATE games SET held = '7:1'",
    "UPDATE games SET held = '0:-1'",
    "UPDATE games SET held = char(27)",
    "UPDATE games SET rotation = 'x' WHERE deal = 3",
    "UPDATE games SET deal = -1 WHERE deal = 3",
    "UPDATE games SET deal = 'x' WHERE deal = 3",
    "UPDATE games SET round = 'x' WHERE deal = 3",
)


@pytest.mark.parametrize("statement", STRANGE)
def test_values_that_no_referee_writes_are_refused_when_they_are_read(path: Path, statement: str) -> None:
    forge(path, statement)
    with bounded(), open_store(path) as store:
        found = list(store.unreadable())
    assert found
    assert all(one.replace("\n", "").isprintable() for one in found)


@pytest.mark.parametrize("moment", ["opened", "closed"])
def test_a_time_is_a_time(path: Path, moment: str) -> None:
    forge(
        path,
        "INSERT INTO rounds VALUES (1, 1, '', '', '', NULL, 0, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 0)",
        f"UPDATE rounds SET {moment} = '2026-01-01T00:00:00Z' || char(27) || '[2J'",
    )
    with open_store(path) as store, pytest.raises(DatabaseError):
        store.round_counts()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("isolation", "\x1b[31mA"),
        ("game_id", "\x1b]0;x\x07"),
        ("seats", (ANNA, type(ANNA)("b\x1b[0m", "b2" * 32))),
        ("places", (1, 2, 3)),
        ("forfeited", (5,)),
        ("idle_cpu_ms", (1,)),
        ("deal", -1),
    ],
)
def test_a_record_that_no_referee_writes_is_refused(path: Path, field: str, value: object) -> None:
    packed = msgspec.structs.replace(played(), **{field: value}).pack()
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE records SET packed = ? WHERE record = 3", (packed,))
        db.commit()
    with open_store(path) as store, pytest.raises(RefereeError):
        list(store.records())
