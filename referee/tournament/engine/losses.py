"""Games that cost workers: how many each, what is said of it, and when such a game is given up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from referee.record import LineUp
from referee.tournament.engine.table_players import Moves
from referee.tournament.rounds.schedule import REPLAYS, Block, Trial

MAX_LOSSES = 1 + REPLAYS
"""How many workers one game may cost before it is given up, where its block allows the usual replays."""


@dataclass(frozen=True, slots=True)
class LostGame:
    """A game, or the trial of one, that cost so many workers that it is given up, and how the last of them ended.

    `moves` say how far it came, where that is known; `ours` whether the last worker ended by an error of ours.
    """

    line_up: LineUp
    rotation: int
    deal: int
    reason: str = ""
    workers: int = MAX_LOSSES
    trial: Trial | None = None
    moves: Moves = ()
    ours: bool = False


@dataclass(frozen=True, slots=True)
class LostWorker:
    """A worker that ended in a game, or shortly after it, and how."""

    line_up: LineUp
    rotation: int
    deal: int
    reason: str


class Losses:
    """How many workers each game has cost, whatever engine they belong to."""

    def __init__(self) -> None:
        self._workers: Counter[Block] = Counter()

    def count(
        self, block: Block, deal: int, cause: str, *, moves: Moves = (), ours: bool = False
    ) -> list[LostWorker | LostGame]:
        """A worker was lost that may have been playing this deal of a block; with a LostGame the deal is given up."""
        suspect = block.only([deal])
        self._workers[suspect] += 1
        workers = self._workers[suspect]
        where = (block.line_up, block.rotation, deal)
        told: list[LostWorker | LostGame] = [] if block.trial else [LostWorker(*where, cause)]
        if workers > block.replays:
            told.append(LostGame(*where, cause, workers, block.trial, moves, ours))
        return told
