"""The test of a duel: what it may never do, what it makes of given deals, and how often it is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.ratings.sequential.betting import (
    BettingTest,
    DuelHypotheses,
    DuelVerdict,
    deal_variance,
    expected_score,
    log_factors,
)

PLAYERS = range(2, 7)
DEFAULT = DuelHypotheses()


@st.composite
def questions(draw: st.DrawFn) -> DuelHypotheses:
    low = draw(st.floats(0.001, 0.998))
    errors = st.floats(1e-6, 0.5)
    return DuelHypotheses(low, draw(st.floats(low + 1e-6, 0.999)), draw(errors), draw(errors))


def after(half_points: Sequence[int], question: DuelHypotheses = DEFAULT, players: int = 2) -> BettingTest:
    test = BettingTest(question, players)
    for deal in half_points:
        test.add(deal)
    return test


def deals_until_verdict(half_points: int, question: DuelHypotheses = DEFAULT) -> tuple[DuelVerdict, int]:
    """The verdict where every deal is the same."""
    test = BettingTest(question, 2)
    while (verdict := test.add(half_points)) is None:
        pass
    return verdict, test.deals


@given(question=questions(), players=st.sampled_from(PLAYERS))
@settings(deadline=None)
def test_no_deal_takes_more_than_half_of_a_wealth(question: DuelHypotheses, players: int) -> None:
    for factors in log_factors(question, players):
        assert all(math.exp(factor) >= 0.5 - 1e-12 for factor in factors)


@given(question=questions(), players=st.sampled_from(PLAYERS))
@settings(deadline=None)
def test_a_bet_against_the_truth_is_a_fair_game_whatever_the_scores(question: DuelHypotheses, players: int) -> None:
    """Every distribution with a given mean is a mixture of such on two scores: so these are all that need be tried."""
    most = 2 * players * (players - 1)
    scores = [half_points / most for half_points in range(most + 1)]
    for mean, factors in zip((question.s0, question.s1), log_factors(question, players), strict=True):
        for low, high in product(range(most + 1), repeat=2):
            if scores[low] < mean < scores[high]:
                share = (mean - scores[low]) / (scores[high] - scores[low])
                expected = (1 - share) * math.exp(factors[low]) + share * math.exp(factors[high])
                assert expected == pytest.approx(1, abs=1e-12)


def test_wealth_is_as_the_page_defines_it() -> None:
    """l = .02 / .125 = .16, for scores of 1, .5 and .25."""
    test = after([4, 2, 1])
    assert math.exp(test.log_better) == pytest.approx((1 + 0.16 * 0.5) * 1 * (1 - 0.16 * 0.25), rel=1e-14)
    assert math.exp(test.log_not_better) == pytest.approx(
        (1 - 0.16 * 0.48) * (1 + 0.16 * 0.02) * (1 + 0.16 * 0.27), rel=1e-14
    )
    assert (test.deals, test.score) == (3, 7 / 12)


def test_only_wins_are_better_after_39_deals_and_only_losses_not_better_after_38() -> None:
    """1.08**39 = 20.1, 1.0832**38 = 20.8."""
    assert deals_until_verdict(4) == (DuelVerdict.BETTER, 39)
    assert deals_until_verdict(0) == (DuelVerdict.NOT_BETTER, 38)


def test_a_threshold_is_that_of_its_own_error() -> None:
    assert deals_until_verdict(4, DuelHypotheses(alpha=0.01)) == (DuelVerdict.BETTER, 60)
    assert deals_until_verdict(0, DuelHypotheses(alpha=0.01)) == (DuelVerdict.NOT_BETTER, 38)
    assert deals_until_verdict(0, DuelHypotheses(beta=0.01)) == (DuelVerdict.NOT_BETTER, 58)


def test_deals_that_are_all_even_are_not_better_in_the_end() -> None:
    """1.0032**938 = 20.02."""
    assert deals_until_verdict(2) == (DuelVerdict.NOT_BETTER, 938)


def test_where_both_gamblers_are_rich_at_once_it_is_better() -> None:
    assert deals_until_verdict(2, DuelHypotheses(0.49, 0.51))[0] is DuelVerdict.BETTER


@given(deals=st.lists(st.integers(0, 12)), seed=st.integers())
@settings(deadline=None)
def test_the_order_of_the_deals_changes_no_bit(deals: list[int], seed: int) -> None:
    shuffled = Random(seed).sample(deals, len(deals))
    one, other = after(deals, players=3), after(shuffled, players=3)
    assert (one.log_better, one.log_not_better, one.score) == (other.log_better, other.log_not_better, other.score)


@given(question=questions(), deals=st.lists(st.integers(0, 4), max_size=30))
@settings(deadline=None)
def test_seen_from_the_other_side_the_gamblers_change_places(question: DuelHypotheses, deals: list[int]) -> None:
    mirrored = DuelHypotheses(1 - question.s1, 1 - question.s0, question.beta, question.alpha)
    one, other = after(deals, question), after([4 - deal for deal in deals], mirrored)
    assert one.log_better == pytest.approx(other.log_not_better, rel=1e-6, abs=1e-9)
    assert one.log_not_better == pytest.approx(other.log_better, rel=1e-6, abs=1e-9)


def test_a_test_without_deals_has_no_score_and_no_verdict() -> None:
    test = BettingTest(DEFAULT, 4)
    assert (test.score, test.verdict, test.log_better, test.deals, len(test.counts)) == (None, None, 0, 0, 25)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((0.52, 0.50), "s0 is to be below s1, and both between 0 and 1, not 0.52 and 0.5"),
        ((0.5, 0.5), "s0 is to be below s1"),
        ((0.0, 0.5), "between 0 and 1"),
        ((0.5, 1.0), "between 0 and 1"),
        ((math.nan, 0.5), "between 0 and 1"),
        ((0.5, 0.52, 0.0), "alpha is a probability above 0, and .5 at most, not 0"),
        ((0.5, 0.52, 0.05, 0.6), "beta is a probability"),
        ((0.5, 0.52, 0.05, math.nan), "beta is a probability"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(values: tuple[float, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        DuelHypotheses(*values)


def test_elo_points_are_logistic() -> None:
    assert expected_score(0) == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)
    assert expected_score(-35) == pytest.approx(1 - expected_score(35))
    assert expected_score(13.9) == pytest.approx(0.52, abs=1e-4)


def test_bets_are_made_for_the_variance_of_equal_players() -> None:
    """Of two, each game a toss of a coin: 1/4, and half of it in the mean of a deal's two games."""
    assert deal_variance(2) == 0.125
    places = [[place / 3 for place in range(4)]]  # four players without ties: a score of 0, 1/3, 2/3 or 1
    mean = sum(places[0]) / 4
    variance = sum((score - mean) ** 2 for score in places[0]) / 4
    assert deal_variance(4) == pytest.approx(0.75 * variance / 4)
