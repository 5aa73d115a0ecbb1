"""Bringing a database of an older store version up to date, one version after another, with a copy of it as it was."""

from __future__ import annotations

import filecmp
import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

from referee.errors import DatabaseError
from referee.store.copying import sync, write_copy
from referee.store.database import decoding
from referee.store.schema import VERSIONS, version
from referee.store.version_one import to_version_two

STEPS: Mapping[int, Callable[[sqlite3.Connection], None]] = {1: to_version_two}
"""By store version: what makes the next one of it, within a transaction that is open."""


def migrate(path: Path, db: sqlite3.Connection) -> Path | None:
    """Bring the claimed database `path` up to date, and return the copy that was made of it before; None: it was.

    The copy is `<name>.version-<N>` beside it; one that is there already is left as it is, and another name taken.
    All steps are one transaction: whatever happens, the database is of the old version or of the new one. Raises
    DatabaseError.
    """
    with decoding(path):
        found = version(db)
    if found == VERSIONS["store"]:
        return None
    kept = _keep_copy(path.resolve(), db, found)
    with decoding(path):
        db.execute("BEGIN IMMEDIATE")
        try:
            for number in range(found, VERSIONS["store"]):
                STEPS[number](db)
            _note_version(db)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
    return kept


def _note_version(db: sqlite3.Connection) -> None:
    """Write what `schema.write` writes into a new database; the other versions are the same, or it were refused."""
    db.execute("UPDATE meta SET value = ? WHERE key = 'versions'", (json.dumps(VERSIONS),))
    db.execute(f"PRAGMA user_version = {VERSIONS['store']}")


def _keep_copy(file: Path, db: sqlite3.Connection, found: int) -> Path:
    """A copy under a name that is free, or the same copy that is there from a migration that was broken off."""
    unfinished = file.with_name(f".{file.name}.version-{found}.unfinished")  # the claim makes it ours alone
    write_copy(db, unfinished)
    try:
        for number in count(1):
            kept = file.with_name(f"{file.name}.version-{found}{'' if number == 1 else f'-{number}'}")
            if not os.path.lexists(kept):
                unfinished.rename(kept)
                break
            if kept.is_file() and filecmp.cmp(unfinished, kept, shallow=False):
                unfinished.unlink()
                break
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise DatabaseError(f"{file} cannot be brought up to date: {kept}: {error.strerror}") from None
    sync(file.parent)
    return kept
