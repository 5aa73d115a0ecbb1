"""What games say about their players, kept from sweep to sweep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.data.columns import Integers
from referee.ratings.maths.truncated import Floats
from referee.ratings.trueskill.chain import Factor
from referee.ratings.trueskill.laplacian import pairs, resistance
from referee.ratings.trueskill.message_pass import Look
from referee.ratings.trueskill.patterns import Names, Pattern


class SiteSums(NamedTuple):
    """By bot, over all games: the precisions of their factors and the forces of these, each of shape (bots,)."""

    precision: Floats
    force: Floats


class Sites(NamedTuple):
    """The factors of groups of equal games, one for each group and player, all of shape (n, groups).

    A group's factors count as often as it has games, `counts`: where all has settled, equal games say the same.
    `force` is what the game adds to the pull on the player at the present skills, and `bonds`, of shape
    (n (n - 1) / 2, groups), how that follows the skills: see `network`. These only lead the way to the fixed point,
    which does not depend on them: they are kept in half the bytes.
    """

    bots: Names
    counts: Integers
    precision: Floats
    force: Floats
    bonds: NDArray[np.float32]

    @classmethod
    def of(cls, found: list[Pattern]) -> Sites:
        """All groups, of which nothing is known yet."""
        bots = np.concatenate([pattern.bots for pattern in found], axis=1)
        counts = np.concatenate([pattern.counts for pattern in found])
        bonds = np.zeros((pairs(len(bots)).shape[1], len(counts)), dtype=np.float32)
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

    def sums(self, bots: int) -> SiteSums:
        """Over all games."""
        return SiteSums(self._by_bot(self.precision, bots), self._by_bot(self.force, bots))

    def _by_bot(self, values: Floats, bots: int) -> Floats:
        sums = np.zeros(bots)
        for players, said in zip(self.bots, values, strict=True):
            sums += np.bincount(players, self.counts * said, minlength=bots)
        return sums

    def held(self, bots: int) -> Floats:
        """How firmly each two bots hold one another over all games, of shape (bots, bots), with an empty diagonal."""
        upper = np.zeros(bots * bots)
        for i, j, bonds in zip(*pairs(len(self.bots)).tolist(), self.bonds, strict=True):
            both = self.bots[i].astype(np.int64) * bots + self.bots[j]
            upper += np.bincount(both, self.counts * bonds, minlength=bots * bots)
        matrix = upper.reshape(bots, bots)
        both_ways: Floats = matrix + matrix.T
        return both_ways


class SiteBlock:
    """Some groups of games, small enough for a processor's cache, and how they are looked at."""

    def __init__(self, sites: Sites, look: Look) -> None:
        self._sites = sites
        self._look = look

    def sweep(self, mean: Floats, precision: Floats, step: Floats, pace: float, *, bind: bool, close: float) -> None:
        """Look at every game anew, given all bots' skills and how far the means have just moved.

        Precisions go a `pace` of the way to where the games have them, from 0 to 1. `bind` renews the bonds. `close`
        is `Look.judge`'s.
        """
        sites = self._sites
        # Each player's skill without this game's own factor, which is what the game is to add to.
        force = resistance(sites.bonds, step[sites.bots]) - sites.force
        prior = Factor(precision[sites.bots] - sites.precision, force)
        gap, share, bonds = self._look.judge(prior, mean[sites.bots], bind=bind, close=close)
        sites.precision[:] += pace * (prior.precision * share / (1 - share) - sites.precision)
        if bonds is not None:
            sites.bonds[:] = bonds
        # The game's own pull, led back from where it has the player to where all games have it.
        sites.force[:] = gap * prior.precision - force + resistance(sites.bonds, gap)
