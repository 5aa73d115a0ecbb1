"""How sure strengths are: the covariance of a Bradley-Terry fit, robust to what a deal's results have in common.

The score of a deal is the derivative of its part in the likelihood. With A the information and U the scores, the
covariance is A^-1 (sum of U U') A^-1 D/(D - 1) for D deals (Liang and Zeger 1986; CR1), taken about the bots' mean. A
deal's part in the error of a contrast c, z = c' A^-1 U, also tells how many deals that error rests on: (sum z^2)^2 over
sum z^4. One less are the degrees of freedom of Student's t for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from referee.ratings.data.columns import Numbers
from referee.ratings.data.deals import Deals
from referee.ratings.maths.intervals import Errors, moderated
from referee.ratings.strength.bradley_terry import chances, information

_ROWS = 1 << 10
_FAIR = 8
"""Results between equal bots, each of which has a variance of 1/4 for either."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What is known of the errors of K strengths about their mean; sums over deals, of shape (K, K).

    `second` is the sum of z z', and `third` and `fourth` those of z^3 z' and z^2 (z^2)', by which the fourth power of
    any difference is known. `model` is the covariance if the model's variances were true, but for the table's
    dispersion. `deals` is D, `seats` how many bots play a game.
    """

    second: Numbers
    third: Numbers
    fourth: Numbers
    model: Numbers
    deals: int
    seats: int

    def about_the_mean(self) -> Errors:
        """Of every bot's strength: of shape (K,)."""
        return self._moderated(np.diag(self.second), np.diag(self.fourth), np.diag(self.model))

    def of_differences(self) -> Errors:
        """Of the difference of every two: of shape (K, K)."""
        squares = np.diag(self.fourth)[:, None] + np.diag(self.fourth) + 6 * self.fourth
        fourth = squares - 4 * (self.third + self.third.T)
        return self._moderated(_of_differences(self.second), fourth, _of_differences(self.model))

    def covariance(self) -> Numbers:
        """CR1, of shape (K, K); the model's where deals have not told any two bots apart, as in nothing but draws."""
        apart = ~np.eye(len(self.second), dtype=bool)
        alike = _of_differences(self.second)[apart] <= 1e-12 * _of_differences(self.model)[apart]
        return self.model if alike.any() else self.second * self._correction

    def _moderated(self, second: Numbers, fourth: Numbers, model: Numbers) -> Errors:
        second = second.clip(min=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            effective = np.where(fourth > 0, second**2 / fourth, self.deals)
        return moderated(second * self._correction, effective.clip(1, self.deals) - 1, model.clip(min=0), self.seats)

    @property
    def _correction(self) -> float:
        return self.deals / (self.deals - 1)


def _of_differences(covariance: Numbers) -> Numbers:
    own = np.diag(covariance)
    variances: Numbers = own[:, None] + own - 2 * covariance
    return variances


def spread(deals: Deals, weights: Numbers, met: Numbers, met_twice_weighted: Numbers, strengths: Numbers) -> Spread:
    """The errors of `strengths` of K bots, fitted to `deals` of two or more with `weights` for their L line-ups.

    `met`, of shape (K, K), are the weighted numbers of games in which two met, `met_twice_weighted` the same with the
    squares of the weights.
    """
    bread = np.linalg.inv(information(met, strengths))
    centred = bread - bread.mean(axis=0)
    meat = information(met_twice_weighted, strengths)
    size = len(strengths)
    second, third, fourth = (np.zeros((size, size)) for _ in range(3))
    for parts, squares, fourths in _influences(deals, weights, strengths, centred):
        second += parts.T @ (squares[:, None] * parts)
        third += (parts**3).T @ (fourths[:, None] * parts)
        fourth += (parts**2).T @ (fourths[:, None] * parts**2)
    model = dispersion(deals, strengths) * centred @ meat @ centred.T
    return Spread(second, third, fourth, model, len(deals.games), deals.line_ups.shape[1])


def dispersion(deals: Deals, strengths: Numbers) -> float:
    """How much more, or less, the results of whole deals vary than those of independent pairs (Wedderburn 1974).

    The pairs of a game go together, while ties and rotations even things out. All squared residuals are compared with
    their model's variances, those of `_FAIR` results added to both: so it is not 0 where all went as expected.
    """
    chance = chances(strengths)
    pairs = (chance * chance.T)[deals.line_ups[:, :, None], deals.line_ups[:, None, :]].sum(axis=(1, 2))
    variances = pairs - deals.line_ups.shape[1] / 4  # less those of every member with itself
    expected = float((deals.games * variances[deals.line_up]).sum())
    squares = float((residuals(deals, strengths) ** 2).sum())
    return (squares + _FAIR / 2) / (expected + _FAIR / 2)


def residuals(deals: Deals, strengths: Numbers) -> Numbers:
    """By deal and member, of shape (D, n): wins less those expected."""
    chance = chances(strengths)
    of_line_ups = chance[deals.line_ups[:, :, None], deals.line_ups[:, None, :]].sum(axis=2) - 0.5
    expected = deals.games[:, None] * of_line_ups[deals.line_up]
    left: Numbers = deals.points / 2 - expected
    return left


def _influences(
    deals: Deals, weights: Numbers, strengths: Numbers, centred: Numbers
) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """Parts z of deals in the strengths' errors, some rows at a time, with the powers by which each row counts.

    Between two bots all of a line-up's deals have the same z but for a factor: they are one row.
    """
    by_deal = weights[deals.line_up][:, None] * residuals(deals, strengths)
    if by_deal.shape[1] > 2:
        members, values = deals.line_ups[deals.line_up], by_deal
        squares = fourths = np.ones(len(values))
    else:
        members, values = deals.line_ups, np.tile([1.0, -1.0], (len(deals.line_ups), 1))
        line_up, first = deals.line_up, by_deal[:, 0]
        squares, fourths = (np.bincount(line_up, first**power, len(members)).astype(float) for power in (2, 4))
    for start in range(0, len(members), _ROWS):
        rows = slice(start, start + _ROWS)
        parts = np.einsum("dn,dnk->dk", values[rows], centred.T[members[rows]])
        yield parts, squares[rows], fourths[rows]
