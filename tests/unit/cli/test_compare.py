"""`referee compare`: a sentence first, then where the difference comes from; legible in 80 columns; one JSON document."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from records import ANNA, BERT, CARL, played

from referee.cli.main import cli
from referee.cli.output import compare_report
from referee.ratings.pairs.comparison import compare
from referee.record import Bot
from referee.record import GameResult as Game
from referee.rules import Ending
from referee.store import Stored, open_store

OLD_BERT, DORA = Bot("bert", "0d" * 32), Bot("dora", "d4" * 32)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three bots, all pairs and all at one table, six deals; an older bert against anna; dora has not played."""
    path = tmp_path_factory.mktemp("compare") / "a.db"
    line_ups = [*combinations([ANNA, BERT, CARL], 2), (ANNA, BERT, CARL), (ANNA, OLD_BERT)]
    with open_store(path, create=True) as store:
        store.claim()
        store.save_bots({OLD_BERT: {}})
        store.save_bots({ANNA: {}, BERT: {}, CARL: {}, DORA: {}})
        store.add(
            [
                Stored.of(played(line_up, deal=deal, rotation=rotation))
                for line_up in line_ups
                for deal in range(6)
                for rotation in range(len(line_up))
            ]
        )
    return path


def run(db: Path, *words: str) -> Result:
    runner = CliRunner(env={"COLUMNS": "80", "LC_ALL": None, "LC_CTYPE": None, "LANG": None})
    return runner.invoke(cli, ["compare", *words, "--db", str(db)], catch_exceptions=False)


def games(wins: str, first: Bot = ANNA, second: Bot = BERT) -> list[Game]:
    """Deals of two games; a letter for each game: 1 where the first bot won it, 2 where the second did, = for a tie."""
    places = {"1": (1, 2), "2": (2, 1), "=": (1, 1)}
    return [
        Game(
            (first, second) if number % 2 == 0 else (second, first),
            number // 2,
            number % 2,
            Ending.EMPTIED,
            places[letter] if number % 2 == 0 else places[letter][::-1],
            (),
        )
        for number, letter in enumerate(wins)
    ]


def summary(results: list[Game], first: Bot = ANNA, second: Bot = BERT) -> str:
    (one,) = compare(results, first, second)
    return compare_report.summary(one)


def test_the_summary_says_who_stands_above_whom_and_whether_that_is_settled() -> None:
    assert summary(games("11111211111111111111")) == (
        "anna stands above bert, 0.950 to 0.050; P(anna is the stronger) = .996, and that is settled for these two."
    )
    assert summary(games("22221222222222222222")).startswith("bert stands above anna, 0.950 to 0.050; ")
    (sure,) = compare(games("1" * 80), ANNA, BERT)
    assert "; P(anna is the stronger) > .999, and that is settled" in compare_report.summary(sure)
    unsettled = summary(games("1122121211"))
    assert unsettled.startswith("anna stands above bert, 0.600 to 0.400; not settled: P(anna is the stronger) = .")
    assert "more deals to settle it (" in unsettled
    assert unsettled.endswith("in all), with a chance of 80% if the difference is as it looks.")


def test_the_summary_of_equal_bots_names_no_number_of_deals() -> None:
    said = summary(games("1212=="))
    assert said.startswith("anna and bert have the same score, 0.500 to 0.500; not settled: ")
    assert said.endswith("and they look alike, so no number of deals can be named.")


def test_what_cannot_be_said_is_not_said() -> None:
    assert summary(games("12")) == (
        "anna and bert have the same score, 0.500 to 0.500; there is too little data to say more."
    )
    never = [*games("1112", ANNA, CARL), *games("1122", BERT, DORA)]
    assert summary(never) == (
        "anna stands above bert, 0.750 to 0.500; they cannot be compared, since they never met, not even through others."
    )


def test_score_and_strength_may_disagree_and_that_is_said() -> None:
    """Anna has beaten the weak, bert has lost to the strong, and beats anna."""
    results = [
        *games("2222222122", ANNA, BERT),
        *games("11111111111111111111111111111111111111", ANNA, CARL),
        *games("22222222222222222222222222222222222212", BERT, DORA),
    ]
    said = summary(results)
    assert said.startswith("anna stands above bert, ")
    assert "; by all results together bert is the stronger; " in said


def test_the_report_of_a_database_to_the_letter(db: Path) -> None:
    lines = run(db, "anna", "bert", "--players", "2").stdout.splitlines()
    assert "\n".join(line.rstrip() for line in lines) == REPORT


REPORT = """\
2 players: bert stands above anna, 0.542 to 0.458; not settled: P(bert is the
stronger) = .675, and it would take some 640 more deals to settle it (660 in
all, 220 for each line-up), with a chance of 80% if the difference is as it
looks.
Strength of anna less that of bert: −38 Elo-like points, 95% interval −213 to
+137. Head to head anna scores 0.500 (0.079–0.921) on 6 deals.

A: anna, B: bert
against         A  games      B  games   A - B  95%                 adds
────────────────────────────────────────────────────────────────────────
each other  0.500     12  0.500     12  +0.000  −1.000 to +1.000  +0.000
carl        0.417     12  0.583     12  −0.167  −0.663 to +0.330  −0.083
all         0.458     24  0.542     24  −0.083  −0.543 to +0.376  −0.083

in seat      A  games      B  games   A - B  95%                 adds
─────────────────────────────────────────────────────────────────────
0        0.458     12  0.500     12  −0.042  −0.522 to +0.439  −0.021
1        0.458     12  0.583     12  −0.125  −0.606 to +0.356  −0.062

ended by      A  games      B  games   A - B  95%                 adds
──────────────────────────────────────────────────────────────────────
emptied   0.444     18  0.588     17  −0.144  −0.624 to +0.336  −0.104
widows    0.500      6  0.429      7  +0.071  −1.000 to +1.000  +0.021

score: share of opponents beaten, ties half; 95%: where the true difference of A
and B lies. adds: how much of the difference of all games comes from this part;
each table's parts add up to it. Many rows were looked at: one in twenty
intervals misses the truth. More: docs/reading-the-table.md."""


def test_the_document_has_the_numbers_of_the_comparison(db: Path) -> None:
    document = json.loads(run(db, "anna", "bert", "--json").stdout)
    assert [table["players"] for table in document["tables"]] == [2, 3]
    (two, three) = document["tables"]
    assert (two["first"]["name"], two["second"]["name"]) == ("anna", "bert")
    assert [part["name"] for part in three["opponents"]] == ["each other", "carl"]
    assert [part["name"] for part in three["seats"]] == ["seat 0", "seat 1", "seat 2"]
    for parts in (three["opponents"], three["seats"], three["endings"]):
        assert sum(part["adds"] for part in parts) == pytest.approx(three["whole"]["difference"], abs=1e-5)
    assert 0.001 <= two["gap"]["above"] <= 0.999


def test_only_what_is_selected_counts_and_that_is_said(db: Path) -> None:
    alone = run(db, "anna", "bert", "--exclude", "carl", "--players", "2")
    assert alone.stdout.startswith("only games among 3 of 4 bots count: anna, bert, dora\n2 players: ")
    (two,) = json.loads(run(db, "anna", "bert", "--exclude", "carl", "--json").stdout)["tables"]
    assert [part["name"] for part in two["opponents"]] == ["each other"]


def test_versions_are_told_apart_by_their_hashes(db: Path) -> None:
    done = run(db, "bert@b2", f"bert@{OLD_BERT.hash}", "--all-versions", "--players", "2")
    assert "bert b2b2b2b2" in done.stdout and "bert 0d0d0d0d" in done.stdout
    assert "They never met." in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["anna", "brt"], "referee: there is no bot 'brt' in season 1: did you mean bert?\n"),
        (["anna", "anna"], "referee: anna and anna are the same bot: name another one to compare it with\n"),
        (
            ["anna", "bert", "--exclude", "anna"],
            "referee: anna is to be compared and is not among the bots that count: ",
        ),
        (["anna", "bert", "--all-versions"], "referee: 'bert' is the name of 2 versions: say bert@0d0d0d0d or "),
        (["anna", "bert", "--rounds", "2"], "referee: there is no round 2 in "),
        (["anna"], "referee: Missing argument 'B'."),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(db: Path, words: list[str], said: str) -> None:
    done = run(db, *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(said)


def test_bots_that_never_sat_at_tables_of_one_size_are_not_compared(db: Path) -> None:
    done = run(db, "anna", "dora")
    assert (done.exit_code, done.stdout) == (
        0,
        f"anna and dora have no rated games at tables of the same size in {db}\n",
    )
    assert json.loads(run(db, "anna", "dora", "--json").stdout)["tables"] == []
