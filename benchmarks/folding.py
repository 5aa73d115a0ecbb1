"""TrueSkill's line of the acceptance table: shuffles of real games, single games beside the package, and the edges."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations, product
from random import Random

import msgspec
import numpy as np
import trueskill
from figures import NO, YES, Figure
from skills import Fold, real

from referee.ratings import Table, rate
from referee.ratings.data.games import RatedGame, collect
from referee.ratings.trueskill.skill import skills
from referee.record import Bot, GameResult
from referee.rules import Ending

BOTS = tuple(Bot(f"bot{number}", f"{number:064x}") for number in range(12))
PRIOR = 25 / 3
GAMES = 300
PROBABILITY = 0.2


def shuffle_lines(players: int, *, times: int) -> Iterator[Figure]:
    """How far centred means move by the order of the games and the names of the bots; and folded one by one."""
    played = real(players, GAMES)
    what = f"{players} seats, {len(played)} games of 20 bots, centred mu over"
    moved = spread([fitted(played, Random(seed)) for seed in range(times)])
    yield exact(f"{what} {times} shuffles of games and names", moved, 1e-6)
    alone = max(2, times // 10)
    yield beyond(f"{what} {alone} shuffles, folded one by one", spread([folded(played, n) for n in range(alone)]), 1e-6)


def single_line(largest: int) -> Figure:
    """Single games beside the package."""
    ways = [places for players in range(2, largest + 1) for places in placings(players)]
    what = f"single games, all {len(ways)} ways to be placed at 2 to {largest} seats, beside the package"
    return exact(what, max(map(beside, ways)), 1e-5)


def edge_lines() -> Iterator[Figure]:
    """Every number is finite or "too little data", and no sigma above the prior."""
    for name, results in edges().items():
        tables = rate(results).tables
        numbers = [number for table in tables for number in floats(msgspec.to_builtins(table))]
        widest = max(row.sigma for table in tables for row in table.rows)
        good = all(map(math.isfinite, numbers)) and widest <= round(PRIOR, 6) and all(map(told_or_too_little, tables))
        seen = f"{len(numbers)} numbers, widest sigma {widest:.6f}"
        yield Figure(
            f"edge: {name}", seen, "exact", 'finite or "too little data", at most 8.333333', YES if good else NO
        )


def told_or_too_little(table: Table) -> bool:
    """Whether exactly those bots have intervals that have two deals."""
    enough = [row.deals >= 2 for row in table.rows]
    scores = [row.score_low is not None and row.score_high is not None for row in table.rows]
    strengths = [bool(row.strength and row.strength.logits_low is not None) for row in table.rows]
    return enough == scores == strengths


def floats(value: object) -> Iterator[float]:
    """All of a tree."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        yield from floats(list(value.values()))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from floats(part)


def exact(what: str, seen: float, bound: float) -> Figure:
    return Figure(what, f"{seen:.1e}", "exact", f"at most {bound:g}", YES if seen <= bound else NO)


def beyond(what: str, seen: float, bound: float) -> Figure:
    return Figure(what, f"{seen:.1e}", "exact", f"spoilt: more than {bound:g}", YES if seen > bound else NO)


def spread(found: list[np.ndarray]) -> float:
    """How far any number lies from the first time's, at most."""
    return max(float(np.abs(one - found[0]).max()) for one in found)


def fitted(played: list[GameResult], dice: Random) -> np.ndarray:
    """Centred means of the bots, after games in any order whose bots have any names."""
    bots = sorted({bot for result in played for bot in result.seats})
    names = dict(zip(bots, dice.sample(bots, len(bots)), strict=True))
    renamed = [result._replace(seats=tuple(names[bot] for bot in result.seats)) for result in played]
    (table,) = collect(dice.sample(renamed, len(renamed)))
    mu = dict(zip(table.bots, (skill.mu for skill in skills(table, PROBABILITY)), strict=True))
    found = np.array([mu[names[bot]] for bot in bots])
    return found - found.mean()


def folded(played: list[GameResult], seed: int) -> np.ndarray:
    """Centred means by the package, one game after another."""
    (table,) = collect(played)
    rated: list[RatedGame] = list(table.rated())
    fold = Fold(table)
    fold.take(Random(seed).sample(rated, len(rated)))
    found = np.array([rating.mu for rating in fold.ratings])
    return found - found.mean()


def game(
    places: tuple[int, ...], deal: int = 0, seats: tuple[Bot, ...] = BOTS, faults: tuple[int, ...] = ()
) -> GameResult:
    return GameResult(seats[: len(places)], deal, 0, Ending.EMPTIED, places, faults)


def placings(players: int) -> list[tuple[int, ...]]:
    """Every way to be placed, seats in the order of places."""
    found = []
    for ties in product((False, True), repeat=players - 1):
        places = [1]
        for place, tie in enumerate(ties, 2):
            places.append(places[-1] if tie else place)
        found.append(tuple(places))
    return found


def beside(places: tuple[int, ...]) -> float:
    """How far mean and deviation after one game lie from the package's, averaged over the orders of the tied."""
    (table,) = rate([game(places)]).tables
    package = trueskill.TrueSkill(tau=0.0, draw_probability=table.draw_probability)
    moments = []
    for order in permutations(range(len(places))):
        ranks = [places[seat] for seat in order]
        if ranks == sorted(ranks):
            rated = package.rate([(package.create_rating(),) for _ in order], ranks=ranks)
            by_seat = dict(zip(order, (rating for (rating,) in rated), strict=True))
            moments.append([(by_seat[seat].mu, by_seat[seat].sigma ** 2) for seat in range(len(places))])
    mean = np.mean(moments, axis=0)
    rows = {row.bot: row for row in table.rows}
    ours = np.array([(rows[bot].mu, rows[bot].sigma) for bot in BOTS[: len(places)]])
    return float(np.abs(ours - np.stack([mean[:, 0], np.sqrt(mean[:, 1])], axis=1)).max())


def edges() -> dict[str, list[GameResult]]:
    dice = Random(9)
    return {
        "one game": [game((1, 2))],
        "only wins": [game((1, 2), deal) for deal in range(3000)],
        "only draws": [game((1, 1), deal) for deal in range(3000)],
        "no draw": [game(dice.choice([(1, 2), (2, 1)]), deal) for deal in range(3000)],
        "a forfeiter": [game((*dice.sample((1, 2, 3), 3), 4), deal, faults=(3,)) for deal in range(300)],
        "disconnected": [
            *(game((1, 2), deal) for deal in range(9)),
            *(game((2, 1), deal, BOTS[2:4]) for deal in range(5)),
        ],
    }
