"""The generalised sequential probability ratio test of the chess testers, against which duels are measured.

A deal's score is one of the 2n(n-1) + 1 that n players allow: for two players five, the pentanomial. Under each
hypothesis on the mean score the probabilities of these are the likeliest ones that have that mean, and the
log-likelihood ratio of the two is compared with Wald's bounds. M. Van den Bergh, The generalized maximum likelihood
ratio for the expectation value of a distribution; this is what Fishtest computes. Its errors are held only nearly.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from referee.ratings.sequential.betting import DuelHypotheses

Numbers = NDArray[np.float64]

_UNSEEN = 1e-3
"""Deals that a score counts for which no deal had, as in Fishtest: every mean is possible then."""
_STEPS = 60
"""Steps of the root's search at most: bisection alone would reach the last bit."""


def bounds(question: DuelHypotheses) -> tuple[float, float]:
    """Wald's: not better at the lower one, better at the upper one."""
    return math.log(question.beta / (1 - question.alpha)), math.log((1 - question.beta) / question.alpha)


def log_likelihood_ratio(counts: ArrayLike, question: DuelHypotheses) -> Numbers:
    """Of mean score s1 against s0. `counts`, (..., m): deals by score 0, 1/(m-1), ..., 1. The answer is (...)."""
    seen = np.maximum(np.asarray(counts, np.float64), _UNSEEN)
    scores = np.linspace(0, 1, seen.shape[-1])
    ratio = _fit(seen, scores, question.s0) - _fit(seen, scores, question.s1)
    return np.asarray((seen * ratio).sum(axis=-1))


def _fit(seen: Numbers, scores: Numbers, mean: float) -> Numbers:
    """The logarithm of 1 + t (x - mean) by score: observed over likeliest probabilities that have this mean.

    t is the root of sum p (x - mean) / (1 + t (x - mean)), which falls from +inf to -inf between -1/(1 - mean) and
    1/mean: Newton's steps, halvings where these would leave the bracket.
    """
    shares = seen / seen.sum(axis=-1, keepdims=True)
    above = scores - mean
    low, high = np.full(seen.shape[:-1], -1 / (1 - mean)), np.full(seen.shape[:-1], 1 / mean)
    root = np.zeros(seen.shape[:-1])
    for _ in range(_STEPS):
        ratio = above / (1 + root[..., None] * above)
        value, slope = (shares * ratio).sum(axis=-1), (shares * ratio**2).sum(axis=-1)
        low, high = np.where(value > 0, root, low), np.where(value > 0, high, root)
        newton = root + value / slope
        following = np.where((newton >= low) & (newton <= high), newton, (low + high) / 2)
        if np.all(np.abs(following - root) <= 1e-13 * (1 + np.abs(root))):
            break
        root = following
    return np.log1p(root[..., None] * above)
