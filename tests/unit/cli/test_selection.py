"""What part of a database counts: bots by name and pattern, rounds by number, and what is said of it."""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from records import ANNA, BERT, CARL, played
from rounds import a_round, database, play

from referee.cli.main import cli
from referee.cli.options.selection import RoundsType
from referee.contest.season import Season, rated_bots
from referee.contest.selection import in_words, one_bot, select
from referee.errors import InputError
from referee.record import Bot
from referee.store import Stored, open_store

DORA, OLD_BERT = Bot("dora", "d4" * 32), Bot("bert", "0d" * 32)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four bots, all pairs and all threes, three deals; and games of an older bert with anna."""
    path = tmp_path_factory.mktemp("selection") / "a.db"
    bots = [ANNA, BERT, CARL, DORA]
    line_ups = [*combinations(bots, 2), *combinations(bots, 3), (ANNA, OLD_BERT)]
    with open_store(path, create=True) as store:
        store.claim()
        store.save_bots({OLD_BERT: {}})
        store.save_bots({bot: {} for bot in bots})
        store.add(
            [
                Stored.of(played(line_up, deal=deal, rotation=rotation))
                for line_up in line_ups
                for deal in range(3)
                for rotation in range(len(line_up))
            ]
        )
    return path


def run(db: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["standings", str(db), *words], catch_exceptions=False)


def document(db: Path, *words: str) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = json.loads(run(db, *words, "--json").stdout)
    return found


def sheet(db: Path, *words: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(run(db, *words, "--csv").stdout)))


# -- bots


def test_including_all_or_excluding_none_changes_no_number(db: Path) -> None:
    tables = document(db)["tables"]
    assert document(db, "--include", "*")["tables"] == tables
    assert document(db, "--include", "anna,bert", "--include", "[cd]*")["tables"] == tables


def test_only_games_among_those_that_are_kept_count(db: Path) -> None:
    kept = document(db, "--exclude", "d*")
    assert kept["tables"] == document(db, "--include", "anna,bert,carl")["tables"]
    assert [(table["players"], table["games"]) for table in kept["tables"]] == [(2, 18), (3, 9)]
    assert kept["notes"] == ["only games among 3 of 4 bots count: anna, bert, carl"]
    assert run(db, "--exclude", "d*").stdout.splitlines()[0] == kept["notes"][0]
    assert run(db, "--exclude", "d*", "--csv").stderr == f"{kept['notes'][0]}\n"
    assert {row["name"] for row in sheet(db, "--exclude", "d*")} == {"anna", "bert", "carl"}


def test_include_and_exclude_together_leave_those_of_the_first_that_are_not_of_the_second(db: Path) -> None:
    found = document(db, "--include", "[abc]*", "--exclude", "b*")
    assert found["notes"] == ["only games among 2 of 4 bots count: anna, carl"]
    assert [table["games"] for table in found["tables"]] == [6]


def test_versions_are_named_by_their_hashes(db: Path) -> None:
    found = document(db, "--all-versions", "--include", f"anna,bert@{OLD_BERT.hash[:4]}")
    assert {(row["name"], row["hash"]) for row in found["tables"][0]["rows"]} == {  # type: ignore[attr-defined]
        (ANNA.name, ANNA.hash),
        (OLD_BERT.name, OLD_BERT.hash),
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--include", "ana"], "referee: there is no bot 'ana' in season 1: did you mean anna?\n"),
        (["--exclude", "x"], "referee: there is no bot 'x' in season 1: there are anna, bert, carl, dora\n"),
        (["--include", "anna@ff"], "referee: there is no bot 'anna@ff' in season 1: did you mean anna?\n"),
        (["--exclude", "[bcd]*"], "referee: only anna is left of those of "),
        (["--exclude", "*"], "referee: no bot is left of those of "),
        (["--rounds", "1"], "referee: there is no round 1 in "),
        (["--rounds", "3-1"], "referee: Invalid value for '--rounds': '3-1' is no round and no span of them: "),
        (["--rounds", "0"], "referee: Invalid value for '--rounds': '0' is no round and no span of them: "),
        (["--players", "7"], "referee: Invalid value for '--players': '7' is no number of players: "),
        (["--sort", "luck"], "referee: Invalid value for '--sort': 'luck' is not one of "),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(db: Path, words: list[str], said: str) -> None:
    done = run(db, *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert len(done.stderr.splitlines()) <= 2


def test_a_bot_is_meant_by_its_name_and_not_by_a_pattern(db: Path) -> None:
    with open_store(db) as store:
        season = Season(store)
        assert one_bot(store, season, "bert") == BERT
        assert one_bot(store, season, f"bert@{OLD_BERT.hash}", all_versions=True) == OLD_BERT
        with pytest.raises(InputError, match="'bert' is the name of 2 versions: say bert@0d0d0d0d or bert@b2b2b2b2"):
            one_bot(store, season, "bert", all_versions=True)
        with pytest.raises(InputError, match=r"there is no bot 'b\*' in season 1"):
            one_bot(store, season, "b*")


# -- rounds


def test_rounds_are_spans_joined_where_they_touch() -> None:
    rounds = RoundsType()
    assert rounds.convert("5,1-3", None, None) == ((1, 3), (5, 5))
    assert rounds.convert("3,1-2,4", None, None) == ((1, 4),)
    assert in_words(((1, 3), (5, 5), (7, 8))) == "1 to 3, 5 and 7 to 8"


def test_only_games_of_the_rounds_that_are_named_count(tmp_path: Path) -> None:
    with database(tmp_path / "a.db", a_round()) as store:
        play(store)
    path = tmp_path / "a.db"
    assert document(path, "--rounds", "1")["tables"] == document(path)["tables"]
    assert document(path, "--rounds", "1")["notes"] == ["only games of round 1 count"]
    done = run(path, "--rounds", "1-2")
    assert (done.exit_code, done.stderr) == (2, f"referee: there is no round 2 in {path}: season 1 has 1\n")


# -- sizes, order, pools, seats


def test_only_tables_of_those_sizes_are_shown(db: Path) -> None:
    everything = document(db)
    assert document(db, "--players", "3")["tables"] == everything["tables"][1:]
    assert run(db, "--players", "5").stdout == f"there are no rated games with 5 players of season 1 in {db}\n"


def test_rows_can_be_sorted_and_ranks_and_pairs_go_with_them(db: Path) -> None:
    (by_score,) = document(db, "--players", "2")["tables"]
    (by_name,) = document(db, "--players", "2", "--sort", "name")["tables"]
    rows, named = by_score["rows"], by_name["rows"]
    assert isinstance(rows, list) and isinstance(named, list)
    assert [row["name"] for row in named] == ["anna", "bert", "carl", "dora"]
    assert sorted(rows, key=lambda row: str(row["name"])) == named

    def pairs(table: dict[str, object]) -> dict[tuple[str, str], tuple[float, float, float, float]]:
        found = {}
        lines, of_rows = table["pairs"], table["rows"]
        assert isinstance(lines, list) and isinstance(of_rows, list)
        for pair in lines:
            assert pair["first"] < pair["second"]
            one, other = (of_rows[pair[at]]["name"] for at in ("first", "second"))
            numbers = (pair["difference"], pair["low"], pair["high"], pair["above"])
            if one > other:
                one, other = other, one
                numbers = (-numbers[0], -numbers[2], -numbers[1], round(1 - numbers[3], 4))
            found[one, other] = numbers
        return found

    assert pairs(by_score) == pairs(by_name)
    assert [row["name"] for row in sheet(db, "--players", "2", "--sort", "name")] == ["anna", "bert", "carl", "dora"]


@pytest.mark.parametrize("order", ["score", "strength", "trueskill", "games", "faults"])
def test_best_or_most_comes_first(db: Path, order: str) -> None:
    column = {"strength": "elo", "trueskill": "rating"}.get(order, order)
    values = [float(row[column]) for row in sheet(db, "--players", "3", "--sort", order)]
    assert values == sorted(values, reverse=True)


def test_scores_by_seat_are_shown_where_they_are_asked_for(db: Path) -> None:
    assert "scores by seat" not in run(db).stdout
    assert run(db, "--by-seat").stdout.count("scores by seat") == 2


def test_the_selection_does_not_hang_on_who_is_asked(db: Path) -> None:
    with open_store(db) as store:
        season = Season(store)
        kept = select(store, season, exclude=["dora"])
        assert kept.bots == frozenset({ANNA, BERT, CARL})
        assert rated_bots(store, season) == frozenset({ANNA, BERT, CARL, DORA})


def test_the_order_in_which_games_were_saved_changes_nothing(db: Path, tmp_path: Path) -> None:
    with open_store(db) as store:
        records = list(store.records())
        bots = store.bots()
    with open_store(tmp_path / "b.db", create=True) as store:
        store.claim()
        store.save_bots({OLD_BERT: {}})
        store.save_bots({bot: {} for bot in bots if bot != OLD_BERT})
        for record in reversed(records):
            store.add([Stored.of(record)])
    words = ("--exclude", "dora", "--sort", "strength")
    assert run(tmp_path / "b.db", *words, "--json").stdout == run(db, *words, "--json").stdout
    assert run(tmp_path / "b.db", *words).stdout == run(db, *words).stdout
