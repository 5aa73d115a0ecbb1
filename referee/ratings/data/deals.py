"""What each deal came to: the half points of its line-up. All that strengths and their errors are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from referee.ratings.data.columns import Columns, Integers, columns, members, rated
from referee.ratings.data.games import Games


@dataclass(frozen=True, slots=True)
class Deals:
    """The rated games of L line-ups of n bots on D deals, in schedule order; a deal without one is left out.

    `line_ups`, of shape (L, n), are ascending indices into `Games.bots`, also of line-ups without a rated game;
    `line_up`, of shape (D,), says whose deal it is; `games`, of shape (D,), how many games it has; `points`, of shape
    (D, n), the half points of each member in them: two for an opponent beaten, one for one tied.
    """

    line_ups: Integers
    line_up: Integers
    games: Integers
    points: Integers

    def of_line_ups(self, chosen: Integers) -> Deals:
        """The deals of some line-ups, which are numbered anew in the order given: that of their numbers."""
        number = np.full(len(self.line_ups), -1)
        number[chosen] = np.arange(len(chosen))
        kept = number[self.line_up] >= 0
        return Deals(self.line_ups[chosen], number[self.line_up[kept]], self.games[kept], self.points[kept])


def deals_of(games: Games) -> Deals:
    """One pass over the games."""
    line_ups = members(games)
    parts = [_of_batch(batch.only(rated(batch, line_ups))) for batch in columns(games)]
    line_up, counts, points = (np.concatenate([part[at] for part in parts]) for at in range(3))
    return Deals(line_ups, line_up, counts, points)


def _of_batch(batch: Columns) -> tuple[Integers, Integers, Integers]:
    by_member = np.empty_like(batch.positions)
    np.put_along_axis(by_member, batch.positions, batch.half_points(), axis=1)
    starts = np.flatnonzero(np.diff(batch.deal, prepend=-1))
    if not len(starts):
        return batch.line_up, batch.deal, by_member
    counts = np.diff(starts, append=len(batch.deal))
    return batch.line_up[starts], counts, np.add.reduceat(by_member, starts, axis=0)
