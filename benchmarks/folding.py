"""TrueSkill's line of the acceptance table: shuffles, single games beside the package, and the edges."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations, product
from random import Random

import numpy as np
import trueskill

from referee.ratings import rate
from referee.ratings.games import collect
from referee.ratings.skill import skills
from referee.record import Bot, Result
from referee.rules import Ending

BOTS = tuple(Bot(f"bot{number}", f"{number:064x}") for number in range(12))
PRIOR = 25 / 3


def trueskill_row(quick: bool) -> Iterator[tuple[str, str, str, bool]]:
    """What was tried, the figure, what it must be, and whether it is."""
    for players in (2, 6) if quick else range(2, 7):
        moved = shuffled(players, 10 if quick else 100)
        yield f"{players} seats, shuffles: centred mu moves by", f"{moved:.1e}", "at most 1e-6", moved <= 1e-6
    apart = max(beside(places) for players in range(2, 6 if quick else 7) for places in placings(players))
    yield "single games, every way to be placed, beside the package", f"{apart:.1e}", "at most 1e-5", apart <= 1e-5
    for name, results in edges().items():
        rows = [row for table in rate(results).tables for row in table.rows]
        good = all(math.isfinite(row.mu) and 0 < row.sigma <= round(PRIOR, 6) for row in rows)
        widest = max(row.sigma for row in rows)
        yield f"{name}: widest sigma", f"{widest:.6f}", "finite, at most 8.333333", good


def game(places: tuple[int, ...], deal: int = 0, seats: tuple[Bot, ...] = BOTS, faults: tuple[int, ...] = ()) -> Result:
    return Result(seats[: len(places)], deal, 0, Ending.EMPTIED, places, faults)


def shuffled(players: int, times: int) -> float:
    """How far any centred mu moves by `times` shuffles of 200 games of twelve bots."""
    dice = Random(players)
    played = []
    for deal in range(200):
        left = [dice.randrange(6) for _ in range(players)]
        places = tuple(1 + sum(other < mine for other in left) for mine in left)
        played.append(game(places, deal, tuple(dice.sample(BOTS, players))))

    def centred() -> np.ndarray:
        (table,) = collect(dice.sample(played, len(played)))
        mu = np.array([skill.mu for skill in skills(table, 0.2)])
        return mu - mu.mean()

    first = centred()
    return max(float(np.abs(centred() - first).max()) for _ in range(times))


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


def edges() -> dict[str, list[Result]]:
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
