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

END = 12.0
"""Mills' ratio is tabled on +- this. Below, a win was never in doubt (1/M < 1e-30); above, series take over."""
STEPS = 1024
"""Nodes of the table for each unit: four terms of Taylor's series from the nearest one are exact to 1e-14."""
NARROW = 0.02
"""Margins below this are integrated: the closed form loses three digits for each one of the margin."""
TERMS = 40
NODES = 32
NEGLIGIBLE = 40.0
LEAST_VARIANCE = 1e-10


def win(gap: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """How far a win moves the mean (upwards), and the variance that it leaves (above 0, at most 1)."""
    low = margin - gap
    shift = 1 / _mills(low)
    left = 1 - shift * (shift - low)
    if low.size and low.max() > END:
        far = low > END
        beyond = _excess(low[far])
        shift[far] = low[far] + beyond
        left[far] = np.maximum(1 - shift[far] * beyond, LEAST_VARIANCE)
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
    hard = (margin < NARROW) | ((high > END) & (low > 0))
    if hard.any():
        shift[hard], left[hard] = _integrated(low[hard], margin[hard])
    return -np.copysign(shift, gap), np.maximum(left, LEAST_VARIANCE)


def _mills(t: Floats) -> Floats:
    """M(t), for t cut to +- `END`; to about 1e-14, from M' = tM - 1 and the derivatives of that."""
    near = np.minimum(t, END)
    np.maximum(near, -END, out=near)
    node = np.rint(near * STEPS)
    value = table().take((node + END * STEPS).astype(np.intp))
    at = node
    at /= STEPS
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
def table() -> Floats:
    """Mills' ratio at -`END`, -`END` + 1/`STEPS`, ..., `END`."""
    count = round(END * STEPS)
    at = np.arange(-count, count + 1) / STEPS
    plain = [math.sqrt(math.pi / 2) * math.erfc(t / math.sqrt(2)) * math.exp(t * t / 2) for t in at[at <= 5].tolist()]
    beyond = at[at > 5]
    return np.concatenate([plain, 1 / (beyond + _excess(beyond))])


def _excess(t: Floats) -> Floats:
    """How far the mean of the tail beyond `t` lies beyond it: Laplace's continued fraction for Mills' ratio."""
    value = t
    for term in range(TERMS, 1, -1):
        value = t + term / value
    return 1 / value


def _integrated(low: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of a standard normal variable cut to [low, low + 2 margin], by Gauss and Legendre."""
    # Beyond `reach` the density is below exp(-NEGLIGIBLE) of its value at `low`.
    reach = np.minimum(2 * margin, 2 * NEGLIGIBLE / (low + np.sqrt(low * low + 2 * NEGLIGIBLE)))
    nodes, weights = rule()
    steps = reach[:, None] * nodes
    density = weights * np.exp(-steps * (low[:, None] + steps / 2))
    density /= density.sum(axis=1, keepdims=True)
    shift = (density * steps).sum(axis=1)
    return low + shift, (density * (steps - shift[:, None]) ** 2).sum(axis=1)


@cache
def rule() -> tuple[Floats, Floats]:
    """Nodes on [0, 1] and weights."""
    rule: Floats = np.array(np.polynomial.legendre.leggauss(NODES))
    return (1 + rule[0]) / 2, rule[1] / 2
