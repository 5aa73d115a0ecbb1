"""The mean score and its standard error, in whole numbers up to the last division."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache

from referee.ratings.games import Game, Games


@dataclass(slots=True)
class Tally:
    """What one bot did at one table size; sums over deals are in half points and games.

    `games`, `deals`, `wins`, `places` and the sums are of rated games; `faults` are the games, rated or not, in
    which it was at fault, and `unrated` those that count for nothing else.
    """

    games: int = 0
    unrated: int = 0
    deals: int = 0
    wins: int = 0
    faults: int = 0
    places: list[int] = field(default_factory=list)
    points: int = 0
    points_squared: int = 0
    points_games: int = 0
    games_squared: int = 0

    def add_deal(self, points: int, games: int) -> None:
        """Count a deal: its half points and its games."""
        self.deals += 1
        self.games += games
        self.points += points
        self.points_squared += points * points
        self.points_games += points * games
        self.games_squared += games * games

    def score(self) -> float | None:
        """Opponents beaten and half of those tied, over opponents met: 0 to 1. None without a rated game."""
        return self.points / self._possible() if self.games else None

    def score_error(self) -> float | None:
        """The standard error of `score`, deals taken as the independent units. None with fewer than two of them.

        The ratio estimator's, robust to clusters, with the correction D/(D - 1) (CR1: Liang and Zeger 1986;
        Cochran, Sampling Techniques, 6.19): with P points and G games in all, a deal's residual is
        p - g P/G, and the variance D/(D - 1) times the sum of their squares over the points possible, squared.
        """
        if self.deals < 2:
            return None
        squares = (
            self.points_squared * self.games**2
            - 2 * self.points_games * self.points * self.games
            + self.games_squared * self.points**2
        )
        return math.sqrt(self.deals * squares / ((self.deals - 1) * (self._possible() * self.games) ** 2))

    def _possible(self) -> int:
        return 2 * (len(self.places) - 1) * self.games


def tally(games: Games) -> list[Tally]:
    """What every bot did, in the order of `games.bots`."""
    tallies = [Tally(places=[0] * games.players) for _ in games.bots]
    for deal in games.deals():
        _add_deal(tallies, deal)
    return tallies


def _add_deal(tallies: list[Tally], deal: list[Game]) -> None:
    sums: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for game in deal:
        for bot in {game.seats[seat] for seat in game.faulty}:
            tallies[bot].faults += 1
        if not game.rated:
            for bot in set(game.seats):
                tallies[bot].unrated += 1
            continue
        alone = game.places.count(1) == 1
        for bot, place, points in zip(game.seats, game.places, half_points(game.places), strict=True):
            tallies[bot].places[place - 1] += 1
            tallies[bot].wins += alone and place == 1
            sums[bot][0] += points
            sums[bot][1] += 1
    for bot, (points, played) in sums.items():
        tallies[bot].add_deal(points, played)


@lru_cache(maxsize=8192)
def half_points(places: tuple[int, ...]) -> tuple[int, ...]:
    """By seat, two for every opponent beaten and one for every one tied."""
    return tuple(
        sum(2 * (place < other) + (place == other) for other in places) - 1  # less the tie with itself
        for place in places
    )


def draw_probability(games: Games) -> float:
    """How often neighbours in the order of places are tied: (t + 1/2) / (n + 1) for t of n, so never 0 or 1."""
    ties = neighbours = 0
    for game in games.rated():
        ties += game_ties(game.places)
        neighbours += games.players - 1
    return (ties + 0.5) / (neighbours + 1)


@lru_cache(maxsize=8192)
def game_ties(places: tuple[int, ...]) -> int:
    """How many neighbours in the order of `places` share theirs."""
    return len(places) - len(set(places))
