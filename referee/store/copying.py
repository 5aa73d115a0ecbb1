"""A copy of a database, whole or not there at all, while others read and write it."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from referee.errors import DatabaseError
from referee.outputs import PRIVATE, free_name, sync
from referee.store.database import plain_errors

Progress = Callable[[int, int], None]
"""Is told how many pages of how many are copied."""

_PAGES = 2048
"""Copied at once, 8 MiB: between two such steps a caller hears of it."""


def _write_copy(db: sqlite3.Connection, unfinished: Path, target: Path, progress: Progress | None) -> None:
    """Copy `db`, its log included, over the file `unfinished`, which is this user's alone and on the disk after it.

    Where `db` is within a transaction, the copy is what that sees, whatever others commit meanwhile, and nobody
    waits for it. Raises DatabaseError, which names `target`, or OSError; what was half written is gone then.
    """
    try:
        unfinished.unlink(missing_ok=True)
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE))
        with plain_errors(target), closing(sqlite3.connect(unfinished)) as copy:
            copy.execute("PRAGMA synchronous = OFF")  # it is synced once, when it is whole
            copy.execute("PRAGMA journal_mode = OFF")  # a copy that fails is removed, so nothing is to be undone
            told = None if progress is None else lambda _, left, pages: progress(pages - left, pages)
            db.backup(copy, pages=_PAGES, progress=told)
        sync(unfinished)
    except BaseException:
        for companion in ("", "-journal", "-wal", "-shm"):
            unfinished.with_name(unfinished.name + companion).unlink(missing_ok=True)
        raise


def back_up(
    db: sqlite3.Connection, target: Path, *, check: Callable[[], None], progress: Progress | None = None
) -> None:
    """Copy the database that is opened as `db` to `target`, whole or not at all.

    `check` raises InputError where `target` may not be written; it is asked before the copy and after it. Raises
    DatabaseError where it cannot be.
    """
    check()
    place = target.resolve()
    unfinished = place.with_name(f".{place.name[:60]}.{os.getpid()}.unfinished")
    try:
        _write_copy(db, unfinished, target, progress)
        try:
            check()
            unfinished.replace(place)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        sync(place.parent)
    except OSError as error:
        raise DatabaseError(f"{target} cannot be written: {error.strerror}") from None


def rescue(db: sqlite3.Connection, file: Path) -> Path:
    """Copy `db`, whose file `file` is not in its place any more, to a new name beside it, and return that.

    It goes to the folder for temporary files where the other is gone too. Raises DatabaseError if neither has room.
    """
    name = f"{file.name}.rescued"
    for folder in (file.parent, Path(tempfile.gettempdir())):
        target = free_name(folder / name)
        try:
            back_up(db, target, check=lambda: None)
        except DatabaseError as error:
            failure = error
        else:
            return target
    raise failure
