"""A mean over games whose independent units are deals: its standard error and its interval, from sums over deals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from referee.ratings.data.columns import Integers
from referee.ratings.maths.intervals import TAIL
from referee.ratings.maths.student import quantile

_POWERS = ((0, 0), (0, 1), (1, 0), (2, 0), (1, 1), (0, 2), (4, 0), (3, 1), (2, 2), (1, 3), (0, 4))
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Mean:
    """Half points over those possible, `possible` in a game.

    `sums[a, b]` is the sum over deals of p^a g^b, whole numbers, with p half points and g games of a deal; `most` is
    the largest g.
    """

    possible: int
    sums: dict[tuple[int, int], int]
    most: int

    @property
    def deals(self) -> int:
        """How many have a game."""
        return self.sums[0, 0]

    @property
    def games(self) -> int:
        """How many there are."""
        return self.sums[0, 1]

    def score(self) -> float | None:
        """Opponents beaten and half of those tied, over opponents met: 0 to 1. None without a game."""
        return self.sums[1, 0] / (self.possible * self.games) if self.games else None

    def error(self) -> float | None:
        """The standard error of `score`, deals taken as the independent units. None with fewer than two of them.

        The ratio estimator's, robust to clusters, with the correction D/(D - 1) (CR1: Liang and Zeger 1986;
        Cochran, Sampling Techniques, 6.19): with P points and G games in all, a deal's residual is
        p - g P/G, and the variance D/(D - 1) times the sum of their squares over the points possible, squared.
        """
        if self.deals < 2:
            return None
        squares = self._residuals(2)
        return math.sqrt(self.deals * squares / ((self.deals - 1) * (self.possible * self.games * self.games) ** 2))

    def freedom(self) -> float | None:
        """The degrees of freedom of `error` for Student's t: (sum of squared residuals)^2 over that of fourth powers,
        less 1. From 0 to one less than there are deals; None with fewer than two."""
        if self.deals < 2:
            return None
        fourth = self._residuals(4)
        return min(self._residuals(2) ** 2 / fourth, float(self.deals)) - 1 if fourth else self.deals - 1.0

    def interval(self) -> tuple[float, float] | None:
        """From where to where the true mean lies with 95%: by Student's t, within the bounds that hold for any results.

        Those are Chernoff's for independent numbers from 0 to 1 (Hoeffding 1963, theorem 1). They are wider but for the
        fewest deals, and all there is where deals came out alike or one alone did not. None with fewer than two.
        """
        score, error, freedom = self.score(), self.error(), self.freedom()
        if score is None or error is None or freedom is None:
            return None
        low, high = chernoff(score, self.games / self.most)
        if error == 0 or freedom < 1:
            return low, high
        reach = quantile(TAIL, freedom) * error
        return max(low, score - reach), min(high, score + reach)

    def _residuals(self, power: int) -> int:
        """The sum of the residuals' powers, times G to that power."""
        points, games = self.sums[1, 0], self.games
        return sum(
            math.comb(power, by) * self.sums[power - by, by] * games ** (power - by) * (-points) ** by
            for by in range(power + 1)
        )


def chernoff(mean: float, units: float) -> tuple[float, float]:
    """The true means of `units` independent numbers from 0 to 1 that leave the `mean` seen a chance, 95% in all."""
    divergence = math.log(1 / TAIL) / units
    return _end(mean, 0.0, divergence), _end(mean, 1.0, divergence)


def _end(mean: float, outermost: float, divergence: float) -> float:
    """Between `mean` and `outermost`, where the divergence of Kullback and Leibler from the mean comes to so much."""
    inside, outside = mean, outermost
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        if _divergence(mean, middle) < divergence:
            inside = middle
        else:
            outside = middle
    return outside


def _divergence(seen: float, true: float) -> float:
    parts = ((seen, true), (1 - seen, 1 - true))
    return math.fsum(part * math.log(part / of) if of > 0 else math.inf for part, of in parts if part > 0)


class MeanSums:
    """Sums over deals for `size` means, numbered from 0 on."""

    def __init__(self, size: int, possible: int) -> None:
        self._possible = possible
        self._sums = np.zeros((len(_POWERS), size), np.int64)
        self._most = np.zeros(size, np.int64)

    def add(self, means: Integers, points: Integers, games: Integers) -> None:
        """Count deals, each for one of the means, by their half points and their games: three arrays of one shape."""
        means, points, games = means.ravel(), points.ravel(), games.ravel()
        for row, (of_points, of_games) in enumerate(_POWERS):
            np.add.at(self._sums[row], means, points**of_points * games**of_games)
        np.maximum.at(self._most, means, games)

    def mean(self, number: int) -> Mean:
        """What has been counted for one of them."""
        sums = dict(zip(_POWERS, map(int, self._sums[:, number]), strict=True))
        return Mean(self._possible, sums, int(self._most[number]))
