"""Leagues that stop by themselves, on deals of real games between bots in memory.

How often two equal bots are told apart, beside repeated looks at 95% intervals; and what racing saves, against a league
of a fixed length, on a ladder of six bots whose scores in the table are .02 apart. Every line-up's deals are drawn from
a mixture of two banks, such that its expected score is what the ladder asks for.
`python benchmarks/settling.py`, with `--quick` in a minute.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from bank import EQUAL, GRADED, bank
from duel import moments, of_score
from figures import Figure, Seen, at_most, noticed, share, told
from numpy.typing import NDArray

from referee.ratings.sequential.lengths import critical
from referee.ratings.sequential.settling import Settling, SettlingRule

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]

SCORES = np.linspace(0, 1, 5)
"""What a deal of two games can come to."""


class Race(NamedTuple):
    """How leagues ended, each (runs,): deals until the last look, games, whether settled, whether wrong anywhere."""

    deals: Integers
    games: Integers
    settled: NDArray[np.bool_]
    wrong: NDArray[np.bool_]


def shares(name: str, bots: dict[str, type], games: int, *, folder: Path | None, jobs: int) -> list[Numbers]:
    """For each line-up of a bank of two players: how often a deal has 0 to 4 half points for the first of them."""
    played = bank(name, bots, 2, games, folder=folder, jobs=jobs)
    points = played.points[:, :, :, 0].sum(axis=2, dtype=np.int64)
    return [np.bincount(line_up, minlength=5) / len(line_up) for line_up in points]


def ladder(known: list[Numbers], bots: int, step: float) -> Numbers:
    """By line-up: deals of bots, best first, whose mean scores over the field are `step` apart: (L, 5).

    The first of a line-up scores .5 + s (j - i) against the second, and mean scores are K s / (K - 1) apart.
    """
    rungs = sorted((moments(one)[0], one.tolist()) for found in known for one in (found, found[::-1]))
    means = np.array([mean for mean, _ in rungs])
    found = []
    for one, two in combinations(range(bots), 2):
        score = 0.5 + (two - one) * step * (bots - 1) / bots
        above = int(np.searchsorted(means, score))
        low, high = (np.array(rungs[at][1]) for at in (above - 1, above))
        part = (score - means[above - 1]) / (means[above] - means[above - 1])
        found.append(part * high + (1 - part) * low)
    return np.array(found)


def leagues(
    deals: Numbers, bots: int, rule: SettlingRule, *, every: int, most: int, runs: int, adaptive: bool, seed: int
) -> Race:
    """Play leagues to their stop, as a tournament does; bots are in order, and no order of equal ones is right."""
    dice = np.random.default_rng(seed)
    line_ups = np.array(list(combinations(range(bots), 2)))
    equal = np.isclose(deals @ SCORES, 0.5)
    found = np.array([_league(deals, line_ups, equal, bots, rule, every, most, adaptive, dice) for _ in range(runs)])
    return Race(found[:, 0], found[:, 1], found[:, 2] > 0, found[:, 3] > 0)


def _league(
    deals: Numbers,
    line_ups: Integers,
    equal: NDArray[np.bool_],
    bots: int,
    rule: SettlingRule,
    every: int,
    most: int,
    adaptive: bool,
    dice: np.random.Generator,
) -> tuple[int, int, int, int]:
    steps = np.cumsum(deals, axis=1)[:, :-1]
    settling, playing = Settling(bots, rule), np.ones(bots, bool)
    played = games = 0
    while played < most and playing.any():
        active = playing[line_ups].any(axis=1)
        drawn = SCORES[(dice.random((len(deals), every))[:, :, None] >= steps[:, None, :]).sum(axis=2)]
        scores = np.zeros((every, bots))
        for (one, two), line_up in zip(line_ups, drawn, strict=True):
            scores[:, one] += line_up / (bots - 1)
            scores[:, two] += (1 - line_up) / (bots - 1)
        scores[:, ~playing] = np.nan
        settling.bet(scores)
        settling.look()
        played += every
        games += 2 * every * int(active.sum())
        left = [bot for pair in settling.open_pairs() for bot in pair]
        if not left:
            playing[:] = False
        elif adaptive:
            playing[:] = np.isin(np.arange(bots), left)
    wrong = np.tril(settling.above).any() or any(settling.above[one, two] for one, two in line_ups[equal])
    return played, games, int(not settling.open_pairs()), int(wrong)


def fixed(deals: Numbers, bots: int, alpha: float, power: float, runs: int, seed: int) -> int:
    """So many deals of each line-up prove the whole order in a share `power` of leagues of a fixed length.

    Two bots are told apart where the difference of their mean scores is more of its standard errors than max-t allows.
    """
    low, high = 1, 1
    while _proven(deals, bots, high, alpha, runs, seed) < power:
        low, high = high, 2 * high
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if _proven(deals, bots, middle, alpha, runs, seed) >= power else (middle, high)
    return high


def _proven(deals: Numbers, bots: int, number: int, alpha: float, runs: int, seed: int) -> float:
    dice = np.random.default_rng(seed)
    counts = np.array([dice.multinomial(number, share, size=runs) for share in deals]) / number
    means = counts @ SCORES
    errors = (counts @ SCORES**2 - means**2) / max(1, number - 1)
    effect = np.zeros((bots, len(deals)))
    for line_up, (one, two) in enumerate(combinations(range(bots), 2)):
        effect[one, line_up], effect[two, line_up] = 1 / (bots - 1), -1 / (bots - 1)
    differences = effect[:-1] - effect[1:]  # the closest pairs, of neighbours: with them all others are proven
    reach = critical(bots, alpha) * np.sqrt(differences**2 @ errors)
    return float(np.mean((differences @ (means - 0.5) > reach).all(axis=0)))


def repeated_looks(share: Numbers, rounds: int, every: int, runs: int, seed: int) -> NDArray[np.bool_]:
    """The spoilt method: whether a 95% interval of the mean leaves out .5 at any of the looks: (runs,)."""
    dice = np.random.default_rng(seed)
    out = np.zeros(runs, bool)
    sums, squares = np.zeros(runs), np.zeros(runs)
    for played in range(every, rounds + 1, every):
        counts = dice.multinomial(every, share, size=runs)
        sums += counts @ SCORES
        squares += counts @ SCORES**2
        mean = sums / played
        reach = 1.959964 * np.sqrt(np.maximum(squares / played - mean**2, 0) / played)
        out |= np.abs(mean - 0.5) > reach
    return out


def equal_line(even: Numbers, *, rounds: int, every: int, runs: int) -> Figure:
    """Two equal bots: how often they are told apart."""
    race = leagues(even[None], 2, SettlingRule(), every=every, most=rounds, runs=runs, adaptive=False, seed=1)
    return at_most(f"{_equal(rounds, every, runs)}: settled", share(race.settled), 0.065)


def looked_line(even: Numbers, *, rounds: int, every: int, runs: int) -> Figure:
    """The same with a 95% interval at every look: it must not pass."""
    out = repeated_looks(even, rounds, every, runs, 1)
    return noticed(f"{_equal(rounds, every, runs)}: repeated 95% looks settle", share(out), 0.065, above=True)


def _equal(rounds: int, every: int, runs: int) -> str:
    return f"two equal bots, {rounds:,} rounds, a look every {every}, {runs:,} leagues"


POWERS = (0.99, 0.95, 0.8, 0.5)
"""Of leagues of a fixed length. Those that stop by themselves prove all, so the first is the nearest to the same."""


def ladder_lines(known: list[Numbers], *, step: float, runs: int, tries: int = 4_000) -> list[Figure]:
    """Racing, and stopping alone, beside the fixed length that proves the same: the whole order, with power .99."""
    bots, every = 6, 50
    deals = ladder(known, bots, step)
    games = [30 * fixed(deals, bots, 0.05, power, tries, 3) for power in POWERS]
    lines = []
    for adaptive in (True, False):
        race = leagues(deals, bots, SettlingRule(), every=every, most=40_000, runs=runs, adaptive=adaptive, seed=2)
        name = f"ladder of {bots}, steps of {step:g}, {runs:,} leagues, {'racing' if adaptive else 'stopping alone'}"
        seen = [Seen(race.games.mean() / most, race.games.std() / math.sqrt(runs) / most) for most in games]
        note = f"{race.games.mean():,.0f} games; {race.settled.mean():.3f} settled, {race.wrong.mean():.3f} wrong"
        what = f"{name}: games over those of a fixed length of power"
        if adaptive:
            lines.append(at_most(f"{what} .99", seen[0], 0.75, note))
        else:
            lines.append(told(f"{what} .99", f"{seen[0].value:.4f} ({note})", f"{seen[0].error:.4f}"))
        others = ", ".join(f"{one.value:.3f}" for one in seen[1:])
        lines.append(told(f"{what} .95, .8, .5", others, f"{seen[1].error:.4f}"))
    return lines


def lines(quick: bool, *, folder: Path | None = None, jobs: int = 1) -> Iterator[Figure]:
    """The row `settling` of the acceptance table."""
    even = even_deals(quick, folder, jobs)
    runs = 200 if quick else 1_000
    yield equal_line(even, rounds=5_000, every=25, runs=runs)
    yield looked_line(even, rounds=5_000, every=25, runs=runs)
    yield from ladder_lines(rungs(quick, folder, jobs), step=0.02, runs=20 if quick else 200)


def even_deals(quick: bool, folder: Path | None, jobs: int) -> Numbers:
    """How a deal between two equal bots may come out."""
    games = 20_000 if quick else 100_000
    return of_score(shares("equal", EQUAL, games, folder=folder, jobs=jobs)[0], 0.5)


def rungs(quick: bool, folder: Path | None, jobs: int) -> list[Numbers]:
    """How deals between any two of the graded bots may come out."""
    return shares("graded", GRADED, 40_000 if quick else 400_000, folder=folder, jobs=jobs)


def main() -> None:
    """The row alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few games and runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that play banks")
    parser.add_argument("--folder", type=Path, help="where banks are kept")
    given = parser.parse_args()
    good = True
    for line in lines(given.quick, folder=given.folder, jobs=given.jobs):
        print(line.row(), flush=True)
        good &= line.good
    sys.exit(not good)


if __name__ == "__main__":
    main()
