"""What a tournament owes: the games of its line-ups that are not there yet, in blocks for workers to play."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import groupby

import msgspec

from referee.cards import shuffled
from referee.record import Bot, LineUp
from referee.tournament.keys import bot_seed, deal_key, game_id, game_key
from referee.tournament.seating import seats_of

BLOCK_SIZE = 50
"""Games of one block, unless the caller says otherwise."""

Played = Mapping[LineUp, Mapping[int, Container[int]]]
"""The games that exist already: by line-up and rotation, their deals, as a range or a set, which answer quickly."""


class Block(msgspec.Struct, frozen=True):
    """Deals of one line-up in one rotation, ascending: no deal twice, so that the same processes may play them all."""

    line_up: LineUp
    rotation: int
    deals: tuple[int, ...]


class GameSpec(msgspec.Struct, frozen=True, kw_only=True):
    """All that is fixed of a game before it is played.

    `key` is the deal's key, with which `deck` was shuffled, None where the deck was given by hand; `seats` and
    `seeds` are by seat; `deal` and `rotation` say where the game stands among those of its line-up.
    """

    game_id: str
    key: bytes | None
    deck: tuple[int, ...]
    seats: tuple[Bot, ...]
    seeds: tuple[int, ...]
    deal: int
    rotation: int


def count_games(line_ups: Iterable[LineUp], deals: int) -> int:
    """How many games the whole schedule has: every deal of a line-up is played in as many rotations as it has bots."""
    return deals * sum(len(line_up) for line_up in dict.fromkeys(line_ups))


def owed_blocks(
    line_ups: Iterable[LineUp], deals: int, played: Played, *, block_size: int = BLOCK_SIZE
) -> Iterator[Block]:
    """The games that are owed of deals 0 to `deals` - 1 of each line-up, lazily and in the order of the schedule.

    Smaller tables come first; then the first `block_size` deals of every line-up come before the next ones of any,
    and the rotations of these deals one after another. A game's place does not depend on what was played: games
    that exist only leave gaps, so that an interrupted block comes back as a smaller one.
    """
    for size, tables in groupby(sorted(dict.fromkeys(line_ups), key=len), key=len):
        group = tuple(tables)
        for first in range(0, deals, block_size):
            chunk = tuple(range(first, min(first + block_size, deals)))
            for line_up in group:
                there = played.get(line_up, {})
                for rotation in range(size):
                    owed = _without(chunk, there[rotation]) if rotation in there else chunk
                    if owed:
                        yield Block(line_up, rotation, owed)


def _without(deals: tuple[int, ...], there: Container[int]) -> tuple[int, ...]:
    return tuple([deal for deal in deals if deal not in there])


def games_of(block: Block, secret: bytes, *, attempt: int = 0) -> Iterator[GameSpec]:
    """The games of a block, in its order."""
    return (game_of(secret, block.line_up, deal, block.rotation, attempt=attempt) for deal in block.deals)


def game_of(secret: bytes, line_up: LineUp, deal: int, rotation: int, *, attempt: int = 0) -> GameSpec:
    """One game, made of nothing but what its record says and the tournament's secret; for `attempt` see `game_key`."""
    key = deal_key(secret, line_up, deal)
    game = game_key(key, rotation, attempt)
    return GameSpec(
        game_id=game_id(game),
        key=key,
        deck=shuffled(key),
        seats=tuple([line_up[index] for index in seats_of(len(line_up), deal, rotation)]),
        seeds=tuple([bot_seed(game, seat) for seat in range(len(line_up))]),
        deal=deal,
        rotation=rotation,
    )
