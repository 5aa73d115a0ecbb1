from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from records import played

from referee.errors import InputError
from referee.store import Store, Stored, copying, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "a.db", create=True) as store:
        store.claim()
        store.add([Stored.of(played(deal=deal)) for deal in range(20)])
        yield store


def deals(path: Path) -> list[int]:
    with open_store(path) as store:
        assert store._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [result.deal for result in store.results()]


def refusal(store: Store, target: Path, *, force: bool = False) -> str:
    before = sorted(target.parent.iterdir()) if target.parent.is_dir() else []
    with pytest.raises(InputError) as caught:
        store.back_up(target, force=force)
    assert (sorted(target.parent.iterdir()) if target.parent.is_dir() else []) == before
    return str(caught.value).replace(f"{store.path.parent}/", "")


def test_copy_has_what_is_in_the_log_and_is_nobody_elses_to_read(store: Store, tmp_path: Path) -> None:
    assert (tmp_path / "a.db-wal").stat().st_size > 0
    target = tmp_path / "copy.db"
    with open_store(store.path) as reader:
        reader.back_up(target)
    assert deals(target) == list(range(20))
    assert target.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in tmp_path.iterdir()} == {
        "a.db", "a.db-wal", "a.db-shm", "a.db.lock", "copy.db"
    }  # fmt: skip


def test_copy_is_of_one_moment_while_the_writer_goes_on_without_waiting(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_PAGES", 1)
    steps: list[tuple[int, int]] = []

    def write(done: int, total: int) -> None:
        store.add([Stored.of(played(deal=100 + len(steps)))])  # would raise after BUSY_SECONDS, were it locked out
        steps.append((done, total))

    with open_store(store.path) as reader:
        reader.back_up(tmp_path / "copy.db", progress=write)
    assert deals(tmp_path / "copy.db") == list(range(20))
    assert [done for done, _ in steps] == list(range(1, steps[0][1] + 1)), "it never began again"
    assert store.counts().games == 20 + len(steps)


def test_file_that_is_there_is_replaced_by_force_alone(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("mine")
    assert "--force" in refusal(store, target)
    assert target.read_text() == "mine"
    store.back_up(target, force=True)
    assert deals(target) == list(range(20))


def test_impossible_targets_are_refused_in_a_sentence_and_nothing_is_left(store: Store, tmp_path: Path) -> None:
    refusal(store, store.path, force=True)
    (tmp_path / "link.db").symlink_to("a.db")
    refusal(store, tmp_path / "link.db", force=True)
    (tmp_path / "same.db").hardlink_to(store.path)
    refusal(store, tmp_path / "same.db", force=True)
    for companion in ("-wal", "-shm", ".lock", "-journal"):
        refusal(store, tmp_path / f"a.db{companion}", force=True)
    assert "is a folder" in refusal(store, tmp_path, force=True)
    assert "No such file" in refusal(store, tmp_path / "no" / "copy.db")
    os.mkfifo(tmp_path / "pipe")
    assert "ordinary" in refusal(store, tmp_path / "pipe", force=True)
    with open_store(tmp_path / "used.db", create=True) as other:
        other.claim()
        other.add([Stored.of(played())])
        assert "used.db-wal" in refusal(store, tmp_path / "used.db", force=True)


def test_a_database_with_anything_of_its_own_is_not_replaced(store: Store, tmp_path: Path) -> None:
    for name, deal in (("other.db", 77), ("older.db", 3)):
        with open_store(tmp_path / name, create=True) as other:
            other.claim()
            other.add([Stored.of(played(deal=deal))])
    before = (tmp_path / "other.db").read_bytes()
    refusal(store, tmp_path / "other.db", force=True)
    assert (tmp_path / "other.db").read_bytes() == before
    with sqlite3.connect(tmp_path / "foreign.db") as foreign:
        foreign.execute("CREATE TABLE mine (x)")
    foreign.close()
    refusal(store, tmp_path / "foreign.db", force=True)
    store.back_up(tmp_path / "older.db", force=True)
    assert deals(tmp_path / "older.db") == list(range(20))


def test_folder_that_may_not_be_written_is_said(store: Store) -> None:
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    try:
        if root:  # who may write anywhere
            os.seteuid(65534)
        else:
            folder.chmod(0)
        with pytest.raises(InputError, match="Permission denied"):
            store.back_up(folder / "copy.db")
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)
        shutil.rmtree(folder)
