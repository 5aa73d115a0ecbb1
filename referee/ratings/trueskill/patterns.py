"""Games grouped by who came where: what rates alike is worked out once."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, groupby, permutations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.data.columns import Integers, columns, members, rated
from referee.ratings.data.games import Games

Names = NDArray[np.integer[Any]]
"""Bots in as few bytes as their number needs."""


class Pattern(NamedTuple):
    """Games with the same places tied.

    `ties[k]`: whether positions k and k + 1 of the order of places share theirs. `bots`, of shape (n, groups), are
    indices into `Games.bots` by position, tied ones ascending; `counts`, of shape (groups,), is how many games had
    each. Groups are different, and sorted.
    """

    ties: tuple[bool, ...]
    bots: Names
    counts: Integers

    def orders(self) -> Integers:
        """All orders of the positions that keep the places, of shape (orders, n); the plain one first.

        Where all are tied, an order read backwards is the same game, and only one of the two is given.
        """
        steps = [0, *np.cumsum(np.logical_not(self.ties)).tolist()]
        tied = [list(group) for _, group in groupby(range(len(steps)), key=steps.__getitem__)]
        orders = [list(chain(*order)) for order in product(*map(permutations, tied))]
        return np.array([order for order in orders if len(tied) > 1 or order[0] < order[-1]], dtype=np.int64)


def patterns(games: Games) -> list[Pattern]:
    """The rated games: equal for equal sets of games."""
    found: defaultdict[int, list[tuple[Names, Integers]]] = defaultdict(list)
    bits = 1 << np.arange(games.players - 1)
    sitting = members(games)
    few = np.min_scalar_type(len(games.bots))
    for batch in columns(games):
        batch = batch.only(rated(batch, sitting))
        bots = np.take_along_axis(sitting[batch.line_up], batch.positions, axis=1)
        places, bots = np.divmod(np.sort(batch.places * len(games.bots) + bots, axis=1), len(games.bots))
        kinds = (places[:, 1:] == places[:, :-1]) @ bits
        for kind in np.unique(kinds).tolist():
            chosen = bots[kinds == kind].astype(few)
            found[kind].append(_counted(chosen, np.ones(len(chosen), dtype=np.int64)))
    return [_pattern(kind, found[kind]) for kind in sorted(found)]


def _pattern(kind: int, pieces: list[tuple[Names, Integers]]) -> Pattern:
    bots, counts = _counted(*(np.concatenate(part) for part in zip(*pieces, strict=True)))
    return Pattern(tuple(bool(kind >> k & 1) for k in range(bots.shape[1] - 1)), np.ascontiguousarray(bots.T), counts)


def _counted(rows: Names, counts: Integers) -> tuple[Names, Integers]:
    """The different rows, sorted, and the sums of their counts."""
    order = np.lexsort(_packed(rows)[::-1])
    rows, counts = rows[order], counts[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    return rows[starts], np.add.reduceat(counts, starts)


def _packed(rows: Names) -> list[Integers]:
    """Few columns that sort as those of `rows` do, of which each takes as many as fit into 63 bits."""
    base = int(rows.max(initial=0)) + 1
    together = next(many for many in range(rows.shape[1], 0, -1) if base**many < 2**63)
    powers = base ** np.arange(together - 1, -1, -1)
    pieces = [rows[:, start : start + together] for start in range(0, rows.shape[1], together)]
    return [piece @ powers[-piece.shape[1] :] for piece in pieces]
