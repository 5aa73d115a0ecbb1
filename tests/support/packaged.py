"""What the trueskill package makes of one game, averaged over the orders of tied seats."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby, permutations, product

import numpy as np
import trueskill


def orders(places: tuple[int, ...]) -> Iterator[list[int]]:
    """All orders of the seats that agree with the places."""
    by_place = sorted(range(len(places)), key=places.__getitem__)
    groups = [list(group) for _, group in groupby(by_place, key=places.__getitem__)]
    return (list(chain(*order)) for order in product(*map(permutations, groups)))


def by_the_package(
    priors: list[tuple[float, float]], places: tuple[int, ...], probability: float
) -> list[tuple[float, float]]:
    """Mean and variance of every seat."""
    package = trueskill.TrueSkill(tau=0.0, draw_probability=probability)
    sums = np.zeros((len(places), 2))
    count = 0
    for order in orders(places):
        seated = [(package.create_rating(*priors[seat]),) for seat in order]
        after = package.rate(seated, ranks=[places[seat] for seat in order], min_delta=1e-12)
        sums[order] += [(rating.mu, rating.sigma**2) for (rating,) in after]
        count += 1
    return [(float(mean), float(variance)) for mean, variance in sums / count]
