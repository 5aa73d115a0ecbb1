"""TrueSkill: every bot's skill after all games of a table size."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from referee.ratings.data.games import Games
    from referee.ratings.trueskill.propagation import Scale


class Skill(NamedTuple):
    """A belief about a bot's strength: mean and standard deviation, on TrueSkill's scale (prior 25 and 25/3)."""

    mu: float
    sigma: float


def scale(draw_probability: float) -> Scale:
    """The constants of the trueskill package; neighbours would draw so often if all were equally strong."""
    import trueskill  # slow to import, as is numpy, and only ratings need them

    from referee.ratings.trueskill.propagation import Scale

    margin = NormalDist().inv_cdf((draw_probability + 1) / 2) * 2**0.5 * trueskill.BETA
    return Scale(trueskill.MU, trueskill.SIGMA, trueskill.BETA, margin)


def skills(games: Games, draw_probability: float) -> list[Skill]:
    """Every bot's skill after all rated games, in the order of `games.bots`.

    It depends on the set of games alone, up to rounding. Strength stands still (tau = 0). Where places are tied, what a
    game says is averaged over all orders of the tied, since a chain of neighbours treats its ends unlike its middle.
    """
    from referee.ratings.trueskill.patterns import patterns
    from referee.ratings.trueskill.propagation import propagate

    fit = propagate(patterns(games), len(games.bots), scale(draw_probability))
    return [Skill(*pair) for pair in zip(fit.mu.tolist(), fit.sigma.tolist(), strict=True)]
