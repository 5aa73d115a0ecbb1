"""Tournaments drawn from a bank, and how often their intervals hold what the whole bank says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from bank import Bank
from numpy.typing import NDArray

from referee.ratings.data.deals import Deals
from referee.ratings.maths.intervals import TAIL
from referee.ratings.maths.student import quantile
from referee.ratings.strength.sandwich import dispersion
from referee.ratings.strength.strength import StrengthFit, fits, strengths

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
Counts = Callable[[np.random.Generator], Integers]
"""How many deals of each line-up a tournament has."""


class Share(NamedTuple):
    """How often the intervals of differences held the truth: over all pairs with its Monte Carlo error; the worst's."""

    runs: int
    mean: float
    error: float
    worst: float

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.error:.4f}, worst pair {self.worst:.3f}"


def evenly(line_ups: int, deals: int) -> Counts:
    """So many deals over all line-ups, as equally as can be."""
    return lambda dice: deals // line_ups + (dice.permutation(line_ups) < deals % line_ups)


def unequally(line_ups: int) -> Counts:
    """2, 20 or 100 deals a line-up."""
    return lambda dice: dice.permutation(np.resize([2, 20, 100], line_ups))


def tournament(bank: Bank, counts: Integers, dice: np.random.Generator, *, by_game: bool = False) -> Deals:
    """So many deals of each line-up; `by_game` makes every game a deal of its own.

    They are drawn with replacement: so the bank is all that there is to know, however few deals it holds, and long
    tournaments come no nearer to it than they would to a truth of endless games.
    """
    _, deals, rotations, _ = bank.points.shape
    line_up = np.repeat(np.arange(len(counts)), counts)
    games = bank.points[line_up, dice.integers(deals, size=len(line_up))].astype(np.int64)
    if by_game:
        whole = games.reshape(-1, games.shape[2])
        return Deals(bank.line_ups, np.repeat(line_up, rotations), np.ones(len(whole), np.int64), whole)
    return Deals(bank.line_ups, line_up, np.full(len(games), rotations), games.sum(axis=1))


def tournaments(bank: Bank, counts: Counts, runs: int, seed: int, *, by_game: bool = False) -> Iterator[Deals]:
    """A number of them."""
    dice = np.random.default_rng(seed)
    return (tournament(bank, counts(dice), dice, by_game=by_game) for _ in range(runs))


def truth(bank: Bank) -> Numbers:
    """The strengths by all games of the bank."""
    line_ups, deals, rotations, _ = bank.points.shape
    line_up = np.repeat(np.arange(line_ups), deals)
    points = bank.points.sum(axis=2, dtype=np.int64).reshape(len(line_up), -1)
    return fitted(Deals(bank.line_ups, line_up, np.full(len(line_up), rotations), points)).logits


def fitted(deals: Deals) -> StrengthFit:
    """The strengths of bots that all met."""
    (found,) = fits(deals, int(deals.line_ups.max()) + 1)
    return found


def stated(deals: Deals) -> tuple[Numbers, Numbers]:
    """Strengths, and how far the intervals of their differences reach: as the referee says."""
    found = fitted(deals)
    assert found.spread is not None
    return found.logits, found.spread.of_differences().reach(TAIL)


def as_if_independent(deals: Deals) -> tuple[Numbers, Numbers]:
    """The same spoilt: errors of the likelihood, for which all pairs of all games are independent."""
    found = fitted(deals)
    assert found.spread is not None
    model = found.spread.model / dispersion(deals, found.logits)
    own = np.diag(model)
    return found.logits, quantile(TAIL, math.inf) * np.sqrt((own[:, None] + own - 2 * model).clip(min=0))


def coverage(drawn: Iterable[Deals], true: Numbers, said: Callable[[Deals], tuple[Numbers, Numbers]] = stated) -> Share:
    """Of the intervals of all differences."""
    upper = np.triu_indices(len(true), 1)
    differences = (true[:, None] - true)[upper]
    held = []
    for deals in drawn:
        logits, reach = said(deals)
        held.append(np.abs((logits[:, None] - logits)[upper] - differences) <= reach[upper])
    by_run = np.mean(held, axis=1)
    error = float(by_run.std(ddof=1) / math.sqrt(len(held)))
    return Share(len(held), float(by_run.mean()), error, float(np.mean(held, axis=0).min()))


def equal_bots(bank: Bank, bots: int, deals: int, runs: int, seed: int) -> Iterator[Deals]:
    """Round robins of copies of one bot, from a bank of its games with itself; who is who is thrown for each deal."""
    dice = np.random.default_rng(seed)
    line_ups = np.array([(one, other) for one in range(bots) for other in range(one + 1, bots)])
    line_up = np.repeat(np.arange(len(line_ups)), deals)
    points = bank.points[0].sum(axis=1, dtype=np.int64)
    for _ in range(runs):
        drawn = points[dice.integers(len(points), size=len(line_up))]
        swapped = dice.random(len(drawn)) < 0.5
        drawn[swapped] = drawn[swapped][:, ::-1]
        yield Deals(line_ups, line_up, np.full(len(drawn), 2), drawn)


def wrongly_apart(drawn: Iterable[Deals], bots: int) -> tuple[list[bool], list[bool]]:
    """By tournament of equal bots: whether max-t told any two apart, and whether any single interval did."""
    ranked, singly = [], []
    for deals in drawn:
        found = strengths(deals, bots)
        ranked.append(bool(found.better.any()))
        apart = np.abs(found.logits[:, None] - found.logits) > found.difference_reach
        np.fill_diagonal(apart, val=False)
        singly.append(bool(apart.any()))
    return ranked, singly
