"""Pairs of bots that do suspiciously well for each other at tables of three or more.

**What is measured.** Bot a finishes before bot c in a certain share of their games. It may be another one in games that
also hold b. The *gain* of a by b is the mean of that difference over all opponents c whom a met both with b and without
it on two deals or more, weighted by games with b. The *excess* of the pair is the mean of both gains, weighted alike.
It is a share of opponents beaten: 0.05 says that, of a hundred opponents, the pair beats five more when together.

Strength is not in it, nor who suits whom: a and c are compared with themselves, not with a fitted scale of strengths,
which would bend at its ends and would take in the help that it is to show. What remains at an honest table is luck
and *side effects*: b's manner of play changes the table for everybody, and for a otherwise than for c.

**Luck** is judged by deals: the rotations of one deal are one unit. The error of the excess is cluster-robust (Liang
and Zeger 1986) with residuals corrected for what was fitted to them (CR2: Bell and McCaffrey 2002), and is referred to
Student's t with (sum z^2)^2 / sum z^4 - 1 degrees of freedom, z being the deals' parts in the excess.

**Two tests**, both of which a pair must fail to be named. The excess is above `margin`, beyond luck. And it is above 0
beyond luck and side effects together: their spread (a standard deviation) is what the other pairs of the same table
show beyond luck, with line-ups that hold both suspects set aside, so that their help is not in the yardstick. Its
degrees of freedom are K(K - 3)/2 for K bots, as many pairs being free to differ once every bot's own mean is taken
away, and the two variances are added as Welch and Satterthwaite do.

**Many pairs.** Each test is made at `alpha` over the number of pairs looked at, at all table sizes (Bonferroni), so
that `alpha` bounds the chance that luck has anybody named. A bootstrap of the largest (Westfall and Young 1993, with
random signs for whole deals as in Cameron, Gelbach and Miller 2008) would gain next to nothing, since pairs are nearly
uncorrelated: `benchmarks/collusion.py` shows both thresholds. It would need a seed, and very many draws.

**One after the other.** A pair that helps itself makes others look better than they are: those that it harms do well
where it is not. So the clearest pair is named first, line-ups that hold it are set aside, and the rest is judged anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import NamedTuple

import msgspec

from referee.ratings.data.games import Games, collect
from referee.ratings.maths.student import quantile
from referee.ratings.pairs.excess import Estimate, Excesses, SideEffects, excesses, side_effects
from referee.ratings.pairs.meetings import meetings
from referee.record import Bot, GameResult

ALPHA = 0.01
MARGIN = 0.01
POWER = 0.8
SMALLEST_TABLE = 3
DIGITS = 6
"""Decimals kept of every number told: fewer than two machines' mathematical libraries agree on."""

Together = tuple[int, int]
Choice = Callable[[Bot, Bot], bool]


class SuspectPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two bots at one table size.

    `excess`, from `low` to `high` (95%, for this pair alone), is how much better both do against others in the `games`
    that hold both; `gains` are its halves, by bot. `p` is adjusted for the number of pairs; `named` says that it is at
    most alpha. A true excess of `detectable` would be named in four of five such sets of games.
    """

    players: int
    bots: tuple[Bot, Bot]
    named: bool
    games: int
    excess: float
    low: float
    high: float
    gains: tuple[float, float]
    p: float
    detectable: float


class CollusionTable(msgspec.Struct, frozen=True, kw_only=True):
    """One table size: how many pairs were judged; how many met and could not be; the spread of side effects.

    `spread` is a standard deviation, over pairs without those named; None where nobody was judged.
    """

    players: int
    judged: int
    unjudged: int
    spread: float | None


class CollusionReport(msgspec.Struct, frozen=True, kw_only=True):
    """What stands out: `pairs` are all that were judged, named ones first, then by `p`."""

    alpha: float
    margin: float
    tables: tuple[CollusionTable, ...]
    pairs: tuple[SuspectPair, ...]

    @property
    def named(self) -> tuple[SuspectPair, ...]:
        """The pairs that stand out."""
        return tuple(pair for pair in self.pairs if pair.named)


def everybody(_first: Bot, _second: Bot) -> bool:
    """Look at all pairs."""
    return True


def suspicious(
    results: Iterable[GameResult], *, alpha: float = ALPHA, margin: float = MARGIN, among: Choice = everybody
) -> CollusionReport:
    """Judge the pairs that `among` accepts, the lesser bot given first; the others remain part of the yardstick.

    `results` come in any order, each game once: equal sets give equal reports. Games of two players, and those that
    rate nobody, are left out. Time and memory grow with the number of games; besides, memory takes 12 bytes for every
    three bots, in each of their six orders.
    """
    contests = [_Contest(games, among) for games in collect(results) if games.players >= SMALLEST_TABLE]
    level = _Level(alpha, margin, sum(len(contest.judged) for contest in contests))
    pairs = [pair for contest in contests for pair in contest.judge(level)]
    return CollusionReport(
        alpha=alpha,
        margin=margin,
        tables=tuple(contest.table() for contest in contests),
        pairs=tuple(sorted(pairs, key=lambda pair: (not pair.named, pair.p, -pair.excess, pair.players, pair.bots))),
    )


class _Level(NamedTuple):
    """How sure one has to be: `alpha` for all `hypotheses` together."""

    alpha: float
    margin: float
    hypotheses: int

    def adjusted(self, chance: float) -> float:
        """A bound on the chance that any of so many pairs comes out like this."""
        return min(1.0, self.hypotheses * chance)

    def detectable(self, estimate: Estimate, side: SideEffects) -> float:
        """The true excess that passes both tests with probability `POWER`, nearly."""
        wide = estimate.widened(side)
        tail, power = self.alpha / self.hypotheses, quantile(1 - POWER, math.inf)
        by_luck = self.margin + (quantile(tail, estimate.freedom) + power) * estimate.error
        return max(by_luck, (quantile(tail, wide.freedom) + power) * wide.error)


class _Contest:
    """All games of one number of players; `now` is what they say without line-ups that hold a `named` pair."""

    def __init__(self, games: Games, among: Choice) -> None:
        self.players = games.players
        self.bots = games.bots
        self.meetings = list(meetings(games))
        self.named: dict[Together, SuspectPair] = {}
        self.now = self._without()
        pairs = combinations(range(len(self.bots)), 2)
        chosen = [(a, b) for a, b in pairs if self.now.games[a, b] and among(self.bots[a], self.bots[b])]
        # With fewer bots, line-ups without both suspects leave no other pair as a yardstick.
        judgeable = chosen if len(self.bots) >= self.players + 2 else []
        self.judged = [pair for pair in judgeable if self.now.of(*pair)]
        self.unjudged = len(chosen) - len(self.judged)

    def _without(self, *more: Together) -> Excesses:
        return excesses(len(self.bots), self.meetings, aside=(*self.named, *more))

    def table(self) -> CollusionTable:
        """What this contest rests on."""
        spread = round(math.sqrt(side_effects(self.now).variance), DIGITS) if self.judged else None
        return CollusionTable(players=self.players, judged=len(self.judged), unjudged=self.unjudged, spread=spread)

    def judge(self, level: _Level) -> list[SuspectPair]:
        """Name the clearest pair, set its line-ups aside and look again, until none stands out; then tell of all."""
        while chances := self._chances(level):
            clearest = min(chances, key=lambda pair: (chances[pair], pair))
            if chances[clearest] > level.alpha:
                break
            rest = self._without(clearest)
            self.named[clearest] = self._row(clearest, chances[clearest], level, side_effects(rest))
            self.now = rest
        side = side_effects(self.now)
        return [*self.named.values(), *(self._row(pair, chance, level, side) for pair, chance in chances.items())]

    def _chances(self, level: _Level) -> dict[Together, float]:
        """The adjusted p of all pairs that are not named and can still be judged."""
        left = [(pair, self.now.of(*pair)) for pair in self.judged if pair not in self.named]
        return {pair: self._chance(pair, estimate, level) for pair, estimate in left if estimate}

    def _chance(self, pair: Together, estimate: Estimate, level: _Level) -> float:
        by_luck = level.adjusted(estimate.chance(level.margin))
        if by_luck > level.alpha:
            return by_luck
        wide = estimate.widened(side_effects(self._without(pair)))
        return max(by_luck, level.adjusted(wide.chance(0)))

    def _row(self, pair: Together, chance: float, level: _Level, side: SideEffects) -> SuspectPair:
        estimate = self.now.of(*pair)
        assert estimate is not None
        reach = quantile(0.025, estimate.freedom) * estimate.error
        numbers = (estimate.excess, estimate.excess - reach, estimate.excess + reach)
        excess, low, high = (round(number, DIGITS) for number in numbers)
        first, second = self.now.gain[pair], self.now.gain[pair[::-1]]
        return SuspectPair(
            players=self.players,
            bots=(self.bots[pair[0]], self.bots[pair[1]]),
            named=chance <= level.alpha,
            games=int(self.now.games[pair]),
            excess=excess,
            low=max(low, -1.0),
            high=min(high, 1.0),
            gains=(round(float(first), DIGITS), round(float(second), DIGITS)),
            p=round(chance, DIGITS),
            detectable=min(round(level.detectable(estimate, side), DIGITS), 1.0),
        )
