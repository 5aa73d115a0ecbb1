"""Intervals hold the truth as often as they say, in tournaments under the real rules; and spoilt ones do not.

Short versions, with fixed seeds, of what `benchmarks/acceptance.py` does at length.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from bank import EQUAL, GRADED, OTHERS, Bank, bank
from covered import as_if_independent, coverage, equal_bots, evenly, tournaments, truth, unequally, wrongly_apart

GAMES = {2: 6_000, 6: 6_000}


@cache
def graded(players: int) -> Bank:
    return bank("tests", GRADED, players, GAMES[players], folder=None)


@pytest.mark.parametrize(("players", "deals"), [(2, 45), (6, 20), (6, 40)])
def test_intervals_of_differences_hold_the_truth(players: int, deals: int) -> None:
    known = graded(players)
    share = coverage(tournaments(known, evenly(len(known.line_ups), deals), 300, 1), truth(known))
    assert 0.935 <= share.mean <= 0.985
    assert share.worst >= 0.91


def test_line_ups_with_few_deals_beside_others_with_many_make_no_interval_too_long_or_short() -> None:
    """They weigh alike, so that errors rest on a few deals among hundreds."""
    known = bank("tests", OTHERS, 5, 6_000, folder=None)
    share = coverage(tournaments(known, unequally(len(known.line_ups)), 400, 1), truth(known))
    assert 0.935 <= share.mean <= 0.97
    assert share.worst >= 0.91


def test_errors_for_which_the_pairs_of_a_game_are_independent_do_not() -> None:
    share = coverage(tournaments(graded(6), evenly(1, 40), 300, 1), truth(graded(6)), as_if_independent)
    assert share.mean < 0.92


def test_equal_bots_are_not_ranked_apart_and_by_single_intervals_they_are() -> None:
    copies = bank("tests", EQUAL, 2, 2_400, folder=None)
    ranked, singly = wrongly_apart(equal_bots(copies, 10, 10, 100, 1), 10)
    assert np.mean(ranked) <= 0.08
    assert np.mean(singly) > 0.4
