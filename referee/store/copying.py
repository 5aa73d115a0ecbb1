"""A copy of a database, whole or not there at all, while others read and write it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from referee.errors import DatabaseError
from referee.store.database import plain_errors

Progress = Callable[[int, int], None]
"""Is told how many pages of how many are copied."""

_PAGES = 2048
"""Copied at once, 8 MiB: between two such steps a caller hears of it."""


def write_copy(db: sqlite3.Connection, unfinished: Path, progress: Progress | None = None) -> None:
    """Copy `db`, its log included, over the file `unfinished`, which is this user's alone and on the disk after it.

    Where `db` is within a transaction, the copy is what that sees, whatever others commit meanwhile, and nobody
    waits for it. Raises DatabaseError; what was half written is gone then.
    """
    try:
        _make_empty(unfinished)
        with plain_errors(unfinished), closing(sqlite3.connect(unfinished)) as copy:
            copy.execute("PRAGMA synchronous = OFF")  # it is synced once, when it is whole
            told = None if progress is None else lambda _, left, pages: progress(pages - left, pages)
            db.backup(copy, pages=_PAGES, progress=told)
        sync(unfinished)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _make_empty(path: Path) -> None:
    """A new file: secrets of rounds will be in it."""
    with _in_words(path):
        path.unlink(missing_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def sync(path: Path) -> None:
    """Return when a file or folder is on the disk. Raises DatabaseError."""
    with _in_words(path):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def back_up(db: sqlite3.Connection, source: Path, target: Path, *, force: bool, progress: Progress | None) -> None:
    """Copy the database `source`, opened as `db`, to `target`, whole or not at all.

    Raises DatabaseError: also where `target` is there already and `force` does not say to replace it.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    with _in_words(target):
        _check_target(source, target, force=force)
        write_copy(db, unfinished, progress)
        try:
            _check_target(source, target, force=force)
            unfinished.replace(target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        sync(target.resolve().parent)


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DatabaseError(f"{path} cannot be written: {error.strerror}") from None


def _check_target(source: Path, target: Path, *, force: bool) -> None:
    if target.is_dir():
        raise DatabaseError(f"{target} is a folder: name a file")
    if target.exists() and target.samefile(source):
        raise DatabaseError(f"{target} is the database itself: name another file")
    if target.exists() and not target.is_file():
        raise DatabaseError(f"{target} is no ordinary file: name another")
    if target.exists() and not force:
        raise DatabaseError(f"{target} is there already: name another file, or replace it with --force")
    if not target.parent.is_dir():
        raise DatabaseError(f"{target} cannot be made: there is no folder {target.parent}")
    log = target.with_name(target.name + "-wal")
    if log.exists():
        raise DatabaseError(f"{target} is in use, for there is {log.name} beside it: name another file")
