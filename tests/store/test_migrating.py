from __future__ import annotations

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

import referee
from referee.bots.limits import Limits
from referee.errors import DatabaseError
from referee.record import replay
from referee.rules import Rules, Scoring
from referee.store import VERSIONS, migrate_store, open_store
from referee.store.schema import TABLES
from referee.tournament.conditions import Conditions
from referee.tournament.rounds import Manifest, Round, parts_of
from referee.tournament.schedule import BLOCK_SIZE, game_of

ROOT = Path(referee.__file__).parents[1]
FIXTURE = Path(__file__).parent / "version_1"

KILLED = """
import os, signal, sys
from referee.store import open_store
store = open_store(sys.argv[1], create=True)
left = int(sys.argv[2])

def count(statement):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

store._db.set_trace_callback(count)
if int(sys.argv[3]):
    store._db.set_progress_handler(lambda: count(""), int(sys.argv[3]))
store.claim()
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database of store version 1, as that version left it."""
    path = tmp_path / "a.db"
    path.write_bytes(gzip.decompress((FIXTURE / "referee.db.gz").read_bytes()))
    return path


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def version(path: Path) -> object:
    return rows(path, "PRAGMA user_version")[0][0]


def content(path: Path) -> list[tuple[object, ...]]:
    """What no migration may change."""
    columns = "line_up, deal, rotation, game_id, seats, reason, places, forfeited, faults, decisions, packed"
    games = rows(path, f"SELECT {columns} FROM games JOIN records USING (record) ORDER BY line_up, deal, rotation")
    return games + rows(path, "SELECT * FROM bots ORDER BY bot") + rows(path, "SELECT * FROM line_ups ORDER BY line_up")


def test_reading_an_old_database_names_the_command_that_migrates_it_and_changes_nothing(old: Path) -> None:
    before = old.read_bytes()
    with pytest.raises(DatabaseError) as caught:
        open_store(old)
    assert str(caught.value) == (
        f"{old} was made by an older referee (store version 1, this one reads 2): "
        f"`referee db migrate {old}` brings it up to date and keeps a copy"
    )
    assert old.read_bytes() == before
    assert os.listdir(old.parent) == ["a.db"]


def test_migrated_database_has_every_game_and_the_tables_of_a_new_one(old: Path, tmp_path: Path) -> None:
    before = content(old)
    assert len(before) == 65 + 4 + 4
    assert migrate_store(old) == old.with_name("a.db.version-1")
    assert content(old) == before
    assert {row[0] for row in rows(old, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")} == set(TABLES)
    assert rows(old, "SELECT key, json(value) FROM meta") == [("versions", json.dumps(VERSIONS).replace(" ", ""))]
    assert rows(old, "PRAGMA integrity_check") == [("ok",)]
    assert rows(old, "PRAGMA foreign_key_check") == []
    with open_store(old) as store:
        assert all(list(replay(record)) for record in store.records())
        assert store.counts().games == 65


def test_copy_is_the_database_as_it_was_its_log_included(old: Path) -> None:
    with closing(sqlite3.connect(old)) as db:  # leaves its last change in the log, as a killed player does
        db.execute('UPDATE bots SET labels = \'{"author": "ann"}\' WHERE bot = 1')
        db.commit()
        assert old.with_name("a.db-wal").stat().st_size > 0
        before = content(old)
        kept = migrate_store(old)
    assert kept is not None
    assert version(kept) == 1
    assert content(kept) == before
    assert kept.stat().st_mode & 0o777 == 0o600
    with open_store(old) as store:
        assert Round.of(store.rounds()[0]).manifest.bots[-2].author == "ann"


def test_second_migration_does_nothing_and_an_older_copy_is_never_written_over(old: Path) -> None:
    fixture = old.read_bytes()
    other = old.with_name("a.db.version-1")
    other.write_bytes(b"mine")
    assert migrate_store(old) == old.with_name("a.db.version-1-2")
    assert migrate_store(old) is None
    assert other.read_bytes() == b"mine"
    assert sorted(os.listdir(old.parent)) == ["a.db", "a.db.lock", "a.db.version-1", "a.db.version-1-2"]
    old.write_bytes(fixture)
    assert migrate_store(old) == old.with_name("a.db.version-1-2"), "the same copy is not made twice"


def test_settings_become_the_manifest_of_an_open_round_that_owes_what_was_begun(old: Path) -> None:
    [(text,)] = rows(old, "SELECT value FROM meta WHERE key = 'settings'")
    settings = json.loads(str(text))
    migrate_store(old)
    with open_store(old) as store:
        [stored] = store.rounds()
        played = store.played()
    one = Round.of(stored)
    assert (stored.closed, stored.sealed, stored.seed, stored.secret) == (False, False, "practice", settings["secret"])
    manifest = one.manifest
    assert manifest.to_json() == one.text
    assert msgspec.json.decode(one.text, type=Manifest, strict=True) == manifest
    assert (manifest.round, manifest.season, manifest.previous, manifest.max_faults) == (1, 1, None, None)
    assert manifest.block_size == BLOCK_SIZE
    rules = Rules(scoring=Scoring("winner"))
    assert manifest.conditions == Conditions(rules, Limits(**settings["limits"]))
    assert [(entry.name, entry.hash[:2], entry.players, entry.author) for entry in manifest.bots] == [
        ("high", "83", (2,), ""), ("high", "f3", (2,), ""), ("low", "08", (2,), ""), ("rash", "79", (2,), "")
    ]  # fmt: skip
    assert manifest.parts == parts_of(one.bots, list(one.schedule.owings()))
    assert {owing.line_up: owing.deals for owing in one.schedule.owings()} == {
        line_up: max(deals.stop for deals in there.values())
        for line_up, there in played.items()  # type: ignore[union-attr]
    }
    assert sorted(owing.deals for owing in one.schedule.owings()) == [2, 12, 12, 12]


def test_every_game_is_the_one_due_by_the_rounds_secret(old: Path) -> None:
    migrate_store(old)
    with open_store(old) as store:
        one = Round.of(store.rounds()[0])
        for record in store.records():
            due = game_of(one.secret, record.result.line_up, record.deal, record.rotation)
            assert (due.game_id, due.seats, due.seeds) == (record.game_id, record.seats, record.seeds)
            assert due.key is not None
            assert due.key.hex() == record.key


def test_database_in_which_nothing_was_played_has_no_round(old: Path) -> None:
    with closing(sqlite3.connect(old)) as db:
        db.executescript("DELETE FROM games; DELETE FROM records; DELETE FROM line_ups")
    migrate_store(old)
    with open_store(old) as store:
        assert store.rounds() == ()
        assert len(store.bots()) == 4


@pytest.mark.parametrize(
    "edit",
    [
        "DELETE FROM meta WHERE key = 'settings'",
        "UPDATE meta SET value = '{}' WHERE key = 'settings'",
        "UPDATE meta SET value = 'x' WHERE key = 'settings'",
        "UPDATE meta SET value = json_set(value, '$.secret', 'x') WHERE key = 'settings'",
        "UPDATE line_ups SET bots = '1,99' WHERE line_up = 1",
        "UPDATE bots SET labels = '[1]'",
    ],
)
def test_damaged_database_stays_as_it_is(old: Path, edit: str) -> None:
    with closing(sqlite3.connect(old)) as db:
        db.execute(edit)
        db.commit()
    before = content(old)
    with pytest.raises(DatabaseError, match="is damaged"):
        migrate_store(old)
    assert version(old) == 1
    assert content(old) == before


def killed(path: Path, *, after: int, every: int = 0) -> bool:
    """Migrate in another process that is killed at that many statements and steps; whether it was."""
    argv = [sys.executable, "-c", KILLED, str(path), str(after), str(every)]
    code = subprocess.run(argv, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False).returncode
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.parametrize("every", [0, 500])
def test_killed_at_any_moment_it_is_of_one_version_whole_and_goes_on(old: Path, every: int) -> None:
    fixture, before = old.read_bytes(), content(old)
    seen = set()
    after = 1
    while True:
        for leftover in old.parent.iterdir():
            leftover.unlink()
        old.write_bytes(fixture)
        if not killed(old, after=after, every=every):
            break
        seen.add(version(old))
        assert content(old) == before
        assert rows(old, "PRAGMA integrity_check") == [("ok",)]
        migrate_store(old)
        assert (version(old), content(old)) == (2, before)
        names = sorted(os.listdir(old.parent))
        assert names == ["a.db", "a.db.lock", "a.db.version-1"]
        assert content(old.with_name("a.db.version-1")) == before
        after += 1
    assert after > 15
    assert seen == {1}
    assert version(old) == 2
