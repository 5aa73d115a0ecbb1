"""A duel's errors and length, beside the generalised SPRT's, on deals of real games between bots in memory.

A duel between two bots that change places by the toss of a coin, deal by deal, has a true score that is known exactly:
the bank's, weighed by the coin. With a fair one it is .5. `python benchmarks/duel.py`, with `--quick` in seconds.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from bank import bank
from figures import YES, Figure, Seen, at_most, noticed, share
from manners import Anything, Careless, Manner, Memory, Sloppy
from numpy.typing import NDArray
from sprt import bounds, log_likelihood_ratio

from referee.ratings.sequential.betting import DuelHypotheses, deal_variance, log_factors

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
Look = Callable[[Numbers, Integers], Integers]
"""From what is known of runs (runs, width), which is changed, and their next deals (runs, deals): what is said when."""

PAIRS: dict[str, tuple[type[Manner], type[Manner]]] = {
    "careless against sloppy": (Careless, Sloppy),
    "careless against itself": (Careless, Careless),
    "random against itself": (Anything, Anything),
    "memory against greedy": (Memory, Manner),
}
"""NEW and OLD. Greedy makes no use of dice: against copies of itself each deal comes out even."""

CLOSE = "careless against sloppy"
CHUNK = 250
"""Deals that are drawn at once."""


class Ended(NamedTuple):
    """How runs of a test ended, each (runs,): 1 better, -1 not better, 0 undecided; and after how many deals."""

    verdict: Integers
    deals: Integers

    def share(self, verdict: int) -> float:
        """Of runs with this verdict."""
        return float(np.mean(self.verdict == verdict))


def distribution(pair: str, players: int, games: int, *, folder: Path | None = None, jobs: int = 1) -> Numbers:
    """How often a deal of NEW among copies of OLD has 0, 1, ... half points: (2 n (n - 1) + 1,)."""
    new, old = PAIRS[pair]
    bots = {"new": new, **{f"old{number}": old for number in range(1, players)}}
    played = bank(f"duel-{pair.replace(' ', '-')}", bots, players, games, folder=folder, jobs=jobs)
    points = played.points[0, :, :, 0].sum(axis=1, dtype=np.int64)
    return np.bincount(points, minlength=2 * players * (players - 1) + 1) / len(points)


def moments(shares: Numbers) -> tuple[float, float]:
    """Mean and variance of a deal's score."""
    scores = np.linspace(0, 1, len(shares))
    mean = float(shares @ scores)
    return mean, float(shares @ (scores - mean) ** 2)


def of_score(shares: Numbers, score: float) -> Numbers:
    """The mixture of a distribution and its mirror image that has this mean. Raises ValueError where none has."""
    mean, _ = moments(shares)
    part = (score - (1 - mean)) / (2 * mean - 1) if mean != 0.5 else 0.5
    if not 0 <= part <= 1:
        raise ValueError(f"no mixture has a mean of {score}: the bank's is {mean:.4f}")
    return part * shares + (1 - part) * shares[::-1]


def betting(shares: Numbers, question: DuelHypotheses, players: int, runs: int, most: int, seed: int) -> Ended:
    """A duel's own test."""
    better, not_better = map(np.array, log_factors(question, players))
    at_better, at_not_better = -math.log(question.alpha), -math.log(question.beta)

    def look(state: Numbers, drawn: Integers) -> Integers:
        up = state[:, :1] + np.cumsum(better[drawn], axis=1)
        down = state[:, 1:] + np.cumsum(not_better[drawn], axis=1)
        state[:] = np.stack([up[:, -1], down[:, -1]], axis=1)
        return np.where(up >= at_better, 1, np.where(down >= at_not_better, -1, 0))

    return _sequential(shares, look, 2, runs, most, seed)


def sprt(shares: Numbers, question: DuelHypotheses, runs: int, most: int, seed: int, *, every: int) -> Ended:
    """The generalised SPRT, looked at after every so many deals: it lasts half of them longer than with every look."""
    low, high = bounds(question)

    def look(state: Numbers, drawn: Integers) -> Integers:
        verdicts = np.zeros(drawn.shape, np.int64)
        for deal, column in enumerate(drawn.T, 1):
            state[np.arange(len(state)), column] += 1
            if deal % every == 0:
                ratio = log_likelihood_ratio(state, question)
                verdicts[:, deal - 1] = (ratio >= high).astype(int) - (ratio <= low)
        return verdicts

    return _sequential(shares, look, len(shares), runs, most, seed)


def repeated_looks(shares: Numbers, question: DuelHypotheses, runs: int, most: int, seed: int) -> Ended:
    """The spoilt method: after every deal a 95% interval of the mean, as if it were the only one. From 20 deals on."""
    scores = np.linspace(0, 1, len(shares))

    def look(state: Numbers, drawn: Integers) -> Integers:
        total = state[:, 0, None] + np.cumsum(scores[drawn], axis=1)
        squares = state[:, 1, None] + np.cumsum(scores[drawn] ** 2, axis=1)
        deals = state[:, 2, None] + np.arange(1, drawn.shape[1] + 1)
        mean = total / deals
        reach = 1.959964 * np.sqrt(np.maximum(squares / deals - mean**2, 0) / deals)
        state[:] = np.stack([total[:, -1], squares[:, -1], deals[:, -1]], axis=1)
        above, below = mean - reach > question.s0, mean + reach < question.s1
        return np.where(deals < 20, 0, np.where(above, 1, np.where(below, -1, 0)))

    return _sequential(shares, look, 3, runs, most, seed)


def _sequential(shares: Numbers, look: Look, width: int, runs: int, most: int, seed: int) -> Ended:
    dice = np.random.default_rng(seed)
    ladder = np.cumsum(shares)[:-1]
    verdict, ended = np.zeros(runs, np.int64), np.full(runs, most)
    running, state = np.arange(runs), np.zeros((runs, width))
    for begun in range(0, most, CHUNK):
        drawn = np.searchsorted(ladder, dice.random((len(running), min(CHUNK, most - begun))), side="right")
        found = look(state, drawn)
        first = np.argmax(found != 0, axis=1)
        said = found[np.arange(len(running)), first]
        verdict[running[said != 0]] = said[said != 0]
        ended[running[said != 0]] = begun + 1 + first[said != 0]
        running, state = running[said == 0], state[said == 0]
        if not len(running):
            break
    return Ended(verdict, ended)


class Test(NamedTuple):
    """Where a duel is tried, and how often."""

    players: int
    games: int
    runs: int
    every: int
    pair: str = CLOSE
    most: int = 60_000

    @property
    def what(self) -> str:
        """In words."""
        return f"{self.players} seats, {self.pair}, {self.runs:,} duels"

    def shares(self, folder: Path | None, jobs: int) -> Numbers:
        """How a deal between the two may come out."""
        return distribution(self.pair, self.players, self.games, folder=folder, jobs=jobs)


QUICK, FULL = Test(2, 4_000, 1_000, 25), Test(2, 60_000, 4_000, 4)
SIDES = {0: 1, 1: -1}
"""By the end of the question at which the truth lies: the verdict that is wrong there."""


def truth_at(question: DuelHypotheses, side: int) -> float:
    """s0 or s1."""
    return question.s1 if side else question.s0


def honest(shares: Numbers, test: Test, question: DuelHypotheses, side: int) -> Iterator[Figure]:
    """A duel where the truth is s0, or s1: how often it is wrong, and how long it lasts beside the generalised SPRT."""
    score = truth_at(question, side)
    at = of_score(shares, score)
    ours = betting(at, question, test.players, test.runs, test.most, side)
    what = f"{test.what}, true score {score:g}"
    yield at_most(f"{what}: wrong", share(ours.verdict == SIDES[side]), 0.06)
    theirs = sprt(at, question, test.runs, test.most, side, every=test.every)
    ratio = float(ours.deals.mean() / theirs.deals.mean())
    noise = ratio * math.hypot(*(_relative_error(one.deals) for one in (ours, theirs)))
    undecided = "" if ours.share(0) == 0 else f", {ours.share(0):.4f} undecided"
    note = f"{ours.deals.mean():.0f} and {theirs.deals.mean():.0f}{undecided}"
    yield at_most(f"{what}: mean deals over the SPRT's", Seen(ratio, noise), 1.1, note)


def spoilt(shares: Numbers, test: Test, question: DuelHypotheses, side: int) -> Figure:
    """The same with a 95% interval that is looked at after every deal: it must not pass."""
    score = truth_at(question, side)
    ended = repeated_looks(of_score(shares, score), question, test.runs, test.most, side)
    what = f"{test.what}, true score {score:g}: repeated 95% looks are wrong"
    return noticed(what, share(ended.verdict == SIDES[side]), 0.06, above=True)


def _relative_error(deals: Integers) -> float:
    return float(deals.std(ddof=1) / math.sqrt(len(deals)) / deals.mean())


def all_lines(test: Test, folder: Path | None, jobs: int) -> list[Figure]:
    """Errors and lengths at both ends of the question, and that repeated looks would not pass."""
    shares, question = test.shares(folder, jobs), DuelHypotheses()
    lines = [line for side in SIDES for line in honest(shares, test, question, side)]
    return lines + [spoilt(shares, test, question, side) for side in SIDES]


def main() -> None:
    """All figures of `benchmarks/README.md`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few games and runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that play banks")
    parser.add_argument("--folder", type=Path, help="where banks are kept")
    given = parser.parse_args()
    lines = all_lines(QUICK if given.quick else FULL, given.folder, given.jobs)
    _tell(lines)
    if given.quick:
        sys.exit(not all(line.holds == YES for line in lines))
    shares = FULL.shares(given.folder, given.jobs)
    for score in (0.48, 0.50, 0.51, 0.52, 0.55):
        print(_course(of_score(shares, score), score))
    for players in range(2, 7):
        for pair in PAIRS:
            mean, variance = moments(distribution(pair, players, 12_000, folder=given.folder, jobs=given.jobs))
            part = variance / deal_variance(players)
            print(f"{players} players, {pair}: mean {mean:.4f}, variance {variance:.5f}, {part:.2f} of the bets'")
    for players in (3, 4, 6):
        test = Test(players, 30_000, 1_000, 10)
        shares = test.shares(given.folder, given.jobs)
        _tell(line for side in SIDES for line in honest(shares, test, DuelHypotheses(), side))


def _course(shares: Numbers, score: float) -> str:
    """How duels end at a true score, and how long they last."""
    ended = betting(shares, DuelHypotheses(), 2, 4_000, 60_000, 9)
    length, noise = ended.deals.mean(), ended.deals.std() / math.sqrt(4_000)
    quantiles = ", ".join(f"{np.quantile(ended.deals, share):.0f}" for share in (0.5, 0.9, 0.99))
    late = float(np.mean(ended.deals > 20_000))
    return (
        f"true score {score:.2f}: better {ended.share(1):.4f}, mean {length:.0f} ± {noise:.0f} deals, "
        f"quantiles .5 .9 .99: {quantiles}, more than 20,000: {late:.4f}"
    )


def _tell(lines: Iterable[Figure]) -> None:
    for line in lines:
        print(line.row(), flush=True)


if __name__ == "__main__":
    main()
