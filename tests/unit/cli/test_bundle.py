"""`referee bundle` as organisers and authors use it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from dialogues import LIMITS
from records import ANNA, BERT, CARL, START, played
from rounds import a_round, database, play

from referee.bots.process.limits import Limits
from referee.cli.main import cli
from referee.record import Bot, GameRecord
from referee.store import Stored, open_store


def saved(path: Path, *records: GameRecord) -> str:
    with open_store(path, create=True) as store:
        store.claim()
        store.add([Stored.of(record) for record in records])
    return str(path)


def run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(cli, ["bundle", *words])
    return done.exit_code, done.stdout, done.stderr


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


FAULT = {"README.txt", "messages.jsonl", "stdin.jsonl", "stderr.txt", "record.json"}
WHOLE = FAULT - {"stderr.txt"}


def test_the_seat_at_fault_is_meant_where_none_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.db", played(game_id="abc", faults={1: 2}))
    out = tmp_path / "out"
    assert run(path, "abc", "-o", str(out)) == (0, f"wrote 1 bundle to {out}\n", "")
    assert tree(out) == FAULT
    assert json.loads((out / "record.json").read_text())["seat"] == 1


def test_any_seat_has_a_bundle(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.db", played(game_id="abc"))
    assert run(path, "abc", "--seat", "0", "-o", str(tmp_path / "out"))[0] == 0
    assert tree(tmp_path / "out") == WHOLE


def test_several_seats_at_fault_have_a_folder_each(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.db", played((ANNA, BERT, CARL), game_id="abc", faults={0: START, 2: 1}))
    assert run(path, "abc", "-o", str(tmp_path / "out"))[1].startswith("wrote 2 bundles to ")
    assert tree(tmp_path / "out") == {f"seat-{seat}/{name}" for seat in (0, 2) for name in FAULT}


def three_faults(path: Path) -> str:
    odd = Bot("0.odd_name", "d4" * 32)
    return saved(
        path,
        played(game_id="abc", faults={1: 2}),
        played((ANNA, odd), game_id="bcd", faults={0: 1}),
        played((ANNA, CARL), game_id="cde"),
        played((BERT, CARL), game_id="def", faults={0: START}),
    )


def expected(records: Sequence[tuple[str, str]]) -> set[str]:
    return {f"{bot}/{game}/{name}" for bot, game in records for name in FAULT}


def test_all_faults_come_in_a_folder_for_each_bot(tmp_path: Path) -> None:
    path = three_faults(tmp_path / "a.db")
    folders = [("bert", "abc-seat-1"), ("0.odd_name", "bcd-seat-0"), ("bert", "def-seat-0")]
    assert run("--all", path, "-o", str(tmp_path / "out"))[1].startswith("wrote 3 bundles to ")
    assert tree(tmp_path / "out") == expected(folders)
    assert run("--all", "--db", path, "-o", str(tmp_path / "all.zip"))[0] == 0
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert set(archive.namelist()) == expected(folders)


def test_the_whole_record_is_there_only_where_it_is_asked_for(tmp_path: Path) -> None:
    record = played(game_id="abc", faults={1: 2})
    path = saved(tmp_path / "a.db", record)
    code, _, words = run(path, "abc", "--with-record", "-o", str(tmp_path / "out"))
    assert (code, words) == (0, "with all hands and decks in it: not for authors while the round is open\n")
    assert tree(tmp_path / "out") == {*FAULT, "game.json"}
    assert (tmp_path / "out" / "game.json").read_bytes() == record.to_json() + b"\n"


def test_limits_are_those_of_the_round(tmp_path: Path) -> None:
    with database(tmp_path / "a.db", a_round()) as store:
        play(store)
        game = next(store.records())
    assert run(str(tmp_path / "a.db"), game.game_id, "--seat", "0", "-o", str(tmp_path / "out"))[0] == 0
    record = json.loads((tmp_path / "out" / "record.json").read_text())
    limits = Limits()
    assert limits != LIMITS
    assert record["limits"] == {"start_ms": limits.start_ms, "move_ms": limits.move_ms, "game_ms": limits.game_ms}
    assert record["round"] == 1


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.db", played(game_id="abc", faults={1: 2}))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    (tmp_path / "old.zip").write_text("x")
    (tmp_path / "file").write_text("x")
    for name in ("full", "old.zip", "file"):
        code, printed, said = run(path, "abc", "-o", str(tmp_path / name))
        assert (code, printed, said.count("\n")) == (2, "", 1)
        assert str(tmp_path / name) in said
    assert {path.name for path in tmp_path.iterdir()} == {"a.db", "a.db.lock", "full", "old.zip", "file"}
    assert [path.read_text() for path in (tmp_path / "full/mine", tmp_path / "old.zip", tmp_path / "file")] == ["x"] * 3
    (tmp_path / "empty").mkdir()
    assert run(path, "abc", "-o", str(tmp_path / "empty"))[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["abc"], "no seat was at fault in game abc: say with --seat which one you mean; they are 0 to 1"),
        (["abc", "--seat", "2"], "game abc has no seat 2: they are 0 to 1"),
        (["x"], "there is no game 'x' in"),
        (["--all"], "there is no fault in this database"),
        (["--all", "--seat", "1"], "name one game"),
        ([], "name one game"),
    ],
)
def test_what_is_not_there_is_told(words: list[str], told: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "a.db", played(game_id="abc"))
    code, out, error = run(*words, "--db", path, "-o", str(tmp_path / "out"))
    assert (code, out) == (2, "")
    assert error.startswith(f"referee: {told}")
    assert not (tmp_path / "out").exists()
