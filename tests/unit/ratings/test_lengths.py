"""How long a league has to be: against printed tables, against games that are drawn, and what follows from what."""

from __future__ import annotations

from itertools import combinations
from math import comb, sqrt
from random import Random
from statistics import NormalDist

import numpy as np
import pytest

from referee.ratings.scores.scores import half_points
from referee.ratings.sequential.betting import deal_variance
from referee.ratings.sequential.lengths import critical, difference_variance, plan, variance_of


@pytest.mark.parametrize(
    ("bots", "alpha", "quantile"), [(3, 0.05, 3.314), (6, 0.05, 4.030), (10, 0.05, 4.474), (4, 0.01, 4.403)]
)
def test_the_bound_for_all_pairs_is_tukeys_as_printed(bots: int, alpha: float, quantile: float) -> None:
    """Upper points of the studentized range for infinitely many degrees of freedom, over the square root of 2."""
    assert critical(bots, alpha) == pytest.approx(quantile / sqrt(2), abs=5e-4)


def test_two_bots_have_the_normal_bound() -> None:
    assert critical(2, 0.05) == pytest.approx(1.959964, abs=1e-6)


@pytest.mark.parametrize(("bots", "players"), [(2, 2), (5, 2), (5, 3), (4, 4), (6, 4)])
def test_the_variance_of_a_difference_is_that_of_drawn_places(bots: int, players: int) -> None:
    """Each line-up plays one game; any order of its players is as likely."""
    dice, differences = Random(1), []
    line_ups = list(combinations(range(bots), players))
    each = comb(bots - 1, players - 1)
    for _ in range(4000):
        scores = [0.0] * bots
        for line_up in line_ups:
            places = tuple(dice.sample(range(1, players + 1), players))
            for bot, points in zip(line_up, half_points(places), strict=True):
                scores[bot] += points / (2 * (players - 1) * each)
        differences.append(scores[0] - scores[1])
    variance = (players + 1) / (12 * (players - 1))
    assert np.var(differences) == pytest.approx(difference_variance(bots, players, variance), rel=0.1)


@pytest.mark.parametrize(("power", "bots"), [(0.8, 2), (0.5, 2), (0.9, 5)])
def test_a_league_of_this_length_finds_the_difference_as_often_as_planned(power: float, bots: int) -> None:
    found = plan(0.1, 2, bots, power=power, alpha=0.05)
    error = sqrt(difference_variance(bots, 2, deal_variance(2)) / found.deals)
    differences = np.random.default_rng(1).normal(0.1, error, 20_000)
    assert np.mean(differences > found.bound * error) == pytest.approx(power, abs=0.02)


def test_the_fixed_length_of_the_duels_page_is_that_of_a_difference_of_four_hundredths() -> None:
    """One sided at .05 with power .95: .52 against .48 by head to head scores takes 3,382 deals."""
    reach = 2 * NormalDist().inv_cdf(0.95)
    assert reach**2 * difference_variance(2, 2, 0.125) / 0.04**2 == pytest.approx(3382, abs=1)
    assert plan(0.04, 2, 2, power=0.95, alpha=0.1).deals == 3382


def test_counts_belong_together() -> None:
    one, half = (plan(difference, 4, 8, power=0.8, alpha=0.05) for difference in (0.02, 0.01))
    assert one.line_ups == comb(8, 4) and one.games == one.deals * one.line_ups * 4
    assert half.deals == pytest.approx(4 * one.deals, abs=4)


def test_a_variance_is_taken_within_line_ups() -> None:
    found = variance_of([("a", 0.0), ("a", 1.0), ("b", 5.0), ("b", 5.0), ("c", 9.0)])
    assert found == (0.25, 2)
    assert variance_of([("a", 0.0), ("b", 1.0)]) is None
