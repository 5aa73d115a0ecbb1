"""What places are worth: points for opponents beaten, and ties."""

from __future__ import annotations

from functools import lru_cache

from referee.ratings.games import Games


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
