"""The games of one table size, held in a few bytes each and read in the order of the schedule."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import groupby
from typing import NamedTuple

from referee.record import Bot, GameResult, LineUp


class RatedGame(NamedTuple):
    """One game. `seats` are indices into `Games.bots`, by seat, as are `places`; `faulty` are the seats at fault."""

    seats: tuple[int, ...]
    places: tuple[int, ...]
    faulty: tuple[int, ...]

    @property
    def rated(self) -> bool:
        """Whether the game says who is better.

        It does not where every seat was at fault, nor where one bot held two seats: it would be rated against
        itself, and its own copies would pull its score to the middle.
        """
        return len(self.faulty) < len(self.seats) and len(set(self.seats)) == len(self.seats)


class Games:
    """All games of `players` seats. `bots` are those that sat in them, sorted."""

    def __init__(self, players: int, line_ups: dict[LineUp, bytes]) -> None:
        self.players = players
        self.bots: tuple[Bot, ...] = tuple(sorted({bot for line_up in line_ups for bot in line_up}))
        self._line_ups = line_ups
        self._layout = layout(players)

    @cached_property
    def line_ups(self) -> tuple[LineUp, ...]:
        """Who met, in schedule order."""
        return tuple(sorted(self._line_ups))

    def packed(self) -> Iterator[bytes]:
        """Each line-up's games, as `layout` says and in schedule order."""
        return map(self._line_ups.__getitem__, self.line_ups)

    def deals(self) -> Iterator[list[RatedGame]]:
        """The games of one deal at a time, in schedule order: by line-up, deal and rotation."""
        index = {bot: number for number, bot in enumerate(self.bots)}
        for line_up, packed in zip(self.line_ups, self.packed(), strict=True):
            numbers = [index[bot] for bot in line_up]
            entries = self._layout.iter_unpack(packed)
            for _, games in groupby(entries, key=lambda entry: entry[0]):
                yield [_game(numbers, *entry) for entry in games]

    def rated(self) -> Iterator[RatedGame]:
        """The games that say who is better, in schedule order."""
        return (game for games in self.deals() for game in games if game.rated)


@cache
def layout(players: int) -> struct.Struct:
    """How a game is held: deal, rotation, each seat's position in the line-up, places, and the faults as bits.

    Big-endian, so that the bytes of one line-up's games sort as the schedule does.
    """
    return struct.Struct(f">QI{players}s{players}sB")


def collect(results: Iterable[GameResult]) -> list[Games]:
    """The games by number of players, smallest first. `results` come in any order, each game once."""
    heaps: defaultdict[LineUp, bytearray] = defaultdict(bytearray)
    for result in results:
        seats = result.seats
        order = sorted(range(len(seats)), key=seats.__getitem__)
        positions = bytes(order.index(seat) for seat in range(len(seats)))
        heaps[tuple(seats[seat] for seat in order)] += layout(len(seats)).pack(
            result.deal, result.rotation, positions, bytes(result.places), sum(1 << seat for seat in result.forfeited)
        )
    tables: defaultdict[int, dict[LineUp, bytes]] = defaultdict(dict)
    while heaps:
        line_up, heap = heaps.popitem()
        tables[len(line_up)][line_up] = _in_order(heap, layout(len(line_up)).size)
    return [Games(players, tables[players]) for players in sorted(tables)]


def _in_order(heap: bytearray, size: int) -> bytes:
    return b"".join(sorted(bytes(heap[start : start + size]) for start in range(0, len(heap), size)))


def _game(numbers: list[int], _deal: int, _rotation: int, positions: bytes, places: bytes, faults: int) -> RatedGame:
    faulty = tuple(seat for seat in range(len(places)) if faults >> seat & 1) if faults else ()
    return RatedGame(tuple([numbers[position] for position in positions]), tuple(places), faulty)
