"""How much better two bots do against the others when they sit together than when each sits there alone."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.maths.student import upper_tail
from referee.ratings.pairs.meetings import Integers, Meeting

Numbers = NDArray[np.float64]

ENOUGH = 2
"""So many deals with the partner, and so many without, make an opponent count."""


@dataclass(frozen=True, slots=True)
class Excesses:
    """By two bots, arrays of shape (K, K); not a number where the games cannot say.

    `gain[a, b]` is what a gains by b's presence and `excess` the mean of both directions, weighted by games: shares of
    opponents beaten, from -1 to 1. `error` is the standard error of `excess`, `freedom` its degrees of freedom,
    `games` how many games hold both.
    """

    gain: Numbers
    excess: Numbers
    error: Numbers
    freedom: Numbers
    games: Integers

    def of(self, first: int, second: int) -> Estimate | None:
        """The excess of a pair; None where these games cannot say it, or not how sure it is."""
        at = first, second
        estimate = Estimate(float(self.excess[at]), float(self.error[at]), float(self.freedom[at]))
        said = np.isfinite([*estimate, self.gain[first, second], self.gain[second, first]]).all()
        return estimate if said and estimate.error > 0 and estimate.freedom > 0 else None


class Estimate(NamedTuple):
    """An excess, its standard error, and the degrees of freedom of that."""

    excess: float
    error: float
    freedom: float

    def chance(self, true: float) -> float:
        """How probable so large an excess is, or a larger one, where the true one is `true`."""
        return upper_tail((self.excess - true) / self.error, self.freedom)

    def widened(self, side: SideEffects) -> Estimate:
        """The same with an error that covers side effects too (Welch 1947; Satterthwaite 1946)."""
        luck = self.error**2
        variance = luck + side.variance
        parts = luck**2 / self.freedom + side.variance**2 / side.freedom
        return Estimate(self.excess, math.sqrt(variance), variance**2 / parts)


class SideEffects(NamedTuple):
    """What honest bots' excesses differ by beyond luck: a variance, and its degrees of freedom."""

    variance: float
    freedom: float


NO_YARDSTICK = SideEffects(1.0, 1.0)
"""Where there is no pair to compare with: no excess stands out from this."""


def side_effects(excesses: Excesses) -> SideEffects:
    """The variance between the true excesses of all pairs, by the method of moments (DerSimonian and Laird 1986).

    Excesses are weighted by their precision; their true mean is 0, as what one pair gains others lose.
    """
    bots = len(excesses.excess)
    found = [one for pair in combinations(range(bots), 2) if (one := excesses.of(*pair))]
    if not found:
        return NO_YARDSTICK
    weights = [one.error**-2 for one in found]
    squares = math.fsum((one.excess / one.error) ** 2 for one in found)
    variance = max(0.0, squares - len(found)) / math.fsum(weights)
    return SideEffects(variance, min(len(found), max(1, bots * (bots - 3) // 2)))


class _Cells(NamedTuple):
    """What is compared, for a against c and each possible partner x (the last axis).

    `counts` is whether the comparison can be made, `ratio` games with x over games without, `present` and `absent`
    the mean margins, `games` and `others` the numbers of games behind them.
    """

    counts: NDArray[np.bool_]
    ratio: Numbers
    present: Numbers
    absent: Numbers
    games: Numbers
    others: Numbers


class ExcessSums:
    """Games, margins and deals of a against c: with x at the table [a, c, x], and whoever is there [a, c, a]."""

    def __init__(self, bots: int, meetings: Iterable[Meeting]) -> None:
        self.bots = bots
        self.games, self.margins, self.deals = (np.zeros((bots, bots, bots), np.int32) for _ in range(3))
        for meeting in meetings:
            at = np.ix_(meeting.members, meeting.members, meeting.members)
            self.games[at] += meeting.games.sum()
            self.margins[at] += meeting.margins.sum(axis=0)[:, :, None]
            self.deals[at] += len(meeting.games)

    def cells(self, first: Integers, second: Integers) -> _Cells:
        """The comparisons for two arrays of bots that can be broadcast against each other."""
        games, margins, deals = (sums[first, second] for sums in (self.games, self.margins, self.deals))
        others, other_margins, other_deals = (
            sums[first, second, first][..., None] - part
            for sums, part in ((self.games, games), (self.margins, margins), (self.deals, deals))
        )
        partner = np.arange(self.bots)
        counts = (deals >= ENOUGH) & (other_deals >= ENOUGH)
        counts &= (partner != first[..., None]) & (partner != second[..., None]) & (first != second)[..., None]
        played, unplayed = np.where(counts, games, 1.0), np.where(counts, others, 1.0)
        return _Cells(
            counts,
            np.where(counts, played / unplayed, 0.0),
            np.where(counts, margins / played, 0.0),
            np.where(counts, other_margins / unplayed, 0.0),
            played,
            unplayed,
        )


def excesses(bots: int, meetings: Sequence[Meeting], aside: Collection[tuple[int, int]] = ()) -> Excesses:
    """The excess of all pairs of `bots` bots, from line-ups none of which holds both bots of a pair `aside`."""
    kept = [meeting for meeting in meetings if not _holds(meeting.members, aside)]
    sums = ExcessSums(bots, kept)
    weight, total = np.zeros((bots, bots)), np.zeros((bots, bots))
    everybody = np.arange(bots)
    for first in everybody:
        cells = sums.cells(np.array([first]), everybody)
        weight[first] = np.where(cells.counts, cells.games, 0).sum(axis=0)
        total[first] = np.where(cells.counts, cells.games * (cells.present - cells.absent), 0).sum(axis=0)
    squares, fourths = _moments(sums, kept)
    both = weight + weight.T
    together = sums.games[everybody[:, None], everybody, everybody[:, None]].astype(np.int64)
    with np.errstate(divide="ignore", invalid="ignore"):  # margins run from -1 to 1, shares from 0 to 1: hence the 2
        return Excesses(
            gain=total / weight / 2,
            excess=(total + total.T) / both / 2,
            error=np.sqrt(squares) / both / 2,
            freedom=squares**2 / fourths - 1,
            games=together,
        )


def _holds(members: Integers, pairs: Collection[tuple[int, int]]) -> bool:
    inside = set(members.tolist())
    return any(inside.issuperset(pair) for pair in pairs)


def _moments(sums: ExcessSums, meetings: Sequence[Meeting]) -> tuple[Numbers, Numbers]:
    """By pair, the sums over deals of the squares and of the fourth powers of a deal's part in the excess."""
    squares, fourths = np.zeros((sums.bots, sums.bots)), np.zeros((sums.bots, sums.bots))
    for meeting in meetings:
        members = meeting.members
        parts = parts_of(sums, meeting)
        together = parts[:, :, members] + parts[:, :, members].transpose(0, 2, 1)
        parts[:, :, members] = together
        second, fourth = (parts**2).sum(axis=0), (parts**4).sum(axis=0)
        squares[members] += second
        fourths[members] += fourth
        away = np.ones(sums.bots, dtype=bool)
        away[members] = False
        squares[np.ix_(away, members)] += second[:, away].T
        fourths[np.ix_(away, members)] += fourth[:, away].T
    return squares, fourths


def parts_of(sums: ExcessSums, meeting: Meeting) -> Numbers:
    """By deal, member and possible partner: the member's residuals, weighted as in the excess.

    A residual is a deal's margin less what the cell's mean gives for its games, over the square root of 1 - h, where h
    is the deal's share of the cell: this makes up for the mean having been fitted to it (CR2: Bell and McCaffrey 2002).
    """
    members = meeting.members
    cells = sums.cells(members[:, None], members[None, :])
    inside = np.isin(np.arange(sums.bots), members)
    weight = np.where(inside, 1.0, -cells.ratio) * cells.counts
    mean = np.where(inside, cells.present, cells.absent)
    share = meeting.games.mean() / np.where(inside, cells.games, cells.others)
    weight /= np.sqrt(1 - np.where(cells.counts, share, 0.0).clip(max=0.5))
    fitted = (weight * mean).sum(axis=1)
    residuals: Numbers = np.einsum("dac,acx->dax", meeting.margins, weight) - meeting.games[:, None, None] * fitted
    return residuals
