"""Mean and variance of a normal variable cut to an interval, as TrueSkill wants them, exact far out in the tails.

A performance difference has mean `diff` and variance 1; a win says that it is above `margin`, a draw that it lies
within it. v is how far the mean moves and w how much the variance shrinks (Herbrich, Minka and Graepel 2006).
The plain quotients of densities and probabilities lose all digits where the result was very unlikely, which is
where the trueskill package raises FloatingPointError; these hold for any difference a tournament can reach.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

_TAIL = -8.0
_TERMS = 40
_NODES = 32
_NEGLIGIBLE = 40.0
_LEAST_VARIANCE = 1e-10

ppf = NormalDist().inv_cdf


def pdf(x: float) -> float:
    """The density of the standard normal distribution."""
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def cdf(x: float) -> float:
    """The standard normal distribution function, to full relative precision down to about -37."""
    return math.erfc(-x / math.sqrt(2)) / 2


def v_win(diff: float, margin: float) -> float:
    """How far a win moves the mean."""
    x = diff - margin
    return _excess(-x) - x if x < _TAIL else pdf(x) / cdf(x)


def w_win(diff: float, margin: float) -> float:
    """How much a win shrinks the variance: from 0 to below 1."""
    x = diff - margin
    if x < _TAIL:
        excess = _excess(-x)
        return _shrink(1 - (excess - x) * excess)
    v = pdf(x) / cdf(x)
    return v * (v + x)


def v_draw(diff: float, margin: float) -> float:
    """How far a draw moves the mean."""
    return math.copysign(_between(abs(diff), margin)[0], -diff)


def w_draw(diff: float, margin: float) -> float:
    """How much a draw shrinks the variance: from 0 to below 1."""
    return _shrink(_between(abs(diff), margin)[1])


def _shrink(variance: float) -> float:
    # The package divides by 1 - w: what is left of the variance has to survive that subtraction.
    return 1 - max(variance, _LEAST_VARIANCE)


def _excess(t: float) -> float:
    """How far the mean of the normal tail beyond `t` lies beyond `t`: Laplace's continued fraction for Mills' ratio."""
    value = t
    for term in range(_TERMS, 1, -1):
        value = t + term / value
    return 1 / value


def _between(diff: float, margin: float) -> tuple[float, float]:
    """How far the mean moves down, and the variance, of a normal variable of mean `diff` >= 0 cut to +- `margin`."""
    low, high = diff - margin, diff + margin
    mass = cdf(high) - cdf(low) if low < 0 else cdf(-low) - cdf(-high)
    if mass > 0.05:
        mean = (pdf(low) - pdf(high)) / mass
        return mean, 1 + (low * pdf(low) - high * pdf(high)) / mass - mean * mean
    # A narrow interval or a tail: the quotients above cancel, and the integrand is smooth.
    # Beyond `reach` the density is below exp(-_NEGLIGIBLE) of its value at `low`.
    reach = 2 * _NEGLIGIBLE / (low + math.sqrt(low * low + 2 * _NEGLIGIBLE))
    return _moments(low, min(2 * margin, reach))


def _moments(start: float, reach: float) -> tuple[float, float]:
    """Mean and variance on [start, start + reach], by Gauss and Legendre."""
    steps = [reach * node for node, _ in _rule()]
    weights = [weight * math.exp(-step * (start + step / 2)) for step, (_, weight) in zip(steps, _rule(), strict=True)]
    mass = math.fsum(weights)
    shift = math.fsum(weight * step for weight, step in zip(weights, steps, strict=True)) / mass
    spread = math.fsum(weight * (step - shift) ** 2 for weight, step in zip(weights, steps, strict=True))
    return start + shift, spread / mass


@cache
def _rule() -> tuple[tuple[float, float], ...]:
    """Nodes on [0, 1] and weights, by Newton's method on the Legendre polynomial."""
    return tuple(_node(number) for number in range(_NODES))


def _node(number: int) -> tuple[float, float]:
    x = math.cos(math.pi * (number + 0.75) / (_NODES + 0.5))
    slope = 1.0
    for _ in range(8):
        before, value = 1.0, x
        for degree in range(2, _NODES + 1):
            before, value = value, ((2 * degree - 1) * x * value - (degree - 1) * before) / degree
        slope = _NODES * (x * value - before) / (x * x - 1)
        x -= value / slope
    return (1 + x) / 2, 1 / ((1 - x * x) * slope * slope)
