from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from random import Random

import pytest

from referee.record import Bot, LineUp
from referee.tournament.rounds.seating import BALANCE, ORDERS, seats_of, spread

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


# -- over a field


def field_of(bots: int, size: int) -> list[LineUp]:
    return list(combinations([Bot(f"bot-{number:02}", f"{number:02}" * 32) for number in range(bots)], size))


def neighbours(secret: bytes, line_ups: list[LineUp], deals: int) -> Counter[tuple[str, str]]:
    """How often one bot sat immediately before another, in all games of some line-ups."""
    seatings = spread(secret, [(line_up, 3, deals) for line_up in line_ups])
    found: Counter[tuple[str, str]] = Counter()
    for line_up in line_ups:
        for deal in range(3, 3 + deals):
            for rotation in range(len(line_up)):
                seats = [line_up[member].name for member in seatings[line_up].seats(deal, rotation)]
                found.update((seats[seat - 1], seats[seat]) for seat in range(len(seats)))
    return found


def bounds(secret: bytes, bots: int, size: int, deals: int) -> tuple[int, int]:
    """The least and the greatest of these numbers."""
    found = neighbours(secret, field_of(bots, size), deals)
    counts = [
        found[pair] for pair in permutations({bot.name for line_up in field_of(bots, size) for bot in line_up}, 2)
    ]
    return min(counts), max(counts)


@pytest.mark.parametrize("secret", [bytes([number] * 16) for number in range(8)])
def test_over_a_field_neighbours_differ_little_where_the_deals_are_no_full_cycle(secret: bytes) -> None:
    # 30 games are level, and a deal's rotations give a pair none or six: names alone gave 6 to 60.
    least, greatest = bounds(secret, bots=7, size=6, deals=5)
    assert 24 <= least <= 30 <= greatest <= 36
    least, greatest = bounds(secret, bots=8, size=4, deals=1)
    assert 20 - 8 <= least <= 20 <= greatest <= 20 + 8


@pytest.mark.parametrize(("bots", "size"), [(4, 2), (5, 3), (6, 4), (6, 5), (7, 6)])
def test_over_a_field_a_full_cycle_is_level(bots: int, size: int) -> None:
    least, greatest = bounds(bytes(16), bots, size, 2 * BALANCE[size])
    assert least == greatest


@pytest.mark.parametrize("size", SIZES)
def test_the_shortest_balance_is_the_one_that_is_named(size: int) -> None:
    assert BALANCE == FEWEST
    assert len(set(before(size, range(BALANCE[size])).values())) == 1


def test_names_decide_nothing_about_who_sits_before_whom() -> None:
    """Over many secrets every pair sits together equally often, wherever its names stand in the field."""
    total: Counter[tuple[str, str]] = Counter()
    for number in range(150):
        total.update(neighbours(Random(number).randbytes(16), field_of(5, 4), 1))
    mean = sum(total.values()) / 20
    assert len(total) == 20
    # A pair's count in one field is 4 with a deviation below 3.5, so six deviations of the sum are 257 of 600.
    assert all(abs(count - mean) < 257 for count in total.values())


def test_seatings_depend_on_the_secret_and_count_deals_from_the_first_of_the_round() -> None:
    (line_up,) = field_of(4, 4)
    orders = {spread(Random(number).randbytes(16), [(line_up, 0, 4)])[line_up].order for number in range(60)}
    assert len(orders) > 12 and all(sorted(order) == [0, 1, 2, 3] for order in orders)
    early, late = (spread(bytes(16), [(line_up, first, 4)])[line_up] for first in (0, 100))
    assert [early.seats(deal, 2) for deal in range(4)] == [late.seats(100 + deal, 2) for deal in range(4)]
