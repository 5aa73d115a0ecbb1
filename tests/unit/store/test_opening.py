from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import played

from protocol.messages import PROTOCOL_VERSION
from referee.errors import DatabaseError, RefereeError
from referee.store import VERSIONS, Stored, open_store
from referee.store.schema import APPLICATION_ID

NOBODY = 65534


@pytest.fixture
def ordinary_user() -> Iterator[Path]:
    """A folder of one who is not root, as whom the test runs: root may write anywhere."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def games() -> list[Stored]:
    return [Stored.of(played(deal=deal)) for deal in range(20)]


@pytest.fixture(scope="module")
def whole(games: list[Stored], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("whole") / "a.db", games)


def filled(path: Path, games: list[Stored]) -> Path:
    with open_store(path, create=True) as store:
        store.claim()
        store.add(games)
    return path


def refusal(path: Path, *, create: bool = False) -> str:
    with pytest.raises(DatabaseError) as caught:
        open_store(path, create=create)
    text = str(caught.value)
    assert "\n" not in text
    return text.replace(str(path), "DB")


def edited(path: Path, statement: str) -> Path:
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()
    return path


def read_all(path: Path) -> int:
    """How many games there are."""
    with open_store(path) as store:
        list(store.results()), list(store.faults()), store.bots(), store.played(), store.rounds(), store.counts()
        return len(list(store.records()))


def test_missing_database_is_named(tmp_path: Path) -> None:
    assert (
        refusal(tmp_path / "a.db")
        == "there is no database DB: `referee tournament` makes one, and --db FILE names another"
    )
    assert (
        refusal(tmp_path / "a.db" / "b.db")
        == "there is no database DB: `referee tournament` makes one, and --db FILE names another"
    )
    assert list(tmp_path.iterdir()) == []


def test_folder_is_no_database(tmp_path: Path) -> None:
    for create in (False, True):
        assert refusal(tmp_path, create=create) == "DB is a folder: name a file"


def test_pipe_is_no_database_and_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.db")
    assert refusal(tmp_path / "a.db") == "DB is no ordinary file"


def test_empty_file_is_no_database_until_one_is_made_in_it(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.touch()
    assert refusal(path) == "DB is empty: there is no database in it"
    with open_store(path, create=True) as store:
        assert store.counts() == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("content", [b"x", b"bots = []\n" * 50, os.urandom(5000), b"\0" * 8192])
def test_other_content_is_no_database_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    for create in (False, True):
        assert refusal(path, create=create) == "DB is no database: name another file"
    assert path.read_bytes() == content


def test_database_cannot_be_made_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert refusal(tmp_path / "x" / "a.db", create=True) == f"DB cannot be made: there is no folder {tmp_path / 'x'}"


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("application", [0, 0x0F055111])
def test_database_of_another_program_is_refused_and_stays_as_it_is(
    tmp_path: Path, application: int, create: bool
) -> None:
    path = edited(tmp_path / "a.db", "CREATE TABLE notes (text)")
    edited(path, f"PRAGMA application_id = {application}")
    before = path.read_bytes()
    assert refusal(path, create=create) == "DB is a database of another program: name another file"
    assert path.read_bytes() == before


def test_newer_versions_are_refused_by_name(tmp_path: Path, games: list[Stored]) -> None:
    path = filled(tmp_path / "a.db", games)
    edited(path, "UPDATE meta SET value = json_set(value, '$.rules', 7) WHERE key = 'versions'")
    assert refusal(path) == "DB was made by a newer referee (rules version 7, this one knows 1): update the referee"
    edited(path, "PRAGMA user_version = 9")
    edited(path, "DROP TABLE meta")
    assert refusal(path) == "DB was made by a newer referee (store version 9, this one knows 2): update the referee"


def test_older_versions_are_refused_by_name(tmp_path: Path, games: list[Stored]) -> None:
    path = filled(tmp_path / "a.db", games)
    edited(path, "UPDATE meta SET value = json_set(value, '$.record', 0) WHERE key = 'versions'")
    assert refusal(path).startswith("DB was made by an older referee (record version 0, this one makes 2)")


def test_database_says_whose_it_is_and_of_what_versions(tmp_path: Path, games: list[Stored]) -> None:
    path = filled(tmp_path / "a.db", games)
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert db.execute("PRAGMA user_version").fetchone() == (VERSIONS["store"],)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    db.close()
    assert path.read_bytes()[68:72] == b"4Wid"
    assert VERSIONS["protocol"] == PROTOCOL_VERSION


@pytest.mark.parametrize("left", [1, 15, 16, 99, 100, 512, 4095, 4096, 8192, -8192, -4096, -1])
def test_file_that_was_cut_off_is_called_damaged_or_no_database(tmp_path: Path, games: list[Stored], left: int) -> None:
    path = filled(tmp_path / "a.db", games)
    whole = path.read_bytes()
    path.write_bytes(whole[:left])
    with pytest.raises(RefereeError, match=r"is damaged|is no database"):
        read_all(path)


@given(at=st.floats(0, 1, exclude_max=True), damage=st.binary(min_size=1, max_size=200))
@settings(max_examples=60, deadline=None)
def test_damage_anywhere_raises_an_error_of_ours_or_none(whole: Path, at: float, damage: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        content = whole.read_bytes()
        start = int(at * len(content))
        path.write_bytes(content[:start] + damage + content[start + len(damage) :])
        try:
            read_all(path)
        except RefereeError as error:
            assert "\n" not in str(error)


def test_schema_that_lacks_a_table_is_called_damaged(tmp_path: Path, games: list[Stored]) -> None:
    path = edited(filled(tmp_path / "a.db", games), "DROP TABLE games")
    with pytest.raises(DatabaseError, match="is damaged"):
        read_all(path)


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE meta SET value = '{' WHERE key = 'versions'",
        "UPDATE meta SET value = '[1]' WHERE key = 'versions'",
        "UPDATE meta SET value = '{\"rules\": \"x\"}' WHERE key = 'versions'",
        "DELETE FROM meta",
        "INSERT INTO rounds VALUES (1, 1, 'x', 'x', x'00', NULL, 0, 'x', NULL, 0)",
        "UPDATE bots SET labels = 'x'",
        "UPDATE line_ups SET bots = '1,77'",
        "UPDATE line_ups SET bots = 'x'",
        "UPDATE games SET reason = 'x' WHERE deal = 3",
        "UPDATE games SET seats = '07' WHERE deal = 3",
        "UPDATE games SET places = x'ff' WHERE deal = 3",
        "UPDATE records SET packed = x'00' WHERE record = 3",
        "UPDATE records SET packed = 'text' WHERE record = 3",
    ],
)
def test_rows_that_make_no_sense_are_called_damaged(tmp_path: Path, whole: Path, edit: str) -> None:
    path = tmp_path / "a.db"
    shutil.copy(whole, path)
    edited(path, edit)
    with pytest.raises(RefereeError, match="is damaged"):
        read_all(path)


def test_strange_names_open_what_they_say(tmp_path: Path) -> None:
    for name in ("a b?mode=memory#c%41.db", "ключ.db", "it's.db"):
        open_store(tmp_path / name, create=True).close()
        assert (tmp_path / name).stat().st_size > 0


def test_making_a_database_that_broke_off_half_way_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    edited(path, "PRAGMA journal_mode = WAL")
    assert path.stat().st_size > 0
    with open_store(path, create=True) as store:
        assert store.counts().games == 0


def test_file_of_somebody_else_may_not_be_read(ordinary_user: Path, games: list[Stored]) -> None:
    path = filled(ordinary_user / "a.db", games)
    path.chmod(0)
    assert refusal(path) == "DB may not be read by this user"


def test_nothing_is_made_where_this_user_may_not_write(ordinary_user: Path, games: list[Stored]) -> None:
    path = filled(ordinary_user / "a.db", games)
    path.chmod(0o400)
    assert refusal(path, create=True) == "DB may not be written by this user"
    ordinary_user.chmod(0o500)
    assert refusal(ordinary_user / "b.db", create=True) == "DB may not be written by this user"


def test_read_only_file_in_a_read_only_folder_is_read(ordinary_user: Path, games: list[Stored]) -> None:
    path = filled(ordinary_user / "a.db", games)
    path.chmod(0o400)
    assert read_all(path) == len(games)
    ordinary_user.chmod(0o500)
    assert read_all(path) == len(games)
    ordinary_user.chmod(0o700)
    assert sorted(entry.name for entry in ordinary_user.iterdir()) == ["a.db", "a.db.lock"]


def test_read_only_database_is_not_played_on(ordinary_user: Path, games: list[Stored]) -> None:
    path = filled(ordinary_user / "a.db", games)
    for file, folder in ((0o400, 0o700), (0o600, 0o500)):
        path.chmod(file)
        ordinary_user.chmod(folder)
        with open_store(path) as store, pytest.raises(DatabaseError, match="may not be written by this user"):
            store.claim()


def test_database_whose_lock_is_of_somebody_else_is_not_played_on(ordinary_user: Path, games: list[Stored]) -> None:
    path = filled(ordinary_user / "a.db", games)
    (ordinary_user / "a.db.lock").chmod(0o400)
    with open_store(path) as store, pytest.raises(DatabaseError, match="Permission denied"):
        store.claim()


def test_reading_without_the_right_to_write_leaves_no_file_behind(ordinary_user: Path, games: list[Stored]) -> None:
    path = filled(ordinary_user / "a.db", games)
    path.chmod(0o400)
    assert read_all(path) == len(games)
    assert sorted(entry.name for entry in ordinary_user.iterdir()) == ["a.db", "a.db.lock"]


def test_games_still_in_the_log_are_read_from_a_read_only_folder_or_asked_for(
    ordinary_user: Path, games: list[Stored]
) -> None:
    path = ordinary_user / "a.db"
    with open_store(path, create=True) as store:
        store.claim()
        store.add(games)
        copy = ordinary_user / "copy"
        copy.mkdir()
        for name in ("a.db", "a.db-wal"):
            shutil.copy(ordinary_user / name, copy / name)
    copy.chmod(0o500)
    try:
        text = refusal(copy / "a.db")
    finally:
        copy.chmod(0o700)
    assert "its last games are in a.db-wal" in text
    assert read_all(copy / "a.db") == len(games)


def test_full_disk_is_said_and_what_was_saved_stays(tmp_path: Path, games: list[Stored]) -> None:
    with open_store(tmp_path / "a.db", create=True) as store:
        store.claim()
        store.add(games[:2])
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(DatabaseError, match="is full"):
            store.add(games[2:])
        assert [result.deal for result in store.results()] == [0, 1]
        store._db.execute(f"PRAGMA max_page_count = {1 << 30}")
        assert store.add(games) == len(games) - 2


def test_a_log_without_its_database_is_not_thrown_away(tmp_path: Path) -> None:
    path, log = tmp_path / "a.db", tmp_path / "a.db-wal"
    for gone in (path.unlink, lambda: path.write_bytes(b"")):
        path.touch()
        log.write_bytes(b"games")
        gone()
        with pytest.raises(DatabaseError, match="put the database back beside it, or delete the log"):
            open_store(path, create=True)
        assert log.read_bytes() == b"games"
    log.write_bytes(b"")
    open_store(path, create=True).close()
