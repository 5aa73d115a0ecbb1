"""How strong the bots of one table size are, how sure that is, and which of them the games have proven apart.

**Estimated** are strengths by Bradley-Terry on all pairs of bots at each table (`bradley_terry.py`). *Line-ups weigh
alike*: with N games of L line-ups, G of them of this one, its games count N / (L G) times, in the fit and in the scores
of its deals. So strengths tell how bots do over all line-ups that played, each as often as any other; line-ups that
have played more make them surer, and do not draw them towards how bots do at those tables.

**Only bots that met are compared**, directly or through others. Sets that never met are fitted each by itself, as are
weights and errors; strengths in a set add up to 0. So a strength is the difference to the mean of its set.

**How sure** it is, deals tell (`sandwich.py`, `intervals.py`): at least two of the set have to be there. What is proven
of all pairs at once, `ranks.py` says.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from referee.ratings.data.columns import Flags, Integers, Numbers
from referee.ratings.data.components import components
from referee.ratings.data.deals import Deals
from referee.ratings.maths.intervals import TAIL, Errors
from referee.ratings.strength import ranks
from referee.ratings.strength.bradley_terry import fit
from referee.ratings.strength.sandwich import Spread, spread


@dataclass(frozen=True, slots=True)
class Strengths:
    """The strengths of K bots, in logits; not a number where a bot has no rated game or there is too little data.

    `component`, of shape (K,), numbers the sets of bots that met from 1 on, 0 for bots without a rated game. `logits`,
    of shape (K,), add up to 0 in each; `reach` is half the length of their 95% intervals. Of shape (K, K), for bots of
    one set: the standard `error` of the row's strength less the column's, its degrees of `freedom`, and as
    `difference_reach` half the length of its 95% interval; and whether the row is proven `better` than the column, all
    pairs looked at together.
    `critical` is what a difference over its error has to come to for that, where errors are well known; None where no
    pair can be judged.
    """

    component: Integers
    logits: Numbers
    reach: Numbers
    error: Numbers
    freedom: Numbers
    difference_reach: Numbers
    better: Flags
    critical: float | None

    def rank_intervals(self) -> list[tuple[int, int] | None]:
        """The best and the worst rank of each bot among all with a rated game; who cannot be compared may be either."""
        rated = np.flatnonzero(self.component)
        found: list[tuple[int, int] | None] = [None] * len(self.component)
        for bot, interval in zip(rated, ranks.rank_intervals(self.better[np.ix_(rated, rated)]), strict=True):
            found[bot] = interval
        return found

    def groups(self) -> list[tuple[str, ...]]:
        """The letters of every bot's groups: see `ranks.groups`. Each set of bots that met has letters of its own."""
        found: list[tuple[str, ...]] = [()] * len(self.component)
        used = 0
        for number in range(1, int(self.component.max(initial=0)) + 1):
            members = np.flatnonzero(self.component == number)
            members = members[np.argsort(-self.logits[members], kind="stable")]
            better = self.better[np.ix_(members, members)]
            numbers = ranks.groups(better | better.T)
            for bot, mine in zip(members, numbers, strict=True):
                found[bot] = tuple(ranks.letters(used + one) for one in mine)
            used += 1 + max(map(max, numbers))
        return found


class StrengthFit(NamedTuple):
    """One set of bots that met: who, their strengths, and their errors, None where there is too little data."""

    bots: Integers
    logits: Numbers
    spread: Spread | None


def strengths(deals: Deals, bots: int) -> Strengths:
    """The strengths of bots 0 to `bots` - 1. Equal sets of games give equal numbers.

    Time grows with the number of deals and the square of `bots`, memory with the latter.
    """
    found = fits(deals, bots)
    whole = Strengths(
        component=np.zeros(bots, np.int64),
        logits=np.full(bots, np.nan),
        reach=np.full(bots, np.nan),
        error=np.full((bots, bots), np.nan),
        freedom=np.full((bots, bots), np.nan),
        difference_reach=np.full((bots, bots), np.nan),
        better=np.zeros((bots, bots), bool),
        critical=None,
    )
    judged: list[tuple[Integers, Errors]] = []
    for number, part in enumerate(found, 1):
        whole.component[part.bots], whole.logits[part.bots] = number, part.logits
        if part.spread:
            whole.reach[part.bots] = part.spread.about_the_mean().reach(TAIL)
            judged.append((part.bots, part.spread.of_differences()))
    for members, errors in judged:
        square = np.ix_(members, members)
        whole.error[square], whole.freedom[square] = errors.error, errors.freedom
        whole.difference_reach[square] = errors.reach(TAIL)
    if not judged:
        return whole
    tail = _critical_tail(found, bots)
    for members, errors in judged:
        differences = whole.logits[members][:, None] - whole.logits[members]
        whole.better[np.ix_(members, members)] = differences > errors.reach(tail)
    return dataclasses.replace(whole, critical=ranks.critical_value(tail))


def fits(deals: Deals, bots: int) -> list[StrengthFit]:
    """One for each set of bots that met, by their first."""
    playing = np.unique(deals.line_up)
    sets = components(bots, deals.line_ups[playing])
    return [_fit(deals.of_line_ups(playing[np.isin(deals.line_ups[playing, 0], one)]), one) for one in sets]


def _fit(deals: Deals, members: Integers) -> StrengthFit:
    """Fit a set of bots; `deals` are theirs alone, and all of their line-ups have some."""
    own = Deals(np.searchsorted(members, deals.line_ups), deals.line_up, deals.games, deals.points)
    played = np.bincount(own.line_up, own.games, len(own.line_ups))
    weights = played.mean() / played
    wins = np.zeros(len(members))
    np.add.at(wins, own.line_ups[own.line_up], weights[own.line_up][:, None] * own.points / 2)
    met = _met(own.line_ups, weights * played, len(members))
    logits = fit(wins, met)
    found = None
    if len(own.games) >= 2:
        found = spread(own, weights, met, _met(own.line_ups, weights**2 * played, len(members)), logits)
    return StrengthFit(members, logits - logits.mean(), found)


def _met(line_ups: Integers, games: Numbers, bots: int) -> Numbers:
    """How often each met each, of shape (K, K), by the games of each line-up."""
    met = np.zeros((bots, bots))
    np.add.at(met, (line_ups[:, :, None], line_ups[:, None, :]), games[:, None, None])
    np.fill_diagonal(met, 0)
    return met


def _critical_tail(parts: list[StrengthFit], bots: int) -> float:
    covariance, comparable = np.zeros((bots, bots)), np.zeros((bots, bots), bool)
    for part in parts:
        if part.spread:
            square = np.ix_(part.bots, part.bots)
            covariance[square], comparable[square] = part.spread.covariance(), True
    return ranks.critical_tail(covariance, comparable)
