"""How cards left become places: the end of a game, its reasons, and the three ways of scoring it."""

from __future__ import annotations

from enum import StrEnum


class Scoring(StrEnum):
    """How cards left become places."""

    PLACES = "places"
    WINNER = "winner"
    LOSER = "loser"


class Ending(StrEnum):
    """Why a game is over."""

    EMPTIED = "emptied"
    WIDOWS = "widows"
    STALLED = "stalled"
    FORFEIT = "forfeit"


def places_of(
    scoring: Scoring, reason: Ending, hand_sizes: tuple[int, ...], forfeited: tuple[int, ...]
) -> tuple[int, ...]:
    """The places by seat, from 1: those at fault last, a later fault better; the others by cards left."""
    players = len(hand_sizes)
    sizes = [size for seat, size in enumerate(hand_sizes) if seat not in forfeited]
    if scoring is Scoring.LOSER and reason is Ending.EMPTIED:
        scoring = Scoring.WINNER
    return tuple(
        players - forfeited.index(seat) if seat in forfeited else _place(scoring, size, sizes)
        for seat, size in enumerate(hand_sizes)
    )


def _place(scoring: Scoring, size: int, sizes: list[int]) -> int:
    """The place among `sizes` of one who has `size` cards left."""
    if scoring is Scoring.PLACES:
        return 1 + sum(other < size for other in sizes)
    if scoring is Scoring.WINNER:
        return 1 if size == min(sizes) else 1 + sizes.count(min(sizes))
    return 1 if size < max(sizes) else 1 + len(sizes) - sizes.count(size)
