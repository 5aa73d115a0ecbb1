"""Tables in another order than that of scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from referee.ratings import Row, Table
from referee.ratings.published import ScorePair

_KEYS: dict[str, Callable[[Row], Any]] = {
    "score": lambda _row: 0,
    "strength": lambda row: (row.strength is None, -row.strength.logits if row.strength else 0),
    "trueskill": lambda row: -row.rating,
    "name": lambda row: row.bot,
    "games": lambda row: -row.games,
    "faults": lambda row: -row.faults,
}
"""Best, or most, first; rows that are equal in this stay in the order of scores."""

ORDERS = tuple(_KEYS)
"""What a table can be sorted by."""


def ordered(table: Table, order: str) -> Table:
    """The table with its rows in one of the `ORDERS`, and its pairs after them; ranks stay those by score."""
    chosen = sorted(range(len(table.rows)), key=lambda number: _KEYS[order](table.rows[number]))
    place = {number: at for at, number in enumerate(chosen)}
    pairs = sorted((_placed(pair, place) for pair in table.pairs), key=lambda pair: (pair.first, pair.second))
    return msgspec.structs.replace(table, rows=tuple(table.rows[number] for number in chosen), pairs=tuple(pairs))


def _placed(pair: ScorePair, place: dict[int, int]) -> ScorePair:
    first, second = place[pair.first], place[pair.second]
    if first < second:
        return msgspec.structs.replace(pair, first=first, second=second)
    return msgspec.structs.replace(
        pair,
        first=second,
        second=first,
        difference=-pair.difference + 0.0,
        low=-pair.high + 0.0,
        high=-pair.low + 0.0,
        above=round(1 - pair.above, 4),
    )
