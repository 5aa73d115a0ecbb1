from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest

from referee.tournament.seating import ORDERS, seats_of

SIZES = range(2, 7)

FEWEST = {2: 1, 3: 2, 4: 6, 5: 4, 6: 10}
"""After so many deals everyone has sat immediately before everyone else equally often, and not after fewer."""

LEADS = {2: [0], 3: [1, 0], 4: [1, 1, 2, 1, 1, 0], 5: [1, 1, 1, 0], 6: [1, 1, 1, 1, 2, 1, 1, 1, 1, 0]}
"""How much oftener some pair has sat next to each other than some other pair, after 1, 2, 3 ... deals."""


def before(size: int, deals: range, distance: int = 1) -> dict[tuple[int, int], int]:
    """How often one sat `distance` seats before another in all games of some deals."""
    seatings = [seats_of(size, deal, rotation) for deal in deals for rotation in range(size)]
    found = Counter((seats[s], seats[(s + distance) % size]) for seats in seatings for s in range(size))
    return {pair: found[pair] for pair in permutations(range(size), 2)}


@pytest.mark.parametrize("size", SIZES)
def test_over_the_rotations_of_a_deal_everyone_has_every_seat_once(size: int) -> None:
    for deal in range(2 * len(ORDERS[size])):
        seatings = [seats_of(size, deal, rotation) for rotation in range(size)]
        for seat in range(size):
            assert sorted(seats[seat] for seats in seatings) == list(range(size))


@pytest.mark.parametrize("size", SIZES)
def test_rotations_of_a_deal_keep_its_circle(size: int) -> None:
    for deal in range(len(ORDERS[size])):
        first = seats_of(size, deal, 0)
        for rotation in range(size):
            assert seats_of(size, deal, rotation) == tuple(first[(s - rotation) % size] for s in range(size))


@pytest.mark.parametrize("size", SIZES)
def test_first_of_the_line_up_sits_where_the_rotation_says(size: int) -> None:
    assert all(seats_of(size, deal, rotation)[rotation] == 0 for deal in range(40) for rotation in range(size))


def test_seatings_of_three() -> None:
    assert [seats_of(3, 0, rotation) for rotation in range(3)] == [(0, 1, 2), (2, 0, 1), (1, 2, 0)]
    assert [seats_of(3, 1, rotation) for rotation in range(3)] == [(0, 2, 1), (1, 0, 2), (2, 1, 0)]
    assert seats_of(3, 2, 0) == (0, 1, 2)


@pytest.mark.parametrize("size", SIZES)
def test_everyone_sits_before_everyone_equally_often_after_the_fewest_deals(size: int) -> None:
    period = FEWEST[size]
    for start in range(0, len(ORDERS[size]), period):
        assert set(before(size, range(start, start + period)).values()) == {size * period // (size - 1)}


@pytest.mark.parametrize("size", SIZES)
def test_after_fewer_deals_nobody_is_further_ahead_than_must_be(size: int) -> None:
    period = FEWEST[size]
    for start in range(0, len(ORDERS[size]), period):
        counts = [before(size, range(start, start + deals)).values() for deals in range(1, period + 1)]
        assert [(max(count) - min(count)) // size for count in counts] == LEADS[size]


@pytest.mark.parametrize("size", SIZES)
def test_everyone_sits_at_every_distance_before_everyone_equally_often_in_the_end(size: int) -> None:
    for distance in range(1, size):
        assert len(set(before(size, range(len(ORDERS[size])), distance).values())) == 1


def test_at_six_any_three_have_any_three_relative_places_once() -> None:
    for two, three in permutations(range(1, 6), 2):
        places = Counter(
            (circle[s], circle[(s + two) % 6], circle[(s + three) % 6]) for circle in ORDERS[6] for s in range(6)
        )
        assert places == dict.fromkeys(permutations(range(6), 3), 1)


def test_no_circle_stands_twice_in_the_table() -> None:
    for size, circles in ORDERS.items():
        assert len(set(circles)) == len(circles)
        assert all(circle[0] == 0 and sorted(circle) == list(range(size)) for circle in circles)
