"""What a database is made of, and of which versions: the schema, how it is written, who may read it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import msgspec

from referee.errors import DatabaseError
from referee.record import RECORD_VERSION

APPLICATION_ID = 0x34576964
"""Four bytes of the file's header, `4Wid`, by which SQLite files tell whose they are."""

VERSIONS = {"store": 2, "record": RECORD_VERSION, "rules": 1, "protocol": 1}
"""What a new database is made for. A change of any of them is one that old games cannot be mixed with."""
_READABLE = {"record": 1}
"""Older versions from which on a database is used all the same: its old games stand as they are."""


TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # saved: the how manieth saving brought it last
    """CREATE TABLE bots (
        bot INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, labels TEXT NOT NULL DEFAULT '{}',
        saved INTEGER NOT NULL DEFAULT 0,
        UNIQUE (name, hash)
    )""",
    # manifest: the bytes that the commitment was made of; unplayed: games that were owed when it was closed
    """CREATE TABLE rounds (
        round INTEGER PRIMARY KEY, season INTEGER NOT NULL, manifest TEXT NOT NULL, commitment TEXT NOT NULL,
        secret TEXT NOT NULL, seed TEXT, sealed INTEGER NOT NULL, opened TEXT NOT NULL, closed TEXT,
        unplayed INTEGER NOT NULL DEFAULT 0
    )""",
    # bots: their ids, by name and hash, with commas
    "CREATE TABLE line_ups (line_up INTEGER PRIMARY KEY, bots TEXT NOT NULL UNIQUE)",
    "CREATE TABLE records (record INTEGER PRIMARY KEY, packed BLOB NOT NULL)",
    # narrow, and apart from the records, so that a million games are rated from 65 MB
    """CREATE TABLE games (
        line_up INTEGER NOT NULL REFERENCES line_ups, deal INTEGER NOT NULL, rotation INTEGER NOT NULL,
        round INTEGER NOT NULL, game_id TEXT NOT NULL, seats TEXT NOT NULL, reason TEXT NOT NULL, places TEXT NOT NULL,
        forfeited TEXT NOT NULL, faults INTEGER NOT NULL, decisions INTEGER NOT NULL, held TEXT NOT NULL,
        record INTEGER NOT NULL REFERENCES records,
        PRIMARY KEY (line_up, deal, rotation)
    ) WITHOUT ROWID""",
    # faults are looked for at every start, and are few
    "CREATE INDEX faulty ON games (line_up, deal, rotation) WHERE faults > 0",
    "CREATE INDEX restless ON games (line_up, deal, rotation) WHERE held <> ''",
)
"""The statements that make an empty database."""


def is_blank(db: sqlite3.Connection) -> bool:
    """Whether nothing was ever written here; asked again under the lock, since two may begin at once."""
    marks = [db.execute(f"PRAGMA {mark}").fetchone()[0] for mark in ("application_id", "user_version")]
    return not any(marks) and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0


def write(db: sqlite3.Connection) -> None:
    """Make the tables of a new database."""
    for statement in TABLES:
        db.execute(statement)
    db.execute("INSERT INTO meta VALUES ('versions', ?)", (json.dumps(VERSIONS),))
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSIONS['store']}")


def version(db: sqlite3.Connection) -> int:
    """The store version of a database."""
    found: int = db.execute("PRAGMA user_version").fetchone()[0]
    return found


def renew_versions(db: sqlite3.Connection) -> None:
    """Mark a database as one of this version's games, which an older referee would misread."""
    db.execute("UPDATE meta SET value = ? WHERE key = 'versions' AND value <> ?", [json.dumps(VERSIONS)] * 2)


def check_versions(path: Path, db: sqlite3.Connection) -> None:
    """Raise DatabaseError where this referee cannot use the database at `path`."""
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise DatabaseError(f"{path} is a database of another program: name another file")
    found = version(db)
    if found > VERSIONS["store"]:
        _refuse_newer(path, "store", found)
    if found < VERSIONS["store"]:
        raise DatabaseError(
            f"{path} has store version {found}, and this referee reads only {VERSIONS['store']}: "
            "use the referee that made it, or start a new database"
        )
    _check_parts_of_schema(path, db)
    row = db.execute("SELECT value FROM meta WHERE key = 'versions'").fetchone()
    _check_parts(path, msgspec.json.decode(row[0], type=dict[str, int]))


Part = tuple[str, str, str, str]
"""Of a table, index, view or trigger: its type, its name, its table, and the statement that makes it."""


def _check_parts_of_schema(path: Path, db: sqlite3.Connection) -> None:
    """Raise DatabaseError unless the database is made of exactly what `TABLES` makes.

    Anything else can compute: views, triggers, checks, generated columns and indexes on expressions.
    """
    there, roots = _parts(db)
    ours, _ = _our_parts()
    strange = [part for part in there if part not in ours] + [part for part in ours if part not in there]
    if strange:
        raise DatabaseError(
            f"{path} is damaged or forged: its {strange[0][0][:8]} {strange[0][1][:40]!a} is not as the referee "
            "makes it; take another copy"
        )
    if len(roots) < len(there):
        raise DatabaseError(f"{path} is damaged or forged: two of its tables lie in one place; take another copy")


def _parts(db: sqlite3.Connection) -> tuple[list[Part], set[int]]:
    rows = db.execute(
        "SELECT type, name, tbl_name, coalesce(sql, ''), rootpage FROM sqlite_schema LIMIT 100"
    ).fetchall()
    parts = [(str(kind), str(name), str(table), " ".join(str(sql).split())) for kind, name, table, sql, _ in rows]
    return parts, {root for *_, root in rows}


@cache
def _our_parts() -> tuple[list[Part], set[int]]:
    with closing(sqlite3.connect(":memory:")) as db:
        for statement in TABLES:
            db.execute(statement)
        return _parts(db)


def _check_parts(path: Path, versions: dict[str, int]) -> None:
    """Raise DatabaseError where the games cannot be mixed with those that this referee plays."""
    for part, known in VERSIONS.items():
        found = known if part == "store" else versions.get(part, known)
        if found > known:
            _refuse_newer(path, part, found)
        if found < _READABLE.get(part, known):
            raise DatabaseError(
                f"{path} was made by an older referee ({part} version {found}, this one makes {known}), and "
                "their games cannot be mixed: use that referee, or begin a new database"
            )


def _refuse_newer(path: Path, part: str, found: int) -> None:
    raise DatabaseError(
        f"{path} was made by a newer referee ({part} version {found}, this one knows {VERSIONS[part]}): "
        "update the referee"
    )
