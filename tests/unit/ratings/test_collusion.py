"""Pairs that help each other: the excess against numbers worked out by hand, false alarms and power by simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from random import Random

import msgspec
import numpy as np
import pytest
from leagues import League

from referee.ratings.data.games import collect
from referee.ratings.maths.student import quantile, upper_tail
from referee.ratings.pairs import collusion
from referee.ratings.pairs.collusion import CollusionReport, suspicious
from referee.ratings.pairs.excess import Estimate, Excesses, SideEffects, excesses, side_effects
from referee.ratings.pairs.meetings import meetings
from referee.record import Bot, GameResult
from referee.rules import Ending

ANNA, BERT, CARL, DORA, EMIL = (Bot(name, name * 16) for name in ("anna", "bert", "carl", "dora", "emil"))


def game(seats: Sequence[Bot], places: Sequence[int], *, deal: int = 0, forfeited: Sequence[int] = ()) -> GameResult:
    return GameResult(tuple(seats), deal, 0, Ending.EMPTIED, tuple(places), tuple(forfeited))


def names(report: CollusionReport) -> set[tuple[str, ...]]:
    return {tuple(bot.name for bot in pair.bots) for pair in report.named}


# -- Student's t


@pytest.mark.parametrize(
    ("freedom", "tail", "value"),
    [(1, 0.25, 1.0), (2, 0.05, 2.919986), (10, 0.025, 2.228139), (30, 0.0005, 3.645959), (math.inf, 0.025, 1.959964)],
)
def test_quantiles_are_those_of_the_printed_tables(freedom: float, tail: float, value: float) -> None:
    assert quantile(tail, freedom) == pytest.approx(value, abs=5e-7)
    assert upper_tail(value, freedom) == pytest.approx(tail, rel=1e-6)
    assert upper_tail(-value, freedom) == pytest.approx(1 - tail, rel=1e-6)


def test_tails_are_those_of_the_closed_forms_far_out_and_for_broken_degrees_of_freedom() -> None:
    for value in 0.0, 0.1, 1.0, 30.0, 1e4:
        assert upper_tail(value, 1) == pytest.approx(math.atan2(1, value) / math.pi, rel=1e-9)
        root = math.sqrt(2 + value * value)
        assert upper_tail(value, 2) == pytest.approx(1 / (root * (root + value)), rel=1e-9)
    assert upper_tail(2, 4) < upper_tail(2, 3.5) < upper_tail(2, 3)
    assert upper_tail(5, 9e6) == pytest.approx(upper_tail(5, 1e8), rel=3e-5)


# -- the excess


def by_hand() -> list[GameResult]:
    return [
        game([ANNA, BERT, CARL], [1, 2, 3], deal=0),
        game([CARL, ANNA, BERT], [2, 1, 2], deal=1),
        game([ANNA, CARL, DORA], [1, 2, 3], deal=0),
        game([ANNA, CARL, DORA], [2, 1, 3], deal=1),
        game([DORA, BERT, CARL], [1, 3, 2], deal=0),
        game([DORA, BERT, CARL], [1, 3, 2], deal=1),
    ]


def estimated(results: list[GameResult]) -> Excesses:
    (games,) = collect(results)
    return excesses(len(games.bots), list(meetings(games)))


def test_the_excess_is_what_both_do_better_against_the_same_opponent() -> None:
    # With bert, anna beats carl twice: 1 instead of 1/2. With anna, bert wins and ties: 3/4 instead of 0.
    found = estimated(by_hand())
    assert (found.gain[0, 1], found.gain[1, 0], found.excess[0, 1], found.games[0, 1]) == (0.5, 0.75, 0.625, 2)


def test_the_error_of_the_excess_is_worked_out_by_hand() -> None:
    # Residual margins of bert and carl with anna: 1/2 and -1/2; of anna and carl without bert: 1 and -1. Each deal is
    # half of its cell, hence the factor of root 2. Squares: 2 (1/2) + 2 (2) = 5; fourth powers: 2 (1/4) + 2 (4) = 8.5.
    found = estimated(by_hand())
    assert found.error[0, 1] == pytest.approx(math.sqrt(5) / 4 / 2)
    assert found.freedom[0, 1] == pytest.approx(25 / 8.5 - 1)
    for array in (found.excess, found.error, found.freedom, found.games):
        assert np.array_equal(array, array.T, equal_nan=True)


def test_an_opponent_counts_only_with_two_deals_with_the_partner_and_two_without() -> None:
    for missing in range(6):
        results = [one for number, one in enumerate(by_hand()) if number != missing]
        assert not np.isfinite(estimated(results).error[0, 1]) or estimated(results).of(0, 1) is None


def test_rotations_of_a_deal_are_one_unit() -> None:
    twice = [one._replace(rotation=rotation) for one in by_hand() for rotation in range(2)]
    assert estimated(twice).error[0, 1] == pytest.approx(estimated(by_hand()).error[0, 1])
    apart = [one._replace(deal=2 * one.deal + rotation) for one in by_hand() for rotation in range(2)]
    assert estimated(apart).error[0, 1] < 0.75 * estimated(by_hand()).error[0, 1]


def test_line_ups_that_hold_a_pair_set_aside_say_nothing() -> None:
    results = [*by_hand(), *(game([ANNA, BERT, EMIL], [1, 2, 3], deal=deal) for deal in range(2))]
    (games,) = collect(results)
    (without,) = collect(one for one in results if not {ANNA, BERT} <= set(one.seats))
    aside = excesses(5, list(meetings(games)), aside=[(0, 1)])
    assert (aside.games[0, 1], aside.games[0, 2]) == (0, 2)
    assert np.array_equal(aside.games[:4, :4], excesses(4, list(meetings(without))).games)


def test_an_error_is_widened_by_side_effects_as_variances_add() -> None:
    wide = Estimate(0.1, 0.03, 20).widened(SideEffects(0.0016, 5))
    assert wide.error == pytest.approx(0.05)
    assert wide.freedom == pytest.approx(0.0025**2 / (0.0009**2 / 20 + 0.0016**2 / 5))
    assert wide.chance(0) == pytest.approx(upper_tail(2, wide.freedom))
    assert Estimate(0.1, 0.03, 20).widened(SideEffects(0, 5)) == pytest.approx((0.1, 0.03, 20))


def test_side_effects_are_what_varies_beyond_luck() -> None:
    excess = np.full((5, 5), np.nan)
    for value, pair in zip((0.05, -0.05, 0.03, -0.03, 0.0), combinations(range(5), 2), strict=False):
        excess[pair] = excess[pair[::-1]] = value
    error, freedom = np.full((5, 5), 0.02), np.full((5, 5), 50.0)
    found = side_effects(Excesses(excess, excess, error, freedom, np.ones((5, 5), dtype=np.int64)))
    assert found.variance == pytest.approx((2 * 0.05**2 + 2 * 0.03**2) / 5 - 0.02**2)
    assert found.freedom == 5
    small = Excesses(excess / 10, excess / 10, error, freedom, np.ones((5, 5), dtype=np.int64))
    assert side_effects(small).variance == 0


# -- the report


def test_the_report_is_a_function_of_the_set_of_games() -> None:
    results = League(players=3, strengths=[0, 0.2, 0.4, 0.6, 0.8, 1], deals=4).results(np.random.default_rng(1))
    reports = set()
    for seed in range(5):
        Random(seed).shuffle(results)
        reports.add(msgspec.json.encode(suspicious(iter(results))))
    assert len(reports) == 1


def test_nothing_is_said_of_nothing_and_of_tables_of_two() -> None:
    assert suspicious([]).tables == ()
    assert suspicious([game([ANNA, BERT], [1, 2], deal=deal) for deal in range(9)]).tables == ()


def test_games_that_rate_nobody_say_nothing() -> None:
    results = League(players=3, strengths=[0.0] * 6, deals=4).results(np.random.default_rng(2))
    both = results[0].seats[:2]
    void = [game([*both, both[0]], [1, 1, 3], deal=9), game(results[0].seats, [1, 2, 3], deal=9, forfeited=[2, 0, 1])]
    assert suspicious([*results, *void]) == suspicious(results)


def test_too_few_bots_and_pairs_that_are_always_or_never_together_are_not_judged() -> None:
    four = League(players=3, strengths=[0.0] * 4, deals=9, help={(0, 1): (2, 2)}).results(np.random.default_rng(3))
    (table,) = suspicious(four).tables
    assert (table.judged, table.unjudged, table.spread) == (0, 6, None)
    six = League(players=3, strengths=[0.0] * 6, deals=4).results(np.random.default_rng(3))
    twins = {"b000", "b001"}
    apart = [one for one in six if not twins <= {bot.name for bot in one.seats}]
    (table,) = suspicious(apart).tables
    assert (table.judged, table.unjudged) == (14, 0)
    always = [one for one in six if len(twins & {bot.name for bot in one.seats}) != 1]
    report = suspicious(always)
    assert twins not in [{bot.name for bot in pair.bots} for pair in report.pairs]


def test_each_table_size_is_judged_by_itself_and_all_pairs_share_the_chance_of_a_false_alarm() -> None:
    dice = np.random.default_rng(4)
    three, four = (League(players=size, strengths=[0.0] * 6, deals=4).results(dice) for size in (3, 4))
    both, alone = suspicious([*three, *four]), suspicious(three)
    assert [(table.players, table.judged) for table in both.tables] == [(3, 15), (4, 15)]
    largest = alone.pairs[0]
    same = next(pair for pair in both.pairs if (pair.players, pair.bots) == (3, largest.bots))
    assert (same.excess, same.low, same.high) == (largest.excess, largest.low, largest.high)
    assert same.p == pytest.approx(min(1, 2 * largest.p), abs=2e-6)
    assert same.detectable > largest.detectable


def test_few_suspects_need_a_smaller_excess() -> None:
    results = League(players=3, strengths=[0.0] * 8, deals=10).results(np.random.default_rng(5))
    every = suspicious(results)
    one = suspicious(results, among=lambda first, second: (first.name, second.name) == ("b000", "b001"))
    assert (len(every.pairs), len(one.pairs)) == (28, 1)
    same = next(pair for pair in every.pairs if pair.bots == one.pairs[0].bots)
    assert one.pairs[0].excess == same.excess
    assert one.pairs[0].detectable < same.detectable - 0.01


def test_a_pair_that_helps_itself_is_named_and_nobody_else() -> None:
    for seed in range(4):
        dice = np.random.default_rng(seed)
        strengths = dice.normal(scale=0.5, size=7).tolist()
        report = suspicious(League(players=3, strengths=strengths, deals=30, help={(1, 4): (0.6, 0.6)}).results(dice))
        assert names(report) == {("b001", "b004")}
        (pair,) = report.named
        assert min(*pair.gains, pair.low) > 0.05
        assert pair.low < pair.excess < pair.high and pair.p <= 0.01
        assert pair.detectable < pair.excess + 0.05


def test_two_pairs_that_help_themselves_are_both_named() -> None:
    dice = np.random.default_rng(8)
    help_ = {(0, 1): (0.8, 0.8), (2, 3): (0.6, 0.6)}
    report = suspicious(League(players=4, strengths=[0.0] * 9, deals=12, help=help_).results(dice))
    assert names(report) == {("b000", "b001"), ("b002", "b003")}


def test_help_in_one_direction_counts_by_half() -> None:
    dice = np.random.default_rng(9)
    report = suspicious(League(players=3, strengths=[0.0] * 7, deals=40, help={(0, 1): (1.0, 0.0)}).results(dice))
    (pair,) = report.named
    assert pair.gains[0] > 0.2 > 0.06 > abs(pair.gains[1])
    assert pair.excess == pytest.approx(sum(pair.gains) / 2)


def test_being_strong_is_not_suspicious() -> None:
    for seed in range(3):
        dice = np.random.default_rng(20 + seed)
        report = suspicious(League(players=3, strengths=[3, 2.5, -2.5, 0, 0, 0.5, -3], deals=30).results(dice))
        assert not report.named
        assert all(abs(pair.excess) < 0.06 for pair in report.pairs)


def test_an_excess_within_the_margin_is_let_pass() -> None:
    dice = np.random.default_rng(3)
    results = League(players=3, strengths=[0.0] * 7, deals=40, help={(0, 1): (0.6, 0.6)}).results(dice)
    (pair,) = suspicious(results).named
    assert not suspicious(results, margin=pair.excess).named


def test_what_is_usual_in_a_league_of_strange_manners_names_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def alarms() -> int:
        named = 0
        for seed in range(100, 106):
            dice = np.random.default_rng(seed)
            results = League(players=3, strengths=[0.0] * 8, deals=25, side=0.2).results(dice)
            named += bool(suspicious(results).named)
        return named

    assert alarms() <= 1
    monkeypatch.setattr(collusion, "side_effects", lambda _: SideEffects(0, 1))
    assert alarms() >= 3


# -- false alarms

LEAGUES = 100
CHANCE = 0.05
ALLOWED = 13
"""Of so many honest leagues more alarms than this come in one case of 1,000, where each has the chance above."""


@cache
def honest() -> list[list[GameResult]]:
    """Leagues whose deals suit one bot or another whatever its seat, so that a deal's rotations are alike."""
    leagues = []
    for seed in range(LEAGUES):
        dice = np.random.default_rng(seed)
        strengths = dice.normal(scale=0.5, size=6).tolist()
        leagues.append(League(players=4, strengths=strengths, deals=4, suits=1.5).results(dice))
    return leagues


def coverage(reports: Sequence[CollusionReport]) -> float:
    """How often the interval of a pair holds its true excess, which is 0."""
    intervals = [(pair.low, pair.high) for report in reports for pair in report.pairs]
    return sum(low <= 0 <= high for low, high in intervals) / len(intervals)


def test_what_is_allowed_is_the_binomial_bound() -> None:
    beyond = math.fsum(
        math.comb(LEAGUES, alarms) * CHANCE**alarms * (1 - CHANCE) ** (LEAGUES - alarms)
        for alarms in range(ALLOWED + 1, LEAGUES + 1)
    )
    assert 1e-4 < beyond < 1e-3


def test_honest_leagues_raise_no_more_alarms_than_alpha_says() -> None:
    reports = [suspicious(results, alpha=CHANCE, margin=0) for results in honest()]
    assert sum(bool(report.named) for report in reports) <= ALLOWED
    without_regard_to_the_number_of_pairs = [report.pairs[0].p / len(report.pairs) for report in reports]
    assert sum(chance <= CHANCE for chance in without_regard_to_the_number_of_pairs) > 2 * ALLOWED


def test_intervals_hold_the_truth_with_deals_as_units_and_not_with_games() -> None:
    def apart(one: GameResult) -> GameResult:
        return one._replace(deal=4 * one.deal + one.rotation, rotation=0)

    some = honest()[:50]
    assert 0.94 <= coverage([suspicious(results) for results in some]) <= 0.985
    assert coverage([suspicious(map(apart, results)) for results in some]) < 0.9
