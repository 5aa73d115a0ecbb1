"""Whom void games follow: a culprit is found, and a noisy machine charges nobody, whatever its noise is like."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, islice
from math import comb
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from referee.record import Bot, LineUp
from referee.tournament.engine.voids import FEWEST, Figures, Ledger, tail

SEASONS = 30


def bots(count: int) -> list[Bot]:
    return [Bot(f"b{number:02}", f"{number:064x}") for number in range(count)]


Strikes = Callable[[LineUp, int, float], bool]
"""Whether an attempt at a game of a line-up comes to nothing, which takes so many ms and begins at such a time."""


def season(dice: Random, strikes: Strikes, *, count: int, seats: int, deals: int, slow: float = 1.0) -> set[Bot]:
    """Whom void games follow at any moment of a round between `count` bots; the first of them takes `slow` times."""
    field = bots(count)
    tables = list(combinations(field, seats))
    dice.shuffle(tables)
    ledger, found, time = Ledger(), set[Bot](), 0.0
    for start in range(0, deals, 50):
        for table in tables:
            for _ in range(seats):
                for deal in range(start, min(start + 50, deals)):
                    ms = dice.expovariate(1 / 20) * (slow if field[0] in table else 1)
                    time += ms
                    attempts = 0
                    while attempts < 3 and strikes(table, int(ms), time):
                        attempts += 1
                        if ledger.void(table, deal):
                            found |= set(ledger.followed())
                    if attempts < 3:
                        ledger.played(table, deal)
                        ledger.took(table, int(ms))
    return found


def independent(dice: Random) -> Strikes:
    """Each attempt with the same chance."""
    chance = dice.choice([0.0005, 0.003, 0.02, 0.2])
    return lambda *_: dice.random() < chance


def by_time(dice: Random) -> Strikes:
    """Moments of trouble at random times: long games meet with more of them."""
    rate = dice.choice([1e-5, 1e-4, 1e-3])
    return lambda _, ms, __: dice.random() < 1 - (1 - rate) ** ms


def in_storms(dice: Random) -> Strikes:
    """Now and then nothing can be played for a while."""
    every, length = dice.choice([5_000, 50_000]), dice.choice([100, 2_000, 20_000])
    offset = dice.random() * every
    return lambda _, __, time: (time + offset) % every < min(length, every / 4)


@pytest.mark.parametrize("noise", [independent, by_time, in_storms])
@pytest.mark.parametrize(("count", "seats", "slow"), [(3, 2, 1), (6, 2, 1), (6, 3, 10), (12, 2, 10)])
def test_a_noisy_machine_charges_nobody(
    noise: Callable[[Random], Strikes], count: int, seats: int, slow: float
) -> None:
    dice = Random(f"{noise.__name__} {count} {seats} {slow}")
    for _ in range(SEASONS):
        assert not season(dice, noise(dice), count=count, seats=seats, deals=20, slow=slow)


def strikes_of(dice: Random, culprits: set[Bot], chance: float, noise: float = 0.0) -> Strikes:
    def strikes(table: LineUp, ms: int, time: float) -> bool:
        del ms, time
        return dice.random() < (chance if culprits & set(table) else noise)

    return strikes


@pytest.mark.parametrize(("count", "seats", "chance"), [(14, 2, 0.05), (14, 2, 0.5), (20, 2, 0.02), (12, 3, 0.02)])
def test_a_bot_that_makes_some_of_its_games_void_once_is_found_and_nobody_else(
    count: int, seats: int, chance: float
) -> None:
    dice = Random(f"culprit {count} {seats} {chance}")
    culprit = bots(count)[1]
    for _ in range(5):
        strikes = strikes_of(dice, {culprit}, chance)
        assert season(dice, strikes, count=count, seats=seats, deals=40) == {culprit}


def test_among_several_culprits_and_some_noise_only_culprits_are_found() -> None:
    dice = Random("several")
    field = bots(20)
    for culprits in ({field[0], field[5]}, set(field[:7])):
        for _ in range(5):
            found = season(dice, strikes_of(dice, culprits, 0.3, 0.0002), count=20, seats=2, deals=10)
            # Where every third bot is one, void games are so common that they follow nobody: trials find those.
            assert found == (culprits if len(culprits) == 2 else set())


def test_where_void_games_follow_two_bots_that_always_sit_together_neither_is_found() -> None:
    """A bot that only strikes at one opponent's tables: nobody can tell which of the two it is."""
    dice = Random("pair")
    one, other = bots(12)[:2]

    def strikes(table: LineUp, ms: int, time: float) -> bool:
        del ms, time
        return {one, other} <= set(table)

    for seats in (2, 3):
        assert not season(dice, strikes, count=12, seats=seats, deals=10)


def test_a_game_that_is_replayed_and_a_sitting_that_is_long_count_once() -> None:
    ledger = Ledger()
    one, other, *rest = bots(12)
    for table in combinations(rest, 2):
        ledger.played(table, 0)
    assert ledger.void((one, other), 0)
    assert not any(ledger.void((one, other), deal) for deal in range(50))
    assert ledger.void((one, other), 50)
    assert ledger.figures(one) == Figures(played=0, void=52, others_played=45, others_void=0)
    assert ledger.followed() == []


def test_each_bot_is_kept_once_however_many_line_ups_it_sits_in() -> None:
    """Games come from workers, each with bots of its own that are equal to those of the game before."""

    def kilobytes(line_ups: int) -> float:
        ledger = Ledger()
        tracemalloc.start()
        try:
            for one, other in islice(combinations(range(100), 2), line_ups):
                ledger.played(tuple([Bot(f"b{number}", f"{number:064x}") for number in (one, other)]), 0)
            return tracemalloc.get_traced_memory()[0] / 1024
        finally:
            tracemalloc.stop()

    assert kilobytes(4_000) - kilobytes(1_000) < 3_000 * 0.4


def test_fewer_than_so_many_sittings_say_nothing() -> None:
    ledger = Ledger()
    culprit, *rest = bots(60)
    for table in combinations(rest, 2):
        ledger.played(table, 0)
    found = []
    for opponent in rest[: FEWEST + 1]:
        ledger.void(tuple(sorted((culprit, opponent))), 0)
        found.append(ledger.followed())
    # One sitting more than so many, since it has to stand out without any one opponent too.
    assert found == [[]] * FEWEST + [[culprit]]


@given(st.integers(0, 60), st.integers(0, 100), st.integers(0, 61))
@example(60, 100, 61)
def test_the_tail_is_that_of_the_binomial_distribution(count: int, percent: int, least: int) -> None:
    share = Fraction(percent, 100)
    exact = sum(comb(count, hit) * share**hit * (1 - share) ** (count - hit) for hit in range(least, count + 1))
    assert tail(count, percent / 100, least) == pytest.approx(float(exact), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(("friends", "others"), [(2, 6), (3, 6), (3, 4)])
def test_friends_who_make_games_void_with_one_bot_alone_do_not_have_it_charged(friends: int, others: int) -> None:
    field = bots(friends + 1 + others)
    gang, victim = set(field[:friends]), field[friends]
    ledger, found = Ledger(), set[Bot]()
    for start in range(0, 1000, 50):
        for table in combinations(field, 2):
            for deal in range(start, start + 50):
                ledger.played(table, deal)
            ledger.took(table, 1000)
            if victim in table and gang & set(table):
                ledger.void(table, start)
                found |= set(ledger.followed())
    assert found == set()
