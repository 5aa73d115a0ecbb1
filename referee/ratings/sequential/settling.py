"""Who is proven above whom, looked at while games come in: a test for each ordered pair that may stop at any look.

In a round every line-up plays one deal. A bot's score of it is the mean over its line-ups, 0 to 1, and d the difference
of two bots' scores, -1 to 1. A gambler who believes that a is above b multiplies his wealth by 1 + l d in every round.
If a's expected score is not above b's, his wealth is a supermartingale, whatever the distribution, and so is the mean
of the wealths for l in `BETS`; that it ever reaches t has probability 1/t at most (Ville 1939). There are K (K - 1)
ordered pairs, so with t = K (K - 1) / alpha all that is ever said of K bots is right with probability 1 - alpha.
Such mixtures: V. Vovk and R. Wang, E-values: calibration, combination and applications, Ann. Statist. 49 (2021); the
betting: I. Waudby-Smith and A. Ramdas, J. R. Statist. Soc. B 86 (2024).

Where a width of indifference w is given, two more gamblers bet on d < w and on -d < w; where both have won, a and b are
alike. The threshold stays: whatever the true difference is, at most two of a pair's four gamblers are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

BETS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""What parts of a wealth are bet: the smaller, the smaller the differences that are found soonest."""


@dataclass(frozen=True, slots=True)
class SettlingRule:
    """When a table is settled: every pair, or with `top` the order of so many first places.

    `alpha` bounds the probability that anything is said wrongly. Bots whose scores differ by less than `indifference`
    need not be told apart. Raises ValueError, in words for people, where this makes no sense.
    """

    alpha: float = 0.05
    top: int | None = None
    indifference: float = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError."""
        if not 0 < self.alpha <= 0.5:
            raise ValueError(f"alpha is a probability above 0, and .5 at most, not {self.alpha:g}")
        if self.top is not None and self.top < 1:
            raise ValueError(f"places are counted from 1 on, not {self.top}")
        if not 0 <= self.indifference < 1:
            raise ValueError(
                f"a width of indifference is a difference of scores, from 0 to 1, not {self.indifference:g}"
            )


class Settling:
    """What is proven of K bots, by index, as rounds come in.

    A function of the rounds that were bet on between two looks, as sets, and not of their order.
    """

    def __init__(self, bots: int, rule: SettlingRule) -> None:
        self.rule = rule
        self._goal = math.log(bots * (bots - 1) / rule.alpha) if bots > 1 else 0.0
        self._above = np.zeros((len(BETS), bots, bots))
        self._within = np.zeros((len(BETS), bots, bots))
        self._gone = np.zeros(bots, bool)
        self.above: Flags = np.zeros((bots, bots), bool)
        """Whether the first is proven above the second; once said it stays said."""
        self.within: Flags = np.zeros((bots, bots), bool)
        """Whether the first is proven to be less than the width of indifference above the second."""

    def bet(self, scores: Floats) -> None:
        """Take in rounds: scores of shape (rounds, K), NaN where a bot did not play all of its line-ups in a round."""
        difference = scores[:, :, None] - scores[:, None, :]
        for number, part in enumerate(BETS):
            self._above[number] += np.nansum(np.log1p(part * difference), axis=0)
            if self.rule.indifference:
                self._within[number] += np.nansum(np.log1p(part * (self.rule.indifference - difference)), axis=0)

    def look(self) -> None:
        """See what is proven by now."""
        self.above |= _log_mean(self._above) >= self._goal
        if self.rule.indifference:
            self.within |= _log_mean(self._within) >= self._goal
        for flags in self.above, self.within:
            np.fill_diagonal(flags, val=False)

    def leave_out(self, bots: Collection[int]) -> None:
        """These bots count no more, and all wealth is as at the beginning: all rounds are to be bet on anew.

        What was proven of the others stays.
        """
        self._gone[list(bots)] = True
        self._above[:] = 0
        self._within[:] = 0

    def open_pairs(self) -> list[tuple[int, int]]:
        """The pairs that still have to be told apart, each with the smaller index first.

        With `top` = t a bot is out of the question once t others are above it; no pair with one that is out matters.
        """
        settled = self.above | self.above.T | (self.within & self.within.T)
        asked = ~self._gone
        if self.rule.top is not None:
            asked &= (self.above & ~self._gone[:, None]).sum(axis=0) < self.rule.top
        return [(one, two) for one, two in combinations(np.flatnonzero(asked).tolist(), 2) if not settled[one, two]]


def _log_mean(logs: Floats) -> Floats:
    """The logarithm of the mean over the first axis of what has these logarithms."""
    highest = logs.max(axis=0)
    found: Floats = highest + np.log(np.exp(logs - highest).mean(axis=0))
    return found
