"""TrueSkill: the games folded one by one in schedule order, by the trueskill package."""

from __future__ import annotations

from typing import Any, NamedTuple

from referee.ratings import truncated
from referee.ratings.games import Games


class Skill(NamedTuple):
    """A belief about a bot's strength: mean and standard deviation, on TrueSkill's scale (prior 25 and 25/3)."""

    mu: float
    sigma: float


def environment(draw_probability: float) -> Any:
    """A `trueskill.TrueSkill` with its defaults, except that strength stands still (tau = 0).

    Its four truncation functions are replaced by ours, which agree with the package's to its own precision (about
    1e-6) and go on where it raises FloatingPointError: at a great upset, and at a win that was never in doubt.
    """
    import trueskill  # slow to import, and only ratings need it

    backend = (truncated.cdf, truncated.pdf, truncated.ppf)
    chosen = trueskill.TrueSkill(tau=0.0, draw_probability=draw_probability, backend=backend)
    chosen.v_win, chosen.w_win = truncated.v_win, truncated.w_win
    chosen.v_draw, chosen.w_draw = truncated.v_draw, truncated.w_draw
    return chosen


def fold(games: Games, draw_probability: float) -> list[Skill]:
    """Every bot's skill after all rated games, in the order of `games.bots`."""
    chosen = environment(draw_probability)
    ratings = [chosen.create_rating() for _ in games.bots]
    for game in games.rated():
        after = chosen.rate([(ratings[bot],) for bot in game.seats], ranks=game.places)
        for bot, (rating,) in zip(game.seats, after, strict=True):
            ratings[bot] = rating
    return [Skill(rating.mu, rating.sigma) for rating in ratings]
