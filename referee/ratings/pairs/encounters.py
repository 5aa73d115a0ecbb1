"""What one bot did against each opponent of each of its games, as arrays, and how two of these differ.

An encounter is a game and one opponent in it, worth two half points where he was beaten and one where he was tied. A
score over some encounters is their half points over twice their number. Errors are robust to what a deal's encounters
have in common: with P half points and E encounters of one bot, a deal's part in the error of P / 2E is
(p - 2e P/2E) / 2E, and that of a difference is the difference of two such parts (CR1: Liang and Zeger 1986).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from referee.ratings.data.columns import Flags, Integers, Numbers
from referee.ratings.maths.intervals import TAIL
from referee.ratings.maths.student import quantile
from referee.ratings.scores.means import Mean, MeanSums
from referee.record import Bot, GameResult

Deal = tuple[tuple[Bot, ...], int]
"""A line-up and the number of its deal."""


@dataclass(frozen=True, slots=True)
class Encounters:
    """Those of one bot: of shape (E,) each.

    `deal` are indices into all deals that are looked at, `deals` of them; `opponent` indices into a list of bots;
    `seat` is the bot's own one; `ending` an index into a list of endings; `points` are the half points, 0 to 2; `game`
    numbers the games.
    """

    deals: int
    game: Integers
    deal: Integers
    opponent: Integers
    seat: Integers
    ending: Integers
    points: Integers

    def games(self, chosen: Flags) -> int:
        """How many games those encounters are of."""
        return len(np.unique(self.game[chosen]))

    def mean(self, chosen: Flags) -> Mean:
        """The score over those encounters, which have to be as many in each of their games, with its interval."""
        points, count = self.by_deal(chosen)
        played = count > 0
        sums = MeanSums(1, 2)
        sums.add(np.zeros(int(played.sum()), np.int64), points[played], count[played])
        return sums.mean(0)

    def by_deal(self, chosen: Flags) -> tuple[Integers, Integers]:
        """Half points and encounters of every deal, of shape (deals,)."""
        points = np.bincount(self.deal[chosen], self.points[chosen], self.deals)
        return points.astype(np.int64), np.bincount(self.deal[chosen], minlength=self.deals)


def encounters(
    bot: Bot, results: Sequence[GameResult], deals: Mapping[Deal, int], bots: Mapping[Bot, int], endings: Sequence[str]
) -> Encounters:
    """Those of `bot` in `results`, which are in a fixed order; it may be absent from some."""
    rows = [
        (number, deals[result.line_up, result.deal], bots[other], seat, endings.index(ending(result, seat)), points)
        for number, result in enumerate(results)
        for seat in ([result.seats.index(bot)] if bot in result.seats else [])
        for other, points in _met(result, seat)
    ]
    table = np.array(rows, dtype=np.int64).reshape(-1, 6).T
    return Encounters(len(deals), *table)


def _met(result: GameResult, seat: int) -> list[tuple[Bot, int]]:
    mine = result.places[seat]
    return [
        (other, 2 * (mine < place) + (mine == place))
        for at, (other, place) in enumerate(zip(result.seats, result.places, strict=True))
        if at != seat
    ]


def ending(result: GameResult, seat: int) -> str:
    """How a game ended for a seat: by whose fault, or where nobody was at fault by which of the rules."""
    if seat in result.forfeited:
        return OWN_FAULT
    return OTHERS_FAULT if result.forfeited else str(result.reason.value)


OWN_FAULT = "own fault"
OTHERS_FAULT = "another's fault"


class Difference(NamedTuple):
    """A number and its 95% interval; the latter None with too little data."""

    value: float
    low: float | None
    high: float | None


def difference(first: tuple[Integers, Integers], second: tuple[Integers, Integers]) -> Difference | None:
    """One score less another, each by its half points and encounters of every deal. None where one has no game.

    Where all deals came out alike, or nearly all of what is seen rests on one, Student's t has nothing to go by: then
    there is too little data.
    """
    (points, count), (other_points, other_count) = first, second
    if not count.sum() or not other_count.sum():
        return None
    return _ratios(points, 2 * count, other_points, 2 * other_count)


def contribution(
    first: tuple[Integers, Integers], second: tuple[Integers, Integers], totals: tuple[Integers, Integers]
) -> Difference:
    """What some encounters add to one score less another, `totals` being all encounters of every deal of either bot.

    A score is .5 and, over all encounters, the mean of what each is above or below that: this part of the sum.
    """
    (points, count), (other_points, other_count) = first, second
    return _ratios(points - count, 2 * totals[0], other_points - other_count, 2 * totals[1])


def _ratios(above: Integers, below: Integers, other_above: Integers, other_below: Integers) -> Difference:
    ratio, parts = _ratio(above, below)
    other_ratio, other_parts = _ratio(other_above, other_below)
    played = (below > 0) | (other_below > 0)
    deals, influence = int(played.sum()), (parts - other_parts)[played]
    squares, fourths = float((influence**2).sum()), float((influence**4).sum())
    value = ratio - other_ratio
    freedom = squares**2 / fourths - 1 if fourths > 0 else 0.0
    if deals < 2 or freedom < 1:
        return Difference(value, None, None)
    reach = quantile(TAIL, freedom) * math.sqrt(squares * deals / (deals - 1))
    return Difference(value, max(value - reach, -1.0), min(value + reach, 1.0))


def _ratio(above: Integers, below: Integers) -> tuple[float, Numbers]:
    total = int(below.sum())
    ratio = int(above.sum()) / total
    parts: Numbers = (above - ratio * below) / total
    return ratio, parts
