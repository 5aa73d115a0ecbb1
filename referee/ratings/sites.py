"""What games say about their players, kept from sweep to sweep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from referee.ratings.chain import Chain, Factor
from referee.ratings.columns import Integers
from referee.ratings.network import bonds, pairs, resistance
from referee.ratings.patterns import Pattern
from referee.ratings.rows import Rows
from referee.ratings.truncated import Floats


class Sums(NamedTuple):
    """By bot, over all games: the precisions of their factors and the forces of these, each of shape (bots,)."""

    precision: Floats
    force: Floats


class Sites(NamedTuple):
    """The factors of groups of equal games, one for each group and player, all of shape (n, groups).

    A group's factors count as often as it has games, `counts`: where all has settled, equal games say the same.
    `force` is what the game adds to the pull on the player at the present skills, and `bonds`, of shape
    (n (n - 1) / 2, groups), how that follows the skills: see `network`.
    """

    bots: Integers
    counts: Integers
    precision: Floats
    force: Floats
    bonds: Floats

    @classmethod
    def of(cls, found: list[Pattern]) -> Sites:
        """All groups, of which nothing is known yet."""
        bots = np.concatenate([pattern.bots for pattern in found], axis=1)
        counts = np.concatenate([pattern.counts for pattern in found])
        bonds = np.zeros((pairs(len(bots)).shape[1], len(counts)))
        return cls(bots, counts, np.zeros(bots.shape), np.zeros(bots.shape), bonds)

    def part(self, groups: slice) -> Sites:
        """Some of the groups, sharing memory."""
        return Sites(
            self.bots[:, groups],
            self.counts[groups],
            self.precision[:, groups],
            self.force[:, groups],
            self.bonds[:, groups],
        )

    def sums(self, bots: int) -> Sums:
        """Over all games."""
        return Sums(*(self._by_bot(self.bots, self.counts * each, bots) for each in (self.precision, self.force)))

    def held(self, bots: int) -> Floats:
        """How firmly each two bots hold one another over all games, of shape (bots, bots), with an empty diagonal."""
        i, j = pairs(len(self.bots))
        found = self._by_bot(self.bots[i] * bots + self.bots[j], self.counts * self.bonds, bots * bots)
        upper = found.reshape(bots, bots)
        both: Floats = upper + upper.T
        return both

    @staticmethod
    def _by_bot(keys: Integers, weights: Floats, size: int) -> Floats:
        return np.bincount(keys.ravel(), weights.ravel(), minlength=size).astype(np.float64, copy=False)


class Block:
    """Some groups of games and their rows, small enough for a processor's cache."""

    def __init__(self, sites: Sites, rows: Rows, beta: float, margin: float) -> None:
        self.sites = sites.part(rows.groups)
        self._rows = rows
        self._noise = beta * beta
        self._chain = Chain(rows.tied, beta, margin)
        self._upward = np.zeros((len(sites.bots) - 2, 2, rows.rows))

    def sweep(self, mean: Floats, precision: Floats, step: Floats, pace: float, *, bind: bool) -> None:
        """Look at every game anew, given all bots' skills and how far the means have just moved.

        Precisions go a `pace` of the way to where the games have them, from 0 to 1. `bind` renews the bonds.
        """
        sites, rows = self.sites, self._rows
        # Each player's skill without this game's own factor, which is what the game is to add to.
        force = resistance(sites.bonds, step[sites.bots]) - sites.force
        prior = Factor(precision[sites.bots] - sites.precision, force)
        skills = [Factor(*pair) for pair in zip(rows.spread(prior.precision), rows.spread(force), strict=True)]
        means = rows.spread(mean[sites.bots])
        said, links = self._chain.sweep(skills, means[:-1] - means[1:], self._upward)
        gaps, shares = np.empty_like(means), np.empty_like(means)
        for k, both in enumerate(skill.times(told) for skill, told in zip(skills, said, strict=True)):
            gaps[k] = both.force / both.precision
            shares[k] = said[k].precision / both.precision
        gap, share = rows.averaged(gaps), rows.averaged(shares)
        sites.precision[:] += pace * (prior.precision * share / (1 - share) - sites.precision)
        if bind:
            sites.bonds[:] = rows.averaged_pairs(bonds(links, self._noise))
        # The game's own pull, led back from where it has the player to where all games have it.
        sites.force[:] = gap * prior.precision - force + resistance(sites.bonds, gap)
