from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from itertools import combinations
from math import comb

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from referee.record import Bot, LineUp
from referee.tournament.planning.lineups import line_ups

SALT = b"salt"


def bots(number: int) -> dict[Bot, frozenset[int]]:
    return {Bot(f"bot{i:03}", f"{i:064x}"): frozenset(range(2, 7)) for i in range(number)}


def sample(number: int, size: int, limit: int, salt: bytes = SALT) -> tuple[LineUp, ...]:
    return line_ups(bots(number), size, limit=limit, salt=salt)


def lead(counts: Sequence[int]) -> int:
    return max(counts) - min(counts)


def appearances(number: int, found: Sequence[LineUp]) -> list[int]:
    count = Counter(bot for line_up in found for bot in line_up)
    return [count[bot] for bot in bots(number)]


def meetings(number: int, found: Sequence[LineUp]) -> list[int]:
    count = Counter(pair for line_up in found for pair in combinations(line_up, 2))
    return [count[pair] for pair in combinations(sorted(bots(number)), 2)]


@pytest.mark.parametrize(("number", "size"), [(2, 2), (6, 6), (7, 6), (5, 3), (9, 4), (63, 2), (23, 3)])
def test_every_line_up_is_taken_where_there_are_few(number: int, size: int) -> None:
    found = line_ups(bots(number), size, salt=SALT)
    assert sorted(found) == list(combinations(sorted(bots(number)), size))


def test_too_few_bots_have_no_line_up() -> None:
    assert sample(5, 6, 10) == ()
    assert sample(0, 2, 10) == ()


def test_only_bots_that_can_play_at_the_table_are_taken() -> None:
    ann, bob, cyd = sorted(bots(3))
    found = line_ups({ann: frozenset({2, 3}), bob: frozenset({3}), cyd: frozenset({2})}, 2, salt=SALT)
    assert found == ((ann, cyd),)


def test_a_limit_of_all_takes_all_and_one_less_leaves_one_out() -> None:
    total = comb(9, 4)
    assert set(sample(9, 4, total)) == set(combinations(sorted(bots(9)), 4))
    assert len(set(sample(9, 4, total - 1))) == total - 1
    assert lead(appearances(9, sample(9, 4, total - 1))) == 1


def test_with_fewer_line_ups_than_seat_everybody_nobody_plays_twice() -> None:
    counts = appearances(200, sample(200, 6, 20))
    assert sorted(counts) == [0] * 80 + [1] * 120


@example(9, 6, 2**20)
@example(10, 5, 126 * 2**12)
@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.integers(2, 6), st.integers(0, 2**20))
def test_a_sample_has_different_line_ups_of_different_bots_and_even_appearances(
    number: int, size: int, share: int
) -> None:
    limit = comb(number, size) * share // 2**20
    found = sample(number, size, limit)
    assert len(set(found)) == len(found) == limit
    assert all(list(line_up) == sorted(set(line_up)) and len(line_up) == size for line_up in found)
    assert lead(appearances(number, found)) <= 1
    assert lead(meetings(number, found)) <= 4


@pytest.mark.parametrize(
    ("number", "size", "limit", "most"),
    [
        (30, 4, 500, 3),
        (9, 5, 12, 3),
        (200, 6, 2_000, 3),
        (50, 6, 2_000, 3),
        (40, 6, 2_000, 3),
        (80, 5, 2_000, 3),
        (24, 3, 1_000, 2),
        (24, 3, 2_000, 2),
        (14, 6, 2_000, 3),
        (200, 2, 2_000, 1),
        (90, 2, 2_000, 1),
        (64, 2, 2_000, 1),
        (200, 3, 2_000, 2),
    ],
)
def test_any_two_bots_meet_nearly_as_often_as_any_other_two(number: int, size: int, limit: int, most: int) -> None:
    found = sample(number, size, limit)
    assert len(set(found)) == limit
    assert lead(appearances(number, found)) <= 1
    assert lead(meetings(number, found)) <= most


@pytest.mark.parametrize(("number", "size", "limit"), [(30, 4, 500), (31, 2, 200), (11, 6, 200)])
def test_a_sample_of_up_to_half_is_even_wherever_it_is_cut_off(number: int, size: int, limit: int) -> None:
    found = sample(number, size, limit)
    assert all(lead(appearances(number, found[:end])) <= 2 for end in range(limit + 1))


@pytest.mark.parametrize(("number", "size"), [(9, 4), (8, 4), (7, 2), (10, 6)])
def test_all_line_ups_are_nearly_even_wherever_they_are_cut_off(number: int, size: int) -> None:
    found = sample(number, size, 2_000)
    assert all(lead(appearances(number, found[:end])) <= size for end in range(len(found) + 1))


@pytest.mark.parametrize("limit", [100, 400, 2_000])
def test_line_ups_do_not_depend_on_the_order_in_which_bots_are_given(limit: int) -> None:
    given_bots = list(bots(12).items())
    expected = line_ups(dict(given_bots), 4, limit=limit, salt=SALT)
    random.Random(5).shuffle(given_bots)
    assert line_ups(dict(given_bots), 4, limit=limit, salt=SALT) == expected


@pytest.mark.parametrize("limit", [100, 400])
def test_another_salt_takes_other_line_ups(limit: int) -> None:
    assert set(sample(12, 4, limit)) != set(sample(12, 4, limit, b"other"))


def test_line_ups_do_not_change_from_version_to_version() -> None:
    found = [sample(9, 3, limit) for limit in (40, 60, 84)] + [sample(30, 4, 500)]
    text = ";".join(",".join(bot.name for bot in line_up) for chosen in found for line_up in chosen)
    assert sha256(text.encode()).hexdigest() == "46396465cd68bcb592d41854d1885ae2ff840b28de365fa3845aa6234d7e026a"
