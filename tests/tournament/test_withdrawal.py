from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, islice

from hypothesis import given
from hypothesis import strategies as st

from referee.record import Bot, LineUp
from referee.store import Faulted
from referee.tournament.schedule import Block, Owing, Place, Schedule
from referee.tournament.withdrawal import Point, Withdrawals

BOTS = tuple(Bot(name, "0" * 64) for name in "abcd")
A, B, C, D = BOTS
DEALS = 5
SCHEDULE = Schedule([Owing(pair, 0, DEALS) for pair in combinations(BOTS, 2)], block_size=2)
GAMES = [
    (line_up, deal, rotation) for line_up in combinations(BOTS, 2) for deal in range(DEALS) for rotation in range(2)
]


def at(line_up: LineUp, deal: int, rotation: int) -> Point:
    return Point(SCHEDULE.place(line_up, deal, rotation), deal)


def fault(line_up: LineUp, deal: int, rotation: int, *bots: Bot) -> Faulted:
    return Faulted(line_up, deal, rotation, bots)


@st.composite
def faults(draw: st.DrawFn) -> dict[tuple[LineUp, int, int], tuple[Bot, ...]]:
    """Who is at fault in which game, were all of them played."""
    chosen = draw(st.lists(st.sampled_from(GAMES), unique=True))
    return {game: tuple(draw(st.permutations(game[0]))[: draw(st.integers(1, 2))]) for game in chosen}


def owed(withdrawals: Withdrawals, played: set[tuple[LineUp, int, int]]) -> Iterator[Block]:
    there: dict[LineUp, dict[int, set[int]]] = {}
    for line_up, deal, rotation in played:
        there.setdefault(line_up, {}).setdefault(rotation, set()).add(deal)
    return SCHEDULE.owed(there, unwanted=withdrawals.sets_aside)


def test_the_last_game_that_counts_is_the_one_in_which_a_bot_came_to_its_last_fault() -> None:
    found = Withdrawals(SCHEDULE, 2, [fault((A, B), 3, 0, A), fault((A, C), 0, 1, A), fault((A, B), 1, 0, A)])
    assert found.points == {A: at((A, C), 0, 1)}
    assert found.points[A] == Point(Place(2, 0, 1, 1), 0)
    assert found.faults(A) == 3
    assert not found.sets_aside(Block((A, C), 1, (0, 1)))
    assert found.gives_up(Block((A, C), 1, (0, 1)))
    assert found.sets_aside(Block((A, C), 1, (1,)))
    assert found.sets_aside(Block((A, D), 0, (0, 1)))
    assert not found.gives_up(Block((B, D), 0, (0, 1)))


def test_a_fault_against_a_bot_that_was_withdrawn_before_does_not_count() -> None:
    found = Withdrawals(SCHEDULE, 1)
    assert found.add(fault((A, D), 0, 0, D))
    assert set(found.points) == {D}
    assert found.add(fault((A, B), 0, 0, A))
    assert found.points == {A: at((A, B), 0, 0)}


def test_nobody_is_withdrawn_without_a_limit() -> None:
    found = Withdrawals(SCHEDULE, None, [fault(*game, game[0][0]) for game in GAMES])
    assert (found.points, found.faults(A)) == ({}, 0)
    assert not found.sets_aside(Block((A, B), 0, (0,)))


@given(all_faults=faults(), limit=st.integers(1, 4), order=st.randoms(use_true_random=False))
def test_points_do_not_depend_on_the_order_in_which_games_come_in(
    all_faults: dict[tuple[LineUp, int, int], tuple[Bot, ...]], limit: int, order: random.Random
) -> None:
    games = [fault(*game, *bots) for game, bots in all_faults.items()]
    order.shuffle(games)
    expected = Withdrawals(SCHEDULE, limit, games).points
    found = Withdrawals(SCHEDULE, limit)
    for game in games * 2:
        before = dict(found.points)
        assert found.add(game) is (found.points != before)
    assert found.points == expected


@given(all_faults=faults(), limit=st.integers(1, 4), at_once=st.integers(1, 6), order=st.randoms(use_true_random=False))
def test_a_run_that_owes_nothing_any_more_has_found_the_points_of_all_games(
    all_faults: dict[tuple[LineUp, int, int], tuple[Bot, ...]], limit: int, at_once: int, order: random.Random
) -> None:
    everything = Withdrawals(SCHEDULE, limit, [fault(*game, *bots) for game, bots in all_faults.items()])
    played = {game for game in GAMES if order.random() < 0.3}
    found = Withdrawals(SCHEDULE, limit, [fault(*game, *all_faults[game]) for game in played if game in all_faults])
    while blocks := list(islice(owed(found, played), at_once)):
        for block in blocks:
            for deal in block.deals:
                game = (block.line_up, deal, block.rotation)
                played.add(game)
                if game in all_faults:
                    found.add(fault(*game, *all_faults[game]))
                if found.gives_up(block):
                    break
    assert found.points == everything.points
