"""Connections to databases that may be anybody's: what SQLite may do for them, and for how long."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

_LONGEST = 64 << 20
"""Bytes of a text or blob: a forged one claims more than the file holds."""

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _LONGEST,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1 << 20,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

_EVERY = 100_000
"""Instructions of SQLite's virtual machine after which Python runs, so that signals are heard."""

_FREE = 5_000_000
_PER_BYTE = 16
"""Instructions that a statement may take, and as many more for each byte of the file: a tree whose branches share pages
has more rows than can ever be read."""

_endless: set[Path] = set()


class Connection(sqlite3.Connection):
    """A connection whose statements end, and which signals interrupt."""

    def guard(self, path: Path) -> None:
        """Begin to guard; `path` is the database's."""
        self._path = path
        self._spent = 0
        for what, most in _LIMITS.items():
            self.setlimit(what, most)
        self.set_progress_handler(self._stops, _EVERY)
        super().execute("PRAGMA trusted_schema = OFF")
        super().execute("PRAGMA cell_size_check = ON")

    def execute(self, *given: Any) -> sqlite3.Cursor:
        """See `sqlite3`; each statement has a budget of its own."""
        self._spent = 0
        return super().execute(*given)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        """See `sqlite3`."""
        self._spent = 0
        return super().executemany(sql, parameters)

    def _stops(self) -> bool:
        self._spent += _EVERY
        if self._spent <= _FREE or self._spent <= _FREE + _PER_BYTE * _size(self._path):
            return False
        _endless.add(self._path)
        return True


def is_endless(path: Path) -> bool:
    """True if a statement on this database was stopped because it had taken more than its budget."""
    return path in _endless


def _size(path: Path) -> int:
    found = 0
    for file in (path, path.with_name(path.name + "-wal")):
        with suppress(OSError):
            found += file.stat().st_size
    return found
