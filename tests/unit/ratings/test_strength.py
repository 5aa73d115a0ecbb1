"""Strengths against a slow reference and closed forms; edges; independence of order and names."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_strength import slow

from referee.ratings.data.deals import deals_of
from referee.ratings.data.games import Games, collect
from referee.ratings.maths.intervals import moderated
from referee.ratings.strength.strength import Strengths, strengths
from referee.record import Bot, GameResult
from referee.rules import Ending

BOTS = tuple(Bot(name, name[:1] * 64) for name in ("anna", "bert", "carl", "dora", "emil", "fritz", "gerd", "hans"))
ANNA, BERT, CARL, DORA, EMIL, *_ = BOTS


def game(
    seats: Sequence[Bot], places: Sequence[int], *, deal: int = 0, rotation: int = 0, at_fault: bool = False
) -> GameResult:
    return GameResult(tuple(seats), deal, rotation, Ending.EMPTIED, tuple(places), tuple(range(len(seats))) * at_fault)


def tournament(seed: int, players: int, bots: int, deals: int = 3, *, uneven: bool = False) -> list[GameResult]:
    """All line-ups, all rotations; the first bots do better; some deals torn, and unequally many, where `uneven`."""
    dice = random.Random(seed)
    results = []
    for line_up in combinations(BOTS[:bots], players):
        for deal in range(dice.choice([1, deals, 3 * deals]) if uneven else deals):
            for rotation in range(players):
                seats = line_up[rotation:] + line_up[:rotation]
                showing = [round(dice.gauss(BOTS.index(bot) / 2, 2)) for bot in seats]
                places = [1 + sum(other < mine for other in showing) for mine in showing]
                if not uneven or rotation == 0 or dice.random() < 0.8:
                    results.append(game(seats, places, deal=deal, rotation=rotation))
    return results


def judged(results: Sequence[GameResult]) -> tuple[Games, Strengths]:
    (games,) = collect(results)
    return games, strengths(deals_of(games), len(games.bots))


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_strengths_and_errors_are_those_of_the_definition(players: int, uneven: bool) -> None:
    results = tournament(players, players, 7, uneven=uneven)
    games, found = judged(results)
    by_definition = slow(results)
    assert found.logits == pytest.approx(by_definition.logits, abs=1e-9)
    units = np.eye(len(games.bots))
    for one, unit in enumerate(units):
        assert found.reach[one] == pytest.approx(by_definition.reach(unit), rel=1e-7)
        for other in range(one):
            contrast = unit - units[other]
            error, freedom = by_definition.errors(contrast)
            assert found.error[one, other] == pytest.approx(error, rel=1e-9)
            assert found.freedom[one, other] == pytest.approx(freedom, rel=1e-9)
            assert found.difference_reach[one, other] == pytest.approx(by_definition.reach(contrast), rel=1e-7)


@pytest.mark.parametrize(
    ("deals", "seats", "together"),
    # The model alone is worth 12 for each other seat; (d + 4)^2 / (d + 4^2 / (12 (n - 1))).
    [(0, 2, 12), (0, 5, 48), (8, 2, 144 / (8 + 4 / 3)), (8, 5, 144 / (8 + 1 / 3)), (1e9, 2, 1e9 + 8 - 4 / 3)],
)
def test_an_average_of_two_variances_is_known_better_than_either(deals: float, seats: int, together: float) -> None:
    found = moderated(np.array([3.0]), np.array([deals]), np.array([2.0]), seats)
    assert found.freedom == pytest.approx([together], rel=1e-9)
    assert found.freedom > max(deals, 11.9)
    assert found.error**2 == pytest.approx([(3 * deals + 2 * 4) / (deals + 4)])


@pytest.mark.parametrize("wins", [0, 1, 7, 10, 20])
def test_two_bots_have_the_strengths_of_the_closed_form(wins: int) -> None:
    # With t the winner's strength, u = tanh(t/2), n games and a surplus of d wins, the slope n(x - s(2t)) + 1/2 - s(t)
    # is nought where u^3 - d u^2 + (2n + 1) u - d = 0.
    results = [game([ANNA, BERT], [1, 2] if number < wins else [2, 1], deal=number) for number in range(20)]
    surplus = wins - (20 - wins)
    (u,) = (root.real for root in np.roots([1, -surplus, 41, -surplus]) if abs(root.imag) < 1e-9 and abs(root) < 1)
    _, found = judged(results)
    assert found.logits == pytest.approx([2 * math.atanh(u), -2 * math.atanh(u)], abs=1e-9)


def test_a_mean_of_tied_and_won_games_is_a_win_in_every_so_many() -> None:
    _, tied = judged([game([ANNA, BERT], [1, 1], deal=deal) for deal in range(6)])
    _, shared = judged([game([ANNA, BERT], [[1, 2], [2, 1]][deal % 2], deal=deal) for deal in range(6)])
    assert tied.logits == pytest.approx(shared.logits, abs=1e-12)
    assert tied.logits == pytest.approx([0, 0], abs=1e-12)


def edges() -> dict[str, list[GameResult]]:
    three = [game([ANNA, BERT, CARL], [1, 2, 3], deal=deal, rotation=r) for deal in range(9) for r in range(3)]
    return {
        "one game": [game([ANNA, BERT], [1, 2])],
        "one deal": [game([ANNA, BERT], [1, 2]), game([BERT, ANNA], [2, 1], rotation=1)],
        "one draw": [game([ANNA, BERT], [1, 1])],
        "two deals": [game([ANNA, BERT], [1, 2]), game([ANNA, BERT], [1, 1], deal=1)],
        "only wins": [game([ANNA, BERT], [1, 2], deal=deal) for deal in range(50)],
        "only draws": [game([ANNA, BERT, CARL], [1, 1, 1], deal=deal) for deal in range(50)],
        "no draw": tournament(1, 2, 4),
        "always in one order": three,
        "a forfeiter": [game([ANNA, BERT, CARL], [1 + deal % 2, 2 - deal % 2, 3], deal=deal) for deal in range(500)],
        "two sets": [*tournament(3, 2, 3), *(game([DORA, EMIL], [1, 2], deal=deal) for deal in range(4))],
        "a set of one deal": [*tournament(3, 2, 3), game([DORA, EMIL], [1, 2])],
        "nobody rated": [game([ANNA, BERT], [1, 2], at_fault=True)],
        "alone with itself": [game([ANNA, ANNA], [1, 2])],
        "one unrated": [*tournament(3, 2, 3), game([DORA, ANNA], [1, 2], at_fault=True)],
        "fewer deals than bots": [game(BOTS[:6], [1, 2, 3, 4, 5, 6]), game(BOTS[:6], [2, 1, 3, 4, 5, 6], deal=1)],
    }  # fmt: skip


@pytest.mark.parametrize("name", edges())
def test_every_edge_is_finite_or_too_little_data(name: str) -> None:
    _, found = judged(edges()[name])
    rated = found.component > 0
    assert np.isfinite(found.logits).tolist() == rated.tolist()
    known = np.isfinite(found.reach)
    assert (known <= rated).all()
    assert (found.reach[known] > 0).all()
    assert (np.isfinite(found.difference_reach) == (np.isfinite(found.error) & ~np.isnan(found.freedom))).all()
    assert not found.better.diagonal().any()
    for bot, interval in enumerate(found.rank_intervals()):
        assert (interval is not None) == rated[bot]
        assert bool(found.groups()[bot]) == rated[bot]


@pytest.mark.parametrize(
    ("name", "known"), [("one game", 0), ("one deal", 0), ("two deals", 2), ("a set of one deal", 3)]
)
def test_less_than_two_deals_are_too_little_data(name: str, known: int) -> None:
    _, found = judged(edges()[name])
    assert np.isfinite(found.reach).sum() == known


def test_only_wins_and_only_draws_reach_as_far_as_so_many_trials_can_say() -> None:
    # 3 losses of n games come out none with probability 5%, 3.7 with 2.5%: so surely must one count with them.
    for games in 20, 100, 400:
        _, won = judged([game([ANNA, BERT], [1, 2], deal=deal) for deal in range(games)])
        low = won.logits[0] - won.logits[1] - won.difference_reach[0, 1]
        assert math.log(games / 3.7 - 1) - 0.3 < low < math.log(games / 3 - 1) + 0.2
        _, drawn = judged([game([ANNA, BERT], [1, 1], deal=deal) for deal in range(games)])
        assert 2 * 3 / games < drawn.difference_reach[0, 1] < 1.1 * 2 * 3.7 / games


def test_one_game_not_lost_of_a_thousand_takes_nothing_of_the_proof() -> None:
    lost = [game([ANNA, BERT], [1, 2], deal=deal) for deal in range(1000)]
    _, found = judged([*lost[1:], game([ANNA, BERT], [1, 1], deal=0)])
    assert found.better[0, 1]
    assert found.difference_reach[0, 1] < 0.75 * (found.logits[0] - found.logits[1])


def test_sets_that_never_met_are_each_fitted_alone_and_not_compared() -> None:
    _, both = judged(edges()["two sets"])
    _, first = judged(edges()["two sets"][:18])
    assert both.component.tolist() == [1, 1, 1, 2, 2]
    assert both.logits[:3].tolist() == first.logits.tolist()
    assert both.reach[:3].tolist() == first.reach.tolist()
    assert np.isnan(both.error[:3, 3:]).all()
    assert not both.better[:3, 3:].any()
    assert all(high - low >= 2 for low, high in filter(None, both.rank_intervals()[:3]))


def test_bots_are_compared_through_others_that_met_both() -> None:
    chain = [game([one, other], [1, 2], deal=deal) for one, other in pairwise(BOTS) for deal in range(20)]
    _, found = judged(chain)
    assert set(found.component.tolist()) == {1}
    assert (np.diff(found.logits) < 0).all()


def test_unequal_numbers_of_games_do_not_move_what_is_estimated() -> None:
    # Anna beats bert where carl is there, loses where dora is; ten times as many games of one line-up change nothing.
    def line_up(third: Bot, places: list[int], deals: int) -> list[GameResult]:
        return [game([ANNA, BERT, third], places, deal=deal) for deal in range(deals)]

    many = judged([*line_up(CARL, [1, 2, 3], 1000), *line_up(DORA, [2, 1, 3], 100)])[1]
    assert many.logits[0] == pytest.approx(many.logits[1], abs=1e-9)


def test_a_deal_is_one_unit_whatever_number_of_games_it_has() -> None:
    once = [one for one in tournament(5, 2, 4, deals=30) if not one.rotation]
    twice = [one._replace(rotation=rotation) for one in once for rotation in range(2)]
    apart = [one._replace(deal=2 * one.deal + one.rotation, rotation=0) for one in twice]
    assert judged(twice)[1].logits.tolist() == judged(apart)[1].logits.tolist()
    assert judged(twice)[1].error[0, 1] > 1.3 * judged(apart)[1].error[0, 1]


RESULTS = tournament(8, 3, 5, 2, uneven=True)


@settings(max_examples=20, deadline=None)
@given(st.permutations(RESULTS))
def test_any_order_of_games_gives_the_same_bytes(shuffled: list[GameResult]) -> None:
    first, second = judged(RESULTS)[1], judged(shuffled)[1]
    for name in ("component", "logits", "reach", "error", "freedom", "difference_reach", "better"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(5)))
def test_names_of_bots_do_not_matter(order: list[int]) -> None:
    renamed = [one._replace(seats=tuple(BOTS[order[BOTS.index(bot)]] for bot in one.seats)) for one in RESULTS]
    before, after = judged(RESULTS)[1], judged(renamed)[1]
    assert after.logits[order] == pytest.approx(before.logits, abs=1e-9)
    assert after.reach[order] == pytest.approx(before.reach, rel=1e-7)
    assert after.error[np.ix_(order, order)] == pytest.approx(before.error, rel=1e-7)
    assert after.critical == pytest.approx(before.critical, abs=0.1)


outcome = st.tuples(
    st.permutations(range(5)).map(lambda seats: seats[:3]),
    st.sampled_from([(1, 2, 3), (1, 1, 3), (1, 1, 1), (2, 1, 3), (3, 2, 1)]),
    st.integers(0, 3),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(outcome, min_size=1, max_size=12))
def test_any_few_games_are_finite_or_too_little_data(entries: list[tuple[list[int], tuple[int, ...], int]]) -> None:
    results = [
        game([BOTS[bot] for bot in seats], places, deal=deal, rotation=number)
        for number, (seats, places, deal) in enumerate(entries)
    ]
    games, found = judged(results)
    assert np.isfinite(found.logits).all()
    for number in set(found.component.tolist()):
        members = np.flatnonzero(found.component == number)
        assert found.logits[members].sum() == pytest.approx(0, abs=1e-9)
        mine = {(one.line_up, one.deal) for one in results if games.bots.index(one.seats[0]) in members}
        inner = found.difference_reach[np.ix_(members, members)]
        assert np.isfinite(inner).all() == (len(mine) >= 2)
        assert (inner[~np.eye(len(members), dtype=bool)] > 0).sum() in (0, inner.size - len(members))
