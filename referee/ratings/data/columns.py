"""The games of one table size as arrays, some whole deals at a time: for what is summed over very many games."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.data.games import Games, layout

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

BATCH = 1 << 16
"""Games held as arrays at a time, or as many more as end a deal."""


class Columns(NamedTuple):
    """G games of n seats, in schedule order.

    `line_up`, of shape (G,), says which of `Games.line_ups` met; `deal`, of shape (G,), counts deals from 0 on within
    this batch. By seat, of shape (G, n): `positions`, indices into the line-up; `places`; `faulty`, who was at fault.
    """

    line_up: Integers
    deal: Integers
    positions: Integers
    places: Integers
    faulty: Flags

    def only(self, chosen: Flags) -> Columns:
        """Those games alone."""
        return Columns(
            self.line_up[chosen], self.deal[chosen], self.positions[chosen], self.places[chosen], self.faulty[chosen]
        )

    def half_points(self) -> Integers:
        """By seat, of shape (G, n): two for every opponent beaten and one for every one tied."""
        before = np.sign(self.places[:, None, :] - self.places[:, :, None])
        points: Integers = before.sum(axis=2) + self.places.shape[1] - 1
        return points


def members(games: Games) -> Integers:
    """Who is in each of `Games.line_ups`, as ascending indices into `Games.bots`: of shape (L, n)."""
    index = {bot: number for number, bot in enumerate(games.bots)}
    every = chain.from_iterable(games.line_ups)
    return np.fromiter(map(index.__getitem__, every), dtype=np.int64).reshape(-1, games.players)


def columns(games: Games) -> Iterator[Columns]:
    """All games of a table size in batches; a deal is never torn."""
    limit = BATCH * layout(games.players).size
    numbers: list[int] = []
    pieces: list[bytes] = []
    held = 0
    for number, packed in enumerate(games.packed()):
        for piece in (packed,) if len(packed) <= limit else _pieces(packed, games.players):
            numbers.append(number)
            pieces.append(piece)
            held += len(piece)
            if held >= limit:
                yield _batch(numbers, pieces, games.players)
                numbers, pieces, held = [], [], 0
    if pieces:
        yield _batch(numbers, pieces, games.players)


def rated(batch: Columns, members: Integers) -> Flags:
    """Which games say who is better, of shape (G,): see `Game.rated`. `members` are all line-ups'."""
    apart = (members[:, 1:] != members[:, :-1]).all(axis=1)
    counts: Flags = ~batch.faulty.all(axis=1) & apart[batch.line_up]
    return counts


def _entries(packed: bytes, players: int) -> NDArray[np.void]:
    by_seat = ("u1", players)
    kept = [("deal", ">u8"), ("rotation", ">u4"), ("positions", *by_seat), ("places", *by_seat), ("faults", "u1")]
    return np.frombuffer(packed, np.dtype(kept))


def _pieces(packed: bytes, players: int) -> Iterator[bytes]:
    """One line-up's many games in pieces that end with a deal."""
    size = layout(players).size
    deals = _entries(packed, players)["deal"]
    start = 0
    while start < len(deals):
        stop = start + BATCH
        if stop < len(deals):
            stop = int(np.searchsorted(deals, deals[stop - 1], side="right"))
        yield packed[start * size : stop * size]
        start = stop


def _batch(numbers: list[int], pieces: list[bytes], players: int) -> Columns:
    entries = _entries(b"".join(pieces), players)
    line_up = np.repeat(numbers, np.array([*map(len, pieces)]) // entries.itemsize)
    new = np.ones(len(entries), dtype=bool)
    new[1:] = (entries["deal"][1:] != entries["deal"][:-1]) | (line_up[1:] != line_up[:-1])
    return Columns(
        line_up=line_up,
        deal=np.cumsum(new) - 1,
        positions=entries["positions"].astype(np.int64),
        places=entries["places"].astype(np.int64),
        faulty=(entries["faults"][:, None] >> np.arange(players) & 1).astype(bool),
    )
