"""A duel's test: is NEW's expected score above s0, or below s1? Looked at after every deal, valid whenever it ends.

Two gamblers bet on the scores x of deals, each in 0 to 1. One believes that their mean is above s0, and a deal
multiplies his wealth K+ by 1 + l (x - s0); the other believes that it is below s1, and K- is multiplied by
1 - l (x - s1). Where the first is wrong, K+ is a supermartingale that begins at 1, and ever reaches 1/alpha with
probability alpha at most (Ville 1939): in samples of any size, for scores of any distribution, and with a look after
every deal. I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, J. R. Statist. Soc.
B 86 (2024).

All numbers are functions of how many deals had which score: the order of the deals makes no difference to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_CAUTION = 0.5
"""What part of its wealth a gambler loses at most in one deal; Waudby-Smith and Ramdas propose 1/2 or 3/4."""

_WITH_TIES = 0.75
"""What part of the variance without ties a deal has at tables of three and more."""


class DuelVerdict(StrEnum):
    """What a duel has shown."""

    BETTER = "better"
    NOT_BETTER = "not better"


def expected_score(elo: float) -> float:
    """The score against a player so many Elo points below: 1 / (1 + 10**(-elo / 400)), the logistic scale."""
    return 1 / (1 + 10 ** (-elo / 400))


def deal_variance(players: int) -> float:
    """The variance of a deal's mean score that bets are made for: .125 for two players, .0417, .0260, .0188 and .0146.

    One among n equal players that is as likely to take any place, without ties, has (n + 1) / (12 (n - 1)) in a game,
    and an n-th of it in the mean over n rotations, were they independent. At tables of three and more ties are common;
    three quarters of it lie amid what was measured there (`benchmarks/duel.py`: close bots with some chance in their
    play have .6 to .9 of it, for two players .8 to .9). A test stays valid whatever the variance is: with v times
    as much it lasts about 1 / (1 - (1 - v)**2) times as long as with the best bet.
    """
    ties = 1 if players == 2 else _WITH_TIES
    return ties * (players + 1) / (12 * players * (players - 1))


@dataclass(frozen=True, slots=True)
class DuelHypotheses:
    """Whether the expected score is above `s0` or below `s1`, and how often either may be said wrongly.

    `alpha` bounds the probability of "better" where the score is `s0` or less, `beta` that of "not better" where
    it is `s1` or more. Raises ValueError, in words for people, where this makes no sense.
    """

    s0: float = 0.50
    s1: float = 0.52
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Raise ValueError."""
        if not 0 < self.s0 < self.s1 < 1:
            raise ValueError(f"s0 is to be below s1, and both between 0 and 1, not {self.s0:g} and {self.s1:g}")
        for name, error in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < error <= 0.5:
                raise ValueError(f"{name} is a probability above 0, and .5 at most, not {error:g}")

    def stakes(self, players: int) -> tuple[float, float]:
        """The bets l for K+ and for K-: (s1 - s0) / `deal_variance`, and never so much that wealth could end."""
        bet = (self.s1 - self.s0) / deal_variance(players)
        return min(bet, _CAUTION / self.s0), min(bet, _CAUTION / (1 - self.s1))


class BettingTest:
    """A test as deals come in, one after the other, until it has an answer."""

    def __init__(self, question: DuelHypotheses, players: int) -> None:
        self.question = question
        self.players = players
        self._factors = log_factors(question, players)
        self.counts = [0] * len(self._factors[0])
        """How many deals gave NEW 0, 1, ... half points in all rotations together; for two players, the pentanomial."""

    def add(self, half_points: int) -> DuelVerdict | None:
        """Take in one deal. NEW's half points in it: two for an opponent beaten in a game, one for one tied."""
        self.counts[half_points] += 1
        return self.verdict

    @property
    def verdict(self) -> DuelVerdict | None:
        """The answer as of now; the answer of the test is the first. Where both gamblers are rich at once: better."""
        if self.log_better >= -math.log(self.question.alpha):
            return DuelVerdict.BETTER
        if self.log_not_better >= -math.log(self.question.beta):
            return DuelVerdict.NOT_BETTER
        return None

    @property
    def deals(self) -> int:
        """How many deals there were."""
        return sum(self.counts)

    @property
    def score(self) -> float | None:
        """NEW's mean score, 0 to 1. None before the first deal."""
        points = sum(half_points * count for half_points, count in enumerate(self.counts))
        return points / ((len(self.counts) - 1) * self.deals) if self.deals else None

    @property
    def log_better(self) -> float:
        """The natural logarithm of K+, the wealth of who bets on NEW being better than s0."""
        return _log_wealth(self.counts, self._factors[0])

    @property
    def log_not_better(self) -> float:
        """The natural logarithm of K-, the wealth of who bets on NEW being worse than s1."""
        return _log_wealth(self.counts, self._factors[1])


def log_factors(question: DuelHypotheses, players: int) -> tuple[list[float], list[float]]:
    """By half points of a deal: the logarithm of what it multiplies K+ by, and of what it multiplies K- by."""
    better, not_better = question.stakes(players)
    most = 2 * players * (players - 1)
    scores = [half_points / most for half_points in range(most + 1)]
    return (
        [math.log1p(better * (score - question.s0)) for score in scores],
        [math.log1p(not_better * (question.s1 - score)) for score in scores],
    )


def _log_wealth(counts: Sequence[int], factors: Sequence[float]) -> float:
    return math.fsum(count * factor for count, factor in zip(counts, factors, strict=True))
