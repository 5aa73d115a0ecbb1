from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from records import ANNA, BERT, CARL, played
from rounds import ADA, BOB, a_round
from rounds import games as games_of_round

from referee.cli.main import cli
from referee.contest.publishing import faults_of, publish_leaderboard
from referee.contest.season import standings_of
from referee.record import Bot, GameRecord
from referee.store import Stored, open_store

OLD_BERT = Bot("bert", "0d" * 32)


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = tmp_path / "a.db"
    with open_store(path, create=True) as store:
        store.claim()
        store.save_bots({OLD_BERT: {}})
        store.save_bots({ANNA: {"language": "Rust"}, BERT: {}, CARL: {}})
        line_ups = [(ANNA, BERT), (ANNA, CARL), (ANNA, OLD_BERT), (ANNA, BERT, CARL)]
        store.add(
            [
                Stored.of(played(line_up, deal=deal, rotation=rotation))
                for line_up in line_ups
                for deal in range(3)
                for rotation in range(len(line_up))
            ]
        )
    return str(path)


def test_csv_and_json_say_the_same(db: str) -> None:
    sheet = CliRunner().invoke(cli, ["standings", "--db", db, "--csv"]).stdout
    document = json.loads(CliRunner().invoke(cli, ["standings", "--db", db, "--json"]).stdout)
    rows = list(csv.DictReader(io.StringIO(sheet)))
    assert len(rows) == 6
    published = [row for table in document["tables"] for row in table["rows"]]
    assert [(row["name"], float(row["score"])) for row in rows] == [(row["name"], row["score"]) for row in published]
    assert {row["language"] for row in rows if row["name"] == "anna"} == {"Rust"}
    assert OLD_BERT.hash not in sheet


def test_json_and_csv_at_once_are_refused(db: str) -> None:
    done = CliRunner().invoke(cli, ["standings", db, "--json", "--csv"])
    assert done.exit_code == 2
    assert done.stderr.startswith("referee: --json or --csv, not both\n")


def test_database_without_games_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    open_store(path, create=True).close()
    done = CliRunner().invoke(cli, ["standings", str(path)])
    assert (done.exit_code, done.stdout) == (0, f"there are no rated games of season 1 in {path}\n")
    assert json.loads(CliRunner().invoke(cli, ["standings", str(path), "--json"]).stdout)["tables"] == []


def test_why_nothing_is_rated_is_told(tmp_path: Path) -> None:
    one = a_round([ADA, BOB], max_faults=1)
    with open_store(tmp_path / "a.db", create=True) as store:
        store.claim()
        store.open_round(one.stored())
        store.save_bots({ADA: {}, BOB: {}})
        store.add(games_of_round(one)[:1])
    shown = CliRunner().invoke(cli, ["standings", str(tmp_path / "a.db")]).stdout
    assert shown.splitlines()[1:] == [
        "a deal is rated when it was played in all of its rotations, between bots as they are now"
    ]
    with open_store(tmp_path / "a.db") as store:
        store.claim()
        store.add(games_of_round(one, faulty=frozenset({ADA}))[1:])
    shown = CliRunner().invoke(cli, ["standings", str(tmp_path / "a.db")]).stdout
    assert shown.splitlines()[1:] == [
        f"ada {ADA.hash[:8]} was withdrawn in round 1, where it came to 1 fault; its games rate nobody"
    ]


def test_games_played_with_and_without_cgroups_are_noted(tmp_path: Path) -> None:
    alike = [played(deal=deal, rotation=rotation) for deal in range(40) for rotation in range(2)]
    ways = ["A with cgroups"] * 78 + ["A"] * 2
    assert notes_of(tmp_path / "one.db", alike, ways[:78]) == []
    (note,) = notes_of(tmp_path / "two.db", alike, ways)
    assert note.startswith("Games were played at A and at A with cgroups: with cgroups memory is limited for all")
    shown = CliRunner().invoke(cli, ["standings", str(tmp_path / "two.db")]).stdout
    assert note in " ".join(shown.split())


def notes_of(path: Path, records: list[GameRecord], ways: list[str]) -> list[str]:
    """What a page says of games that were played in these ways."""
    with open_store(path, create=True) as store:
        store.claim()
        store.save_bots({ANNA: {}, BERT: {}})
        store.add(
            [
                Stored.of(msgspec.structs.replace(record, isolation=way))
                for record, way in zip(records, ways, strict=False)
            ]
        )
        publish_leaderboard(store, path.with_suffix(".out"))
    found: list[str] = json.loads((path.with_suffix(".out") / "standings.json").read_text())["notes"]
    return found


def test_faults_at_tables_of_several_sizes_are_told_together(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db", create=True) as store:
        store.claim()
        store.save_bots({ANNA: {}, BERT: {}, CARL: {}})
        tables = [
            (line_up, rotation) for line_up in ((ANNA, BERT), (ANNA, BERT, CARL)) for rotation in range(len(line_up))
        ]
        store.add([Stored.of(played(line_up, rotation=rotation, faults={0: 1})) for line_up, rotation in tables])
        assert faults_of(standings_of(store)) == {ANNA: 2, BERT: 2, CARL: 1}


def test_a_deal_counts_when_all_its_rotations_were_played(db: str) -> None:
    def table() -> str:
        return CliRunner().invoke(cli, ["standings", "--db", db, "--csv"]).stdout

    before = table()
    with open_store(db) as store:
        store.claim()
        store.add([Stored.of(played((ANNA, BERT, CARL), deal=3, rotation=rotation)) for rotation in range(2)])
        store.add([Stored.of(played((ANNA, BERT), deal=7))])
    assert table() == before
    with open_store(db) as store:
        store.claim()
        store.add([Stored.of(played((ANNA, BERT), deal=7, rotation=1))])
    assert table() != before
