from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.record import Bot, LineUp
from referee.tournament.planning.field import Field
from referee.tournament.planning.lineups import line_ups
from referee.tournament.planning.sample import additions

SALT = b"salt"
SIZES = frozenset(range(2, 7))

Plays = dict[Bot, frozenset[int]]


def bot(number: int, version: int = 0) -> Bot:
    return Bot(f"bot{number:03}", f"{version:064x}")


def bots(number: int) -> Plays:
    return {bot(i): SIZES for i in range(number)}


def changed(plays: Plays, number: int) -> Plays:
    """The bots after one of them was changed."""
    return {(bot(number, 1) if old == bot(number) else old): sizes for old, sizes in plays.items()}


def current(plays: Plays, there: Iterable[LineUp]) -> list[LineUp]:
    return [line_up for line_up in there if plays.keys() >= set(line_up)]


def appearances(plays: Plays, found: Iterable[LineUp]) -> list[int]:
    count = Counter(one for line_up in found for one in line_up)
    return [count[one] for one in plays]


def meetings(plays: Plays, found: Iterable[LineUp]) -> list[int]:
    count = Counter(pair for line_up in found for pair in combinations(line_up, 2))
    return [count[pair] for pair in combinations(sorted(plays), 2)]


def allowed(plays: Plays, size: int, authors: Mapping[Bot, str]) -> set[LineUp]:
    def apart(line_up: LineUp) -> bool:
        known = [authors[one] for one in line_up if authors.get(one)]
        return size == 2 or len(set(known)) == len(known)

    return set(filter(apart, combinations(sorted(plays), size)))


def targets(plays: Plays, size: int, limit: int, authors: Mapping[Bot, str]) -> dict[Bot, int]:
    """How often each bot is to appear, as the docstring of `line_ups` has it, under yet another salt."""
    if size == 2 or not authors:
        return dict.fromkeys(plays, limit * size // len(plays))
    fresh = line_ups(plays, size, salt=b"fresh", limit=limit, authors=authors)
    count = dict(zip(plays, appearances(plays, fresh), strict=True))
    number = Counter(authors[one] for one in plays if authors.get(one))
    alike = {one: number[authors[one]] if authors.get(one) else 1 for one in plays}
    return {one: min(count[other] for other in plays if alike[other] == alike[one]) for one in plays}


@st.composite
def leagues(draw: st.DrawFn) -> list[Plays]:
    """The bots of one round after another: some come, some are changed, some leave."""
    versions = dict.fromkeys(draw(st.lists(st.integers(0, 10), min_size=5, max_size=10, unique=True)), 0)
    rounds = [{bot(*one): SIZES for one in versions.items()}]
    for touched in draw(st.lists(st.sets(st.integers(0, 10), min_size=1, max_size=3), min_size=1, max_size=3)):
        for one in sorted(touched):
            if one not in versions:
                versions[one] = 0
            elif draw(st.booleans()):
                versions[one] += 1
            elif len(versions) > 1:
                del versions[one]
        rounds.append({bot(*one): SIZES for one in versions.items()})
    return rounds


author_choices = st.lists(st.sampled_from(["", *"abcdefg"]), min_size=11, max_size=11)


def author_of(plays: Collection[Bot], choice: Sequence[str]) -> dict[Bot, str]:
    by_name = {bot(number).name: author for number, author in enumerate(choice)}
    return {one: by_name[one.name] for one in plays}


@settings(max_examples=150, deadline=None)
@given(
    leagues(),
    st.sampled_from([2, 3, 3, 4, 4, 5, 6]),
    st.integers(1, 30),
    author_choices | st.just([""] * 11),
    st.sampled_from([0, 0, 1]),
)
def test_a_league_that_grows_comes_to_what_is_owed_and_no_further(
    league: list[Plays], size: int, limit: int, choice: list[str], apart_from: int
) -> None:
    there: set[LineUp] = set()
    for number, plays in enumerate(league):
        authors = author_of(plays, choice) if number >= apart_from else {}
        before = current(plays, there)
        added = line_ups(plays, size, salt=b"%d" % number, limit=limit, there=there, authors=authors)
        possible = allowed(plays, size, authors)
        assert len(set(added) - there) == len(added)
        assert possible.issuperset(added)
        there.update(added)
        assert line_ups(plays, size, salt=b"next", limit=limit, there=there, authors=authors) == ()
        if len(possible) <= limit:
            assert there >= possible
        elif not before:
            assert len(added) == limit
        else:
            count = Counter(one for line_up in (*before, *added) for one in line_up)
            wanted = targets(plays, size, limit, authors)
            assert all(count[one] >= wanted[one] for one in plays)
            assert all(any(count[one] == wanted[one] for one in line_up) for line_up in added)


def test_no_line_up_is_added_that_could_be_left_out() -> None:
    there = [(0, 2, 3, 7, 8, 9)]
    added = additions(Field(range(10), 6), there, [99] * 10, b"1")
    count = Counter(one for line_up in [*there, *added] for one in line_up)
    assert min(count.values()) == 99
    assert all(any(count[one] == 99 for one in line_up) for line_up in added)


@pytest.mark.parametrize(("many", "target", "least"), [(6, 3, 8), (8, 4, 14), (10, 3, 14)])
def test_an_author_whose_bots_lack_much_together_is_not_left_to_the_end(many: int, target: int, least: int) -> None:
    """One author's bots each lack one appearance, as many bots of other authors lack more."""
    field = Field([0] * many + list(range(1, many + 1)), 3)
    targets = [1] * many + [target] * many
    assert least == -(-sum(targets) // 3)
    assert least <= len(additions(field, [], targets, SALT)) <= least + 2


def test_line_ups_that_are_not_allowed_any_more_count_as_appearances_and_hinder_none() -> None:
    there = [(0, 1, 3), (0, 2, 3), (1, 2, 3)]
    added = additions(Field([0, 0, 0, 1, 2], 3), there, [0, 0, 0, 2, 2], SALT)
    assert len(set(added)) == 2
    assert set(added) < {(0, 3, 4), (1, 3, 4), (2, 3, 4)}


@pytest.mark.parametrize(
    ("number", "size", "limit", "lead"),
    [
        (200, 2, 2_000, 1),
        (200, 3, 2_000, 2),
        (200, 4, 2_000, 3),
        (200, 6, 2_000, 4),
        (30, 4, 500, 4),
        (14, 6, 2_000, 5),
    ],
)
def test_a_changed_bot_takes_the_place_of_its_older_version(number: int, size: int, limit: int, lead: int) -> None:
    there = line_ups(bots(number), size, salt=SALT, limit=limit)
    plays = changed(bots(number), 7)
    added = line_ups(plays, size, salt=SALT, limit=limit, there=there)
    target = limit * size // number
    assert target <= len(added) <= target + 1
    assert sum(bot(7, 1) in line_up for line_up in added) >= target
    count = appearances(plays, current(plays, [*there, *added]))
    assert min(count) == target
    assert max(count) <= target + 1 + int(limit * size % number > 0)
    met = meetings(plays, current(plays, [*there, *added]))
    assert max(met) - min(met) <= lead


@pytest.mark.parametrize(("number", "size", "limit"), [(200, 2, 2_000), (200, 6, 2_000), (30, 4, 500), (14, 6, 2_000)])
def test_a_new_bot_comes_to_what_is_due_and_meets_everybody_equally_often(number: int, size: int, limit: int) -> None:
    there = line_ups(bots(number), size, salt=SALT, limit=limit)
    plays = bots(number + 1)
    added = line_ups(plays, size, salt=SALT, limit=limit, there=there)
    assert len(added) == limit * size // (number + 1)
    count = Counter(one for line_up in added for one in line_up)
    assert count.pop(bot(number)) == len(added)
    met = [count[one] for one in bots(number)]
    assert max(met) - min(met) <= 2


@pytest.mark.parametrize(
    ("number", "size", "limit", "lead"), [(200, 2, 2_000, 1), (200, 3, 2_000, 2), (200, 6, 2_000, 3), (30, 4, 500, 3)]
)
def test_meetings_grow_evenly_from_a_small_beginning(number: int, size: int, limit: int, lead: int) -> None:
    plays = bots(number)
    there = line_ups(bots(size), size, salt=SALT, limit=limit)
    found = [*there, *line_ups(plays, size, salt=SALT, limit=limit, there=there)]
    assert len(found) <= limit + 5
    count = appearances(plays, found)
    assert max(count) - min(count) <= 2
    met = meetings(plays, found)
    assert max(met) - min(met) <= lead


def newcomers_meetings(
    plays: Plays, new: Collection[Bot], found: Iterable[LineUp], authors: Mapping[Bot, str]
) -> list[int]:
    """How often each two bots meet that may, where one of them at least is new."""
    count = Counter(pair for line_up in found for pair in combinations(line_up, 2))
    pairs = [pair for pair in combinations(sorted(plays), 2) if not new.isdisjoint(pair)]
    return [count[one, two] for one, two in pairs if not authors.get(one) or authors.get(one) != authors.get(two)]


@pytest.mark.parametrize(("old", "new"), [(60, 2), (60, 60), (60, 1), (60, 10), (20, 3)])
def test_newcomers_meet_each_other_no_oftener_than_anybody_else(old: int, new: int) -> None:
    there = line_ups(bots(old), 4, salt=SALT)
    plays = bots(old + new)
    found = [*there, *line_ups(plays, 4, salt=SALT, there=there)]
    met = newcomers_meetings(plays, plays.keys() - bots(old).keys(), found, {})
    assert max(met) - min(met) <= 3
    assert max(met) <= 2 * 3 * 2_000 * 4 / (old + new) / (old + new - 1) + 2


@st.composite
def growing_fields(draw: st.DrawFn) -> tuple[int, int, int, list[int], int]:
    """Seats, how many bots each author has, how many authors at first, how many more each round, and the limit."""
    size = draw(st.integers(2, 6))
    bots_each = draw(st.sampled_from([1, 1, 2, 3])) if size > 2 else 1
    first = draw(st.integers(size, 12))
    coming = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    total = Field([number // bots_each for number in range(first * bots_each)], size).total
    return size, bots_each, first, coming, draw(st.integers(0, min(400, total // 2)))


@settings(max_examples=80, deadline=None)
@given(growing_fields(), st.integers(0, 999))
def test_any_two_bots_of_which_one_is_new_meet_about_equally_often_after_each_round(
    growing: tuple[int, int, int, list[int], int], salt: int
) -> None:
    size, bots_each, first, coming, limit = growing
    plays = bots(first * bots_each)
    authors = {one: f"author {number // bots_each}" for number, one in enumerate(bots(99))} if bots_each > 1 else {}
    there = set(line_ups(plays, size, salt=b"%d" % salt, limit=limit, authors=authors))
    for number, more in enumerate(coming):
        known, plays = plays, bots(len(plays) + more * bots_each)
        there.update(line_ups(plays, size, salt=b"%d" % number, limit=limit, there=there, authors=authors))
        met = newcomers_meetings(plays, plays.keys() - known.keys(), there, authors)
        assert max(met) - min(met) <= (3 if bots_each == 1 else 4)


def test_line_ups_of_other_bots_and_other_tables_do_not_count() -> None:
    plays = bots(12)
    gone = line_ups(changed(plays, 3), 4, salt=SALT, limit=100)
    others = [one for one in gone if bot(3, 1) in one] + [tuple(sorted(plays))[:3], (bot(1), bot(1), bot(2), bot(4))]
    assert line_ups(plays, 4, salt=SALT, limit=100, there=others) == line_ups(plays, 4, salt=SALT, limit=100)


def test_a_bot_that_cannot_play_at_the_table_any_more_has_no_line_up_there() -> None:
    plays = {**bots(5), bot(4): frozenset({3})}
    there = line_ups(bots(5), 2, salt=SALT, limit=9)
    found = line_ups(plays, 2, salt=SALT, limit=9, there=there)
    assert set(current({bot(i): SIZES for i in range(4)}, there)) | set(found) == set(combinations(sorted(bots(4)), 2))
    assert len(found) == 6 - len([one for one in there if bot(4) not in one])


@pytest.mark.parametrize("limit", [100, 900])
@pytest.mark.parametrize("authors", [{}, {bot(i): f"author {i // 2}" for i in range(6)}])
def test_additions_do_not_depend_on_the_order_in_which_anything_is_given(limit: int, authors: dict[Bot, str]) -> None:
    plays = bots(12)
    there = list(line_ups(changed(plays, 3), 4, salt=SALT, limit=limit, authors=authors))
    expected = line_ups(plays, 4, salt=SALT, limit=limit, there=there, authors=authors)
    assert expected
    shuffled = [list(plays.items()), list(authors.items()), there]
    for one in shuffled:
        random.Random(5).shuffle(one)
    found = line_ups(dict(list(plays.items())[::-1]), 4, salt=SALT, limit=limit, there=there, authors=dict(shuffled[1]))
    assert found == expected
    assert line_ups(plays, 4, salt=SALT, limit=limit, there=frozenset(there), authors=authors) == expected


def test_another_salt_adds_other_line_ups() -> None:
    there = line_ups(bots(12), 4, salt=SALT, limit=100)
    first, second = (set(line_ups(changed(bots(12), 3), 4, salt=salt, limit=100, there=there)) for salt in (b"a", b"b"))
    assert first != second


def test_additions_do_not_change_from_version_to_version() -> None:
    there = line_ups(bots(30), 4, salt=SALT, limit=500)
    found = line_ups(changed(bots(32), 7), 4, salt=SALT, limit=500, there=there)
    text = ";".join(",".join(f"{one.name}{one.hash[-1]}" for one in line_up) for line_up in found)
    assert sha256(text.encode()).hexdigest() == "515e3bbe64c8a4ed62679ebc9b775cd62453934a81a44896a7212f7726c8ec73"
