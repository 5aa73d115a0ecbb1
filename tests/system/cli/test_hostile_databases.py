"""Databases of strangers, from the command line: no command obeys one, waits for one, or believes more than the check."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from command_line import referee_command
from rounds import ADA, BOB, CAT, a_round, database, game, play

from referee.record import GameRecord
from referee.store import Stored

ONE = a_round(deals=2)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("honest") / "a.db"
    with database(path, ONE) as store:
        play(store, faulty=[CAT])
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    return path


@pytest.mark.parametrize("words", [["db", "info"], ["standings"], ["export", "--format", "csv"], ["db", "check"]])
def test_nothing_that_a_terminal_obeys_comes_out_of_a_forged_database(
    honest: Path, tmp_path: Path, words: list[str]
) -> None:
    forged = {
        "bots": "name = char(27) || '[31m' || name",
        "rounds": "opened = opened || char(27) || ']0;x' || char(7)",
        "games": "game_id = game_id || char(27) || '[2J'",
        "meta": "value = replace(value, '2', '\"' || char(27) || '[2J\"')",
    }
    for table, change in forged.items():
        path = Path(shutil.copy(honest, tmp_path / f"{table}.db"))
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"UPDATE {table} SET {change}")
            db.commit()
        done = referee_command(*words, path.name, cwd=tmp_path)
        assert not {"\x1b", "\x07"} & set(done.stdout + done.stderr)
        assert done.returncode in (0, 1, 2)


def test_bots_are_not_built_for_a_database_that_is_refused(honest: Path, tmp_path: Path) -> None:
    shutil.copy(honest, tmp_path / "a.db")
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.execute("CREATE VIEW more AS SELECT 1")
    for name in "xy":
        (tmp_path / name).mkdir()
        build = f"build = ['sh', '-c', 'touch {tmp_path}/built']"
        (tmp_path / name / "bot.toml").write_text(f"command = ['python3', 'bot.py']\n{build}\n")
    done = referee_command("tournament", "x", "y", "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 2
    assert not (tmp_path / "built").exists()
    assert "a.db is damaged or forged" in done.stderr


def test_every_line_of_an_export_is_one_line_to_every_reader(tmp_path: Path) -> None:
    record = GameRecord.unpack(game(ONE, (ADA, BOB), 0, 0).packed)
    note = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x7f\u00e9"
    steps = (msgspec.structs.replace(record.steps[0], note=note), *record.steps[1:])
    with database(tmp_path / "a.db", ONE) as store:
        store.add([Stored.of(msgspec.structs.replace(record, steps=steps))])
    for words in (["export", "a.db"], ["export", "a.db", "--format", "json"], ["export", "a.db", "--no-times"]):
        done = referee_command(*words, cwd=tmp_path)
        assert done.returncode == 0
        assert len(done.stdout.splitlines()) == done.stdout.count("\n")
        if "--format" not in words:
            assert json.loads(done.stdout)["steps"][0]["note"] == note
            assert "\u00e9" in done.stdout
