"""One look at some groups of games: what each says about its players, on average over the orders of the tied.

There are two ways, with the same numbers: by arrays, and one row at a time by code that numba compiles. The second is
worth numba's start where there are many rows, and needs no indices for them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from referee.ratings.maths import truncated
from referee.ratings.maths.truncated import Floats
from referee.ratings.trueskill.chain import Chain, Factor
from referee.ratings.trueskill.laplacian import bonds, pairs
from referee.ratings.trueskill.layout import LayoutRun, Rows, laid_out

WORTH = 150_000
"""Rows from which on numba is worth its start, most of a second (and some 20 once, when it compiles)."""
_PASSES = 50
"""At most; two to six are enough."""


class Judged(NamedTuple):
    """By position and group, of shape (n, groups): how far the game moves the player's mean from where all games have
    it, and what share of the precision it then has is the game's. `bonds`, of shape (n (n - 1) / 2, groups), are
    `network`'s, if they were asked for.
    """

    gap: Floats
    share: Floats
    bonds: Floats | None


class Look(ABC):
    """`held` are the groups' runs; `noise` is a performance's variance, `margin` the width of a draw.

    Messages within the chains are kept from one look to the next, so that a pass each time is enough; or they are
    not, and begin anew each time.
    """

    def __init__(self, held: list[LayoutRun], noise: float, margin: float, *, keep: bool) -> None:
        self._held = held
        self._noise = noise
        self._margin = margin
        self._upward = self._unknown() if keep else None

    def judge(self, prior: Factor, means: Floats, *, bind: bool, close: float) -> Judged:
        """`prior` are the beliefs about all players, `means` their means, each of shape (n, groups).

        Where messages begin anew, they are passed on until no game says anything else by more than the part `close`.
        """
        if self._upward is not None:
            return self._pass(prior, means, self._upward, bind=bind)
        upward = self._unknown()
        found = self._pass(prior, means, upward, bind=bind)
        for _ in range(_PASSES if upward.size else 0):
            before, found = found, self._pass(prior, means, upward, bind=bind)
            room = close * found.share
            if (np.abs(found.share - before.share) <= room).all() and (np.abs(found.gap - before.gap) <= room).all():
                break
        return found

    def _unknown(self) -> Floats:
        players = self._held[0].orders.shape[1]
        return np.zeros((players - 2, 2, sum(run.rows for run in self._held)))

    @abstractmethod
    def _pass(self, prior: Factor, means: Floats, upward: Floats, *, bind: bool) -> Judged: ...


class ByArrays(Look):
    """All rows at once."""

    def __init__(self, held: list[LayoutRun], noise: float, margin: float, *, keep: bool) -> None:
        super().__init__(held, noise, margin, keep=keep)
        self._rows = self._laid_out() if keep else None

    def _laid_out(self) -> tuple[Rows, Chain]:
        rows = laid_out(self._held)
        return rows, Chain(rows.tied, self._noise, self._margin)

    def _pass(self, prior: Factor, means: Floats, upward: Floats, *, bind: bool) -> Judged:
        rows, chain = self._rows or self._laid_out()
        skills = [Factor(*pair) for pair in zip(rows.spread(prior.precision), rows.spread(prior.force), strict=True)]
        spread = rows.spread(means)
        said, links = chain.sweep(skills, spread[:-1] - spread[1:], upward)
        gaps, shares = np.empty_like(spread), np.empty_like(spread)
        for k, both in enumerate(skill.times(told) for skill, told in zip(skills, said, strict=True)):
            gaps[k] = both.force / both.precision
            shares[k] = said[k].precision / both.precision
        found = rows.averaged_pairs(bonds(links, self._noise)) if bind else None
        return Judged(rows.averaged(gaps), rows.averaged(shares), found)


class Compiled(Look):
    """One row at a time."""

    def _pass(self, prior: Factor, means: Floats, upward: Floats, *, bind: bool) -> Judged:
        from referee.ratings.trueskill.compiled import pass_chains  # an extra

        players, groups = means.shape
        gap, share = np.empty(means.shape), np.empty(means.shape)
        found = np.empty((pairs(players).shape[1] if bind else 0, groups))
        scale = self._noise, self._margin
        given = prior.precision, prior.force, means, upward, scale, truncated.table(), truncated.rule()
        start = row = 0
        for run in self._held:
            pass_chains(run.ties, run.orders, (start, start + run.many), row, *given, gap, share, found)
            start, row = start + run.many, row + run.rows
        return Judged(gap, share, found if bind else None)


def look(rows: int) -> type[Look]:
    """The better way to look at so many rows here."""
    if rows < WORTH:
        return ByArrays
    try:
        import referee.ratings.trueskill.compiled  # noqa: F401
    except (ImportError, RuntimeError):  # missing, made for another numpy, or without a place for what it compiles
        return ByArrays
    return Compiled
