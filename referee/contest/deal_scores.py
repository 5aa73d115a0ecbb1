"""The scores of whole deals, for measuring how much luck is in one."""

from __future__ import annotations

from collections.abc import Iterator

from referee.ratings.scores.scores import half_points
from referee.record import GameResult


def deal_scores(results: Iterator[GameResult]) -> Iterator[tuple[object, float]]:
    """Yield the score of each bot in each deal, with its line-up and bot; games come in the order of the schedule."""
    points: dict[object, int] = {}
    current: tuple[object, int] | None = None
    possible = 1
    for result in results:
        line_up = result.line_up
        if (line_up, result.deal) != current:
            yield from ((key, gained / possible) for key, gained in points.items())
            points, current = {}, (line_up, result.deal)
        possible = 2 * len(line_up) * (len(line_up) - 1)
        for bot, gained in zip(result.seats, half_points(result.places), strict=True):
            points[line_up, bot] = points.get((line_up, bot), 0) + gained
    yield from ((key, gained / possible) for key, gained in points.items())
