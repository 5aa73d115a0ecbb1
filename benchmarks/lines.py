"""The lines of the acceptance table: each is one errand for one process, and gives one figure or a few."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import duel
import folding
import numpy as np
import settling
from bank import EQUAL, GRADED, OTHERS, Bank, bank
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
from figures import NO, YES, Figure, at_least, judged, noticed, share, told

from referee.ratings.data.deals import Deals
from referee.ratings.sequential.betting import DuelHypotheses
from referee.ratings.strength.strength import fits, strengths


class Size(NamedTuple):
    """How large a run is, where its banks lie, and how many processes play them."""

    quick: bool
    folder: Path | None
    jobs: int = 1
    runs: int | None = None

    def tournaments(self) -> int:
        """Of each setting."""
        return self.runs or (200 if self.quick else 1_000)

    def bank(self, name: str, bots: dict[str, type], players: int, games: int) -> Bank:
        """A tenth of the games in a quick run."""
        return bank(name, bots, players, games // 10 if self.quick else games, folder=self.folder, jobs=self.jobs)

    def graded(self, players: int) -> Bank:
        """Six bots of graded strength, and many games, which are the truth."""
        return self.bank("graded", GRADED, players, 400_000)


Line = Callable[[Size], Iterable[Figure]]


class Deal(NamedTuple):
    """How many deals a tournament has, and the highest share that intervals may hold."""

    name: str
    what: str
    counts: Callable[[int], Counts]
    high: float


SETTINGS = (
    *(
        Deal(f"{deals}", f"{deals} deals", partial(lambda deals, line_ups: evenly(line_ups, deals), deals), high)
        for deals, high in ((20, 0.985), (50, 0.985), (200, 0.97), (1000, 0.97))
    ),
    Deal("mixed", "2, 20 or 100 deals a line-up", unequally, 0.97),
)
"""Where line-ups have 2, 20 or 100 deals and weigh alike there are more than 50, so the bound is that of many."""

LOW, WORST = 0.935, 0.91
FRESH = 40_000
"""Games of the banks that are there to try what was chosen on others."""


def covered(what: str, seen: Share, high: float) -> Figure:
    """The mean has two bounds, the worst pair one."""
    of_pair = (WORST * (1 - WORST) / seen.runs) ** 0.5
    verdicts = {judged(max(LOW - seen.mean, seen.mean - high), seen.error), judged(WORST - seen.worst, of_pair)}
    holds = next(verdict for verdict in (NO, *(verdicts - {YES}), YES) if verdict in verdicts)
    must = f"{LOW:g} to {high:g}, worst {WORST:g}"
    return Figure(f"{what}, {seen.runs:,} tournaments", *_told(seen), must, holds)


def _told(seen: Share) -> tuple[str, str]:
    return f"{seen.mean:.4f}, worst pair {seen.worst:.3f}", f"{seen.error:.4f}"


def coverage_line(players: int, deal: Deal, size: Size) -> Iterator[Figure]:
    yield _coverage(size.graded(players), f"{players} seats, {deal.what}", deal, size)


def fresh_line(name: str, bots: dict[str, type], players: int, deal: Deal, size: Size) -> Iterator[Figure]:
    games = size.bank(name, bots, players, FRESH)
    yield _coverage(games, f"{name}, {players} seats, {deal.what}", deal, size)


def _coverage(games: Bank, what: str, deal: Deal, size: Size) -> Figure:
    drawn = tournaments(games, deal.counts(len(games.line_ups)), size.tournaments(), 1)
    return covered(what, coverage(drawn, truth(games)), deal.high)


def spoilt_line(size: Size) -> Iterator[Figure]:
    graded = size.graded(6)
    true, counts, runs = truth(graded), evenly(1, 200), size.tournaments()
    seen = coverage(tournaments(graded, counts, runs, 2), true, as_if_independent)
    what = f"6 seats, 200 deals, {runs:,} tournaments"
    holds = YES if seen.mean < LOW - 2 * seen.error else NO
    yield Figure(
        f"{what}: errors for which a game's pairs are independent", *_told(seen), "spoilt: out of bounds", holds
    )
    seen = coverage(tournaments(graded, counts, runs, 2, by_game=True), true)
    yield told(f"{what}: games in place of deals, rotations taken for independent", *_told(seen))


def ranks_line(deals: int, size: Size) -> Iterator[Figure]:
    copies = size.bank("equal", EQUAL, 2, 100_000)
    runs = size.tournaments()
    ranked, singly = wrongly_apart(equal_bots(copies, 10, deals, runs, deals), 10)
    what = f"10 equal bots, {deals} deals a pair, {runs:,} tournaments, not told apart"
    yield at_least(f"{what} by max-t", share(~np.array(ranked)), LOW)
    yield noticed(f"{what} by each pair's own interval", share(~np.array(singly)), LOW, above=False)


def duel_line(test: duel.Test, side: int, size: Size) -> Iterator[Figure]:
    test = _sized(test, size)
    yield from duel.honest(test.shares(size.folder, size.jobs), test, DuelHypotheses(), side)


def repeated_line(test: duel.Test, side: int, size: Size) -> Iterator[Figure]:
    test = _sized(test, size)
    yield duel.spoilt(test.shares(size.folder, size.jobs), test, DuelHypotheses(), side)


def _sized(test: duel.Test, size: Size) -> duel.Test:
    return test._replace(games=test.games // 10, runs=1_000, every=25) if size.quick else test


def equal_line(size: Size) -> Iterator[Figure]:
    even = settling.even_deals(size.quick, size.folder, size.jobs)
    yield settling.equal_line(even, rounds=5_000, every=25, runs=size.tournaments())


def looked_line(size: Size) -> Iterator[Figure]:
    even = settling.even_deals(size.quick, size.folder, size.jobs)
    yield settling.looked_line(even, rounds=5_000, every=25, runs=size.tournaments())


def ladder_line(size: Size) -> Iterator[Figure]:
    known = settling.rungs(size.quick, size.folder, size.jobs)
    yield from settling.ladder_lines(known, step=0.02, runs=20 if size.quick else 200)


def shuffles_line(players: int, size: Size) -> Iterator[Figure]:
    yield from folding.shuffle_lines(players, times=10 if size.quick else 100)


def single_line(size: Size) -> Iterator[Figure]:
    yield folding.single_line(5 if size.quick else 6)


def edges_line(size: Size) -> Iterator[Figure]:
    del size
    yield from folding.edge_lines()


def speed_line(size: Size) -> Iterator[Figure]:
    del size
    bots, deals = 200, 25
    dice = np.random.default_rng(1)
    line_ups = np.array([(one, other) for one in range(bots) for other in range(one + 1, bots)])
    line_up = np.repeat(np.arange(len(line_ups)), deals)
    points = dice.binomial(4, 0.5, len(line_up))
    million = Deals(line_ups, line_up, np.full(len(line_up), 2), np.stack([points, 4 - points], axis=1))
    for what, work in ("strengths and errors", fits), ("the same with intervals, max-t and ranks", strengths):
        began = time.process_time()
        work(million, bots)
        yield told(f"995,000 games of 200 bots: {what}", f"{time.process_time() - began:.2f} s of a processor")


def table() -> dict[str, Line]:
    """All lines by their names, in the order of the table."""
    close, alike = duel.FULL, duel.FULL._replace(pair="memory against greedy")
    found: dict[str, Line] = {
        f"coverage-{players}-{deal.name}": partial(coverage_line, players, deal)
        for players in range(2, 7)
        for deal in SETTINGS
        if players < 6 or deal.name != "mixed"  # six bots at six seats are one line-up
    }
    for name, bots, players in (
        *(("others", OTHERS, players) for players in (2, 3, 4, 5)),
        *(("reseeded", GRADED, players) for players in (2, 5)),
    ):
        for deal in SETTINGS:
            line = f"{name.replace(' ', '-')}-{players}-{deal.name}"
            found[line] = partial(fresh_line, name, bots, players, deal)
    found["spoilt"] = spoilt_line
    found |= {f"ranks-{deals}": partial(ranks_line, deals) for deals in (10, 50)}
    found |= {f"duel-s{side}": partial(duel_line, close, side) for side in (0, 1)}
    found |= {f"duel-s{side}-repeated": partial(repeated_line, close, side) for side in (0, 1)}
    found |= {f"duel-s{side}-alike": partial(duel_line, alike, side) for side in (0, 1)}
    found |= {"settling": equal_line, "settling-repeated": looked_line, "racing": ladder_line}
    found |= {f"shuffles-{players}": partial(shuffles_line, players) for players in range(2, 7)}
    return found | {"single-games": single_line, "edges": edges_line, "speed": speed_line}
