"""How probable it is of every two bots that one is stronger than the other, laid out as a square."""

from __future__ import annotations

from typing import NamedTuple

from referee.ratings import Table

MOST = 30
"""Bots in a square that people can read."""
INCOMPARABLE = "not comparable: they never met, not even through others"
TOO_LITTLE = "too little data"


class MatrixCell(NamedTuple):
    """P(the row's bot is stronger than the column's): `share`, None where nothing can be said, for which `why` is why.

    `apart` says that the two are told apart also when all pairs are looked at together.
    """

    share: float | None
    apart: bool = False
    why: str = ""

    @property
    def text(self) -> str:
        """Two decimals, and no certainty."""
        if self.share is None:
            return "–"
        if self.share > 0.995:
            return "> .99"
        if self.share < 0.005:
            return "< .01"
        return f"{self.share:.2f}".removeprefix("0")


def matrix(table: Table) -> list[list[MatrixCell | None]]:
    """By row and column, in the order of the table's rows; None for a bot with itself. Empty for more than `MOST`."""
    bots = len(table.rows)
    if not 2 <= bots <= MOST:
        return []
    cells: list[list[MatrixCell | None]] = [
        [_silent(table, row, column) for column in range(bots)] for row in range(bots)
    ]
    for pair in table.pairs:
        cells[pair.first][pair.second] = MatrixCell(pair.above, pair.apart)
        cells[pair.second][pair.first] = MatrixCell(round(1 - pair.above, 4), pair.apart)
    return cells


def _silent(table: Table, row: int, column: int) -> MatrixCell | None:
    if row == column:
        return None
    one, other = table.rows[row].strength, table.rows[column].strength
    never = one is not None and other is not None and one.component != other.component
    return MatrixCell(None, why=INCOMPARABLE if never else TOO_LITTLE)
