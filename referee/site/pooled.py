"""A mean over tables of several sizes, with the weights that somebody stated for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from referee.ratings import Standings
from referee.ratings.pooling import Pooled, pool


@dataclass(frozen=True, slots=True)
class Pool:
    """`rows`, best first; `weights` are by number of players."""

    weights: Mapping[int, float]
    rows: tuple[Pooled, ...]

    @property
    def label(self) -> str:
        """The weights as they are written on the command line: `2=1,4=0.5`."""
        return ",".join(f"{players}={weight:g}" for players, weight in self.weights.items())

    @property
    def title(self) -> str:
        """What is pooled, in words."""
        parts = [f"{players} players × {weight:g}" for players, weight in self.weights.items()]
        return f"pooled, {' and '.join(parts)}"

    @property
    def caution(self) -> str:
        """What it is and what it is not."""
        left_out = "" if self.rows else "; no bot was rated at all of these"
        return f"means of scores with the weights that were given; these are different games{left_out}"


def pooled(standings: Standings, weights: Mapping[int, float]) -> Pool:
    """The mean. Raises InputError where there is no table to a weight, or where a weight is not above 0."""
    return Pool(dict(sorted(weights.items())), pool(standings.tables, weights))
