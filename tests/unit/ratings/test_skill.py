"""TrueSkill: on one game equal to the package, over many a function of the set; finite where the package raises."""

from __future__ import annotations

import math
import random
from statistics import NormalDist

import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st
from packaged import by_the_package, orders

from referee.ratings import Row, rate
from referee.record import Bot, GameResult
from referee.rules import Ending

BOTS = tuple(Bot(f"bot-{number}", f"{number}" * 64) for number in range(6))


def game(places: tuple[int, ...], deal: int = 0, bots: tuple[Bot, ...] = BOTS) -> GameResult:
    return GameResult(bots[: len(places)], deal, 0, Ending.WIDOWS, places, ())


def rows(results: list[GameResult]) -> dict[Bot, Row]:
    return {row.bot: row for table in rate(results).tables for row in table.rows}


def placings(players: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Places as the rules give them: equal counts share the better one."""
    counts = st.tuples(*[st.integers(0, 3)] * players)
    return counts.map(lambda left: tuple(1 + sum(other < mine for other in left) for mine in left))


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6).flatmap(placings).filter(lambda places: sum(1 for _ in orders(places)) <= 120))
def test_a_single_game_is_rated_as_the_package_rates_it_on_average_over_ties(places: tuple[int, ...]) -> None:
    ties = len(places) - len(set(places))
    probability = (ties + 0.5) / len(places)
    assert rate([game(places)]).tables[0].draw_probability == pytest.approx(probability, abs=1e-9)
    found = rows([game(places)])
    expected = by_the_package([(25.0, 25 / 3)] * len(places), places, probability)
    for bot, (mean, variance) in zip(BOTS, expected, strict=False):
        assert found[bot].mu == pytest.approx(mean, abs=1e-5)
        assert found[bot].sigma == pytest.approx(math.sqrt(variance), abs=1e-5)
        assert found[bot].rating == pytest.approx(found[bot].mu - 3 * found[bot].sigma, abs=3e-6)


def test_six_tied_players_stay_equal() -> None:
    # In the package's chain the ends of the order differ from its middle, by more than 0.005.
    package = trueskill.TrueSkill(tau=0.0, draw_probability=5.5 / 6)
    chained = package.rate([(package.create_rating(),) for _ in range(6)], ranks=[0] * 6)
    assert abs(chained[0][0].sigma - chained[2][0].sigma) > 0.005
    found = rows([game((1, 1, 1, 1, 1, 1))])
    assert {row.mu for row in found.values()} == {25.0}
    assert len({row.sigma for row in found.values()}) == 1


def test_a_win_is_the_closed_form() -> None:
    # Herbrich, Minka and Graepel (2006), with draw probability (0 + 1/2) / (1 + 1).
    normal = NormalDist()
    spread = math.sqrt(2 * (25 / 6) ** 2 + 2 * (25 / 3) ** 2)
    x = -normal.inv_cdf(0.625) * math.sqrt(2) * (25 / 6) / spread
    v = normal.pdf(x) / normal.cdf(x)
    found = rows([game((1, 2))])
    assert found[BOTS[0]].mu == pytest.approx(25 + (25 / 3) ** 2 / spread * v, abs=1e-6)
    assert found[BOTS[1]].mu == pytest.approx(25 - (25 / 3) ** 2 / spread * v, abs=1e-6)
    left = 1 - (25 / 3) ** 2 / spread**2 * v * (v + x)
    assert found[BOTS[0]].sigma == pytest.approx(25 / 3 * math.sqrt(left), abs=1e-6)


def test_the_draw_probability_counts_tied_neighbours_and_is_never_0_or_1() -> None:
    def found(*placings: tuple[int, ...]) -> float:
        return rate([game(places, deal) for deal, places in enumerate(placings)]).tables[0].draw_probability

    assert found((1, 2, 2), (1, 1, 1), (1, 2, 3)) == pytest.approx(3.5 / 7, abs=1e-9)
    assert found(*[(1, 2)] * 99) == pytest.approx(0.005)
    assert found(*[(1, 1)] * 99) == pytest.approx(0.995)


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 4).flatmap(lambda n: st.lists(placings(n), min_size=1, max_size=8)))
def test_worse_is_better_read_backwards(played: list[tuple[int, ...]]) -> None:
    def backwards(places: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(1 + sum(other > mine for other in places) for mine in places)

    found = rows([game(places, deal) for deal, places in enumerate(played)])
    mirrored = rows([game(backwards(places), deal) for deal, places in enumerate(played)])
    for bot, row in found.items():
        assert mirrored[bot].mu == pytest.approx(50 - row.mu, abs=2e-6)
        assert mirrored[bot].sigma == pytest.approx(row.sigma, abs=2e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 4).flatmap(lambda n: st.lists(placings(n), min_size=1, max_size=8)))
def test_the_mean_skill_of_those_who_met_stays_where_it_was(played: list[tuple[int, ...]]) -> None:
    found = rows([game(places, deal) for deal, places in enumerate(played)])
    assert sum(row.mu for row in found.values()) / len(found) == pytest.approx(25, abs=2e-6)
    assert all(0 < row.sigma <= round(25 / 3, 6) for row in found.values())


def test_bots_that_beat_one_another_in_a_circle_are_equal() -> None:
    pairs = [(0, 1), (1, 2), (2, 0)]
    found = rows([game((1, 2), bots=(BOTS[winner], BOTS[loser])) for winner, loser in pairs])
    assert {row.mu for row in found.values()} == {25.0}
    assert len({row.sigma for row in found.values()}) == 1


def test_folding_the_games_one_by_one_would_depend_on_their_order() -> None:
    dice = random.Random(3)
    results = [game(dice.choice([(1, 2), (2, 1)]), deal) for deal in range(30)]

    def folded(some: list[GameResult]) -> float:
        ratings = [(25.0, 25 / 3)] * 2
        for result in some:
            ratings = [(mean, math.sqrt(v)) for mean, v in by_the_package(ratings, result.places, 0.5 / 31)]
        return ratings[0][0]

    shuffled = dice.sample(results, len(results))
    assert abs(folded(results) - folded(shuffled)) > 0.01
    assert rows(results) == rows(shuffled)


EDGES = {
    "only wins": [game((1, 2), deal) for deal in range(3000)],
    "only draws": [game((1, 1), deal) for deal in range(3000)],
    "only draws of six": [game((1,) * 6, deal) for deal in range(30)],
    "a great upset": [game((1, 2), deal) for deal in range(2000)] + [game((2, 1), 2000), game((1, 1), 2001)],
    "a forfeiter": [
        GameResult(BOTS[:4], deal, 0, Ending.WIDOWS, (*random.Random(deal).sample((1, 2, 3), 3), 4), (3,))
        for deal in range(300)
    ],
    "a ladder of only wins": [
        game((1, 2), deal, (BOTS[step], BOTS[step + 1])) for step in range(5) for deal in range(500)
    ],
    "two that never met the others": [
        *(game((1, 2), deal) for deal in range(9)),
        *(game((2, 1), deal, BOTS[2:4]) for deal in range(5)),
    ],
}


@pytest.mark.parametrize("results", EDGES.values(), ids=EDGES)
def test_at_the_edges_skills_are_finite_and_surer_than_before(results: list[GameResult]) -> None:
    for row in rows(results).values():
        assert math.isfinite(row.mu)
        assert 0 < row.sigma < 25 / 3


def test_bots_that_never_met_are_rated_apart() -> None:
    found = rows(EDGES["two that never met the others"])
    alone = rows(EDGES["two that never met the others"][:9])
    # The draw probability is that of all games; with it, the others change nothing.
    assert found[BOTS[0]].mu + found[BOTS[1]].mu == pytest.approx(50, abs=2e-6)
    assert found[BOTS[2]].mu + found[BOTS[3]].mu == pytest.approx(50, abs=2e-6)
    assert found[BOTS[0]].mu == pytest.approx(alone[BOTS[0]].mu, abs=0.1)


def test_a_bot_without_a_rated_game_keeps_the_prior() -> None:
    both = GameResult(BOTS[2:4], 0, 0, Ending.EMPTIED, (1, 1), (0, 1))
    found = rows([game((1, 2)), both])
    assert (found[BOTS[2]].mu, found[BOTS[2]].sigma) == (25.0, round(25 / 3, 6))
    unrated = rows([both])
    assert (unrated[BOTS[3]].mu, unrated[BOTS[3]].sigma) == (25.0, round(25 / 3, 6))
