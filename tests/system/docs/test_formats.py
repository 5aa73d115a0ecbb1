"""The published formats: the examples of the records page are what the program writes, its tables list all fields."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from pages import blocks, tables

from referee.cards import names
from referee.cli.main import cli
from referee.contest.publishing import about
from referee.ratings import rate
from referee.ratings.published import ScorePair
from referee.record import GameRecord, replay
from referee.site import data, sheet
from referee.store import Stored, open_store
from referee.tournament.rounds.keys import dealt
from referee.tournament.rounds.rounds import Round

RECORD, EXPORT, STANDINGS = blocks("records.md", "json")
GAMES_CSV, STANDINGS_CSV = blocks("records.md", "csv")


def test_the_example_is_a_game_that_the_rules_confirm() -> None:
    record = GameRecord.from_json(RECORD)
    assert json.loads(record.to_json()) == json.loads(RECORD)
    assert [moment.step for moment in replay(record)] == list(record.steps)
    assert record.key is not None and list(record.deck) == names(dealt(bytes.fromhex(record.key), record.rotation))
    assert set(record.faults[0].evidence) == set(tables("records.md", "### Faults")[1])


@pytest.fixture
def example(tmp_path: Path) -> str:
    """A database with the game of the page and what it says of its tournament."""
    record, said = GameRecord.from_json(RECORD), json.loads(EXPORT)
    words = {bot["name"]: {key: bot[key] for key in ("language", "author")} for bot in said["bots"]}
    with open_store(tmp_path / "example.db", create=True) as store:
        store.claim()
        [told] = said["rounds"]
        secret = bytes.fromhex("00112233445566778899aabbccddeeff")
        shown = Round(text=msgspec.json.encode(told["manifest"]), secret=secret)
        assert shown.commitment == told["commitment"]
        store.open_round(shown.stored())
        store.save_bots({bot: words[bot.name] for bot in record.seats})
        store.add([Stored.of(record)])
    return str(tmp_path / "example.db")


def test_the_examples_are_what_is_printed_of_that_game(example: str) -> None:
    def printed(*words: str) -> str:
        return CliRunner().invoke(cli, [*words, "--db", example], catch_exceptions=False).stdout

    assert json.loads(printed("export")) == json.loads(RECORD)
    assert printed("export", "--format", "csv") == GAMES_CSV
    with open_store(example) as store:  # one game is no whole deal, so the command would leave it out
        standings, words = rate(store.results()), about(store).cleaned()
    assert sheet.render(standings, words) == STANDINGS_CSV
    told = json.dumps(json.loads(STANDINGS), indent=2, ensure_ascii=False)
    assert data.render(standings, words).split() == told.split()
    ours, told = json.loads(printed("export", "--format", "json")), json.loads(EXPORT)
    assert ours.pop("referee") and told.pop("referee") and ours == told


def test_the_tables_of_the_published_documents_list_their_fields() -> None:
    export, standings = json.loads(EXPORT), json.loads(STANDINGS)
    [told] = export["rounds"]
    manifest = ["format", "game", "season", "round", *list(told["manifest"])[4:]]
    assert tables("records.md", "### `json`") == [list(export), list(told), manifest, list(export["games"][0])]
    [fields] = tables("records.md", "## `rounds.json` and `round-N.json`")
    assert [name for name in fields if name != "played"] == list(standings["rounds"][0])  # which only some rounds have
    [table] = standings["tables"]
    *whole, rows, seat, strength, pair = tables("records.md", "## `standings.json`")
    assert whole == [list(standings), list(table)] and sorted(rows) == sorted(table["rows"][0])
    assert (seat, strength) == (list(table["rows"][0]["seats"][0]), list(table["rows"][0]["strength"]))
    assert pair == list(ScorePair.__struct_fields__)
    named = {name for name in tables("records.md", "### `csv`")[0] if not name.endswith("5")}
    assert named == {name for name in GAMES_CSV.partition("\n")[0].split(",") if not re.search("_[1-5]$", name)}


def test_the_program_on_the_records_page_counts_faults(tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").write_bytes(GameRecord.from_json(RECORD).to_json() + b"\n")
    [program] = blocks("records.md", "python")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "mybot illegal_action 1\n"
