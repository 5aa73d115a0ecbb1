"""The standings: one table for each number of players, as values that are published as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

import msgspec

from referee.ratings.games import Games, collect
from referee.ratings.scores import Tally, draw_probability, tally
from referee.ratings.skill import Skill, skills
from referee.record import Bot, Result

DIGITS = 6
"""Decimals kept of every published number: fewer than two machines' mathematical libraries agree on."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One bot at one table size.

    `rank` counts from 1 by `score`, equal scores sharing the better rank; None without a rated game.
    `games`, `deals`, `wins` (first place alone) and `places` (how often 1st, 2nd, …) count rated games only.
    `unrated` are its games that are kept but not rated, `faults` those, rated or not, in which it was at fault.
    `score` is opponents beaten and half of those tied over opponents met, 0 to 1, None without a rated game;
    `score_error` its standard error with deals as the independent units, None with fewer than two deals.
    `mu` and `sigma` are TrueSkill's, `rating` is mu - 3 sigma.
    """

    rank: int | None
    bot: Bot
    games: int
    unrated: int
    deals: int
    score: float | None
    score_error: float | None
    mu: float
    sigma: float
    rating: float
    wins: int
    places: tuple[int, ...]
    faults: int


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """All that played with `players` seats, best first.

    `games` are all, `unrated` those of them that rate nobody: every seat was at fault, or one bot held two seats.
    `deals` counts line-up and deal, whose rotations are one deal. `draw_probability` is TrueSkill's.
    """

    players: int
    games: int
    unrated: int
    deals: int
    draw_probability: float
    rows: tuple[Row, ...]


class Standings(msgspec.Struct, frozen=True, kw_only=True):
    """The tables, by number of players."""

    tables: tuple[Table, ...]


def rate(results: Iterable[Result]) -> Standings:
    """The standings of a set of games, each given once, in any order: equal sets give equal standings.

    Time grows with the number of games, memory by some 20 bytes a game, and for TrueSkill by what different games (see
    `patterns`) need: some 100 bytes each with two players, a few thousand with six where ties are many.
    """
    return Standings(tables=tuple(_table(games) for games in collect(results)))


def _table(games: Games) -> Table:
    deals = played = rated = 0
    for deal in games.deals():
        deals += 1
        played += len(deal)
        rated += sum(game.rated for game in deal)
    probability = draw_probability(games)
    return Table(
        players=games.players,
        games=played,
        unrated=played - rated,
        deals=deals,
        draw_probability=round(probability, 9),
        rows=_rows(games.bots, tally(games), skills(games, probability)),
    )


def _rows(bots: tuple[Bot, ...], tallies: list[Tally], beliefs: list[Skill]) -> tuple[Row, ...]:
    rows = [_row(*entry) for entry in zip(bots, tallies, beliefs, strict=True)]
    rows.sort(key=lambda row: (row.score is None, -(row.score or 0), -row.rating, row.bot))
    scores = [row.score for row in rows]
    return tuple(
        row if row.score is None else msgspec.structs.replace(row, rank=1 + scores.index(row.score)) for row in rows
    )


def _row(bot: Bot, counts: Tally, skill: Skill) -> Row:
    return Row(
        rank=None,
        bot=bot,
        games=counts.games,
        unrated=counts.unrated,
        deals=counts.deals,
        score=_rounded(counts.score()),
        score_error=_rounded(counts.score_error()),
        mu=_rounded(skill.mu),
        sigma=_rounded(skill.sigma),
        rating=_rounded(skill.mu - 3 * skill.sigma),
        wins=counts.wins,
        places=tuple(counts.places),
        faults=counts.faults,
    )


@overload
def _rounded(value: float) -> float: ...
@overload
def _rounded(value: None) -> None: ...
def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS) + 0.0  # never -0.0
