"""How many deals a league of a fixed length needs to tell bots apart that lie a given distance apart.

K bots of nearly equal strength play every line-up of n of them; each plays D deals, every deal in all rotations.
A bot's score of a deal has the variance v, and as the scores of a table add up to a constant, those of two bots at it
have the covariance -v / (n - 1). So the difference of two bots' mean scores has the variance
2 v (m + b / (n - 1)) / (m^2 D), m = C(K-1, n-1) line-ups of each of them, b = C(K-2, n-2) of both. It is nearly normal,
and a true difference is found with the given power where it is as large as (c + z) standard errors: z the normal
quantile of the power, c the bound of a test that says anything wrongly of any pair with probability alpha. For two bots
c is the normal quantile of 1 - alpha/2; for K it is the quantile of the studentized range over the square root of 2
(Tukey's, which max-t comes to where all pairs are alike).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

from referee.ratings.sequential.betting import deal_variance

_NORMAL = NormalDist()
_REACH, _STEPS = 8.0, 800
"""Integrals over the normal density: from minus to plus so much, in so many steps. Their error is below 1e-9."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What it takes: `deals` of each of `line_ups`, `games` in all.

    `variance` is that of a bot's score of a deal, and `bound` by how many standard errors two bots must differ.
    """

    players: int
    bots: int
    difference: float
    variance: float
    bound: float
    deals: int
    line_ups: int
    games: int


def plan(
    difference: float, players: int, bots: int, *, power: float, alpha: float, variance: float | None = None
) -> Plan:
    """How long a league has to be. `difference` is one of scores as the table shows them, above 0 and below 1.

    `bots` are those of the whole field, `players` or more; `variance` is `deal_variance` unless it is given.
    """
    v = deal_variance(players) if variance is None else variance
    bound = critical(bots, alpha)
    reach = bound + _NORMAL.inv_cdf(power)
    deals = max(1, math.ceil(reach**2 * difference_variance(bots, players, v) / difference**2))
    line_ups = math.comb(bots, players)
    return Plan(players, bots, difference, v, bound, deals, line_ups, deals * line_ups * players)


def difference_variance(bots: int, players: int, variance: float) -> float:
    """The variance of the difference of two bots' mean scores, if every line-up plays one deal."""
    each, both = math.comb(bots - 1, players - 1), math.comb(bots - 2, players - 2)
    return 2 * variance * (each + both / (players - 1)) / each**2


@cache
def critical(bots: int, alpha: float) -> float:
    """The largest of the standardized differences of K equal bots is above this with probability `alpha`."""
    if bots == 2:
        return _NORMAL.inv_cdf(1 - alpha / 2)
    low, high = 0.0, 20.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if _range_probability(bots, middle * math.sqrt(2)) < 1 - alpha else (low, middle)
    return high


def _range_probability(bots: int, width: float) -> float:
    """How often the range of so many standard normal variables is at most `width`."""
    step = 2 * _REACH / _STEPS
    points = (-_REACH + step * number for number in range(_STEPS + 1))
    inside = (_NORMAL.pdf(x) * (_NORMAL.cdf(x) - _NORMAL.cdf(x - width)) ** (bots - 1) for x in points)
    return bots * step * math.fsum(inside)


def variance_of(deals: Iterable[tuple[object, float]]) -> tuple[float, int] | None:
    """The variance within line-ups of a bot's score of a deal, and from how many degrees of freedom.

    `deals` has for each deal, and each bot at it, a key that stands for the bot in its line-up, and its score. None
    where no key has two deals.
    """
    sums: dict[object, tuple[int, float, float]] = {}
    for key, score in deals:
        count, total, squares = sums.get(key, (0, 0.0, 0.0))
        sums[key] = (count + 1, total + score, squares + score * score)
    freedom = sum(count - 1 for count, _, _ in sums.values())
    if not freedom:
        return None
    return sum(squares - total * total / count for count, total, squares in sums.values()) / freedom, freedom
