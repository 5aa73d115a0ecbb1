"""A long match begins at once: its deals are made as they are played."""

from __future__ import annotations

import tracemalloc
from itertools import islice

from workers import plain

from referee.cards import relabelling, shuffled
from referee.contest.match import rotations
from referee.tournament.rounds.keys import derive

SECRET = bytes(range(16))


def test_thirty_million_deals_take_no_memory_before_the_first_game() -> None:
    table = [plain("first"), plain("last")]
    tracemalloc.start()
    try:
        blocks = rotations(table, 30_000_000, SECRET)
        begun = [list(islice(next(blocks), 3)) for _ in range(2)]
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [len(games) for games in begun] == [3, 3]
    assert most < 10_000_000


def test_a_match_is_dealt_in_disguise_and_every_deal_once_in_every_rotation() -> None:
    table = [plain("first"), plain("last"), plain("middle")]
    blocks = [list(block) for block in rotations(table, 120, SECRET)]
    orders = [[game.deal for game in block] for block in blocks]
    assert all(sorted(order) == list(range(120)) for order in orders)
    assert all(sorted(order[:50]) == list(range(50)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3
    for block in blocks:
        for game in block:
            assert game.key is not None
            labels = relabelling(derive(game.key, "disguise", game.rotation))
            assert game.deck == tuple(labels[card] for card in shuffled(game.key))


def test_the_cards_of_a_match_depend_on_the_seed_and_not_on_the_bots() -> None:
    one, other = ([plain(name), plain("silent")] for name in ("first", "last"))
    decks = [[game.deck for block in rotations(table, 5, SECRET) for game in block] for table in (one, other)]
    assert decks[0] == decks[1]
