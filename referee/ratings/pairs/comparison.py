"""Why one bot stands above another: head to head, against common opponents, by seat, by how games ended."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import msgspec
import numpy as np

from referee.ratings.data.columns import Flags
from referee.ratings.data.deals import deals_of
from referee.ratings.data.games import Games, collect
from referee.ratings.maths.intervals import probability
from referee.ratings.pairs.encounters import (
    OTHERS_FAULT,
    OWN_FAULT,
    Encounters,
    contribution,
    difference,
    encounters,
)
from referee.ratings.published import in_elo, rounded
from referee.ratings.strength.strength import Strengths, strengths
from referee.record import Bot, GameResult
from referee.rules import Ending

POWER = 0.8
"""How likely it is to be that so many deals settle a difference which is as it looks."""
_WORTH = 1.959964 + 0.841621
"""Quantiles of the normal distribution for both ends of 95% and for `POWER`."""
_ENDINGS = (*(one.value for one in Ending), OWN_FAULT, OTHERS_FAULT)


class ComparisonSide(msgspec.Struct, frozen=True, kw_only=True):
    """One bot in a part of its games: see `Row` for the fields' meaning."""

    games: int
    deals: int
    score: float | None
    score_low: float | None
    score_high: float | None


class ComparisonPart(msgspec.Struct, frozen=True, kw_only=True):
    """Both bots in a part of their games: `name` says which, `bot` is the opponent where it is about one.

    `difference` is the first score less the second with its 95% interval, None where one has no game, its ends None
    with too little data. `adds`, with its interval, is how much this part adds to the difference of the whole scores.
    """

    name: str
    bot: Bot | None
    first: ComparisonSide
    second: ComparisonSide
    difference: float | None
    low: float | None
    high: float | None
    adds: float
    adds_low: float | None
    adds_high: float | None


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """The strength of the first less that of the second: see `ScorePair`; `elo` is in points.

    `settled`: 0 is outside of the interval for this pair alone. Where it is not, `deals_needed` are those that the
    whole table would need in place of those it has, shared out as these, to settle it with probability `POWER`, if the
    difference is as it looks; None where that is 0.
    """

    difference: float
    error: float
    freedom: float
    low: float
    high: float
    elo: float
    elo_low: float
    elo_high: float
    above: float
    apart: bool
    settled: bool
    deals_needed: int | None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two bots at tables of `players`, of which there were `deals` between `line_ups`.

    `whole` has their scores in all games; `comparable` says whether they met, directly or through others; `gap` is None
    where they did not or where there is too little data. `opponents` begin with each other, if they met; those that
    only one of them met come together at the end. The parts of `opponents`, of `seats` and of `endings` each add up to
    `whole`.
    """

    players: int
    deals: int
    line_ups: int
    first: Bot
    second: Bot
    whole: ComparisonPart
    comparable: bool
    gap: Gap | None
    opponents: tuple[ComparisonPart, ...]
    seats: tuple[ComparisonPart, ...]
    endings: tuple[ComparisonPart, ...]


EACH_OTHER = "each other"
OTHERS = "all others"


def compare(results: Iterable[GameResult], first: Bot, second: Bot) -> tuple[Comparison, ...]:
    """By number of players, at all tables where both have a rated game. `results` come in any order, each game once."""
    own: defaultdict[int, list[GameResult]] = defaultdict(list)

    def watched() -> Iterator[GameResult]:
        for result in results:
            if (first in result.seats or second in result.seats) and _rated(result):
                own[len(result.seats)].append(result)
            yield result

    found = []
    for games in collect(watched()):
        mine = sorted(own[games.players], key=lambda one: (one.line_up, one.deal, one.rotation))
        if all(any(bot in one.seats for one in mine) for bot in (first, second)):
            found.append(_compared(games, mine, first, second))
    return tuple(found)


def _rated(result: GameResult) -> bool:
    return len(result.forfeited) < len(result.seats) == len(set(result.seats))


def _compared(games: Games, mine: list[GameResult], first: Bot, second: Bot) -> Comparison:
    deals = deals_of(games)
    index = {bot: number for number, bot in enumerate(games.bots)}
    one, other = index[first], index[second]
    found = strengths(deals, len(games.bots))
    numbers = {key: number for number, key in enumerate(dict.fromkeys((each.line_up, each.deal) for each in mine))}
    sides = _Sides(*(encounters(bot, mine, numbers, index, _ENDINGS) for bot in (first, second)))
    return Comparison(
        players=games.players,
        deals=len(deals.line_up),
        line_ups=len(np.unique(deals.line_up)),
        first=first,
        second=second,
        whole=sides.part("all", None, lambda who: who.game >= 0),
        comparable=bool(found.component[one] == found.component[other]),
        gap=_gap(found, one, other, len(deals.line_up)),
        opponents=tuple(_opponents(sides, games.bots, one, other)),
        seats=tuple(sides.part(f"seat {seat}", None, _is("seat", seat)) for seat in range(games.players)),
        endings=tuple(
            sides.part(name, None, _is("ending", number))
            for number, name in enumerate(_ENDINGS)
            if any((who.ending == number).any() for who in sides.both)
        ),
    )


class _Sides:
    """Both bots' encounters."""

    def __init__(self, first: Encounters, second: Encounters) -> None:
        self.both = first, second
        self._totals = [who.by_deal(who.game >= 0)[1] for who in self.both]

    def part(self, name: str, bot: Bot | None, choose: Callable[[Encounters], Flags]) -> ComparisonPart:
        """Those encounters of either that are chosen."""
        chosen = [choose(who) for who in self.both]
        first, second = (who.by_deal(flags) for who, flags in zip(self.both, chosen, strict=True))
        apart = difference(first, second)
        adds = contribution(first, second, (self._totals[0], self._totals[1]))
        of_first, of_second = (_side(who, flags) for who, flags in zip(self.both, chosen, strict=True))
        value, low, high = apart or (None, None, None)
        return ComparisonPart(
            name=name,
            bot=bot,
            first=of_first,
            second=of_second,
            difference=rounded(value),
            low=rounded(low),
            high=rounded(high),
            adds=rounded(adds.value),
            adds_low=rounded(adds.low),
            adds_high=rounded(adds.high),
        )


def _side(who: Encounters, chosen: Flags) -> ComparisonSide:
    mean = who.mean(chosen)
    low, high = mean.interval() or (None, None)
    return ComparisonSide(
        games=who.games(chosen),
        deals=mean.deals,
        score=rounded(mean.score()),
        score_low=rounded(low),
        score_high=rounded(high),
    )


def _is(field: str, number: int) -> Callable[[Encounters], Flags]:
    def choose(who: Encounters) -> Flags:
        flags: Flags = getattr(who, field) == number
        return flags

    return choose


def _opponents(sides: _Sides, bots: tuple[Bot, ...], one: int, other: int) -> Iterator[ComparisonPart]:
    met = [set(np.unique(who.opponent).tolist()) for who in sides.both]
    if other in met[0]:
        yield sides.part(EACH_OTHER, None, lambda who: np.isin(who.opponent, (one, other)))
    for number in sorted(met[0] & met[1]):
        yield sides.part(bots[number].name, bots[number], _is("opponent", number))
    rest = sorted((met[0] ^ met[1]) - {one, other})
    if rest:
        yield sides.part(OTHERS, None, lambda who: np.isin(who.opponent, rest))


def deals_needed(deals: int, value: float, error: float) -> int:
    """How many deals settle a difference of `value` with probability `POWER`, if `deals` of the kind have this `error`.

    Errors shrink with the root of the number of deals, and have to come to `value` over the sum of both quantiles.
    """
    return math.ceil(deals * (_WORTH * error / value) ** 2)


def _gap(found: Strengths, one: int, other: int, deals: int) -> Gap | None:
    error = float(found.error[one, other])
    if not math.isfinite(error):
        return None
    value = float(found.logits[one] - found.logits[other])
    freedom, reach = float(found.freedom[one, other]), float(found.difference_reach[one, other])
    settled = abs(value) > reach
    needed = None if settled or abs(value) < 1e-9 else max(deals_needed(deals, value, error), deals + 1)
    low, high = value - reach, value + reach
    return Gap(
        difference=rounded(value),
        error=rounded(error),
        freedom=round(freedom, 1),
        low=rounded(low),
        high=rounded(high),
        elo=in_elo(value),
        elo_low=in_elo(low),
        elo_high=in_elo(high),
        above=round(probability(value, error, freedom), 4),
        apart=bool(found.better[one, other] or found.better[other, one]),
        settled=settled,
        deals_needed=needed,
    )
