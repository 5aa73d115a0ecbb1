from __future__ import annotations

import pickle
from collections import Counter
from itertools import chain, combinations, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.record import Bot, LineUp
from referee.tournament.rounds.keys import bot_seed, deal_key, dealt, game_id, game_key
from referee.tournament.rounds.schedule import Block, Owing, Played, Schedule, Share, count_games, game_of, games_of
from referee.tournament.rounds.seating import seats_of

SECRET = bytes(range(16))
ANN, BOB, CYD, DEE = (Bot(name, letter * 64) for name, letter in zip(("ann", "bob", "cyd", "dee"), "abcd", strict=True))
FIELD: list[LineUp] = [(ANN,) * 2, *(table for size in (2, 3, 4) for table in combinations((ANN, BOB, CYD, DEE), size))]

GameKey = tuple[LineUp, int, int]

line_ups_given = st.lists(st.sampled_from(FIELD), min_size=1, unique=True)
block_sizes = st.integers(1, 9)


def schedule(line_ups: list[LineUp], deals: int, *, first: int = 0, block_size: int = 50) -> Schedule:
    return Schedule([Owing(line_up, first, deals) for line_up in line_ups], block_size=block_size)


def games(line_ups: list[LineUp], deals: int, played: Played, block_size: int) -> list[GameKey]:
    """The games owed, one by one, each as line-up, rotation and deal."""
    blocks = schedule(line_ups, deals, block_size=block_size).owed(played)
    return [(block.line_up, block.rotation, deal) for block in blocks for deal in block.deals]


def played_of(there: set[GameKey]) -> dict[LineUp, dict[int, frozenset[int]]]:
    played: dict[LineUp, dict[int, frozenset[int]]] = {}
    for line_up, rotation, deal in there:
        rotations = played.setdefault(line_up, {})
        rotations[rotation] = rotations.get(rotation, frozenset()) | {deal}
    return played


@given(line_ups_given, st.integers(0, 20), block_sizes)
def test_every_deal_is_owed_once_in_every_rotation(line_ups: list[LineUp], deals: int, block_size: int) -> None:
    owed = games(line_ups, deals, {}, block_size)
    expected = {
        (table, rotation, deal) for table in line_ups for rotation in range(len(table)) for deal in range(deals)
    }
    assert set(owed) == expected
    assert len(owed) == len(expected) == schedule(line_ups, deals).count()


@settings(deadline=None)
@given(st.data(), line_ups_given, st.integers(0, 12), block_sizes)
def test_what_is_owed_is_what_was_not_played_in_the_same_order(
    data: st.DataObject, line_ups: list[LineUp], deals: int, block_size: int
) -> None:
    all_games = games(line_ups, deals, {}, block_size)
    there = data.draw(st.sets(st.sampled_from(all_games))) if all_games else set()
    assert games(line_ups, deals, played_of(there), block_size) == [game for game in all_games if game not in there]


def test_deals_beyond_those_wanted_and_line_ups_that_are_gone_owe_nothing() -> None:
    played: Played = {(ANN, BOB): {0: range(9), 1: range(5)}, (ANN, CYD): {0: range(3)}}
    assert list(schedule([(ANN, BOB)], 5).owed(played)) == []
    assert list(schedule([(ANN, BOB)], 7).owed(played)) == [Block((ANN, BOB), 1, (5, 6))]


def test_early_deals_of_all_line_ups_come_before_later_ones_and_rotations_stand_together() -> None:
    blocks = list(schedule([(ANN, BOB), (ANN, CYD)], 5, block_size=3).owed({}))
    first, rest = (0, 1, 2), (3, 4)
    assert blocks == [
        Block(table, rotation, chunk)
        for chunk in (first, rest)
        for table in ((ANN, BOB), (ANN, CYD))
        for rotation in (0, 1)
    ]


def test_smaller_tables_come_first_and_line_ups_keep_their_order() -> None:
    order = [(ANN, BOB, CYD), (BOB, CYD), (ANN, BOB, DEE), (ANN, CYD)]
    found = [block.line_up for block in schedule(order, 1).owed({})]
    assert found == [(BOB, CYD)] * 2 + [(ANN, CYD)] * 2 + [(ANN, BOB, CYD)] * 3 + [(ANN, BOB, DEE)] * 3


def test_a_block_holds_fifty_deals_unless_told_otherwise() -> None:
    assert [block.deals for block in schedule([(ANN, BOB)], 120).owed({}) if block.rotation == 0] == [
        tuple(range(0, 50)),
        tuple(range(50, 100)),
        tuple(range(100, 120)),
    ]


def test_a_hole_comes_back_as_a_small_block() -> None:
    played: Played = {(ANN, BOB): {0: frozenset(range(100)) - {7, 8, 60}, 1: range(100)}}
    assert [block.deals for block in schedule([(ANN, BOB)], 100).owed(played)] == [(7, 8), (60,)]


@given(line_ups_given, st.integers(0, 20), block_sizes)
def test_no_block_meets_a_deal_twice_or_is_too_large(line_ups: list[LineUp], deals: int, block_size: int) -> None:
    for block in schedule(line_ups, deals, block_size=block_size).owed({}):
        assert 1 <= len(block.deals) <= block_size
        assert list(block.deals) == sorted(set(block.deals))


def test_a_line_up_stands_in_a_schedule_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        schedule([(ANN, BOB), (ANN, BOB)], 3)


def test_deals_are_numbered_from_the_first_one_of_the_round_and_chunks_counted_from_there() -> None:
    later = schedule([(ANN, BOB)], 5, first=100, block_size=3)
    assert [block.deals for block in later.owed({})] == [(100, 101, 102)] * 2 + [(103, 104)] * 2
    assert list(later.owed({(ANN, BOB): {0: range(105), 1: range(103)}})) == [Block((ANN, BOB), 1, (103, 104))]


@given(line_ups_given, st.integers(0, 20), block_sizes, st.integers(0, 30))
def test_blocks_come_in_the_order_of_their_places_and_hold_what_the_schedule_has(
    line_ups: list[LineUp], deals: int, block_size: int, first: int
) -> None:
    whole = schedule(line_ups, deals, first=first, block_size=block_size)
    places = [{whole.place(block.line_up, deal, block.rotation) for deal in block.deals} for block in whole.owed({})]
    assert all(len(same) == 1 for same in places)
    assert sorted(places, key=min) == places and len({min(same) for same in places}) == len(places)
    assert all(whole.has(block.line_up, deal, block.rotation) for block in whole.owed({}) for deal in block.deals)
    for line_up in FIELD:
        outside = [(first - 1, 0), (first + deals, 0), (first, -1), (first, len(line_up))]
        assert not any(whole.has(line_up, deal, rotation) for deal, rotation in outside)
        assert whole.has(line_up, first, 0) is (line_up in line_ups and deals > 0)


@given(line_ups_given, st.integers(0, 20), block_sizes, st.integers(1, 5), st.integers(0, 7))
def test_shares_are_the_whole_once_each_with_all_rotations_of_a_deal_in_one(
    line_ups: list[LineUp], deals: int, block_size: int, of: int, first: int
) -> None:
    whole = schedule(line_ups, deals, first=first, block_size=block_size)
    shares = [
        [
            (block.line_up, deal, block.rotation)
            for block in whole.owed({}, share=Share(number, of))
            for deal in block.deals
        ]
        for number in range(1, of + 1)
    ]
    assert Counter(chain.from_iterable(shares)) == Counter(
        (block.line_up, deal, block.rotation) for block in whole.owed({}) for deal in block.deals
    )
    homes = [{(line_up, deal) for line_up, deal, _ in share} for share in shares]
    assert sum(map(len, homes)) == len(set().union(*homes)) == len(line_ups) * deals
    for line_up in line_ups:
        split = [sum(line_up == other for other, _ in home) for home in homes]
        assert max(split) - min(split) <= 1


def test_what_is_unwanted_is_asked_for_when_its_turn_comes() -> None:
    gone: set[Bot] = set()
    blocks = schedule([(ANN, BOB), (ANN, CYD), (BOB, CYD)], 1).owed(
        {}, unwanted=lambda block: not gone.isdisjoint(block.line_up)
    )
    assert next(blocks).line_up == (ANN, BOB)
    gone.add(ANN)
    assert [block.line_up for block in blocks] == [(BOB, CYD)] * 2


def test_games_of_some_blocks_are_counted() -> None:
    assert count_games([Block((ANN, BOB), 0, (1, 2)), Block((ANN, BOB), 1, (5,))]) == 3


def test_blocks_are_made_only_as_they_are_asked_for() -> None:
    blocks = schedule([(ANN, BOB)], 10**15).owed({})
    assert [block.deals[0] for block in islice(blocks, 4)] == [0, 0, 50, 50]


def test_a_game_has_the_keys_seats_and_seeds_of_its_place() -> None:
    table = (ANN, BOB, CYD)
    spec = game_of(SECRET, table, 7, 2)
    key = deal_key(SECRET, table, 7)
    game = game_key(key, 2, 0)
    assert spec.key == key
    assert spec.deck == dealt(key, 2)
    assert spec.game_id == game_id(game)
    assert spec.seeds == tuple(bot_seed(game, seat) for seat in range(3))
    assert spec.seats == tuple(table[index] for index in seats_of(3, 7, 2)) == (CYD, BOB, ANN)
    assert (spec.deal, spec.rotation) == (7, 2)


def test_games_of_a_block_are_its_deals_in_order() -> None:
    block = Block((ANN, BOB), 1, (3, 5, 9))
    assert list(games_of(block, SECRET)) == [game_of(SECRET, (ANN, BOB), deal, 1) for deal in (3, 5, 9)]


def test_another_attempt_has_another_id_and_seeds_but_the_same_deck_and_seats() -> None:
    block = Block((ANN, BOB), 0, (3,))
    (first,), (again,) = games_of(block, SECRET), games_of(block, SECRET, attempt=1)
    assert (first.key, first.deck, first.seats) == (again.key, again.deck, again.seats)
    assert first.game_id != again.game_id
    assert not set(first.seeds) & set(again.seeds)


@pytest.mark.parametrize("table", [(ANN, ANN), (ANN, ANN, BOB), (ANN, BOB, CYD, DEE)])
def test_rotations_of_a_deal_share_its_cards_and_give_every_bot_every_seat(table: LineUp) -> None:
    blocks = list(schedule([table], 4).owed({}))
    assert [block.rotation for block in blocks] == list(range(len(table)))
    specs = list(chain.from_iterable(games_of(block, SECRET) for block in blocks))
    assert len({spec.game_id for spec in specs}) == 4 * len(table)
    for deal in range(4):
        same = [spec for spec in specs if spec.deal == deal]
        assert len({spec.key for spec in same}) == 1 and len({spec.deck for spec in same}) == len(table)
        for seat in range(len(table)):
            assert Counter(spec.seats[seat] for spec in same) == Counter(table)
    assert len({spec.key for spec in specs}) == 4


def test_blocks_and_games_go_from_process_to_process() -> None:
    block = Block((ANN, BOB), 1, (3, 5))
    assert pickle.loads(pickle.dumps(block)) == block
    spec = game_of(SECRET, (ANN, BOB), 0, 0)
    assert pickle.loads(pickle.dumps(spec)) == spec
