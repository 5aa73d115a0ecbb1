"""When a table is settled: what it takes to prove an order, exactly; and how often equal bots are told apart."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.ratings.sequential.settling import BETS, Floats, Settling, SettlingRule


def rounds(*scores: tuple[float, ...], times: int = 1) -> Floats:
    return np.array(list(scores) * times)


def settled(scores: Floats, rule: SettlingRule | None = None) -> Settling:
    """After one look at these rounds."""
    settling = Settling(scores.shape[1], rule or SettlingRule())
    settling.bet(scores)
    settling.look()
    return settling


def wealth(difference: float, times: int) -> float:
    """Of the mixture, by its definition."""
    return math.fsum((1 + part * difference) ** times for part in BETS) / len(BETS)


@pytest.mark.parametrize(("bots", "difference"), [(2, 1.0), (2, 0.25), (5, 0.5)])
def test_an_order_is_proven_when_the_mean_of_the_wealths_comes_to_the_number_of_ordered_pairs_over_alpha(
    bots: int, difference: float
) -> None:
    goal = bots * (bots - 1) / 0.05
    needed = next(times for times in range(1, 1000) if wealth(difference, times) >= goal)
    scores = (0.5 + difference / 2, 0.5 - difference / 2, *[math.nan] * (bots - 2))
    assert not settled(rounds(scores, times=needed - 1)).above.any()
    above = settled(rounds(scores, times=needed)).above
    assert np.argwhere(above).tolist() == [[0, 1]]


@given(st.permutations(range(12)), st.integers(0, 2**32 - 1))
def test_the_order_of_rounds_between_two_looks_makes_no_difference(order: list[int], seed: int) -> None:
    scores = np.random.default_rng(seed).random((12, 3)) * [1, 0.6, 0.2]
    one, other = settled(scores), settled(scores[order])
    assert (one.above == other.above).all()


def test_what_was_proven_at_a_look_stays_proven() -> None:
    settling = Settling(2, SettlingRule())
    for scores in (rounds((1.0, 0.0), times=10), rounds((0.0, 1.0), times=8)):
        settling.bet(scores)
        settling.look()
    assert settling.above[0, 1] and not settling.above[1, 0]


def test_nobody_bets_on_a_bot_in_rounds_that_it_did_not_play_whole() -> None:
    scores = rounds((1.0, 0.0, math.nan), times=20)
    settling = settled(scores)
    assert settling.open_pairs() == [(0, 2), (1, 2)]


def chain(bots: int, proven: int, rule: SettlingRule) -> Settling:
    """The first `proven` bots, in order, are each proven to be above all bots after them; all others are equal."""
    settling = Settling(bots, rule)
    scores = [1.0 - 0.3 * number if number < proven else 1.0 - 0.3 * proven for number in range(bots)]
    settling.bet(rounds(tuple(scores), times=60))
    settling.look()
    assert settling.above.sum() == sum(bots - 1 - number for number in range(proven))
    return settling


@pytest.mark.parametrize(
    ("top", "proven", "left"),
    [
        (None, 2, [(2, 3)]),
        (1, 1, []),
        (1, 0, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
        (2, 2, []),
        (2, 1, [(1, 2), (1, 3), (2, 3)]),
        (3, 2, [(2, 3)]),
        (9, 2, [(2, 3)]),
    ],
)
def test_only_bots_that_may_be_among_the_first_places_have_to_be_told_apart(
    top: int | None, proven: int, left: list[tuple[int, int]]
) -> None:
    assert chain(4, proven, SettlingRule(top=top)).open_pairs() == left


def test_bots_within_the_width_of_indifference_need_no_order() -> None:
    alike = rounds((0.5, 0.5), (0.55, 0.45), (0.45, 0.55), times=150)
    assert settled(alike).open_pairs() == [(0, 1)]
    found = settled(alike, SettlingRule(indifference=0.1))
    assert found.open_pairs() == [] and not found.above.any()
    needed = next(n for n in range(1, 1000) if wealth(0.1, n) >= 40)  # where each d is 0, both gamblers win w
    assert settled(rounds((0.5, 0.5), times=needed - 1), SettlingRule(indifference=0.1)).open_pairs()
    assert not settled(rounds((0.5, 0.5), times=needed), SettlingRule(indifference=0.1)).open_pairs()


def test_who_is_left_out_counts_no_more_and_all_is_bet_anew() -> None:
    settling = Settling(3, SettlingRule())
    settling.bet(rounds((1.0, 0.9, 0.0), times=12))
    settling.look()
    settling.leave_out([2])
    assert settling.open_pairs() == [(0, 1)]
    settling.look()
    assert not settling.above[1, 0]
    settling.bet(rounds((1.0, 0.9, math.nan), times=200))
    settling.look()
    assert settling.open_pairs() == []


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_names_make_no_difference(order: tuple[int, ...]) -> None:
    scores = np.random.default_rng(3).random((40, 3)) * [1, 0.6, 0.2]
    above = settled(scores).above
    assert above.any()
    assert (settled(scores[:, order]).above == above[np.ix_(order, order)]).all()


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"alpha": 0.0}, "alpha is a probability"),
        ({"alpha": math.nan}, "alpha is a probability"),
        ({"top": 0}, "from 1 on"),
        ({"indifference": 1.0}, "from 0 to 1"),
        ({"indifference": -0.1}, "from 0 to 1"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_in_words(terms: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SettlingRule(**terms)  # type: ignore[arg-type]
