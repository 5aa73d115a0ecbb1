"""Groups of equal games laid out as rows of chains: one row for each order of the tied, or one that stands for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.data.columns import Flags, Integers
from referee.ratings.maths.truncated import Floats
from referee.ratings.trueskill.laplacian import pairs
from referee.ratings.trueskill.patterns import Pattern

_ROWS = 4096
"""Rows worked on at a time: some twenty arrays of this length stay in a processor's cache."""


class Rows(NamedTuple):
    """The rows of some groups of games with n players.

    `rows` is how many there are. `tied`, of shape (n - 1, rows), says where positions k and k + 1 are tied. Where there
    are more rows than groups, `sources`, of shape (n, rows), says for each place in a chain which of the groups'
    positions is there, as indices into a raveled (n, groups); `targets`, of shape (n, rows), the reverse for each
    position of the row's group, into a raveled (n, rows); and `starts`, of shape (groups,), where each group's rows
    begin.
    """

    rows: int
    tied: Flags
    sources: NDArray[np.int32] | None = None
    targets: NDArray[np.int32] | None = None
    starts: Integers | None = None

    def spread(self, values: Floats) -> Floats:
        """From the groups' positions, of shape (n, groups), to places in the chains, of shape (n, rows)."""
        return values if self.sources is None else values.ravel()[self.sources]

    def averaged(self, values: Floats) -> Floats:
        """From places in the chains to the groups' positions: the mean over all orders."""
        if self.targets is None or self.starts is None:
            return values
        return self._mean(values.ravel()[self.targets], self.starts)

    def averaged_pairs(self, values: Floats) -> Floats:
        """The same for pairs of places and of positions, in the order of `network.pairs`."""
        if self.targets is None or self.starts is None:
            return values
        places, rows = np.divmod(self.targets, self.rows)
        number = np.zeros((len(places), len(places)), dtype=np.intp)
        i, j = pairs(len(places))
        number[i, j] = number[j, i] = np.arange(len(i))
        return self._mean(values[number[places[i], places[j]], rows[:1]], self.starts)

    def _mean(self, values: Floats, starts: Integers) -> Floats:
        sums: Floats = np.add.reduceat(values, starts, axis=1)
        return sums / np.diff(starts, append=self.rows)


class LayoutRun(NamedTuple):
    """`many` neighbouring groups with the same places tied: `ties`, of shape (n - 1,), and the `orders` of positions
    that are looked at, of shape (orders, n).
    """

    ties: Flags
    orders: Integers
    many: int

    @property
    def rows(self) -> int:
        return self.many * len(self.orders)


def runs(found: list[Pattern], *, unfolded: bool) -> Iterator[list[LayoutRun]]:
    """All groups in turn, some `_ROWS` rows at a time: a row for each group, or for each order of its tied players."""
    held: list[LayoutRun] = []
    room = _ROWS
    for pattern in found:
        orders = pattern.orders() if unfolded else pattern.orders()[:1]
        left = len(pattern.counts)
        while left:
            take = min(left, room // len(orders) if held else max(1, room // len(orders)))
            if take:
                held.append(LayoutRun(np.array(pattern.ties), orders, take))
                left -= take
                room -= held[-1].rows
            else:
                yield held
                held, room = [], _ROWS
    if held:
        yield held


def laid_out(held: list[LayoutRun]) -> Rows:
    """The rows of some runs."""
    groups = sum(run.many for run in held)
    sizes = np.repeat([len(run.orders) for run in held], [run.many for run in held])
    count = int(sizes.sum())
    tied = np.repeat([run.ties for run in held], [run.rows for run in held], axis=0).T
    if count == groups:
        return Rows(count, tied)
    order = np.concatenate([np.tile(run.orders, (run.many, 1)) for run in held]).T
    return Rows(
        rows=count,
        tied=tied,
        sources=(order * groups + np.repeat(np.arange(groups), sizes)).astype(np.int32),
        targets=(np.argsort(order, axis=0) * count + np.arange(count)).astype(np.int32),
        starts=np.cumsum(sizes) - sizes,
    )
