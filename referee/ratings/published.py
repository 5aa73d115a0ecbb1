"""Scores by seat, strengths and pairs as values that are published as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import msgspec

if TYPE_CHECKING:
    from referee.ratings.scores.means import Mean
    from referee.ratings.strength.strength import Strengths

DIGITS = 6
"""Decimals kept of every published number: fewer than two machines' mathematical libraries agree on."""
ELO_DIGITS = 3
ELO = 400 / math.log(10)
"""Elo-like points per logit: 400 of them are odds of ten to one."""


class SeatScore(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's score in one seat: see `Row` for the fields' meaning. None where there is too little data."""

    games: int
    score: float | None
    score_error: float | None
    score_low: float | None
    score_high: float | None


class Strength(msgspec.Struct, frozen=True, kw_only=True):
    """How strong a bot is among those with its `component`: bots that met, directly or through others.

    In logits: a bot stronger by x beats another with probability 1/(1 + exp(-x)), a tie counting half. In `elo`, the
    same in points of which 400 are odds of ten to one. Strengths of a component add up to 0; those of different
    ones cannot be compared. `_low` and `_high` are the ends of the 95% interval of the difference to the component's
    mean, None with fewer than two deals: too little data.

    `rank_low` (the better one) and `rank_high` are between which ranks the bot stands, of all with a rated game: for
    all of them at once with probability 95%. `groups` are the letters of the groups that it is part of: bots next to
    each other in strength no two of which the games have told apart. A bot may be in several.
    """

    component: int
    logits: float
    logits_low: float | None
    logits_high: float | None
    elo: float
    elo_low: float | None
    elo_high: float | None
    rank_low: int
    rank_high: int
    groups: tuple[str, ...]


class ScorePair(msgspec.Struct, frozen=True, kw_only=True):
    """Two bots that can be compared, by where they stand in `Table.rows`, from 0 on.

    `difference` is the strength of the `first` less that of the `second` in logits, with its standard error, its
    degrees of freedom for Student's t and its 95% interval, for this pair alone. `above` is how probable it is that the
    first is the stronger one, from .001 to .999. `apart` says that they are told apart also where all pairs are looked
    at together.
    """

    first: int
    second: int
    difference: float
    error: float
    freedom: float
    low: float
    high: float
    above: float
    apart: bool


def seat_scores(seats: Sequence[Mean]) -> tuple[SeatScore, ...]:
    """By seat."""
    return tuple(_seat_score(mean) for mean in seats)


def _seat_score(mean: Mean) -> SeatScore:
    low, high = mean.interval() or (None, None)
    return SeatScore(
        games=mean.games,
        score=rounded(mean.score()),
        score_error=rounded(mean.error()),
        score_low=rounded(low),
        score_high=rounded(high),
    )


def strength_values(found: Strengths) -> list[Strength | None]:
    """By bot; None without a rated game."""
    ranks, groups = found.rank_intervals(), found.groups()
    return [_strength(found, bot, interval, groups[bot]) if interval else None for bot, interval in enumerate(ranks)]


def _strength(found: Strengths, bot: int, ranks: tuple[int, int], groups: tuple[str, ...]) -> Strength:
    logits, reach = float(found.logits[bot]), float(found.reach[bot])
    known = math.isfinite(reach)
    low, high = (logits - reach, logits + reach) if known else (None, None)
    return Strength(
        component=int(found.component[bot]),
        logits=rounded(logits),
        logits_low=rounded(low),
        logits_high=rounded(high),
        elo=in_elo(logits),
        elo_low=in_elo(low),
        elo_high=in_elo(high),
        rank_low=ranks[0],
        rank_high=ranks[1],
        groups=groups,
    )


def pair_values(found: Strengths, order: Sequence[int]) -> tuple[ScorePair, ...]:
    """All pairs that can be judged, of the bots in the `order` of the table's rows."""
    return tuple(
        _pair(found, at, behind, one, other)
        for at, one in enumerate(order)
        for behind, other in enumerate(order[at + 1 :], at + 1)
        if math.isfinite(found.error[one, other])
    )


def _pair(found: Strengths, at: int, behind: int, one: int, other: int) -> ScorePair:
    from referee.ratings.maths.intervals import probability

    difference = float(found.logits[one] - found.logits[other])
    error, freedom, reach = (float(of[one, other]) for of in (found.error, found.freedom, found.difference_reach))
    return ScorePair(
        first=at,
        second=behind,
        difference=rounded(difference),
        error=rounded(error),
        freedom=round(freedom, 1),
        low=rounded(difference - reach),
        high=rounded(difference + reach),
        above=round(probability(difference, error, freedom), 4),
        apart=bool(found.better[one, other] or found.better[other, one]),
    )


@overload
def rounded(value: float) -> float: ...
@overload
def rounded(value: None) -> None: ...
@overload
def rounded(value: float | None) -> float | None: ...
def rounded(value: float | None) -> float | None:
    """To `DIGITS`."""
    return None if value is None else round(value, DIGITS) + 0.0  # never -0.0


@overload
def in_elo(logits: float) -> float: ...
@overload
def in_elo(logits: None) -> None: ...
def in_elo(logits: float | None) -> float | None:
    """Points, to `ELO_DIGITS`."""
    return None if logits is None else round(ELO * logits, ELO_DIGITS) + 0.0
