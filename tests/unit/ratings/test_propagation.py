"""Batch expectation propagation: at its fixed point every game, on what the others say, is one of the package's."""

from __future__ import annotations

import math
import sys
from itertools import combinations
from random import Random

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaged import by_the_package

from referee.errors import RefereeError
from referee.ratings import rate
from referee.ratings.data import columns
from referee.ratings.data.games import collect
from referee.ratings.trueskill import message_pass, propagation
from referee.ratings.trueskill.laplacian import bonds, resistance
from referee.ratings.trueskill.layout import laid_out, runs
from referee.ratings.trueskill.message_pass import ByArrays, Compiled, look
from referee.ratings.trueskill.patterns import Pattern, patterns
from referee.ratings.trueskill.propagation import SkillFit, propagate
from referee.ratings.trueskill.skill import scale
from referee.record import Bot, GameResult
from referee.rules import Ending

PROBABILITY = 0.25


def pattern(ties: tuple[bool, ...], groups: dict[tuple[int, ...], int]) -> Pattern:
    return Pattern(ties, np.array(list(groups)).T, np.array(list(groups.values())))


def league(seed: int, bots: int, players: int, games: int, most: int = 1) -> list[Pattern]:
    """Games thrown at random among some bots, each up to `most` times."""
    dice = Random(seed)
    found: dict[tuple[bool, ...], dict[tuple[int, ...], int]] = {}
    for _ in range(games):
        ties = tuple(dice.random() < 0.4 for _ in range(players - 1))
        order = dice.sample(range(bots), players)
        places = [1 + sum(not tie for tie in ties[:k]) for k in range(players)]
        seats = tuple(bot for _, bot in sorted(zip(places, order, strict=True)))
        found.setdefault(ties, {})[seats] = dice.randint(1, most)
    return [pattern(ties, dict(sorted(groups.items()))) for ties, groups in sorted(found.items())]


def fit(found: list[Pattern], bots: int, probability: float = PROBABILITY) -> SkillFit:
    """By arrays, once compiled code has said the same."""
    arrays, compiled = (propagate(found, bots, scale(probability), way) for way in (ByArrays, Compiled))
    assert compiled.sweeps == arrays.sweeps
    assert compiled.mu == pytest.approx(arrays.mu, rel=0, abs=1e-10)
    assert compiled.sigma == pytest.approx(arrays.sigma, rel=0, abs=1e-10)
    return arrays


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([1, 50]))
def test_every_game_is_the_packages_on_what_the_others_say(seed: int, players: int, most: int) -> None:
    found = league(seed, bots=5, players=players, games=8, most=most)
    result = fit(found, 5)
    assert result.sites is not None
    ties = [ties for one in found for ties in [one.ties] * one.bots.shape[1]]
    for group, bots in enumerate(result.sites.bots.T):
        precision = result.sigma[bots] ** -2 - result.sites.precision[:, group]
        means = result.mu[bots] - result.sites.force[:, group] / precision
        places = tuple(np.cumsum([1, *(not tie for tie in ties[group])]).tolist())
        priors = list(zip(means.tolist(), (precision**-0.5).tolist(), strict=True))
        for bot, (mean, variance) in zip(bots, by_the_package(priors, places, PROBABILITY), strict=True):
            assert result.mu[bot] == pytest.approx(mean, abs=2e-5)
            assert result.sigma[bot] == pytest.approx(math.sqrt(variance), abs=2e-5)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_names_do_not_matter(seed: int, players: int) -> None:
    found = league(seed, bots=7, players=players, games=20)
    names = Random(seed).sample(range(7), 7)
    renamed = [one._replace(bots=np.array(names)[one.bots]) for one in reversed(found)]
    result, other = fit(found, 7), fit(renamed, 7)
    assert other.mu[names] == pytest.approx(result.mu, abs=1e-8)
    assert other.sigma[names] == pytest.approx(result.sigma, abs=1e-8)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_equal_games_counted_are_equal_games_listed(seed: int, players: int) -> None:
    found = league(seed, bots=4, players=players, games=5, most=4)
    listed = [
        Pattern(one.ties, np.repeat(one.bots, one.counts, axis=1), np.ones(one.counts.sum(), dtype=np.int64))
        for one in found
    ]
    assert fit(listed, 4).mu == pytest.approx(fit(found, 4).mu, abs=1e-8)
    assert fit(listed, 4).sigma == pytest.approx(fit(found, 4).sigma, abs=1e-8)


def test_every_game_is_counted_once_in_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "BATCH", 4)
    bots = tuple(Bot(f"bot{number}", f"{number:064x}") for number in range(2))
    (table,) = collect([GameResult(bots, deal, 0, Ending.EMPTIED, (1, 2 if deal % 3 else 1), ()) for deal in range(30)])
    assert {one.ties: one.counts.tolist() for one in patterns(table)} == {(False,): [20], (True,): [10]}


def test_the_level_of_bots_that_are_joined_is_the_priors_to_the_last_digits() -> None:
    """Games tell differences only: left to the sweeps, the mean of all stops as far off as they may be, some 1e-9."""
    six = league(1, bots=12, players=6, games=100, most=50)
    apart = [*six, *(one._replace(bots=one.bots + 12) for one in league(2, bots=12, players=6, games=60, most=9))]
    for found, bots in (six, 12), (apart, 24):
        sets = fit(found, bots).mu.reshape(-1, 12)
        assert sets.mean(axis=1) == pytest.approx(25, rel=0, abs=1e-12)
        assert (sets.std(axis=1) > 0.1).all()


@pytest.mark.parametrize("count", [1, 30, 1000, 10**6])
def test_any_number_of_wins_settles_in_few_sweeps(count: int) -> None:
    result = fit([pattern((False,), {(0, 1): count})], 2, 0.5 / (count + 1))
    assert result.sweeps < 60
    # What two equal pulls leave: the winner's is the loser's, and the mean stays.
    assert result.mu.sum() == pytest.approx(50)
    assert 25 < result.mu[0] < 45
    assert 0 < result.sigma[0] == pytest.approx(result.sigma[1])


@pytest.mark.parametrize("players", [2, 3, 6])
def test_any_number_of_draws_settles(players: int) -> None:
    line_up = tuple(range(players))
    for count in (1, 1000, 10**6):
        result = fit([pattern((True,) * (players - 1), {line_up: count})], players, 1 - 0.5 / (count + 1))
        assert result.mu == pytest.approx(25)
        assert (result.sigma < 25 / 3).all()


def test_many_games_between_two_have_the_mean_that_makes_their_shares_likely() -> None:
    # With very many games of performances 25/6 around the skills, mu differs by what gives the shares seen.
    wins, losses = 60_000, 40_000
    found = [pattern((False,), {(0, 1): wins, (1, 0): losses})]
    result = fit(found, 2, 1e-6)
    difference = 0.2533471031 * math.sqrt(2) * 25 / 6  # the normal quantile of 0.6
    assert result.mu[0] - result.mu[1] == pytest.approx(difference, rel=1e-3)


def test_a_three_way_tie_has_the_moments_of_the_exact_posterior() -> None:
    # Performances drawn a million times; kept are those whose neighbours in any one order are within the margin.
    dice = np.random.default_rng(8)
    skills = dice.normal(25, 25 / 3, (1_000_000, 3))
    shown = dice.normal(skills, 25 / 6)
    margin = scale(0.5).margin
    close = np.abs(shown[:, [0, 1]] - shown[:, [1, 2]]).max(axis=1) < margin
    exact = np.mean([skills[close][:, seat].var() for seat in range(3)])
    found = fit([pattern((True, True), {(0, 1, 2): 1})], 3, 0.5)
    assert found.sigma == pytest.approx(math.sqrt(exact), rel=0.01)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=5), st.floats(0.1, 30))
def test_bonds_are_those_of_the_dense_matrix(links: list[float], noise: float) -> None:
    size = len(links) + 1
    laplacian = np.zeros((size, size))
    for k, link in enumerate(links):
        laplacian[k : k + 2, k : k + 2] += link * np.array([[1, -1], [-1, 1]])
    dense = laplacian @ np.linalg.inv(np.eye(size) + noise * laplacian)
    found = bonds(np.array(links)[:, None], noise)
    assert found[:, 0] == pytest.approx([-dense[i, j] for i, j in combinations(range(size), 2)], rel=1e-5, abs=1e-9)
    skills = np.arange(size, dtype=float)[:, None] ** 2
    assert resistance(found, skills)[:, 0] == pytest.approx((dense @ skills)[:, 0], rel=1e-5, abs=1e-8)


def test_rows_hold_every_order_of_every_group_once() -> None:
    found = league(5, bots=30, players=5, games=400)
    groups = [(one, bots) for one in found for bots in one.bots.T]
    values = np.arange(5.0 * len(groups)).reshape(5, -1)
    seen = 0
    for held in runs(found, unfolded=True):
        rows = laid_out(held)
        part = slice(seen, seen + sum(run.many for run in held))
        spread = rows.spread(values[:, part])
        assert rows.averaged(spread) == pytest.approx(values[:, part])
        for number, (one, _) in enumerate(groups[part], part.start):
            mine = spread[:, np.isin(spread[0], values[:, number])]
            orders = {tuple(column) for column in mine.T}
            assert orders == {tuple(values[order, number]) for order in one.orders()}
            assert mine.shape[1] == len(orders)
        seen = part.stop
    assert seen == len(groups) == sum(laid_out(held).rows for held in runs(found, unfolded=False))


@pytest.mark.parametrize("way", [ByArrays, Compiled])
@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_messages_that_begin_anew_come_to_the_same(
    players: int, way: type[message_pass.Look], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = league(players, bots=8, players=players, games=60, most=2)
    kept = propagate(found, 8, scale(PROBABILITY), way)
    monkeypatch.setattr(propagation, "_KEPT", -1)
    anew = propagate(found, 8, scale(PROBABILITY), way)
    assert anew.mu == pytest.approx(kept.mu, rel=0, abs=1e-8)
    assert anew.sigma == pytest.approx(kept.sigma, rel=0, abs=1e-8)


@pytest.mark.parametrize("probability", [1e-5, 1e-3, 0.5, 0.999])
def test_compiled_code_says_the_same_of_very_narrow_and_very_wide_draws(probability: float) -> None:
    for players in (2, 3, 5):
        fit(league(players, bots=6, players=players, games=40, most=300), 6, probability)


def test_compiled_code_says_the_same_of_what_was_all_but_impossible() -> None:
    # Beliefs so sure that the results lie 12 standard deviations and more from what they expect.
    ties = [(False,), (True,)]
    for tie in ties:
        held = [message_pass.LayoutRun(np.array(tie), np.array([[0, 1]]), 200)]
        gaps = np.linspace(-400, 400, 200)
        means, sure = np.stack([gaps, np.zeros(200)]), np.full((2, 200), 50.0)
        told = [
            way(held, 17.0, 1.0, keep=True).judge(
                message_pass.Factor(sure, np.zeros((2, 200))), means, bind=True, close=1.0
            )
            for way in (ByArrays, Compiled)
        ]
        for mine, other in zip(*told, strict=True):
            assert mine == pytest.approx(other, rel=1e-9, abs=1e-12)
            assert np.isfinite(mine).all()


def test_compiled_code_is_for_many_rows_and_done_without_where_it_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    assert look(message_pass.WORTH - 1) is ByArrays
    assert look(message_pass.WORTH) is Compiled
    monkeypatch.setitem(sys.modules, "referee.ratings.trueskill.compiled", None)
    assert look(message_pass.WORTH) is ByArrays


def test_published_numbers_are_the_same_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = Random(6)
    bots = [Bot(f"bot{number}", f"{number:064x}") for number in range(9)]
    results = []
    for deal in range(120):
        for players in (2, 3, 4, 6):
            left = [dice.randrange(6) for _ in range(players)]
            places = tuple(1 + sum(other < mine for other in left) for mine in left)
            results.append(GameResult(tuple(dice.sample(bots, players)), deal, 0, Ending.EMPTIED, places, ()))
    by_arrays = msgspec.json.encode(rate(results))
    monkeypatch.setattr(message_pass, "WORTH", 0)
    assert msgspec.json.encode(rate(results)) == by_arrays


SLOW = {
    "draws of five, one bot apart": (
        [
            pattern((True,) * 3, {(0, 1, 2, 3): 700_000, (1, 2, 3, 4): 3}),
            pattern((True, True, False), {(0, 1, 2, 4): 1}),
        ],
        5,
    ),
    "a chain of draws": ([pattern((True,), {(k, k + 1): 10 ** (k % 7) for k in range(12)})], 13),
    "a chain of wins": ([pattern((False,), {(k, k + 1): 10 ** (k % 7) for k in range(12)})], 13),
    "draws of three in a row": ([pattern((True, True), {(k, k + 1, k + 2): 9 ** (k % 6) for k in range(10)})], 12),
}


@pytest.mark.parametrize("name", SLOW)
def test_what_settles_slowest_settles_long_before_the_last_sweep(name: str) -> None:
    found, bots = SLOW[name]
    ties = sum(sum(one.ties) * int(one.counts.sum()) for one in found)
    neighbours = sum(len(one.ties) * int(one.counts.sum()) for one in found)
    result = propagate(found, bots, scale((ties + 0.5) / (neighbours + 1)))
    assert result.sweeps < 150
    assert np.isfinite(result.mu).all()
    assert (result.sigma <= 25 / 3 + 1e-9).all()


def test_what_does_not_settle_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(propagation, "_SWEEPS", 3)
    with pytest.raises(RefereeError, match=r"of 12 games of 2 players did not settle: .*games are safe"):
        propagate([pattern((False,), {(0, 1): 12})], 2, scale(PROBABILITY))
