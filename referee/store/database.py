"""Opening the file: its schema and versions, and one plain sentence for whatever is wrong with it."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from referee.errors import DatabaseError
from referee.record import RECORD_VERSION

APPLICATION_ID = 0x34576964
"""Four bytes of the file's header, `4Wid`, by which SQLite files tell whose they are."""

VERSIONS = {"store": 2, "record": RECORD_VERSION, "rules": 1, "protocol": 1}
"""What a new database is made for. A change of any of them is one that old games cannot be mixed with."""

BUSY_SECONDS = 10.0

_LEAST_SIZE = 512
"""Bytes of the smallest page; SQLite takes less for an empty file, and would write over it."""

_SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # saved: the how manieth saving brought it last
    """CREATE TABLE bots (
        bot INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, labels TEXT NOT NULL DEFAULT '{}',
        saved INTEGER NOT NULL DEFAULT 0,
        UNIQUE (name, hash)
    )""",
    # manifest: the bytes that the commitment was made of
    """CREATE TABLE rounds (
        round INTEGER PRIMARY KEY, season INTEGER NOT NULL, manifest TEXT NOT NULL, commitment TEXT NOT NULL,
        secret TEXT NOT NULL, seed TEXT, sealed INTEGER NOT NULL, opened TEXT NOT NULL, closed TEXT
    )""",
    # bots: their ids, by name and hash, with commas
    "CREATE TABLE line_ups (line_up INTEGER PRIMARY KEY, bots TEXT NOT NULL UNIQUE)",
    "CREATE TABLE records (record INTEGER PRIMARY KEY, packed BLOB NOT NULL)",
    # narrow, and apart from the records, so that a million games are rated from 65 MB
    """CREATE TABLE games (
        line_up INTEGER NOT NULL REFERENCES line_ups, deal INTEGER NOT NULL, rotation INTEGER NOT NULL,
        round INTEGER NOT NULL, game_id TEXT NOT NULL, seats TEXT NOT NULL, reason TEXT NOT NULL, places TEXT NOT NULL,
        forfeited TEXT NOT NULL, faults INTEGER NOT NULL, decisions INTEGER NOT NULL,
        record INTEGER NOT NULL REFERENCES records,
        PRIMARY KEY (line_up, deal, rotation)
    ) WITHOUT ROWID""",
    # faults are looked for at every start, and are few
    "CREATE INDEX faulty ON games (line_up, deal, rotation) WHERE faults > 0",
)


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises here into a DatabaseError of one sentence; what the caller did wrong stays its own."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise
    except sqlite3.Error as error:
        raise DatabaseError(_sentence(path, error)) from error


@contextmanager
def decoding(path: Path) -> Iterator[None]:
    """The same, and where what is read makes no sense."""
    with plain_errors(path):
        try:
            yield
        except (ValueError, LookupError, TypeError) as error:
            raise DatabaseError(f"{path} is damaged ({error}): take an older copy") from error


def _sentence(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return f"the disk of {path} is full; what was saved before is safe: make room and run the same again"
        case sqlite3.SQLITE_NOTADB:
            return f"{path} is no database: name another file"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_ERROR:
            return f"{path} is damaged, perhaps cut off while it was copied ({error}): take an older copy"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return f"{path} may not be written by this user"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"{path} is held by another program ({error}): try again when it is done"
        case sqlite3.SQLITE_IOERR:
            return f"{path} could not be read or written: its disk failed ({getattr(error, 'sqlite_errorname', error)})"
        case _:
            return f"{path} cannot be opened: {error}"


def check_place(path: Path, *, missing_ok: bool) -> None:
    """Raise DatabaseError where `path` can be no database.

    The file is not opened for this: closing it would drop the locks that SQLite holds on it in this process.
    """
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if missing_ok:
            return
        raise DatabaseError(f"there is no database {path}: `referee tournament` makes one") from None
    except OSError as error:
        raise DatabaseError(f"{path} cannot be opened: {error.strerror}") from None
    if stat.S_ISDIR(found.st_mode):
        raise DatabaseError(f"{path} is a folder: name a file")
    if not stat.S_ISREG(found.st_mode):
        raise DatabaseError(f"{path} is no ordinary file")
    if not found.st_size and not missing_ok:
        raise DatabaseError(f"{path} is empty: there is no database in it")
    if 0 < found.st_size < _LEAST_SIZE:
        raise DatabaseError(f"{path} is no database: name another file")
    if not _may(path, os.R_OK):
        raise DatabaseError(f"{path} may not be read by this user")


def create(path: Path) -> None:
    """Make a new database at `path`, unless there is something already. Raises DatabaseError."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise DatabaseError(f"{path} cannot be made: there is no folder {folder}")
    if not _may(folder, os.W_OK) or (path.exists() and not _may(path, os.W_OK)):
        raise DatabaseError(f"{path} may not be written by this user")
    _make_private(path)
    with plain_errors(path), closing(_connect(path, "mode=rwc")) as db:
        if not _is_blank(db):
            return
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("BEGIN IMMEDIATE")
        if _is_blank(db):
            _write_schema(db)
        db.execute("COMMIT")


def _make_private(path: Path) -> None:
    """The secret of the decks is in the file, and nobody else's to read."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise DatabaseError(f"{path} cannot be made: {error.strerror}") from None


def _is_blank(db: sqlite3.Connection) -> bool:
    """Whether nothing was ever written here; asked again under the lock, since two may begin at once."""
    marks = [db.execute(f"PRAGMA {mark}").fetchone()[0] for mark in ("application_id", "user_version")]
    return not any(marks) and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0


def _write_schema(db: sqlite3.Connection) -> None:
    for statement in _SCHEMA:
        db.execute(statement)
    db.execute("INSERT INTO meta VALUES ('versions', ?)", (json.dumps(VERSIONS),))
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSIONS['store']}")


def may_write(path: Path) -> bool:
    """Whether this user may write the database and the files that SQLite puts beside it."""
    file = path.resolve()
    return _may(file.parent, os.W_OK) and _may(file, os.W_OK)


def connect(path: Path) -> sqlite3.Connection:
    """An existing database, checked, with nothing written yet. Raises DatabaseError.

    It is opened for writing where this user may write, since then the last to leave tidies the log up. Elsewhere
    SQLite is kept from making files of this user's, which would lock out those who may: without a log it reads the
    file as one that nobody changes.
    """
    file = path.resolve()
    log = file.with_name(file.name + "-wal")
    if may_write(path):
        return _checked(path, "mode=rw")
    if not log.exists():
        return _checked(path, "mode=ro&immutable=1")
    try:
        return _checked(path, "mode=ro")
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlite_errorcode", None) != sqlite3.SQLITE_CANTOPEN:
            raise
        raise DatabaseError(
            f"{path} cannot be read where it lies: its last games are in {log.name}, and this user may not write in "
            f"{file.parent}: copy both files to a folder of your own"
        ) from None


def _checked(path: Path, how: str) -> sqlite3.Connection:
    with decoding(path):
        db = _connect(path, how)
        try:
            _check_versions(path, db)
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA fullfsync = ON")  # on macOS nothing less reaches the disk
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA cache_size = -32000")
        except BaseException:
            db.close()
            raise
        return db


def _connect(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, isolation_level=None, timeout=BUSY_SECONDS)


def _check_versions(path: Path, db: sqlite3.Connection) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise DatabaseError(f"{path} is a database of another program: name another file")
    found = {"store": db.execute("PRAGMA user_version").fetchone()[0]}
    if found["store"] == VERSIONS["store"]:
        found |= json.loads(db.execute("SELECT value FROM meta WHERE key = 'versions'").fetchone()[0])
    for part, known in VERSIONS.items():
        if found.get(part, known) > known:
            raise DatabaseError(
                f"{path} was made by a newer referee ({part} version {found[part]}, this one knows {known}): "
                "update the referee"
            )
        if found.get(part, known) < known:
            raise DatabaseError(
                f"{path} was made by an older referee ({part} version {found[part]}, this one makes {known}), and "
                "their games cannot be mixed: use that referee, or begin a new database"
            )


def _may(path: Path, what: int) -> bool:
    effective = os.access in os.supports_effective_ids
    return os.access(path, what, effective_ids=effective)
