"""Banks of real games, from which tournaments of any length are drawn: played once by bots in memory, and kept.

A bank holds all line-ups of a few bots at one table size, so many deals of each that a tournament is a small part of
it. What is kept of a game is what strengths are made of: every bot's half points. Games depend on the name of the bank
and their place in it alone, whoever plays them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from manners import (
    Anything,
    Careless,
    Eager,
    KeepsQueens,
    LaysLow,
    Manner,
    Memory,
    NoWidow,
    OneByOne,
    Sloppy,
    Table,
)
from numpy.typing import NDArray

from referee.cards import relabelling, shuffled
from referee.ratings.scores.scores import half_points
from referee.tournament.rounds.seating import seats_of

CHUNK = 500
"""Deals of one errand to another process."""


class Clumsy(Manner):
    slips = 0.6


GRADED: dict[str, type[Manner]] = {
    "memory": Memory,
    "greedy": Manner,
    "careless": Careless,
    "sloppy": Sloppy,
    "clumsy": Clumsy,
    "anything": Anything,
}
"""Six bots, best first, from knowing what it laid to playing at random."""

OTHERS: dict[str, type[Manner]] = {
    "one-by-one": OneByOne,
    "eager": Eager,
    "no-widow": NoWidow,
    "keeps-queens": KeepsQueens,
    "lays-low": LaysLow,
    "sloppy": Sloppy,
}
"""Six others, five of which play without dice: on these nothing of the intervals was chosen."""

EQUAL: dict[str, type[Manner]] = {"one": Careless, "other": Careless}
"""Copies that play by dice: those that do not play both rotations of a deal alike."""


class Bank(NamedTuple):
    """All line-ups (L, n) of some bots, by number; the half points of their games (L, deals, rotations, members)."""

    line_ups: NDArray[np.int64]
    points: NDArray[np.uint8]

    @property
    def games(self) -> int:
        """How many it holds."""
        lines, deals, rotations, _ = self.points.shape
        return lines * deals * rotations


class Errand(NamedTuple):
    """Some deals of one line-up."""

    name: str
    manners: tuple[type[Manner], ...]
    line_up: tuple[int, ...]
    deals: range


def play(errand: Errand) -> NDArray[np.uint8]:
    """The half points of all rotations of some deals: (deals, rotations, members)."""
    size = len(errand.line_up)
    points = np.zeros((len(errand.deals), size, size), np.uint8)
    for row, deal in enumerate(errand.deals):
        key = f"{errand.name} {errand.line_up} {deal}"
        deck, dice = shuffled(key.encode()), Random(key)
        for rotation in range(size):
            seats = seats_of(size, deal, rotation)
            labels = relabelling(f"{key} {rotation}".encode())  # as in a round: each rotation has labels of its own
            disguised = tuple(labels[card] for card in deck)
            places = Table([errand.manners[member] for member in seats], disguised, dice).play()
            points[row, rotation, list(seats)] = half_points(places)
    return points


def bank(
    name: str, bots: Mapping[str, type[Manner]], players: int, games: int, *, folder: Path | None, jobs: int = 1
) -> Bank:
    """The bank of at least so many games; read from `folder` if it was kept there, else played and kept."""
    line_ups = list(combinations(range(len(bots)), players))
    deals = -(-games // (len(line_ups) * players))
    path = folder / f"{name}-{players}-{deals}.npy" if folder else None
    if path and path.exists():
        return Bank(np.array(line_ups), np.load(path))
    with ProcessPoolExecutor(jobs) as pool:
        parts = list(pool.map(play, _errands(f"{name} {players}", bots, line_ups, deals)))
    points = np.concatenate(parts).reshape(len(line_ups), deals, players, players)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}.part")
        with unfinished.open("wb") as file:
            np.save(file, points)
        unfinished.rename(path)
    return Bank(np.array(line_ups), points)


def _errands(
    name: str, bots: Mapping[str, type[Manner]], line_ups: list[tuple[int, ...]], deals: int
) -> Iterator[Errand]:
    manners = tuple(bots.values())
    for line_up in line_ups:
        chosen = tuple(manners[bot] for bot in line_up)
        for start in range(0, deals, CHUNK):
            yield Errand(name, chosen, line_up, range(start, min(start + CHUNK, deals)))
