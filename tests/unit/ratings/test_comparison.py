"""Two bots compared: exact values of a few games, parts that add up, and the numbers that the table has too."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from leagues import League

from referee.ratings import rate
from referee.ratings.maths.student import quantile
from referee.ratings.pairs.comparison import EACH_OTHER, OTHERS, Comparison, ComparisonPart, Gap, compare, deals_needed
from referee.ratings.pairs.encounters import OTHERS_FAULT, OWN_FAULT
from referee.record import Bot, GameResult
from referee.rules import Ending

ANNA, BERT, CARL, DORA = (Bot(name, name[0] * 64) for name in ("anna", "bert", "carl", "dora"))


def game(
    first: Bot,
    second: Bot,
    deal: int,
    places: tuple[int, int],
    rotation: int = 0,
    reason: Ending = Ending.EMPTIED,
    faulty: tuple[int, ...] = (),
) -> GameResult:
    return GameResult((first, second), deal, rotation, reason, places, faulty)


FEW = [
    game(ANNA, BERT, 0, (1, 2)),
    game(BERT, ANNA, 0, (1, 1), 1),
    game(ANNA, BERT, 1, (1, 2), reason=Ending.WIDOWS),
    game(BERT, ANNA, 1, (1, 2), 1),
    game(ANNA, CARL, 0, (1, 2)),
    game(CARL, ANNA, 0, (2, 1), 1, Ending.FORFEIT, (0,)),
    game(ANNA, CARL, 1, (1, 2)),
    game(CARL, ANNA, 1, (1, 2), 1),
    game(BERT, CARL, 0, (2, 1), reason=Ending.FORFEIT, faulty=(0,)),
    game(CARL, BERT, 0, (2, 1), 1),
    game(BERT, DORA, 0, (1, 2)),
    game(DORA, BERT, 0, (1, 2), 1),
]


def league(players: int, bots: int = 5, deals: int = 8, seed: int = 1) -> list[GameResult]:
    made = League(players=players, strengths=list(np.linspace(-0.4, 0.4, bots)), deals=deals)
    return made.results(np.random.default_rng(seed))


def part(parts: tuple[ComparisonPart, ...], name: str) -> ComparisonPart:
    (found,) = (one for one in parts if one.name == name)
    return found


def test_every_number_of_a_few_games_is_what_it_is_by_hand() -> None:
    (one,) = compare(FEW, ANNA, BERT)
    assert (one.players, one.deals, one.line_ups) == (2, 6, 4)
    assert (one.whole.first.games, one.whole.second.games) == (8, 8)
    assert (one.whole.first.score, one.whole.second.score) == (5.5 / 8, 3.5 / 8)
    assert one.whole.difference == one.whole.adds == 0.25
    assert [(each.name, each.first.score, each.second.score, each.difference) for each in one.opponents] == [
        (EACH_OTHER, 2.5 / 4, 1.5 / 4, 0.25),
        ("carl", 0.75, 0.5, 0.25),
        (OTHERS, None, 0.5, None),
    ]
    assert [each.adds for each in one.opponents] == [(0.5 + 0.5) / 8, (1 - 0) / 8, 0]
    assert [(each.name, each.first.games, each.second.games) for each in one.endings] == [
        ("emptied", 6, 6),
        ("widows", 1, 1),
        (OWN_FAULT, 0, 1),
        (OTHERS_FAULT, 1, 0),
    ]
    assert part(one.endings, OTHERS_FAULT).adds == part(one.endings, OWN_FAULT).adds == 0.5 / 8
    assert [(each.name, each.first.score, each.second.score) for each in one.seats] == [
        ("seat 0", 1.0, 2.5 / 4),
        ("seat 1", 1.5 / 4, 1 / 4),
    ]


def test_the_interval_of_a_difference_is_that_of_its_formula() -> None:
    """Anna against carl has the deals (2, 1) half points over 2 games each, bert against him those of (2)."""
    games = [*league(2, bots=4, deals=5, seed=3)]
    one, other = Bot("b001", f"{1:064x}"), Bot("b003", f"{3:064x}")
    (found,) = compare(games, one, other)
    for opponent in (each for each in found.opponents if each.bot):
        parts = []
        for bot, sign in ((one, 1), (other, -1)):
            deals: dict[int, list[float]] = {}
            for result in games:
                if set(result.seats) == {bot, opponent.bot}:
                    mine = result.places[result.seats.index(bot)]
                    deals.setdefault(result.deal, []).append(
                        1.0 * (mine < max(result.places)) + 0.5 * (len(set(result.places)) == 1)
                    )
            mean = sum(map(sum, deals.values())) / sum(map(len, deals.values()))
            parts += [sign * sum(value - mean for value in values) / 10 for values in deals.values()]
        error = math.sqrt(sum(each**2 for each in parts) * 10 / 9)
        freedom = sum(each**2 for each in parts) ** 2 / sum(each**4 for each in parts) - 1
        assert opponent.difference is not None and opponent.low is not None and opponent.high is not None
        reach = quantile(0.025, freedom) * error
        assert opponent.low == pytest.approx(max(opponent.difference - reach, -1), abs=2e-6)
        assert opponent.high == pytest.approx(min(opponent.difference + reach, 1), abs=2e-6)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_scores_and_strengths_are_those_of_the_table(players: int) -> None:
    games = league(players)
    (table,) = rate(games).tables
    rows = {row.bot: row for row in table.rows}
    for pair in table.pairs:
        one, other = table.rows[pair.first].bot, table.rows[pair.second].bot
        (found,) = compare(games, one, other)
        for side, bot in ((found.whole.first, one), (found.whole.second, other)):
            row = rows[bot]
            assert (side.games, side.deals, side.score) == (row.games, row.deals, row.score)
            assert (side.score_low, side.score_high) == (row.score_low, row.score_high)
        for seat, each in enumerate(found.seats):
            ours = (each.first.games, each.first.score, each.first.score_low, each.first.score_high)
            told = rows[one].seats[seat]
            assert ours == (told.games, told.score, told.score_low, told.score_high)
        gap = found.gap
        assert gap is not None
        assert (gap.difference, gap.error, gap.low, gap.high) == (pair.difference, pair.error, pair.low, pair.high)
        assert (gap.above, gap.apart, gap.settled) == (pair.above, pair.apart, pair.low > 0 or pair.high < 0)


def adds_up(one: Comparison) -> None:
    for parts in (one.opponents, one.seats, one.endings):
        assert sum(each.adds for each in parts) == pytest.approx(one.whole.adds, abs=1e-5)
    assert one.whole.difference is not None
    assert one.whole.adds == pytest.approx(one.whole.difference, abs=2e-6)


@pytest.mark.parametrize("players", [2, 3, 5])
def test_the_parts_add_up_to_the_whole(players: int) -> None:
    games = league(players, deals=4)
    bots = sorted({bot for one in games for bot in one.seats})
    for one, other in combinations(bots, 2):
        for each in compare(games, one, other):
            adds_up(each)
    for each in compare(FEW, ANNA, BERT):
        adds_up(each)


@settings(deadline=None, max_examples=25)
@given(st.permutations(FEW))
def test_the_order_of_games_changes_nothing(games: list[GameResult]) -> None:
    assert compare(games, ANNA, BERT) == compare(FEW, ANNA, BERT)


def test_the_other_way_round_all_differences_change_their_sign() -> None:
    games = league(3)
    one, other = Bot("b001", f"{1:064x}"), Bot("b003", f"{3:064x}")
    (there,), (back,) = compare(games, one, other), compare(games, other, one)
    assert there.gap is not None and back.gap is not None
    assert (there.gap.difference, there.gap.low) == (-back.gap.difference, -back.gap.high)
    assert there.gap.deals_needed == back.gap.deals_needed
    for parts, others in ((there.opponents, back.opponents), (there.seats, back.seats), (there.endings, back.endings)):
        for mine, its in zip(parts, others, strict=True):
            assert (mine.name, mine.first, mine.second) == (its.name, its.second, its.first)
            assert (mine.difference, mine.low, mine.adds) == pytest.approx(
                (-(its.difference or 0), -(its.high or 0), -its.adds), abs=2e-6
            )


def test_as_many_deals_as_are_named_settle_it_in_four_of_five_leagues() -> None:
    def played(deals: int, seed: int) -> Gap:
        games = League(players=2, strengths=[0.0, 0.35], deals=deals).results(np.random.default_rng(seed))
        (found,) = compare(games, *sorted({bot for each in games for bot in each.seats}))
        assert found.gap is not None
        return found.gap

    long = played(4000, 1)
    deals = deals_needed(4000, long.difference, long.error)
    assert 50 < deals < 200
    settled = sum(played(deals, seed).settled for seed in range(2, 202))
    assert 0.7 < settled / 200 < 0.9  # .8, with a standard error of .03


def test_where_it_is_not_settled_the_deals_that_would_are_named() -> None:
    (found,) = compare(FEW, ANNA, BERT)
    gap = found.gap
    assert gap is not None and not gap.settled
    assert gap.deals_needed == max(deals_needed(found.deals, gap.difference, gap.error), found.deals + 1)
    (sure,) = compare([game(ANNA, BERT, deal, (1, 2)) for deal in range(40)], ANNA, BERT)
    assert sure.gap is not None
    assert (sure.gap.settled, sure.gap.deals_needed) == (True, None)
    (equal,) = compare([game(ANNA, BERT, deal, (1, 1)) for deal in range(40)], ANNA, BERT)
    assert equal.gap is not None
    assert (equal.gap.settled, equal.gap.deals_needed, equal.gap.above) == (False, None, 0.5)


def test_those_that_never_met_are_not_comparable_and_one_deal_is_too_little() -> None:
    (apart,) = compare([*FEW[:4], game(CARL, DORA, 0, (1, 2)), game(CARL, DORA, 1, (1, 2))], ANNA, CARL)
    assert (apart.comparable, apart.gap) == (False, None)
    (single,) = compare(FEW[:2], ANNA, BERT)
    assert (single.comparable, single.gap) == (True, None)
    assert single.whole.low is None
    assert compare(FEW, ANNA, Bot("emil", "e" * 64)) == ()


def test_games_that_rate_nobody_do_not_count() -> None:
    unrated = [
        game(ANNA, BERT, 5, (2, 1), reason=Ending.FORFEIT, faulty=(0, 1)),
        game(ANNA, ANNA, 6, (2, 1)),
    ]
    assert compare([*FEW, *unrated], ANNA, BERT) == compare(FEW, ANNA, BERT)


def test_deals_that_came_out_alike_are_too_little_data_for_a_difference() -> None:
    games = [game(ANNA, CARL, deal, (1, 2)) for deal in range(5)] + [
        game(BERT, CARL, deal, (1, 2)) for deal in range(5)
    ]
    (one,) = compare(games, ANNA, BERT)
    carl = part(one.opponents, "carl")
    assert (carl.difference, carl.low, carl.high) == (0, None, None)
    assert carl.first.score_low is not None and 0.3 < carl.first.score_low < 1
