"""Groups of equal games laid out as rows of chains: one row for each order of the tied, or one that stands for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.columns import Flags, Integers
from referee.ratings.network import pairs
from referee.ratings.patterns import Pattern
from referee.ratings.truncated import Floats

_ROWS = 4096
"""Rows worked on at a time: some twenty arrays of this length stay in a processor's cache."""


class Rows(NamedTuple):
    """The rows of some groups of games with n players.

    `groups` are these, counted through all patterns; `rows` is how many rows they have. `tied`, of shape
    (n - 1, rows), says where positions k and k + 1 are tied. Where there are more rows than groups, `sources`, of
    shape (n, rows), says for each place in a chain which of the groups' positions is there, as indices into a raveled
    (n, groups); `targets`, of shape (n, rows), the reverse for each position of the row's group, into a raveled
    (n, rows); and `starts`, of shape (groups,), where each group's rows begin.
    """

    groups: slice
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


def plain(found: list[Pattern]) -> Iterator[Rows]:
    """A row for each group: tied players in one order only."""
    ties = np.repeat([pattern.ties for pattern in found], [len(pattern.counts) for pattern in found], axis=0)
    for start in range(0, len(ties), _ROWS):
        part = ties[start : start + _ROWS]
        yield Rows(slice(start, start + len(part)), len(part), part.T)


def unfolded(found: list[Pattern]) -> Iterator[Rows]:
    """A row for each group and each order of its tied players."""
    runs: list[tuple[Pattern, Integers, int]] = []
    start = held = 0
    for pattern in found:
        orders, left = pattern.orders(), len(pattern.counts)
        while left:
            take = min(left, max((_ROWS - held) // len(orders), 0 if runs else 1))
            if take:
                runs.append((pattern, orders, take))
                left -= take
                held += take * len(orders)
            else:
                yield _laid_out(start, runs)
                start += sum(groups for _, _, groups in runs)
                runs, held = [], 0
    if runs:
        yield _laid_out(start, runs)


def _laid_out(start: int, runs: list[tuple[Pattern, Integers, int]]) -> Rows:
    groups = sum(many for _, _, many in runs)
    sizes = np.repeat([len(orders) for _, orders, _ in runs], [many for _, _, many in runs])
    count = int(sizes.sum())
    order = np.concatenate([np.tile(orders, (many, 1)) for _, orders, many in runs]).T
    ties = np.repeat([pattern.ties for pattern, _, _ in runs], [len(o) * many for _, o, many in runs], axis=0)
    return Rows(
        groups=slice(start, start + groups),
        rows=count,
        tied=ties.T,
        sources=(order * groups + np.repeat(np.arange(groups), sizes)).astype(np.int32),
        targets=(np.argsort(order, axis=0) * count + np.arange(count)).astype(np.int32),
        starts=np.cumsum(sizes) - sizes,
    )
