from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from itertools import chain, combinations
from math import comb

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from referee.record import Bot, LineUp
from referee.tournament.planning.field import Field
from referee.tournament.planning.lineups import line_ups

SALT = b"salt"


def bots(number: int) -> dict[Bot, frozenset[int]]:
    return {Bot(f"bot{i:03}", f"{i:064x}"): frozenset(range(2, 7)) for i in range(number)}


def authors(sizes: Sequence[int]) -> dict[Bot, str]:
    """The authors of the first bots: one of so many, another one of so many, …"""
    names = [f"author {number}" for number, size in enumerate(sizes) for _ in range(size)]
    return dict(zip(bots(len(names)), names, strict=True))


def apart(sizes: Sequence[int], size: int, limit: int, salt: bytes = SALT) -> tuple[LineUp, ...]:
    """Line-ups of as many bots as authors of these sizes have."""
    return line_ups(bots(sum(sizes)), size, salt=salt, limit=limit, authors=authors(sizes))


def appearances(sizes: Sequence[int], found: Sequence[LineUp]) -> list[list[int]]:
    """How often each bot of each author appears."""
    count = Counter(bot for line_up in found for bot in line_up)
    each = iter(bots(sum(sizes)))
    return [[count[next(each)] for _ in range(size)] for size in sizes]


def allowed(sizes: Sequence[int], size: int) -> set[LineUp]:
    author = authors(sizes)
    every = combinations(sorted(bots(sum(sizes))), size)
    return {line_up for line_up in every if len({author[bot] for bot in line_up}) == size}


author_sizes = st.lists(st.integers(1, 5), min_size=1, max_size=7).filter(lambda sizes: sum(sizes) <= 11)


@given(author_sizes, st.integers(2, 6), st.data())
def test_line_ups_are_counted_as_they_are_listed(sizes: list[int], size: int, data: st.DataObject) -> None:
    numbers = [author for author, size in enumerate(sizes) for _ in range(size)]
    field = Field(data.draw(st.permutations(numbers)), size)
    every = list(field.line_ups())
    assert len(set(every)) == len(every) == field.total
    choices = combinations(range(field.bots), size)
    assert sorted(every) == [one for one in choices if len({field.authors[bot] for bot in one}) == size]
    if every:
        seated = data.draw(st.integers(0, size))
        held = Counter(some for one in every for some in combinations(one, seated))
        assert all(field.completions(some) == number for some, number in held.items())
        assert field.fewest_completions(seated) == min(held.values())


def test_many_line_ups_are_counted_at_once() -> None:
    assert Field(range(200), 6).total == comb(200, 6)
    assert Field([bot % 20 for bot in range(60)], 4).total == comb(20, 4) * 3**4


@example([1, 1, 1, 3, 3], 4, 3)
@example([1, 1, 1, 2, 2], 4, 6)
@settings(max_examples=150, deadline=None)
@given(author_sizes, st.integers(3, 6), st.integers(0, 300))
def test_a_sample_with_authors_apart_is_as_even_as_they_allow(sizes: list[int], size: int, limit: int) -> None:
    found = apart(sizes, size, limit)
    possible = allowed(sizes, size)
    assert len(set(found)) == len(found) == min(limit, len(possible))
    assert possible.issuperset(found)
    count = Counter(bot for line_up in found for bot in line_up)
    for line_up in found:
        for old in line_up:
            for new in bots(sum(sizes)):
                if tuple(sorted({*line_up, new} - {old})) in possible.difference(found):
                    assert count[old] <= count[new] + 1


@pytest.mark.parametrize(
    ("sizes", "size", "limit", "lead"),
    [
        ([3] * 20, 4, 2_000, 1),
        ([4] * 50, 6, 2_000, 1),
        ([1] * 100 + [2] * 50, 4, 2_000, 1),
        ([1] * 45 + [15], 4, 999, 1),
    ],
)
def test_authors_with_few_bots_cost_no_evenness(sizes: list[int], size: int, limit: int, lead: int) -> None:
    found = apart(sizes, size, limit)
    assert len(set(found)) == limit
    counts = list(chain.from_iterable(appearances(sizes, found)))
    assert max(counts) - min(counts) <= lead


def test_an_author_with_very_many_bots_is_at_every_table_and_shares_its_places() -> None:
    many, *others = appearances([30] + [1] * 30, apart([30] + [1] * 30, 4, 2_000))
    assert Counter(many) == {66: 10, 67: 20}
    assert others == [[200]] * 30


def test_meetings_of_different_authors_are_nearly_even() -> None:
    found = apart([3] * 20, 4, 2_000)
    count = Counter(pair for line_up in found for pair in combinations(line_up, 2))
    author = authors([3] * 20)
    met = [count[pair] for pair in combinations(sorted(author), 2) if author[pair[0]] != author[pair[1]]]
    assert (min(met), max(met)) == (6, 9)


def test_all_that_is_allowed_is_taken_where_it_is_little() -> None:
    assert set(apart([3, 2, 1, 4], 3, 50)) == allowed([3, 2, 1, 4], 3)
    assert len(apart([3, 2, 1, 4], 3, 50)) == 3 * 2 * 1 + 3 * 2 * 4 + 3 * 1 * 4 + 2 * 1 * 4


def test_all_line_ups_of_equally_many_bots_are_nearly_even_wherever_they_are_cut_off() -> None:
    sizes = [3] * 6
    found = apart(sizes, 4, 2_000)
    assert len(found) == 15 * 3**4
    for end in range(len(found) + 1):
        counts = list(chain.from_iterable(appearances(sizes, found[:end])))
        assert max(counts) - min(counts) <= 4


def test_authors_that_are_too_few_have_no_line_up() -> None:
    assert apart([40] * 5, 6, 2_000) == ()
    assert line_ups(bots(5), 6, salt=SALT, authors={}) == ()


@pytest.mark.parametrize("limit", [15, 40])
def test_at_two_seats_nobody_is_kept_apart(limit: int) -> None:
    assert apart([4, 3, 2], 2, limit) == line_ups(bots(9), 2, salt=SALT, limit=limit)


@pytest.mark.parametrize("limit", [15, 60, 100])
@pytest.mark.parametrize("author", [{}, dict.fromkeys(bots(9), ""), {bot: bot.name for bot in bots(9)}])
def test_bots_without_author_or_alike_are_nobodys(limit: int, author: dict[Bot, str]) -> None:
    assert line_ups(bots(9), 3, salt=SALT, limit=limit, authors=author) == line_ups(bots(9), 3, salt=SALT, limit=limit)


def test_authors_of_bots_that_cannot_play_at_the_table_keep_nobody_apart() -> None:
    plays = {bot: frozenset({2}) if i == 0 else sizes for i, (bot, sizes) in enumerate(bots(7).items())}
    without = line_ups(plays, 3, salt=SALT, limit=10)
    assert line_ups(plays, 3, salt=SALT, limit=10, authors=authors([2])) == without


def test_the_salt_chooses_line_ups_but_not_how_often_bots_of_such_authors_appear() -> None:
    sizes = [6, 3, 1, 1, 1, 1, 1]
    one, other = apart(sizes, 3, 60, b"one"), apart(sizes, 3, 60, b"other")
    assert set(one) != set(other)
    first, second = appearances(sizes, one), appearances(sizes, other)
    assert [sorted(counts) for counts in first[:2]] == [sorted(counts) for counts in second[:2]]
    assert sorted(first[2:]) == sorted(second[2:])


def test_line_ups_apart_do_not_change_from_version_to_version() -> None:
    found = apart([3] * 6, 4, 2_000) + apart([8, 2, 2, 1, 1, 1], 3, 100)
    text = ";".join(",".join(bot.name for bot in line_up) for line_up in found)
    assert sha256(text.encode()).hexdigest() == "75e953965794e78df5a7301bb94be60ae2301053b27b5a5396b5311e29f9e922"
