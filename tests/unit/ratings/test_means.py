"""Intervals of scores, whole and by seat, against definitions; and what is published of strengths and pairs."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.ratings import Row, rate
from referee.ratings.data.games import collect
from referee.ratings.maths.student import quantile, quantiles
from referee.ratings.scores.means import chernoff
from referee.ratings.scores.scores import half_points
from referee.ratings.scores.tallies import tally
from referee.ratings.strength.ranks import groups, letters, rank_intervals
from referee.record import Bot, GameResult
from referee.rules import Ending

BOTS = tuple(Bot(name, name[:1] * 64) for name in ("anna", "bert", "carl", "dora", "emil"))
ANNA, BERT, CARL, DORA, EMIL = BOTS


def game(
    seats: tuple[Bot, ...], places: tuple[int, ...], deal: int, rotation: int = 0, faults: tuple[int, ...] = ()
) -> GameResult:
    return GameResult(seats, deal, rotation, Ending.EMPTIED, places, faults)


def league(seed: int, players: int, deals: int) -> list[GameResult]:
    """Some games lack, some rate nobody, some bots sit twice."""
    dice = random.Random(seed)
    results = []
    for line_up in [*combinations(BOTS, players), (ANNA,) * players]:
        for deal in range(deals):
            for rotation in range(players):
                left = [dice.randrange(4) for _ in line_up]
                places = tuple(1 + sum(other < mine for other in left) for mine in left)
                faults = tuple(range(players)) if dice.random() < 0.1 else ()
                if dice.random() < 0.9:
                    results.append(game(line_up[rotation:] + line_up[:rotation], places, deal, rotation, faults))
    return results


@pytest.mark.parametrize("players", [2, 3, 4])
def test_scores_by_seat_are_those_of_the_games_in_that_seat(players: int) -> None:
    results = league(players, players, 4)
    rated = [one for one in results if not one.forfeited and len(set(one.seats)) == players]
    (games,) = collect(results)
    found = tally(games)
    assert (found.games, found.unrated) == (len(results), len(results) - len(rated))
    assert found.deals == len({(one.line_up, one.deal) for one in results})
    for bot, counts in zip(games.bots, found.bots, strict=True):
        for seat, mean in [(None, counts.score), *enumerate(counts.seats)]:
            deals: defaultdict[object, list[int]] = defaultdict(list)
            for one in rated:
                if bot in one.seats and seat in (None, one.seats.index(bot)):
                    deals[one.line_up, one.deal].append(half_points(one.places)[one.seats.index(bot)])
            played = sum(map(len, deals.values()))
            assert (mean.deals, mean.games) == (len(deals), played)
            score = sum(map(sum, deals.values())) / played
            assert mean.score() == pytest.approx(score / (2 * (players - 1)))
            rest = [sum(points) - len(points) * score for points in deals.values()]
            squares, fourths = math.fsum(r**2 for r in rest), math.fsum(r**4 for r in rest)
            error = math.sqrt(squares * len(rest) / (len(rest) - 1)) / played / (2 * (players - 1))
            assert mean.error() == pytest.approx(error)
            freedom = mean.freedom()
            assert freedom == pytest.approx(squares**2 / fourths - 1)
            low, high = mean.interval()  # type: ignore[misc]
            bounds = chernoff(mean.score() or 0, played / max(map(len, deals.values())))
            if freedom >= 1:
                assert low == pytest.approx(max(bounds[0], (mean.score() or 0) - quantile(0.025, freedom) * error))
                assert high == pytest.approx(min(bounds[1], (mean.score() or 0) + quantile(0.025, freedom) * error))
            else:
                assert (low, high) == pytest.approx(bounds)


def test_chernoffs_ends_are_those_of_the_closed_forms() -> None:
    assert chernoff(1.0, 50) == (pytest.approx(0.025 ** (1 / 50)), 1.0)
    assert chernoff(0.0, 7) == (0.0, pytest.approx(1 - 0.025 ** (1 / 7)))
    low, high = chernoff(0.5, 20)
    assert 4 * low * (1 - low) == pytest.approx(0.025 ** (2 / 20))
    assert low + high == pytest.approx(1)


def row_of(results: list[GameResult], bot: Bot) -> Row:
    (table,) = rate(results).tables
    return next(row for row in table.rows if row.bot == bot)


def test_only_wins_do_not_prove_that_nothing_will_be_lost() -> None:
    row = row_of([game((ANNA, BERT), (1, 2), deal) for deal in range(50)], ANNA)
    assert (row.score, row.score_error, row.score_freedom) == (1.0, 0.0, 49.0)
    assert (row.score_low, row.score_high) == (pytest.approx(0.025 ** (1 / 50), abs=1e-6), 1.0)


def test_one_game_not_won_of_many_leaves_an_interval() -> None:
    row = row_of([game((ANNA, BERT), (1, 2) if deal else (2, 1), deal) for deal in range(200)], ANNA)
    assert row.score_low is not None and row.score_high is not None
    assert 0.95 < row.score_low < 0.995 < row.score_high < 1


def test_one_deal_is_too_little_data_for_any_interval() -> None:
    results = [game((ANNA, BERT), (1, 2), 0), game((BERT, ANNA), (2, 1), 0, 1)]
    row = row_of(results, ANNA)
    assert (row.score_error, row.score_freedom, row.score_low, row.score_high) == (None,) * 4
    assert row.strength is not None
    assert (row.strength.logits_low, row.strength.elo_high) == (None, None)
    assert (row.strength.rank_low, row.strength.rank_high, row.strength.groups) == (1, 2, ("a",))
    assert rate(results).tables[0].pairs == ()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([(1, 2), (2, 1), (1, 1)])), min_size=1, max_size=12))
def test_scores_lie_in_their_intervals_and_those_between_0_and_1(entries: list[tuple[int, tuple[int, int]]]) -> None:
    (table,) = rate(game((ANNA, BERT), places, deal, n) for n, (deal, places) in enumerate(entries)).tables
    for row in table.rows:
        assert row.strength is not None
        assert (row.score_low is None) == (row.deals < 2) == (row.strength.logits_low is None)
        for part in (row, *row.seats):
            if part.score_low is not None and part.score is not None and part.score_high is not None:
                assert 0 <= part.score_low <= part.score <= part.score_high <= 1


# -- pairs, ranks, groups


def test_pairs_stand_in_the_order_of_the_rows() -> None:
    (table,) = rate(league(9, 3, 6)).tables
    places = [(pair.first, pair.second) for pair in table.pairs]
    assert places == list(combinations(range(len(table.rows)), 2))
    for pair in table.pairs:
        one, other = (table.rows[at].strength for at in (pair.first, pair.second))
        assert one is not None and other is not None
        assert pair.difference == pytest.approx(one.logits - other.logits, abs=2e-6)
        assert pair.low < pair.difference < pair.high
        assert (pair.above > 0.5) == (pair.difference > 0)
        assert 0.001 <= pair.above <= 0.999
        assert (pair.above > 0.975) == (pair.low > 0)
        assert one.elo == pytest.approx(one.logits * 173.7178, abs=1e-2)


def test_what_is_apart_shows_in_ranks_and_groups() -> None:
    results = [
        game((one, other), (1, 2) if deal % 10 < wins else (2, 1), deal)
        for one, other, wins in [(ANNA, BERT, 5), (ANNA, CARL, 9), (BERT, CARL, 9)]
        for deal in range(100)
    ]
    (table,) = rate(results).tables
    said = {row.bot.name: row.strength for row in table.rows}
    assert {(one.rank_low, one.rank_high, one.groups) for one in said.values() if one} == {
        (1, 2, ("a",)),
        (3, 3, ("b",)),
    }
    assert [pair.apart for pair in table.pairs] == [False, True, True]


def test_groups_overlap_where_neighbours_are_not_apart_and_others_are() -> None:
    import numpy as np

    apart = np.zeros((4, 4), bool)
    for one, other in [(0, 2), (0, 3), (1, 3)]:
        apart[one, other] = apart[other, one] = True
    assert groups(apart) == [(0,), (0, 1), (1, 2), (2,)]
    assert groups(np.ones((3, 3), bool) & ~np.eye(3, dtype=bool)) == [(0,), (1,), (2,)]
    assert groups(np.zeros((3, 3), bool)) == [(0,)] * 3
    assert rank_intervals(np.triu(apart)) == [(1, 2), (1, 3), (2, 4), (3, 4)]
    assert [letters(number) for number in (0, 25, 26, 27, 701, 702)] == ["a", "z", "aa", "ab", "zz", "aaa"]


def test_many_quantiles_are_those_of_one_by_one() -> None:
    import numpy as np

    freedoms = [1.0, 1.5, 2.0, 3.7, 10.0, 123.0, 4567.0, 1e6, 1e9]
    for tail in 0.025, 1e-3, 1e-6:
        one_by_one = [quantile(tail, freedom) for freedom in freedoms]
        assert quantiles(tail, np.array(freedoms)) == pytest.approx(one_by_one, rel=1e-6)
    assert quantiles(0.025, np.array(freedoms)) == pytest.approx([quantile(0.025, one) for one in freedoms], rel=1e-8)
