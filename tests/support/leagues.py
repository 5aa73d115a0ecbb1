"""Made-up leagues whose luck, side effects and collusion are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from referee.record import Bot, GameResult
from referee.rules import Ending
from referee.tournament.rounds.seating import seats_of


@dataclass(frozen=True, kw_only=True)
class League:
    """How games of bots 0, 1, … come out; all in standard deviations of the luck that is one player's in one game.

    A player's showing is its strength, the luck of its seat's cards in this deal (`cards`), how the deal suits it in
    whatever seat (`suits`), its own luck, its side effects, and `help` where it sits with its partner. Side effects are what a manner of play does to others: each bot
    disturbs the table by a random amount and suffers from disturbance by another, times `side`. Showings are rounded to
    `step`, so that there are ties, and the highest is first.
    """

    players: int
    strengths: Sequence[float]
    deals: int
    line_ups: int | None = None
    cards: float = 0.44
    suits: float = 0.0
    side: float = 0.0
    step: float = 0.45
    help: Mapping[tuple[int, int], tuple[float, float]] = field(default_factory=dict)

    def results(self, dice: np.random.Generator) -> list[GameResult]:
        """One league's games."""
        every = np.array(list(combinations(range(len(self.strengths)), self.players)))
        chosen = every if self.line_ups is None else dice.permutation(every)[: self.line_ups]
        disturbing, suffering = dice.normal(size=(2, len(self.strengths)))
        bots = [Bot(f"b{number:03}", f"{number:064x}") for number in range(len(self.strengths))]
        results: list[GameResult] = []
        for line_up in sorted(chosen.tolist()):
            level = np.array([self._level(bot, line_up, disturbing, suffering) for bot in line_up])
            results += self._games([bots[bot] for bot in line_up], level, dice)
        return results

    def _level(
        self, bot: int, line_up: list[int], disturbing: NDArray[np.float64], suffering: NDArray[np.float64]
    ) -> float:
        others = [other for other in line_up if other != bot]
        level = self.strengths[bot] + self.side * suffering[bot] * disturbing[others].sum()
        for pair, (first, second) in self.help.items():
            if bot in pair and set(pair) <= set(line_up):
                level += first if bot == pair[0] else second
        return float(level)

    def _games(self, bots: list[Bot], level: NDArray[np.float64], dice: np.random.Generator) -> list[GameResult]:
        size = self.players
        seating = np.array([[seats_of(size, deal, rotation) for rotation in range(size)] for deal in range(self.deals)])
        cards = dice.normal(scale=self.cards, size=(self.deals, 1, size))
        suits = dice.normal(scale=self.suits, size=(self.deals, size)) if self.suits else np.zeros((self.deals, size))
        level = np.take_along_axis((level + suits)[:, None, :], seating, axis=2)
        showing = level + cards + dice.normal(scale=np.sqrt(1 - self.cards**2), size=seating.shape)
        showing = np.round(showing / self.step)
        places = 1 + (showing[..., None, :] > showing[..., :, None]).sum(axis=-1)
        return [
            GameResult(tuple([bots[member] for member in seats]), deal, rotation, Ending.EMPTIED, tuple(place), ())
            for deal, (rows, finish) in enumerate(zip(seating.tolist(), places.tolist(), strict=True))
            for rotation, (seats, place) in enumerate(zip(rows, finish, strict=True))
        ]
