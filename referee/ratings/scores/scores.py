"""What places are worth: points for opponents beaten, and ties."""

from __future__ import annotations

from functools import lru_cache

from referee.ratings.data.games import Games


@lru_cache(maxsize=8192)
def half_points(places: tuple[int, ...]) -> tuple[int, ...]:
    """By seat, two for every opponent beaten and one for every one tied."""
    return tuple(
        sum(2 * (place < other) + (place == other) for other in places) - 1  # less the tie with itself
        for place in places
    )


def draw_probability(games: Games) -> float:
    """How often neighbours in the order of places are tied: (t + 1/2) / (n + 1) for t of n, so never 0 or 1."""
    from referee.ratings.data.columns import columns, members, rated  # numpy is slow to import

    ties = played = 0
    sitting = members(games)
    for batch in columns(games):
        places = batch.only(rated(batch, sitting)).places
        places.sort(axis=1)
        ties += int((places[:, 1:] == places[:, :-1]).sum())
        played += len(places)
    return (ties + 0.5) / (played * (games.players - 1) + 1)
