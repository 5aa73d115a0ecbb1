"""What bots made of every deal, stage by stage: whole numbers, from which the scores of rounds are made."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from referee.ratings.scores.scores import half_points
from referee.ratings.sequential.settling import Floats
from referee.record import Bot, GameResult
from referee.tournament.rounds.schedule import Owing


class Points:
    """The half points of L line-ups of n bots, in stages of `every` deals, the last of which may be shorter."""

    def __init__(self, owings: Iterable[Owing], bots: Collection[Bot], every: int) -> None:
        self._owings = list(owings)
        self._number = {owing.line_up: number for number, owing in enumerate(self._owings)}
        index = {bot: number for number, bot in enumerate(bots)}
        self._members = np.array([[index[bot] for bot in owing.line_up] for owing in self._owings])
        self._bots = list(bots)
        self._every = every
        self._stages: dict[int, NDArray[np.int16]] = {}

    def add(self, result: GameResult) -> None:
        """Take in one game."""
        line_up = result.line_up
        number = self._number[line_up]
        stage, deal = divmod(result.deal - self._owings[number].first, self._every)
        points = self._stage(stage)[number, deal]
        for bot, gained in zip(result.seats, half_points(result.places), strict=True):
            points[line_up.index(bot)] += gained

    def scores(self, stage: int, playing: Collection[Bot], without: Collection[Bot]) -> Floats:
        """The bots' scores of a stage's rounds, (rounds, K): of each deal's opponents beaten and half of those tied.

        NaN for bots that are not `playing`, and for those `without` whom everything is counted.
        """
        points = self._stage(stage)
        size = points.shape[2]
        out = np.array([bot in without for bot in self._bots])
        kept = ~out[self._members].any(axis=1)
        sums = np.zeros((points.shape[1], len(self._bots)))
        line_ups = np.zeros(len(self._bots))
        for seat in range(size):
            np.add.at(line_ups, self._members[kept, seat], 1)
            np.add.at(sums.T, self._members[kept, seat], points[kept, :, seat])
        idle = out | np.array([bot not in playing for bot in self._bots]) | (line_ups == 0)
        found: Floats = sums / (2 * size * (size - 1) * np.where(idle, np.nan, line_ups))
        return found

    def _stage(self, number: int) -> NDArray[np.int16]:
        found = self._stages.get(number)
        if found is None:
            deals = min(self._every, self._owings[0].deals - number * self._every)
            shape = (len(self._owings), deals, self._members.shape[1])
            found = self._stages[number] = np.zeros(shape, np.int16)
        return found
