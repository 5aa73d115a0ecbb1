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
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from bank import EQUAL, GRADED, bank
from duel import Line, moments, of_score
from numpy.typing import NDArray

from referee.ratings.lengths import critical
from referee.ratings.settling import Rule, Settling

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
    deals: Numbers, bots: int, rule: Rule, *, every: int, most: int, runs: int, adaptive: bool, seed: int
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
    rule: Rule,
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


def repeated_looks(share: Numbers, rounds: int, every: int, runs: int, seed: int) -> float:
    """The spoilt method: how often a 95% interval of the mean leaves out .5 at any of the looks."""
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
    return float(out.mean())


def error(share: float, runs: int) -> float:
    """The Monte Carlo error of a share."""
    return math.sqrt(max(share * (1 - share), 1 / runs) / runs)


def equal_lines(share: Numbers, *, rounds: int, every: int, runs: int) -> list[Line]:
    """Two equal bots, and that repeated looks would not pass."""
    even = of_score(share, 0.5)
    race = leagues(even[None], 2, Rule(), every=every, most=rounds, runs=runs, adaptive=False, seed=1)
    told = float(race.settled.mean())
    looked = repeated_looks(even, rounds, every, runs, 1)
    what = f"two equal bots, {rounds:,} rounds, a look every {every}"
    return [
        Line(f"{what}: settled", f"{told:.4f} ± {error(told, runs):.4f}", "at most .065", told <= 0.065),
        Line(f"{what}: repeated 95% looks", f"{looked:.4f} ± {error(looked, runs):.4f}", "more", looked > 0.065),
    ]


def ladder_lines(known: list[Numbers], *, step: float, runs: int, tries: int = 4_000) -> list[Line]:
    """Racing, and stopping alone, beside the fixed length that proves the same: the whole order, with power .99."""
    bots, every = 6, 50
    deals = ladder(known, bots, step)
    games = {power: 30 * fixed(deals, bots, 0.05, power, tries, 3) for power in (0.5, 0.8, 0.95, 0.99)}
    lines = []
    for adaptive in (True, False):
        race = leagues(deals, bots, Rule(), every=every, most=40_000, runs=runs, adaptive=adaptive, seed=2)
        mean, noise = float(race.games.mean()), float(race.games.std() / math.sqrt(runs))
        parts = ", ".join(f"{mean / most:.2f} of one of power {power:g}" for power, most in games.items())
        ratio = mean / games[0.99]
        name = "racing" if adaptive else "stopping alone"
        lines.append(
            Line(
                f"ladder of {bots}, steps of {step:g}, {name}: games over the fixed length's",
                f"{ratio:.3f} ± {noise / games[0.99]:.3f} ({mean:,.0f} games; {parts}; "
                f"{race.settled.mean():.3f} settled, {race.wrong.mean():.3f} wrong)",
                "at most .75" if adaptive else "",
                ratio <= 0.75 or not adaptive,
            )
        )
    return lines


def settling_row(quick: bool, *, folder: Path | None = None, jobs: int = 1) -> list[Line]:
    """The row `settling` of the acceptance table."""
    equal = shares("equal", EQUAL, 20_000, folder=folder, jobs=jobs)[0]
    graded = shares("graded", GRADED, 40_000 if quick else 400_000, folder=folder, jobs=jobs)
    return [
        *equal_lines(equal, rounds=5_000, every=25, runs=200 if quick else 1_000),
        *ladder_lines(graded, step=0.02, runs=20 if quick else 200),
    ]


def main() -> None:
    """The row alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few games and runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that play banks")
    parser.add_argument("--folder", type=Path, help="where banks are kept")
    given = parser.parse_args()
    lines = settling_row(given.quick, folder=given.folder, jobs=given.jobs)
    for line in lines:
        print(f"{'holds' if line.holds else 'FAILS'}  {line.what}: {line.seen}, must be {line.must}", flush=True)
    sys.exit(not all(line.holds for line in lines))


if __name__ == "__main__":
    main()
