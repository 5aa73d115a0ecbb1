"""What is proven of an order: which bots are apart, between which ranks each stands, which groups stand together.

Many pairs are looked at, so each is judged more strictly, by max-t: the largest of all their differences over their
errors, |Z_i - Z_j| / s_ij with Z normal as the strengths' errors are, is above c in 5% of all tables. A pair is
apart if its difference is longer than an interval of the level that c has for one normal variable. Where errors rest on
few deals, Student's t takes the place of the normal variable at this level, each pair with its own degrees of freedom.
A bot's rank is then at least 1 + the number of those proven better, and at most K - the number of those proven worse,
for all bots at once with probability 95% (Klein, Wright and Wieczorek 2020; Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from __future__ import annotations

import math

import numpy as np

from referee.ratings.data.columns import Flags, Numbers
from referee.ratings.maths.intervals import TAIL
from referee.ratings.maths.student import quantile, upper_tail

SEED = 36
DRAWS = 10_000
_AT_ONCE = 500


def critical_tail(covariance: Numbers, comparable: Flags) -> float:
    """The tail that leaves all `comparable` pairs (K, K) within their intervals at once in 95% of all tables.

    By simulation, always with the same dice: those of numpy's old generator, whose numbers are promised to stay. The
    tail has a Monte Carlo error of some 5% of itself, which shifts an interval's end by half a percent.
    """
    if np.triu(comparable, 1).sum() <= 1:
        return TAIL
    largest = _largest(covariance, comparable)
    return upper_tail(float(np.quantile(largest, 1 - 2 * TAIL)), math.inf)


def critical_value(tail: float) -> float:
    """c: the normal variable's quantile of a critical tail."""
    return quantile(tail, math.inf)


def _largest(covariance: Numbers, comparable: Flags) -> Numbers:
    """Draws of the largest |Z_i - Z_j| / s_ij, of shape (DRAWS,)."""
    own = np.diag(covariance)
    variances = own[:, None] + own - 2 * covariance
    counts = comparable & ~np.eye(len(own), dtype=bool)
    scale = np.where(counts, 1 / np.sqrt(np.where(counts, variances, 1.0)), 0.0)
    root = _root(covariance)
    dice = np.random.RandomState(SEED)
    largest = np.zeros(DRAWS)
    for start in range(0, DRAWS, _AT_ONCE):
        errors = np.ascontiguousarray((dice.standard_normal((_AT_ONCE, len(root))) @ root).T)
        chosen = largest[start : start + _AT_ONCE]
        for bot in range(len(root) - 1):
            apart = np.abs(errors[bot + 1 :] - errors[bot]) * scale[bot, bot + 1 :, None]
            np.maximum(chosen, apart.max(axis=0), out=chosen)
    return largest


def _root(covariance: Numbers) -> Numbers:
    """The symmetric root: unlike others it is unique, and also where the covariance is singular."""
    values, vectors = np.linalg.eigh(covariance)
    root: Numbers = (vectors * np.sqrt(values.clip(min=0))) @ vectors.T
    return root


def rank_intervals(better: Flags) -> list[tuple[int, int]]:
    """Best and worst rank of each of K bots, where `better[i, j]`, of shape (K, K), says that i is proven better."""
    lows, highs = 1 + better.sum(axis=0), len(better) - better.sum(axis=1)
    return list(zip(lows.tolist(), highs.tolist(), strict=True))


def groups(apart: Flags) -> list[tuple[int, ...]]:
    """For each of K bots, best first, the numbers of its groups, counted from 0.

    A group is a run of bots in this order no two of which are `apart`, of shape (K, K), which cannot be made longer.
    """
    bots = len(apart)
    runs: list[range] = []
    for start in range(bots):
        stop = max(start + 1, runs[-1].stop if runs else 0)
        while stop < bots and not apart[start : stop + 1, stop].any():
            stop += 1
        if not runs or stop > runs[-1].stop:
            runs.append(range(start, stop))
    return [tuple(number for number, run in enumerate(runs) if bot in run) for bot in range(bots)]


def letters(number: int) -> str:
    """a to z, then aa, ab and so on."""
    word = ""
    while number >= 0:
        number, last = divmod(number, 26)
        word = chr(ord("a") + last) + word
        number -= 1
    return word
