"""Mean and variance of normal variables cut to an interval, for whole arrays, exact far out in the tails.

A difference of two performances has mean `gap` and variance 1; a win says that it is above `margin`, a draw that it
lies within +- `margin`. How far that moves the mean, and the variance that is left, are v and 1 - w of Herbrich, Minka
and Graepel (2006). Everything is written in Mills' ratio M(t) = (1 - Phi(t)) / phi(t), since quotients of densities and
probabilities lose all digits where the result was very unlikely.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_END = 12.0
"""Mills' ratio is tabled on +- this. Below, a win was never in doubt (1/M < 1e-30); above, series take over."""
_STEPS = 1024
"""Nodes of the table for each unit: four terms of Taylor's series from the nearest one are exact to 1e-14."""
_NARROW = 0.02
"""Margins below this are integrated: the closed form loses three digits for each one of the margin."""
_TERMS = 40
_NODES = 32
_NEGLIGIBLE = 40.0
_LEAST_VARIANCE = 1e-10


def win(gap: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """How far a win moves the mean (upwards), and the variance that it leaves (above 0, at most 1)."""
    low = margin - gap
    shift = 1 / _mills(low)
    left = 1 - shift * (shift - low)
    if low.size and low.max() > _END:
        far = low > _END
        beyond = _excess(low[far])
        shift[far] = low[far] + beyond
        left[far] = np.maximum(1 - shift[far] * beyond, _LEAST_VARIANCE)
    return shift, left


def draw(gap: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """How far a draw moves the mean (towards 0), and the variance that it leaves (above 0, at most 1)."""
    distance = np.abs(gap)
    low, high = distance - margin, distance + margin
    # The normal tail beyond `low` less that beyond `high`, with the density at `low` as the unit.
    ratio = np.exp(-2 * distance * margin)
    mass = _mills(low) - ratio * _mills(high)
    with np.errstate(divide="ignore", invalid="ignore"):  # of narrow draws, which are integrated below
        shift = (1 - ratio) / mass
        left = 1 + (low - high * ratio) / mass - shift * shift
    hard = (margin < _NARROW) | ((high > _END) & (low > 0))
    if hard.any():
        shift[hard], left[hard] = _integrated(low[hard], margin[hard])
    return -np.copysign(shift, gap), np.maximum(left, _LEAST_VARIANCE)


def _mills(t: Floats) -> Floats:
    """M(t), for t cut to +- `_END`; to about 1e-14, from M' = tM - 1 and the derivatives of that."""
    near = np.minimum(t, _END)
    np.maximum(near, -_END, out=near)
    node = np.rint(near * _STEPS)
    value = _table().take((node + _END * _STEPS).astype(np.intp))
    at = node
    at /= _STEPS
    step = near
    step -= at
    first = at * value
    first -= 1
    second = at * first
    second += value
    third: Floats = at * second
    third += 2 * first
    third *= step / 3
    third += second
    third *= step / 2
    third += first
    third *= step
    third += value
    return third


@cache
def _table() -> Floats:
    """Mills' ratio at -`_END`, -`_END` + 1/`_STEPS`, ..., `_END`."""
    count = round(_END * _STEPS)
    at = np.arange(-count, count + 1) / _STEPS
    plain = [math.sqrt(math.pi / 2) * math.erfc(t / math.sqrt(2)) * math.exp(t * t / 2) for t in at[at <= 5].tolist()]
    beyond = at[at > 5]
    return np.concatenate([plain, 1 / (beyond + _excess(beyond))])


def _excess(t: Floats) -> Floats:
    """How far the mean of the tail beyond `t` lies beyond it: Laplace's continued fraction for Mills' ratio."""
    value = t
    for term in range(_TERMS, 1, -1):
        value = t + term / value
    return 1 / value


def _integrated(low: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of a standard normal variable cut to [low, low + 2 margin], by Gauss and Legendre."""
    # Beyond `reach` the density is below exp(-_NEGLIGIBLE) of its value at `low`.
    reach = np.minimum(2 * margin, 2 * _NEGLIGIBLE / (low + np.sqrt(low * low + 2 * _NEGLIGIBLE)))
    nodes, weights = _rule()
    steps = reach[:, None] * nodes
    density = weights * np.exp(-steps * (low[:, None] + steps / 2))
    density /= density.sum(axis=1, keepdims=True)
    shift = (density * steps).sum(axis=1)
    return low + shift, (density * (steps - shift[:, None]) ** 2).sum(axis=1)


@cache
def _rule() -> tuple[Floats, Floats]:
    """Nodes on [0, 1] and weights."""
    rule: Floats = np.array(np.polynomial.legendre.leggauss(_NODES))
    return (1 + rule[0]) / 2, rule[1] / 2
