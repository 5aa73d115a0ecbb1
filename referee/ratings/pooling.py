"""One number over several table sizes, for those who say what each is worth.

Table sizes are different games: half of all opponents beaten is what an average bot has at each, but 0.1 above that
is another achievement with six seats than with two. So there is no natural mean, and none is made without weights. A
pooled score says nothing of any one table size, and only bots that were rated at all of them have one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec

from referee.errors import InputError
from referee.ratings.published import rounded
from referee.ratings.standings import Row, Table
from referee.record import Bot


class Pooled(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's `score`, a weighted mean of its scores, and its 95% interval; the latter None with too little data."""

    bot: Bot
    score: float
    score_low: float | None
    score_high: float | None


def pool(tables: Iterable[Table], weights: Mapping[int, float]) -> tuple[Pooled, ...]:
    """Best first. `weights`, positive, are by number of players; tables without one are left out.

    The interval is made from those of the tables, whose games are independent: the squares of the weighted distances
    from score to end add up (MOVER: Zou and Donner 2008). Raises InputError where a weight is not above 0, or where
    there is no table to it.
    """
    by_size = {table.players: {row.bot: row for row in table.rows if row.score is not None} for table in tables}
    for players, weight in weights.items():
        if not 0 < weight < math.inf:
            raise InputError(f"the weight of the tables of {players} is {weight:g}; give a number above 0")
        if players not in by_size:
            raise InputError(f"there is a weight for tables of {players}, at which no game counts; leave it out")
    total = math.fsum(weights.values())
    shares = {players: weights[players] / total for players in sorted(weights)}
    everywhere = set.intersection(*(set(by_size[players]) for players in shares)) if shares else set()
    pooled = [_pooled(bot, [(share, by_size[players][bot]) for players, share in shares.items()]) for bot in everywhere]
    return tuple(sorted(pooled, key=lambda one: (-one.score, one.bot)))


def _pooled(bot: Bot, parts: list[tuple[float, Row]]) -> Pooled:
    score = math.fsum(share * (row.score or 0) for share, row in parts)
    below = [
        share * (row.score - row.score_low)
        for share, row in parts
        if row.score is not None and row.score_low is not None
    ]
    above = [
        share * (row.score_high - row.score)
        for share, row in parts
        if row.score is not None and row.score_high is not None
    ]
    known = len(below) == len(parts)
    return Pooled(
        bot=bot,
        score=rounded(score),
        score_low=rounded(score - math.hypot(*below)) if known else None,
        score_high=rounded(score + math.hypot(*above)) if known else None,
    )
