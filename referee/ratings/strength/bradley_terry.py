"""The Bradley-Terry model fitted to all pairs of bots at each table, a tie counting half.

A bot of strength a beats one of strength b with probability 1/(1 + exp(b - a)); strengths are in logits (Bradley and
Terry 1952). The pairs of one game are not independent, so this is a composite likelihood: it says where the strengths
lie (Varin, Reid and Firth 2011), and how sure that is has to be said otherwise: see `sandwich.py`.

Every bot has half a virtual win and half a virtual loss against a dummy of strength 0. This keeps the strength of one
that always wins finite, and is one game's worth.
"""

from __future__ import annotations

import numpy as np

from referee.ratings.data.columns import Numbers

VIRTUAL = 0.5
"""Wins, and as many losses, against the dummy."""
_ENOUGH = 1e-10
_STEPS = 200


def chances(strengths: Numbers) -> Numbers:
    """The probability that the one of the row beats the one of the column; of shape (K, K) for strengths of (K,)."""
    return logistic(strengths[:, None] - strengths[None, :])


def logistic(x: Numbers) -> Numbers:
    """1/(1 + exp(-x)), without overflow."""
    half: Numbers = (1 + np.tanh(x / 2)) / 2
    return half


def information(met: Numbers, strengths: Numbers) -> Numbers:
    """Minus the second derivatives of the log likelihood, the dummy's included: of shape (K, K)."""
    chance = chances(strengths)
    against = met * chance * chance.T
    alone = logistic(strengths)
    return np.diag(against.sum(axis=1) + 2 * VIRTUAL * alone * (1 - alone)) - against


def fit(wins: Numbers, met: Numbers) -> Numbers:
    """The strengths in logits, by Newton's method, where the dummy has 0: of shape (K,).

    `wins`, of shape (K,), are opponents beaten and half of those tied; `met`, of shape (K, K), symmetric and with zeros
    on its diagonal, how often each was at a table with each. Wins by pair are not needed: the sums are sufficient.
    """
    strengths = np.zeros(len(wins))
    slope = _slope(wins, met, strengths)
    for _ in range(_STEPS):
        step = np.linalg.solve(information(met, strengths), slope)
        while np.abs(step).max() > _ENOUGH:
            further = _slope(wins, met, strengths + step)
            # The likelihood is concave: a step is too long where it comes down on the other side as steep as it began.
            if further @ step > -(slope @ step) / 2:
                break
            step /= 2
        strengths = strengths + step
        if np.abs(step).max() <= _ENOUGH:
            return strengths
        slope = further
    raise AssertionError("Newton's method on a concave function has an end")


def _slope(wins: Numbers, met: Numbers, strengths: Numbers) -> Numbers:
    """The first derivatives of the log likelihood."""
    expected = (met * chances(strengths)).sum(axis=1) + VIRTUAL * 2 * logistic(strengths)
    slope: Numbers = wins + VIRTUAL - expected
    return slope
