"""Which bot do void games follow? Counts of a run, and a test that a noisy machine passes.

The unit is a sitting: up to `SITTING` consecutive deals of one line-up, in all rotations. A sitting is void where any
attempt at any of its games was. So neither the replays of one game count, which are alike, nor the many games that one
long trouble of the machine hits while the same bots sit there.

Were the machine alone to blame, a void sitting would be any sitting, and a bot would be in it as often as it sits at
all: of V void sittings, the b with a certain bot would be a draw from Binomial(V, q), where q is the bot's share of all
sittings, or of the time of all games where that is more, since long games meet with more. A bot is followed where
b >= `FEWEST` and P[Binomial(V, q) >= b] < `LEVEL` / number of bots (Bonferroni), and where that stays so without the
sittings of any one other bot: who only sits opposite to the culprit is not followed, nor is either of two between whom
nobody can tell. Nor is a bot followed whose void sittings were with no more than half of the opponents it met: those
may be friends who make games void with this one bot alone. Sampling without replacement makes the true tail smaller
than the binomial one (W. Hoeffding, Probability inequalities for sums of bounded random variables, J. Am. Stat. Assoc.
58, 1963, section 6).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from referee.record import Bot, LineUp

SITTING = 50
"""Deals of one sitting."""
FEWEST = 5
"""Void sittings that a bot has to have until anything is said of it."""
LEVEL = 1e-4
"""How likely it may be that any bot at all is followed on a machine that is to blame, each time somebody looks."""


class Figures(NamedTuple):
    """Games of a bot in this run that were played, and attempts that came to nothing; and the same without it."""

    played: int
    void: int
    others_played: int
    others_void: int


@dataclass(slots=True)
class Ledger:
    """What a run has seen of each bot's games: `all_void` attempts came to nothing, and `void_by_bot` with each."""

    all_void: int = 0
    void_by_bot: Counter[Bot] = field(default_factory=Counter)
    _played: Counter[Bot] = field(default_factory=Counter)
    _ms: Counter[Bot] = field(default_factory=Counter)
    _all_played: int = 0
    _all_ms: int = 0
    _known: dict[Bot, Bot] = field(default_factory=dict)
    """Every bot once: each game comes with its own, and a long run remembers many line-ups."""
    _sittings: dict[tuple[LineUp, int], bool] = field(default_factory=dict)
    _sat: Counter[Bot] = field(default_factory=Counter)
    _sat_void: Counter[Bot] = field(default_factory=Counter)
    _sat_with: Counter[tuple[Bot, Bot]] = field(default_factory=Counter)
    _void_with: Counter[tuple[Bot, Bot]] = field(default_factory=Counter)
    _void_sittings: int = 0

    def played(self, line_up: LineUp, deal: int) -> None:
        """A game was played."""
        self._sit(line_up, deal)
        self._played.update(set(line_up))
        self._all_played += 1

    def took(self, line_up: LineUp, ms: int) -> None:
        """Games of a line-up took so long, those apart that came to nothing: a stall is no bot's exposure."""
        self._ms.update(dict.fromkeys(line_up, ms))
        self._all_ms += ms

    def void(self, line_up: LineUp, deal: int) -> bool:
        """An attempt came to nothing, or cost its worker; whether it is the first of its sitting."""
        self._sit(line_up, deal)
        self.void_by_bot.update(set(line_up))
        self.all_void += 1
        sitting = (line_up, deal // SITTING)
        if self._sittings[sitting]:
            return False
        self._sittings[sitting] = True
        self._void_sittings += 1
        self._sat_void.update(set(line_up))
        self._void_with.update(combinations(sorted(set(line_up)), 2))
        return True

    def _sit(self, line_up: LineUp, deal: int) -> None:
        if (line_up, deal // SITTING) not in self._sittings:
            line_up = tuple([self._known.setdefault(bot, bot) for bot in line_up])
            self._sittings[line_up, deal // SITTING] = False
            self._sat.update(set(line_up))
            self._sat_with.update(combinations(sorted(set(line_up)), 2))

    def figures(self, bot: Bot) -> Figures:
        """What is known of a bot's games."""
        played, void = self._played[bot], self.void_by_bot[bot]
        return Figures(played, void, self._all_played - played, self.all_void - void)

    def followed(self) -> list[Bot]:
        """The bots that void games follow."""
        return sorted(bot for bot, void in self._sat_void.items() if void >= FEWEST and self._is_followed(bot))

    def _is_followed(self, bot: Bot) -> bool:
        sat, void, sittings = self._sat[bot], self._sat_void[bot], len(self._sittings)
        if not self._stands_out(bot, sat, void, sittings, self._void_sittings) or not self._strikes_most(bot):
            return False
        return all(
            self._stands_out(
                bot,
                sat - self._sat_with[_pair(bot, other)],
                void - self._void_with[_pair(bot, other)],
                sittings - self._sat[other],
                self._void_sittings - self._sat_void[other],
            )
            for other in self._sat_void
            if self._void_with[_pair(bot, other)]
        )

    def _strikes_most(self, bot: Bot) -> bool:
        """True if void sittings followed this bot with more than half of the opponents that it met."""
        pairs = [_pair(bot, other) for other in self._sat if other != bot]
        met, struck = (sum(counts[pair] > 0 for pair in pairs) for counts in (self._sat_with, self._void_with))
        return 2 * struck > met

    def _stands_out(self, bot: Bot, sat: int, void: int, sittings: int, void_sittings: int) -> bool:
        if void < FEWEST:
            return False
        share = sat / sittings * max(1.0, self._slowness(bot))
        return tail(void_sittings, share, void) < LEVEL / len(self._sat)

    def _slowness(self, bot: Bot) -> float:
        """By how much its share of the time exceeds its share of the sittings."""
        if not self._all_ms or not self._sat[bot]:
            return 1.0
        return (self._ms[bot] / self._all_ms) / (self._sat[bot] / len(self._sittings))


def _pair(one: Bot, other: Bot) -> tuple[Bot, Bot]:
    return (one, other) if one < other else (other, one)


def tail(count: int, share: float, least: int) -> float:
    """P[Binomial(count, share) >= least]; `share` of 1 and more is certainty."""
    if least > count:
        return 0.0
    if least <= 0 or share >= 1:
        return 1.0
    if share <= 0:
        return 0.0
    win, lose, whole = math.log(share), math.log1p(-share), math.lgamma(count + 1)
    return math.fsum(
        math.exp(whole - math.lgamma(hit + 1) - math.lgamma(count - hit + 1) + hit * win + (count - hit) * lose)
        for hit in range(least, count + 1)
    )
