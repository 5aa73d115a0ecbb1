"""The acceptance table of the ratings, made anew by simulation with the real rules.

    python benchmarks/acceptance.py [--quick] [--bank FOLDER] [--jobs N] [--runs N] [ROW ...] [--seats N ...]

Each ROW prints what was tried, the figure with its Monte Carlo error, what it must be, and whether it is. A figure
fails where it is out of bounds by more than two of its Monte Carlo errors; exit code 1 says that one did. Games are
played once by bots in memory (`bank.py`), and kept in FOLDER if one is given; tournaments are drawn from them.
`--quick` plays a tenth of the games and draws 200 tournaments of each setting, not 1,000, at 2 and 6 seats.

- coverage: how often intervals of differences in strength hold the truth.
- spoilt: that this notices errors for which all pairs of all games are independent.
- ranks: how often equal bots are ranked apart, by max-t and, spoilt, by the interval of each pair.
- duel: how often a duel is wrong, how long it lasts beside the generalised SPRT, and that repeated looks are noticed.
- settling: how often leagues that stop by themselves tell equal bots apart, what racing saves, and that repeated looks
  are noticed.
- trueskill: 100 shuffles; single games beside the package, averaged over the orders of the tied; the edges.
- speed: what strengths cost, of a million games of 200 bots.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from bank import EQUAL, GRADED, Bank, bank
from covered import (
    Counts,
    Share,
    as_if_independent,
    coverage,
    equal_bots,
    evenly,
    tournaments,
    truth,
    unequally,
    wrongly_apart,
)
from duel import duel_row
from folding import trueskill_row
from settling import settling_row

from referee.ratings.deals import Deals
from referee.ratings.strength import fits, strengths


class Options(NamedTuple):
    """What was asked for."""

    quick: bool
    folder: Path | None
    jobs: int
    seats: tuple[int, ...]
    runs: int

    def graded(self, players: int) -> Bank:
        """Six bots of graded strength: at least 400,000 games."""
        games = 40_000 if self.quick else 400_000
        return bank("graded", GRADED, players, games, folder=self.folder, jobs=self.jobs)


class Check(NamedTuple):
    """One line: what was tried, the figure, what it must be (nothing where it is only told), and whether it is."""

    what: str
    figure: str
    must: str = ""
    good: bool = True


def settings(line_ups: int) -> Iterator[tuple[str, Counts, float]]:
    """Deals of a tournament, and the highest share that intervals may hold: with few deals they are wider.

    Where line-ups have 2, 20 or 100 deals and weigh alike, errors rest on those of 2: some 10 deals, at most 14.
    """
    for deals in 20, 50, 200, 1000:
        yield f"{deals} deals", evenly(line_ups, deals), 0.985 if deals <= 50 else 0.97
    if line_ups > 1:
        yield "2, 20 or 100 deals a line-up", unequally(line_ups), 0.985


def within(share: Share, low: float, high: float, worst: float) -> bool:
    """Whether a share is in bounds, give or take two Monte Carlo errors."""
    of_pair = sqrt(worst * (1 - worst) / share.runs)
    return low - 2 * share.error <= share.mean <= high + 2 * share.error and share.worst >= worst - 2 * of_pair


def coverage_row(options: Options) -> Iterator[Check]:
    for players in options.seats:
        graded = options.graded(players)
        true = truth(graded)
        for what, counts, high in settings(len(graded.line_ups)):
            share = coverage(tournaments(graded, counts, options.runs, 1), true)
            good = within(share, 0.935, high, 0.91)
            yield Check(f"{players} seats, {what}", str(share), f".935 to {high:g}, worst .91", good)


def spoilt_row(options: Options) -> Iterator[Check]:
    graded = options.graded(6)
    true, counts = truth(graded), evenly(1, 200)
    share = coverage(tournaments(graded, counts, options.runs, 2), true, as_if_independent)
    out = not within(share, 0.935, 0.97, 0.91)
    yield Check("6 seats, 200 deals, pairs of a game as if independent", str(share), "out of bounds", out)
    share = coverage(tournaments(graded, counts, options.runs, 2, by_game=True), true)
    yield Check("6 seats, 200 deals, games for deals", str(share))


def ranks_row(options: Options) -> Iterator[Check]:
    copies = bank("equal", EQUAL, 2, 20_000 if options.quick else 100_000, folder=options.folder, jobs=options.jobs)
    for deals in 10, 50:
        runs = options.runs
        ranked, singly = wrongly_apart(equal_bots(copies, 10, deals, runs, deals), 10)
        for name, wrong, bound in ("max-t", ranked, True), ("each pair by itself", singly, False):
            share = 1 - float(np.mean(wrong))
            error = sqrt(max(share * (1 - share), 1 / runs) / runs)
            good = (share >= 0.935 - 2 * error) == bound
            must = "at least .935" if bound else "less than .935"
            yield Check(f"10 equal bots, {deals} deals a pair, {name}", f"{share:.4f} ± {error:.4f}", must, good)


def duels_row(options: Options) -> Iterator[Check]:
    for line in duel_row(options.quick, folder=options.folder, jobs=options.jobs):
        yield Check(*line)


def leagues_row(options: Options) -> Iterator[Check]:
    for line in settling_row(options.quick, folder=options.folder, jobs=options.jobs):
        yield Check(*line)


def trueskills_row(options: Options) -> Iterator[Check]:
    for line in trueskill_row(options.quick):
        yield Check(*line)


def speed_row(options: Options) -> Iterator[Check]:
    del options
    bots, deals = 200, 25
    dice = np.random.default_rng(1)
    line_ups = np.array([(one, other) for one in range(bots) for other in range(one + 1, bots)])
    line_up = np.repeat(np.arange(len(line_ups)), deals)
    points = dice.binomial(4, 0.5, len(line_up))
    million = Deals(line_ups, line_up, np.full(len(line_up), 2), np.stack([points, 4 - points], axis=1))
    for what, work in (
        ("fit and errors", lambda: fits(million, bots)),
        ("and intervals, max-t, ranks", lambda: strengths(million, bots)),
    ):
        began = time.process_time()
        work()
        yield Check(f"995,000 games of 200 bots: {what}", f"{time.process_time() - began:.2f} s of a processor")


ROWS: dict[str, Callable[[Options], Iterator[Check]]] = {
    "coverage": coverage_row,
    "spoilt": spoilt_row,
    "ranks": ranks_row,
    "duel": duels_row,
    "settling": leagues_row,
    "trueskill": trueskills_row,
    "speed": speed_row,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}; all without")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--bank", type=Path, metavar="FOLDER")
    parser.add_argument("--runs", type=int, help="tournaments of each setting")
    parser.add_argument("--jobs", type=int, default=1, help="processes that play games")
    parser.add_argument("--seats", type=int, nargs="*", choices=range(2, 7), help="table sizes of `coverage`")
    given = parser.parse_args()
    if unknown := set(given.rows) - set(ROWS):
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    seats = given.seats or ((2, 6) if given.quick else range(2, 7))
    runs = given.runs or (200 if given.quick else 1000)
    options, good = Options(given.quick, given.bank, given.jobs, tuple(seats), runs), True
    for name in given.rows or ROWS:
        print(f"\n{name}", flush=True)
        for check in ROWS[name](options):
            good &= check.good
            verdict = f"  [{check.must}: {'yes' if check.good else 'NO'}]" if check.must else ""
            print(f"  {check.what}: {check.figure}{verdict}", flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
