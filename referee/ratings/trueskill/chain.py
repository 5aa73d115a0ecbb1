"""One game as a chain: performances in the order of places, the difference of each two neighbours cut by their result.

The factor graph is TrueSkill's (Herbrich, Minka and Graepel 2006) with one player to a team. Rows are games of one
number of players, and positions count from the winner.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from referee.ratings.data.columns import Flags, Integers
from referee.ratings.maths.truncated import Floats, draw, win


class Factor(NamedTuple):
    """A normal factor for each row: `precision` and `force`, which is precision times mean, both of shape (rows,).

    Means are measured from the current estimate of the player's own skill, so that a factor stays good when the
    estimates move.
    """

    precision: Floats
    force: Floats

    def times(self, other: Factor) -> Factor:
        """The product."""
        return Factor(self.precision + other.precision, self.force + other.force)


class Chain:
    """Rows of games; `tied`, of shape (players - 1, rows), says where the players at positions k and k + 1 are tied.

    `noise` is the variance of a performance around the skill, `margin` how far apart two performances are
    at most in a draw, on the scale of skills.
    """

    def __init__(self, tied: Flags, noise: float, margin: float) -> None:
        self._drawn: list[Integers] = [np.flatnonzero(row) for row in tied]
        self._won: list[Integers] = [np.flatnonzero(~row) for row in tied]
        self._noise = noise
        self._margin = margin

    def sweep(self, skills: list[Factor], leads: Floats, upward: Floats) -> tuple[list[Factor], Floats]:
        """Pass messages from the winner down to the last and back.

        `skills` are the beliefs about the players, by position; `leads`, of shape (players - 1, rows), is how far the
        estimate of each lies above that of the next. `upward`, of shape (players - 2, 2, rows), holds the messages
        from each difference but the first to the performance above it. The pass starts from them and leaves its own
        there; zeros are no knowledge. At the fixed point of the pass the messages are those of the game.

        Returns what the game says about each skill, and the precisions of the normal factors that stand for the
        results of the differences, of shape (players - 1, rows).
        """
        last = len(skills) - 2  # the difference above the last player
        own = [self._blurred(skill) for skill in skills]
        below = [own[0], *(Factor(*message) for message in upward)]  # of the first, a place to write to
        cuts: list[_Cut] = []
        above = own[0]
        for k in range(last + 1):
            cuts.append(self._cut(k, above, own[k + 1].times(below[k + 1]) if k < last else own[k + 1], leads[k]))
            above = own[k + 1].times(cuts[k].to_lower()) if k < last else above
        for k in range(last, 0, -1):
            below[k] = cuts[k].to_upper()
            upward[k - 1] = below[k]
            # Around the last difference nothing has changed since it was cut.
            cuts[k - 1] = self._cut(k - 1, cuts[k - 1].upper, own[k].times(below[k]), leads[k - 1])
        return self._told(cuts, below), np.array([cut.precision() for cut in cuts])

    def _told(self, cuts: list[_Cut], below: list[Factor]) -> list[Factor]:
        """What the differences say about each skill; `below` are the messages upwards, but the first."""
        between = [cuts[k - 1].to_lower().times(below[k]) for k in range(1, len(cuts))]
        return [self._blurred(factor) for factor in (cuts[0].to_upper(), *between, cuts[-1].to_lower())]

    def _blurred(self, factor: Factor) -> Factor:
        """From skill to performance or back: the same mean, and the noise of a performance on top."""
        scale = 1 + self._noise * factor.precision
        return Factor(factor.precision / scale, factor.force / scale)

    def _cut(self, k: int, upper: Factor, lower: Factor, lead: Floats) -> _Cut:
        means = upper.force / upper.precision, lower.force / lower.precision
        variances = 1 / upper.precision, 1 / lower.precision
        scale = 1 / np.sqrt(variances[0] + variances[1])
        gap = (means[0] - means[1] + lead) * scale
        shift, left = self._judged(k, gap, self._margin * scale)
        return _Cut(upper, variances, means, shift * scale, (1 - left) * scale * scale, left)

    def _judged(self, k: int, gap: Floats, margin: Floats) -> tuple[Floats, Floats]:
        """What the results of difference k do to it: `truncated.win` or `truncated.draw`."""
        drawn, won = self._drawn[k], self._won[k]
        if not len(drawn):
            return win(gap, margin)
        if not len(won):
            return draw(gap, margin)
        shift, left = np.empty_like(gap), np.empty_like(gap)
        shift[won], left[won] = win(gap.take(won), margin.take(won))
        shift[drawn], left[drawn] = draw(gap.take(drawn), margin.take(drawn))
        return shift, left


class _Cut(NamedTuple):
    """A difference after its result: between the performances `upper` and `lower`, of these variances and means.

    `push` and `curvature` are the first derivative of the logarithm of the result's probability by the difference,
    and the second with its sign changed; `left` is the share of the difference's variance that is left.
    """

    upper: Factor
    variances: tuple[Floats, Floats]
    means: tuple[Floats, Floats]
    push: Floats
    curvature: Floats
    left: Floats

    def to_upper(self) -> Factor:
        return self._to(0, self.push)

    def to_lower(self) -> Factor:
        return self._to(1, -self.push)

    def precision(self) -> Floats:
        return self.curvature / self.left

    def _to(self, side: int, push: Floats) -> Factor:
        variance = self.variances[side]
        precision = self.curvature / (1 - self.curvature * variance)
        return Factor(precision, precision * (self.means[side] + push * variance) + push)
