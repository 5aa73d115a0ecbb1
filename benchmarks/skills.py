"""TrueSkill fitted to all games at once, beside the `trueskill` package folding the same games one by one.

`python benchmarks/skills.py` plays games of 20 bots under the real rules (the manners of `manners.py`, and some that
slip), for 2 to 6 players: as they are, and with their ties broken by dice. Both rate each set in the same process, the
package a part of it before and another after, and the ratio of processor times is printed, with what is asked of it,
the number of sweeps and of different games. `--way arrays` and `--way compiled` choose how games are looked at. Then a
million games of two among 200 bots, by dice: what `rate` takes for the whole table, and the fit alone, beside the
package, which folds a tenth. Last what fits of a million games of two and of six take at most of memory, beside the
games themselves, each in a process of its own. `--share 0.1` takes a tenth of all games; `--only` one of the parts.

The package folds once, in one order, and takes tied players as they come: that is not the same result, only the same
games. How far its result lies from the fit is printed too.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, islice
from math import comb
from pathlib import Path
from random import Random
from typing import TypeVar

import trueskill
from manners import HONEST, Careless, Manner, games

from referee.ratings import rate
from referee.ratings.data.games import Games, RatedGame, collect, layout
from referee.ratings.scores.scores import draw_probability
from referee.ratings.trueskill.message_pass import ByArrays, Compiled, Look
from referee.ratings.trueskill.patterns import patterns
from referee.ratings.trueskill.propagation import SkillFit, propagate
from referee.ratings.trueskill.skill import scale
from referee.record import Bot, GameResult, LineUp
from referee.rules import Ending

T = TypeVar("T")

GAMES = {2: 20_000, 3: 9_000, 4: 6_000, 5: 6_000, 6: 6_000}
FOLDED = 400
"""Games that the package folds before, and again after."""
ASKED = {(2, True): 100, (6, True): 10, **{(players, False): 100 for players in GAMES}}
BOTS, MILLION = 200, 1_000_000
WAYS: dict[str, type[Look]] = {"arrays": ByArrays, "compiled": Compiled}
PARTS = ("table", "million", "memory")


def slipping(share: float) -> type[Manner]:
    return type(f"Slips{share}", (Careless,), {"slips": share})


def entrants() -> dict[str, type[Manner]]:
    """20 bots of graded strength."""
    return HONEST | {f"slips{number}": slipping(number / 12) for number in range(1, 8)}


def real(players: int, count: int) -> list[GameResult]:
    """About `count` games under the real rules, each line-up with one deal and all rotations."""
    dice = Random(players)
    bots = entrants()
    line_ups = list(combinations(sorted(bots), players))
    wanted = max(1, count // players)
    chosen = dice.sample(line_ups, min(wanted, len(line_ups)))
    return games(bots, chosen, range(-(-wanted // len(chosen))), f"trueskill {players}")


def untied(results: list[GameResult]) -> list[GameResult]:
    """The same games with tied places broken by dice."""
    dice = Random(1)
    return [result._replace(places=broken(result.places, dice)) for result in results]


def broken(places: tuple[int, ...], dice: Random) -> tuple[int, ...]:
    order = sorted(range(len(places)), key=lambda seat: (places[seat], dice.random()))
    return tuple(1 + order.index(seat) for seat in range(len(places)))


def by_dice(count: int) -> Iterator[GameResult]:
    """Games of two among 200 bots, as many wins, draws and losses as strengths a little apart give."""
    dice = Random(2)
    bots = [Bot(f"bot{number:03}", f"{number:064x}") for number in range(BOTS)]
    strength = [dice.gauss(0, 0.35) for _ in bots]
    pairs = list(combinations(range(BOTS), 2))
    for number in range(count):
        first, second = pairs[number % len(pairs)]
        chance = 1 / (1 + 2.718281828 ** (strength[second] - strength[first]))
        places = (1, 1) if dice.random() < 0.04 else (1, 2) if dice.random() < chance else (2, 1)
        yield GameResult((bots[first], bots[second]), number // len(pairs), 0, Ending.EMPTIED, places, ())


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds of a processor."""
    gc.collect()
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def fit(table: Games, way: str | None = None) -> SkillFit:
    return propagate(patterns(table), len(table.bots), scale(draw_probability(table)), WAYS.get(way or ""))


class Fold:
    """The package, one game after another."""

    def __init__(self, table: Games) -> None:
        self.package = trueskill.TrueSkill(tau=0.0, draw_probability=draw_probability(table))
        self.ratings = [self.package.create_rating() for _ in table.bots]

    def take(self, some: list[RatedGame]) -> None:
        for game in some:
            after = self.package.rate([(self.ratings[bot],) for bot in game.seats], ranks=game.places)
            for bot, (rating,) in zip(game.seats, after, strict=True):
                self.ratings[bot] = rating


def beside(results: list[GameResult], *, ties: bool, ways: list[str]) -> None:
    """One set, a row."""
    [table] = collect(results)
    for way in ways:
        fit(table, way)  # compiled code, tables and caches are there before anything is timed
    rated = Random(3).sample(list(table.rated()), min(2 * FOLDED, len(results)))
    half = len(rated) // 2
    fold = Fold(table)
    before, _ = timed(lambda: fold.take(rated[:half]))
    ours = {way: timed(partial(fit, table, way)) for way in ways}
    after, _ = timed(lambda: fold.take(rated[half:]))
    theirs = (before + after) / len(rated)
    different = sum(pattern.bots.shape[1] for pattern in patterns(table))
    orders = sum(len(pattern.orders()) * int(pattern.counts.sum()) for pattern in patterns(table)) / len(results)
    asked = ASKED.get((table.players, ties), "")
    sweeps = {found.sweeps for _, found in ours.values()}
    mine = [used / len(results) for used, _ in ours.values()]
    cells = "".join(f" {each * 1e6:.2f} | **{theirs / each:.0f}** |" for each in mine)
    print(
        f"| {table.players} | {'as they are' if ties else 'broken'} | {len(results):,} | {different:,} | {orders:.1f} "
        f"| {'/'.join(map(str, sweeps))} | {theirs * 1e6:.0f} | {asked} |{cells}",
        flush=True,
    )


def million(count: int) -> None:
    """The large set, rated and tabled."""
    [table] = collect(by_dice(count))
    tenth = list(islice(table.rated(), 0, None, 10))
    fold = Fold(table)
    ours, found = timed(lambda: fit(table))
    theirs, _ = timed(lambda: fold.take(tenth))
    again, _ = timed(lambda: fit(table))
    collecting, _ = timed(lambda: collect(by_dice(count)))
    tabled, _ = timed(lambda: rate(by_dice(count)))
    mean = (ours + again) / 2
    print(
        f"\n{count:,} games of two among {BOTS} bots: the fit {ours:.2f} and {again:.2f} s in {found.sweeps} sweeps, "
        f"the table with all intervals {tabled - collecting:.2f} s; the package {theirs:.1f} s for a tenth, so "
        f"{10 * theirs:.0f} s: {10 * theirs / mean:.0f} times the fit, {10 * theirs / (tabled - collecting):.0f} times "
        f"the table (reading the games, {collecting:.1f} s here, left out)"
    )


def many(players: int, count: int) -> Games:
    """About `count` games: line-ups thrown among 200 bots, ten deals each or more, placed as under the rules."""
    dice = Random(4)
    bots = [Bot(f"bot{number:03}", f"{number:064x}") for number in range(BOTS)]
    placings = [bytes(result.places) for result in real(players, 2_000)]
    line_ups: dict[LineUp, bytes] = {}
    pack, positions = layout(players).pack, bytes(range(players))
    different = min(comb(BOTS, players), max(1, count // (10 * players)))
    while len(line_ups) < different:
        line_up = tuple(bots[number] for number in sorted(dice.sample(range(BOTS), players)))
        line_ups[line_up] = b"".join(
            pack(deal, turn, positions[turn:] + positions[:turn], dice.choice(placings), 0)
            for deal in range(-(-count // (different * players)))
            for turn in range(players)
        )
    return Games(players, line_ups)


def memory(players: int, count: int, way: str | None) -> None:
    """What the fit adds to the memory in use, at most."""
    fit(many(players, 100 * players), way)  # libraries and code
    table = many(players, count)
    gc.collect()
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
    used, found = timed(lambda: fit(table, way))
    games = sum(map(len, table.packed())) // layout(players).size
    print(
        f"{games:,} games of {players}: {status('VmHWM') - before:.0f} MiB at most beside the {before:.0f} of games "
        f"and program; {used:.1f} s in {found.sweeps} sweeps",
        flush=True,
    )


def status(field: str) -> float:
    """MiB."""
    return int(Path("/proc/self/status").read_text().partition(f"{field}:")[2].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of all games")
    parser.add_argument("--players", type=int, nargs="*", default=list(GAMES))
    parser.add_argument("--way", choices=WAYS, help="as the fit would choose, without")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    wanted = (given.only,) if given.only else PARTS
    if given.peak:
        memory(given.peak, round(MILLION * given.share), given.way)
        return
    ways = [given.way] if given.way else list(WAYS)
    if "table" in wanted:
        print(
            "| players | ties | games | different | orders | sweeps | package | asked |"
            + "".join(f" {way} | ratio |" for way in ways)
            + "\n| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
            + " ---: | ---: |" * len(ways)
        )
        for players in given.players:
            results = real(players, round(GAMES[players] * given.share))
            beside(results, ties=True, ways=ways)
            beside(untied(results), ties=False, ways=ways)
    if "million" in wanted:
        million(round(MILLION * given.share))
    if "memory" in wanted:
        for players in 2, 6:
            way = ["--way", given.way] if given.way else []
            peak = [sys.executable, __file__, "--peak", str(players), "--share", str(given.share), *way]
            subprocess.run(peak, check=True)


if __name__ == "__main__":
    main()
