"""Who finished before whom at one table size, deal by deal, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from referee.ratings.data.games import Games, RatedGame

Integers = NDArray[np.int64]
Margins = NDArray[np.int16]
"""Narrow, since they are held for every deal."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """The rated games of one line-up of n bots on D deals; a deal without a rated game is left out.

    `members`, ascending indices into `Games.bots`, is of shape (n,); `games`, how many each deal has, of shape (D,);
    `margins` of shape (D, n, n): of a deal's games, those that the first finished before the second, less those that
    it finished behind it.
    """

    members: Integers
    games: Integers
    margins: Margins


def meetings(games: Games) -> Iterator[Meeting]:
    """The line-ups, in schedule order, so that equal sets of games give equal arrays."""
    rated = ([game for game in deal if game.rated] for deal in games.deals())
    for members, deals in groupby(filter(None, rated), key=lambda deal: tuple(sorted(deal[0].seats))):
        yield _meeting(members, list(deals))


def _meeting(members: tuple[int, ...], deals: list[list[RatedGame]]) -> Meeting:
    counts = np.array([len(deal) for deal in deals], dtype=np.int64)
    seats = np.array([game.seats for deal in deals for game in deal], dtype=np.int64)
    places = np.array([game.places for deal in deals for game in deal], dtype=np.int64)
    by_member = np.take_along_axis(places, np.argsort(seats, axis=1), axis=1)
    before = np.sign(by_member[:, None, :] - by_member[:, :, None]).astype(np.int16)
    starts = np.cumsum(counts) - counts
    return Meeting(np.array(members, dtype=np.int64), counts, np.add.reduceat(before, starts, axis=0))
