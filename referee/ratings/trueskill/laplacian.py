"""How the forces on the players of a game follow their skills: a chain of springs.

If the difference of neighbours k and k + 1 is held by a normal factor of precision `links[k]`, and every performance by
its noise, then the forces on the skills are -H times these, with H = L (I + noise L)^-1 and L the Laplacian of the
chain. The sums of H's rows are 0, so that its elements beside the diagonal tell all: the `bonds` of each two players,
of shape (n (n - 1) / 2, rows), in the order of `pairs`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from referee.ratings.data.columns import Integers
from referee.ratings.maths.truncated import Floats


@cache
def pairs(players: int) -> Integers:
    """All positions i < j, of shape (2, n (n - 1) / 2)."""
    return np.array(np.triu_indices(players, 1))


def bonds(links: Floats, noise: float) -> Floats:
    """-H for all pairs, at least 0. `links` have the shape (n - 1, rows).

    With every position earthed by 1 and neighbours joined by conductors of noise times `links`, it is the potential
    of j where a unit flows in at i, over the noise. Nothing is subtracted but that 1: links span many magnitudes.
    """
    joined = noise * links
    above, below = _earthed(joined), _earthed(joined[::-1])[::-1]
    found = np.empty((len(links) * (len(links) + 1) // 2, links.shape[1]))
    potentials = iter(found)
    for i in range(len(links)):
        potential = 1 / (noise * (above[i] + below[i] - 1))
        for k in range(i, len(links)):
            potential = np.multiply(potential, joined[k] / (joined[k] + below[k + 1]), out=next(potentials))
    return found


def resistance(bonds: Floats | NDArray[np.float32], skills: Floats) -> Floats:
    """H times `skills`, both of shape (n, rows)."""
    between = _differences(len(skills))
    forces: Floats = between.T @ (bonds * (between @ skills))
    return forces


@cache
def _differences(players: int) -> Floats:
    """From n values to those of all pairs i < j: the first less the second."""
    i, j = pairs(players)
    between: Floats = np.eye(players)[i] - np.eye(players)[j]
    return between


def _earthed(joined: Floats) -> list[Floats]:
    """How well each position is connected to earth by itself and all before it."""
    conductance = [np.ones_like(joined[0])]
    for link in joined:
        conductance.append(1 + link * conductance[-1] / (link + conductance[-1]))
    return conductance
