"""Student's t distribution: tails and quantiles, for any positive real degrees of freedom."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.polynomial.chebyshev import Chebyshev
from numpy.typing import NDArray

_TINY = 1e-300
_STEPS = 100_000
_DEGREE = 24
_NEARLY_NORMAL = 1e7
"""From so many degrees of freedom on, the normal distribution is the same to nine digits."""


def upper_tail(value: float, freedom: float) -> float:
    """P(T > value). `freedom` is positive, and may be infinite for the normal distribution.

    By the regularised incomplete beta function (NIST Digital Library of Mathematical Functions, section 8.17).
    """
    if value < 0:
        return 1 - upper_tail(-value, freedom)
    if freedom > _NEARLY_NORMAL:
        return math.erfc(value / math.sqrt(2)) / 2
    if math.isinf(value):
        return 0.0
    return _incomplete_beta(freedom / (freedom + value * value), freedom / 2, 0.5) / 2


def quantile(tail: float, freedom: float) -> float:
    """The value with P(T > value) = `tail`, for a `tail` above 0 and at most 1/2; to about ten digits."""
    low, high = 0.0, 1.0
    while upper_tail(high, freedom) > tail:
        low, high = high, 2 * high
    while high - low > 1e-11 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if upper_tail(middle, freedom) > tail else (low, middle)
    return high


def quantiles(tail: float, freedom: NDArray[np.float64]) -> NDArray[np.float64]:
    """`quantile` for very many degrees of freedom of 1 or more, to about eight digits.

    The logarithm of a quantile is a smooth function of 1/freedom, which a polynomial follows.
    """
    values: NDArray[np.float64] = np.exp(_log_quantiles(tail)(1 / freedom))
    return values


@lru_cache(maxsize=64)
def _log_quantiles(tail: float) -> Chebyshev:
    """By 1/freedom, from 0 to 1."""
    return Chebyshev.interpolate(lambda nodes: np.array([_log_quantile(tail, node) for node in nodes]), _DEGREE, [0, 1])


def _log_quantile(tail: float, inverse: float) -> float:
    return math.log(quantile(tail, 1 / inverse if inverse > 0 else math.inf))


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised I_x(a, b), by the continued fraction on the side where it converges fast."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function (8.17.22), by Lentz's method."""
    value, above, below = 1.0, 1.0, 0.0
    for step in range(1, _STEPS):
        half = step // 2
        if step % 2:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        below = 1 / ((1 + term * below) or _TINY)
        above = (1 + term / above) or _TINY
        value *= above * below
        if abs(above * below - 1) < 1e-15:
            break
    return 1 / value
