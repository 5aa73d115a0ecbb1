from __future__ import annotations

import csv
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from records import ANNA, BERT, CARL, START, played

from referee.cli.commands.export import harmless
from referee.cli.main import cli
from referee.record import Fault, GameRecord
from referee.store import Stored, StoredRound, open_store

CLOSED = StoredRound(1, 1, '{"round":1}', "c0" * 32, "5ec7e7", "practice", sealed=False, closed=True)
OPEN = StoredRound(2, 1, '{"round":2}', "c1" * 32, "5ec7e8", None, sealed=True, closed=False)


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    """In schedule order."""
    pairs = [played((ANNA, BERT), deal=deal, rotation=rotation) for deal in range(3) for rotation in range(2)]
    return [
        *pairs,
        played((BERT, CARL), faults={0: START}),
        played((ANNA, BERT, CARL), faults={1: 2, 2: 4}, notes={0: "é\n"}),
    ]


@pytest.fixture
def db(tmp_path: Path, records: list[GameRecord]) -> str:
    path = tmp_path / "a.db"
    with open_store(path, create=True) as store:
        store.claim()
        store.open_round(CLOSED)
        store.open_round(OPEN)
        store.save_bots({ANNA: {"language": "Rust", "author": "=x"}})
        store.add([Stored.of(record) for record in reversed(records)])
    return str(path)


def export(*words: str) -> str:
    done = CliRunner().invoke(cli, ["export", *words])
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def test_at_a_terminal_json_is_visible_ascii_that_means_the_same() -> None:
    said = '{"note":"\u202e\x9b\x7f\U0001f600\u00e9 \\u001b"}'
    written: list[bytes] = []
    harmless(written.append)(said.encode())
    assert written[0].isascii() and b"\x7f" not in written[0]
    assert json.loads(written[0]) == json.loads(said)


def test_games_can_be_chosen_by_who_sat_and_by_faults(db: str, records: list[GameRecord]) -> None:
    def chosen(*words: str) -> list[int]:
        return [records.index(GameRecord.from_json(line)) for line in export(db, *words).splitlines()]

    every = range(len(records))
    assert chosen("--bot", "carl") == [6, 7]
    assert chosen("--bot", f"carl@{CARL.hash[:8]}", "--bot", "anna") == [7]
    assert chosen("--faults") == [number for number in every if records[number].faults] == [6, 7]
    for bot in (ANNA, BERT, CARL):
        at_fault = [n for n in every if bot in {records[n].seats[fault.seat] for fault in records[n].faults}]
        assert chosen("--bot", bot.name, "--faults") == at_fault
    assert chosen("--faults", "--players", "2") == [6]
    assert len(json.loads(export(db, "--bot", "carl", "--format", "json"))["games"]) == 2


@pytest.mark.parametrize(
    ("name", "hint"), [("carla", "did you mean carl?"), ("xyz", "`referee db info` lists the bots")]
)
def test_a_bot_that_is_not_there_is_refused(db: str, name: str, hint: str) -> None:
    done = CliRunner().invoke(cli, ["export", db, "--bot", name])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"referee: there is no bot {name!r} in {db}: {hint}\n"
    assert "carl@ffff" in CliRunner().invoke(cli, ["export", db, "--bot", "carl@ffff"]).stderr


def test_json_lines_are_the_whole_records_in_schedule_order(db: str, records: list[GameRecord]) -> None:
    text = export(db)
    assert [GameRecord.from_json(line) for line in text.splitlines()] == records
    assert text == export("--db", db, "--format", "jsonl")


def test_games_of_some_numbers_of_players(db: str, records: list[GameRecord]) -> None:
    assert [json.loads(line)["game_id"] for line in export(db, "--players", "3").splitlines()] == [records[-1].game_id]
    assert len(export(db, "--players", "2,3").splitlines()) == len(records)
    assert export(db, "--players", "6") == ""


def test_csv_has_a_row_a_game(db: str, records: list[GameRecord]) -> None:
    rows = list(csv.DictReader(io.StringIO(export(db, "--format", "csv"))))
    assert len(rows) == len(records)
    for row, record in zip(rows, records, strict=True):
        assert (row["game_id"], int(row["players"])) == (record.game_id, len(record.seats))
        assert (int(row["deal"]), int(row["rotation"])) == (record.deal, record.rotation)
        assert (row["reason"], int(row["decisions"])) == (record.reason, len(record.steps))
        for seat, bot in enumerate(record.seats):
            assert (row[f"bot_{seat}"], row[f"hash_{seat}"]) == (bot.name, bot.hash)
            assert int(row[f"place_{seat}"]) == record.places[seat]
            assert int(row[f"cards_left_{seat}"]) == record.hand_sizes[seat]
            assert int(row[f"us_{seat}"]) == sum(step.us for step in record.steps if step.seat == seat)
        verdicts = {f"fault_{fault.seat}": fault.verdict.value for fault in record.faults}
        assert {key: text for key, text in row.items() if key.startswith("fault_") and text} == verdicts
        assert not any(row[f"bot_{seat}"] or row[f"us_{seat}"] for seat in range(len(record.seats), 6))


def test_csv_of_no_games_is_its_heading(db: str) -> None:
    (heading,) = export(db, "--format", "csv", "--players", "5").splitlines()
    assert heading.startswith("round,game_id,players,deal,rotation,reason,decisions,ms,bot_0,")
    assert heading.endswith(",us_5")


def test_json_is_one_document_of_rounds_bots_and_games(db: str, records: list[GameRecord]) -> None:
    document: dict[str, Any] = json.loads(export(db, "--format", "json"))
    assert [*document] == ["referee", "rounds", "bots", "games"]
    closed, open_one = document["rounds"]
    assert closed == {
        **{"number": 1, "season": 1, "commitment": "c0" * 32, "secret": "5ec7e7", "seed": "practice"},
        **{"sealed": False, "closed": True, "unplayed": 0, "manifest": {"round": 1}},
    }
    assert (open_one["number"], open_one["closed"], open_one["secret"]) == (2, False, None)
    assert document["bots"][0] == {"name": "anna", "hash": ANNA.hash, "language": "Rust", "author": "=x"}
    assert [bot["name"] for bot in document["bots"]] == ["anna", "bert", "carl"]
    assert len(document["games"]) == len(records)
    for game, record in zip(document["games"], records, strict=True):
        assert [document["bots"][index]["hash"] for index in game["seats"]] == [bot.hash for bot in record.seats]
        assert game["places"] == list(record.places)
        assert game["faults"] == [{"seat": fault.seat, "verdict": fault.verdict.value} for fault in record.faults]
        assert "deck" not in game


def slowed(record: GameRecord, by: int) -> GameRecord:
    """The same game, had everything taken so much longer."""
    return msgspec.structs.replace(
        record,
        ms=record.ms + by,
        idle_cpu_ms=(by,) * len(record.seats),
        held=(0,),
        steps=tuple([msgspec.structs.replace(step, us=step.us + by) for step in record.steps]),
        faults=tuple([replaced_time(fault, by) for fault in record.faults]),
    )


def replaced_time(fault: Fault, by: int) -> Fault:
    return msgspec.structs.replace(fault, evidence={**fault.evidence, "us": by})


@pytest.mark.parametrize("how", ["jsonl", "csv", "json"])
def test_without_times_games_that_were_played_alike_are_written_alike(
    how: str, db: str, records: list[GameRecord], tmp_path: Path
) -> None:
    later = tmp_path / "later.db"
    with open_store(later, create=True) as store:
        store.claim()
        store.open_round(CLOSED)
        store.open_round(OPEN)
        store.save_bots({ANNA: {"language": "Rust", "author": "=x"}})
        store.add([Stored.of(slowed(record, 1_000_000)) for record in records])
    assert export(db, "--format", how) != export(str(later), "--format", how)
    assert export(db, "--format", how, "--no-times") == export(str(later), "--format", how, "--no-times")


def test_without_times_all_else_is_there(db: str, records: list[GameRecord]) -> None:
    def strip(game: dict[str, Any]) -> dict[str, Any]:
        for field in ("ms", "idle_cpu_ms", "held"):
            del game[field]
        for step in game["steps"]:
            del step["us"]
        for fault in game["faults"]:
            fault["evidence"].pop("us", None)
        return game

    whole = [json.loads(line) for line in export(db).splitlines()]
    assert [json.loads(line) for line in export(db, "--no-times").splitlines()] == list(map(strip, whole))
    heading = export(db, "--format", "csv", "--no-times").partition("\n")[0]
    assert "ms" not in heading.split(",") and "us_0" not in heading
    assert heading.startswith("round,game_id,players,deal,rotation,reason,decisions,bot_0,hash_0,place_0,")


def test_json_of_no_games_is_a_document_too(db: str) -> None:
    assert json.loads(export(db, "--format", "json", "--players", "5"))["games"] == []


def test_the_secret_of_an_open_round_is_written_only_when_asked_for(db: str) -> None:
    for how in ("json", "jsonl", "csv"):
        assert "5ec7e8" not in export(db, "--format", how)
    assert json.loads(export(db, "--format", "json", "--with-secret"))["rounds"][1]["secret"] == "5ec7e8"


def test_file_is_written_in_place_of_standard_output(db: str, tmp_path: Path) -> None:
    target = tmp_path / "games.jsonl"
    assert export(db, "-o", str(target)) == ""
    assert target.read_text() == export(db)
    assert export(db, "-o", "-") == export(db)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask
