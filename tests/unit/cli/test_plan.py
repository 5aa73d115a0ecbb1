"""`referee plan` as an organiser uses it, and the table of its page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import ROOT
from leagues import League
from rounds import ADA, BOB, a_round, database, play

from referee.cli.main import cli
from referee.contest.deal_scores import deal_scores
from referee.ratings.sequential.lengths import variance_of

PAGE = (ROOT / "docs" / "how-many-deals.md").read_text("utf-8")


def plan(*words: str, status: int = 0) -> str:
    done = CliRunner().invoke(cli, ["plan", *words], env={"COLUMNS": "110"})
    assert done.exit_code == status, done.output
    return done.output


def test_the_table_of_the_page_is_what_the_command_prints() -> None:
    block = re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]
    shown = re.findall(r"^\$ referee plan(.*)\n((?:(?!\$).*\n)+)", block, re.MULTILINE)
    assert len(shown) == 2
    for words, told in shown:
        assert plan(*words.split()).split() == told.split()


def test_json_has_what_the_table_has() -> None:
    found = json.loads(plan("--difference", "0.02", "--players", "2,3", "--bots", "6", "--json"))
    assert [(one["players"], one["bots"], one["line_ups"]) for one in found["plans"]] == [(2, 6, 15), (3, 6, 20)]
    assert all(one["games"] == one["deals"] * one["line_ups"] * one["players"] for one in found["plans"])
    assert (found["power"], found["alpha"], list(found["variances"])) == (0.8, 0.05, ["2", "3"])
    more = json.loads(plan("--difference", "0.02", "--players", "2,3", "--bots", "6", "--json", "--power", "0.9"))
    assert all(a["deals"] < b["deals"] for a, b in zip(found["plans"], more["plans"], strict=True))


def test_the_variance_of_a_deal_is_that_of_the_databases_games(tmp_path: Path) -> None:
    one = a_round(deals=20)
    with database(tmp_path / "x.db", one) as store:
        play(store)
        results = list(store.results(2))
    found = json.loads(plan("--difference", "0.1", "--db", str(tmp_path / "x.db"), "--json"))
    points: dict[tuple[object, int], list[int]] = {}
    for result in results:
        first = result.line_up[0]
        place, other = sorted(zip(result.seats, result.places, strict=True), key=lambda pair: pair[0] != first)
        points.setdefault((result.line_up, result.deal), []).append((place[1] < other[1]) * 2 + (place[1] == other[1]))
    within = variance_of((key[0], sum(halves) / 4) for key, halves in points.items())
    assert within is not None
    assert found["plans"][0]["variance"] == pytest.approx(within[0], abs=1e-6)


def test_deals_of_a_known_luck_have_that_variance() -> None:
    """Without the luck of cards rotations are independent games between equals."""
    import numpy as np

    league = League(players=2, strengths=[0.0, 0.0], deals=4000, cards=0.0, step=1e-9)
    found = variance_of(deal_scores(iter(league.results(np.random.default_rng(1)))))
    assert found is not None and found[0] == pytest.approx(0.125, rel=0.05)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--difference", "0"), "0.0 is not in the range"),
        (("--difference", "nan"), "--difference is a number"),
        (("--power", "1"), "1.0 is not in the range"),
        (("--bots", "3", "--players", "2,4"), "--bots 3 are too few for tables of 4"),
        (("--players", "7"), "'7' is no number of players"),
        (("--db", "nowhere.db"), "nowhere.db"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(words: tuple[str, ...], why: str) -> None:
    said = plan(*words, status=2)
    (line,) = [line for line in said.splitlines() if line and not line.startswith("Try ")]
    assert why in line


def test_a_database_without_two_deals_of_a_line_up_says_so(tmp_path: Path) -> None:
    with database(tmp_path / "x.db", a_round(deals=1), bots=[ADA, BOB]):
        pass
    assert "no two deals" in plan("--db", str(tmp_path / "x.db"), status=2)
