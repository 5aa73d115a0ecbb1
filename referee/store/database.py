"""Opening the file, and one plain sentence for whatever is wrong with it."""

from __future__ import annotations

import os
import resource
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from referee.errors import DatabaseError
from referee.outputs import PRIVATE
from referee.store import schema
from referee.store.guarding import Connection, is_endless

BUSY_SECONDS = 10.0

_LEAST_SIZE = 512
"""Bytes of the smallest page; SQLite takes less for an empty file, and would write over it."""


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises here into a DatabaseError of one sentence; what the caller did wrong stays its own."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT and not is_endless(path):
            raise KeyboardInterrupt from error  # a signal's handler raised it while SQLite was at work
        raise DatabaseError(_sentence(path, error)) from error


@contextmanager
def decoding(path: Path) -> Iterator[None]:
    """The same, and where what is read makes no sense."""
    with plain_errors(path):
        try:
            yield
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
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
        case sqlite3.SQLITE_INTERRUPT:
            return f"{path} is damaged or forged: reading it does not end; take another copy"
        case sqlite3.SQLITE_TOOBIG:
            return f"{path} is damaged or forged: a value in it is too long; take another copy"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return f"{path} may not be written by this user"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"{path} is held by another program ({error}): try again when it is done"
        case sqlite3.SQLITE_IOERR if _limits_files():
            return f"{path} cannot grow: the size of files is limited here (ulimit -f); what was saved before is safe"
        case sqlite3.SQLITE_IOERR:
            return (
                f"{path} could not be read or written: the system reports ({getattr(error, 'sqlite_errorname', error)})"
            )
        case _:
            return f"{path} cannot be opened: {error}"


def _limits_files() -> bool:
    """True where a file of this process cannot have any size; SQLite does not tell this from a broken disk."""
    return resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY


def check_place(path: Path, *, missing_ok: bool) -> None:
    """Raise DatabaseError where `path` can be no database.

    The file is not opened for this: closing it would drop the locks that SQLite holds on it in this process.
    """
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if missing_ok:
            return
        raise DatabaseError(
            f"there is no database {path}: `referee tournament` makes one, and --db FILE names another"
        ) from None
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


def is_begun(path: Path) -> bool:
    """True if there is a database at `path` with something in it. Raises DatabaseError where it cannot be looked at."""
    if not path.exists() or not path.stat().st_size:
        return False
    check_place(path, missing_ok=True)
    if not may_write(path):  # nothing can be begun there, and `connect` reads what can be read
        return True
    with plain_errors(path), closing(_connect(path, "mode=rw")) as db:
        return not schema.is_blank(db)


def create(path: Path) -> None:
    """Make a new database at `path`, unless there is something already. Raises DatabaseError."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise DatabaseError(f"{path} cannot be made: there is no folder {folder}")
    if not _may(folder, os.W_OK) or (path.exists() and not _may(path, os.W_OK)):
        raise DatabaseError(f"{path} may not be written by this user")
    _check_log(path)
    _make_private(path)
    with plain_errors(path), closing(_connect(path, "mode=rwc")) as db:
        if not schema.is_blank(db):
            return
        with suppress(OSError):  # an empty file that was there may be open to others
            path.chmod(PRIVATE)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("BEGIN IMMEDIATE")
        if schema.is_blank(db):
            schema.write(db)
        db.execute("COMMIT")


def _check_log(path: Path) -> None:
    """SQLite would throw away the log of a database that is not there, though games of it may be in nothing else."""
    file = path.resolve()
    log = file.with_name(file.name + "-wal")
    with suppress(OSError):
        if log.stat().st_size and not (file.exists() and file.stat().st_size):
            raise DatabaseError(
                f"{path} is not there, but its log {log.name} is, and may hold games: put the database back beside "
                "it, or delete the log"
            )


def _make_private(path: Path) -> None:
    """The secret of the decks is in the file, and nobody else's to read."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE))
    except FileExistsError:
        return
    except OSError as error:
        raise DatabaseError(f"{path} cannot be made: {error.strerror}") from None


def identity(file: Path) -> tuple[int, int] | None:
    """What tells a file from all others, whatever its name; None where there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_one_name(path: Path) -> None:
    """Raise DatabaseError for a database with hard links.

    SQLite keeps a log for each name: two processes that write by two names do not see each other, and spoil the file.
    """
    try:
        names = path.stat().st_nlink
    except OSError as error:
        raise DatabaseError(f"{path} cannot be opened: {error.strerror}") from None
    if names > 1:
        raise DatabaseError(
            f"{path} is one file with {names} names (hard links), and each would have a log of its own: remove the "
            "other names, or play on a copy"
        )


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
            schema.check_versions(path, db)
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA fullfsync = ON")  # on macOS nothing less reaches the disk
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA cache_size = -32000")
        except BaseException:
            db.close()
            raise
        return db


def _connect(path: Path, how: str) -> sqlite3.Connection:
    name = f"{path.resolve().as_uri()}?{how}"
    db = sqlite3.connect(name, uri=True, isolation_level=None, timeout=BUSY_SECONDS, factory=Connection)
    db.guard(path)
    return db


def _may(path: Path, what: int) -> bool:
    effective = os.access in os.supports_effective_ids
    return os.access(path, what, effective_ids=effective)
