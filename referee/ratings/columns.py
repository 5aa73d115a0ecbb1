"""The games of one table size as arrays, some whole deals at a time: for what is summed over very many games."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.games import Games

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
    return np.array([[index[bot] for bot in line_up] for line_up in games.line_ups], dtype=np.int64)


def columns(games: Games) -> Iterator[Columns]:
    """All games of a table size in batches; a deal is never torn."""
    by_seat = ("u1", games.players)
    kept = np.dtype(
        [("deal", ">u8"), ("rotation", ">u4"), ("positions", *by_seat), ("places", *by_seat), ("faults", "u1")]
    )
    pieces: list[tuple[int, NDArray[np.void]]] = []
    held = 0
    for number, packed in enumerate(games.packed()):
        for piece in _pieces(np.frombuffer(packed, kept)):
            pieces.append((number, piece))
            held += len(piece)
            if held >= BATCH:
                yield _batch(pieces)
                pieces, held = [], 0
    if pieces:
        yield _batch(pieces)


def rated(batch: Columns, members: Integers) -> Flags:
    """Which games say who is better, of shape (G,): see `Game.rated`. `members` are all line-ups'."""
    apart = (members[:, 1:] != members[:, :-1]).all(axis=1)
    counts: Flags = ~batch.faulty.all(axis=1) & apart[batch.line_up]
    return counts


def _pieces(entries: NDArray[np.void]) -> Iterator[NDArray[np.void]]:
    """One line-up's games in pieces that end with a deal."""
    start = 0
    while start < len(entries):
        stop = start + BATCH
        if stop < len(entries):
            stop = int(np.searchsorted(entries["deal"], entries["deal"][stop - 1], side="right"))
        yield entries[start:stop]
        start = stop


def _batch(pieces: list[tuple[int, NDArray[np.void]]]) -> Columns:
    entries = np.concatenate([piece for _, piece in pieces])
    line_up = np.repeat([number for number, _ in pieces], [len(piece) for _, piece in pieces])
    new = np.ones(len(entries), dtype=bool)
    new[1:] = (entries["deal"][1:] != entries["deal"][:-1]) | (line_up[1:] != line_up[:-1])
    seats = np.arange(entries["places"].shape[1])
    return Columns(
        line_up=line_up,
        deal=np.cumsum(new) - 1,
        positions=entries["positions"].astype(np.int64),
        places=entries["places"].astype(np.int64),
        faulty=(entries["faults"][:, None] >> seats & 1).astype(bool),
    )
