from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from records import played

from referee.errors import DatabaseBusyError
from referee.store import Stored, StoredRound, open_store

ROUND = StoredRound(1, 1, "{}", "00", "00", seed=None, sealed=True, closed=False)


def test_claim_is_exclusive_within_a_process_and_ends_with_its_store(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with open_store(path, create=True) as first, open_store(path) as second:
        first.claim()
        first.claim()
        with pytest.raises(DatabaseBusyError):
            second.claim()
        first.close()
        second.claim()


def test_same_file_by_another_name_is_claimed_too(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    (tmp_path / "link.db").symlink_to(path)
    with open_store(path, create=True) as first, open_store(tmp_path / "link.db") as second:
        first.claim()
        with pytest.raises(DatabaseBusyError):
            second.claim()


def test_failed_claim_can_be_repeated(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with open_store(path, create=True) as first, open_store(path) as second:
        first.claim()
        for _ in range(2):
            with pytest.raises(DatabaseBusyError):
                second.claim()
        first.close()
        second.claim()
        assert second.add([Stored.of(played())]) == 1


def test_nothing_is_written_without_a_claim(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db", create=True) as store:
        for write in (
            lambda: store.add([Stored.of(played())]),
            lambda: store.open_round(ROUND),
            lambda: store.close_round(1),
            lambda: store.save_bots({}),
        ):
            with pytest.raises(RuntimeError):
                write()
        with pytest.raises(sqlite3.OperationalError):
            store._db.execute("DELETE FROM games")


def test_copy_made_without_a_log_is_played_on_with_one(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db", create=True) as store:
        store.claim()
        store._db.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
    with open_store(tmp_path / "copy.db") as copy:
        copy.claim()
        assert copy._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
