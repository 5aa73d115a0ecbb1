"""The standings: one table for each number of players, as values that are published as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from referee.ratings.data.games import Games, collect
from referee.ratings.published import ScorePair, SeatScore, Strength, pair_values, rounded, seat_scores, strength_values
from referee.ratings.scores.scores import draw_probability
from referee.ratings.trueskill.skill import Skill, skills
from referee.record import Bot, GameResult

if TYPE_CHECKING:
    from referee.ratings.scores.tallies import BotTally


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One bot at one table size.

    `rank` counts from 1 by `score`, equal scores sharing the better rank; None without a rated game.
    `games`, `deals`, `wins` (first place alone) and `places` (how often 1st, 2nd, …) count rated games only.
    `unrated` are its games that are kept but not rated, `faults` those, rated or not, in which it was at fault.
    `score` is opponents beaten and half of those tied over opponents met, 0 to 1, None without a rated game;
    `score_error` its standard error with deals as the independent units, `score_freedom` the degrees of freedom of that
    and `score_low` to `score_high` its 95% interval, all None with fewer than two deals: too little data.
    `seats` are the scores by seat, `strength` is None without a rated game.
    `mu` and `sigma` are TrueSkill's, `rating` is mu - 3 sigma.
    """

    rank: int | None
    bot: Bot
    games: int
    unrated: int
    deals: int
    score: float | None
    score_error: float | None
    score_freedom: float | None
    score_low: float | None
    score_high: float | None
    seats: tuple[SeatScore, ...]
    strength: Strength | None
    mu: float
    sigma: float
    rating: float
    wins: int
    places: tuple[int, ...]
    faults: int


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """All that played with `players` seats, best first.

    `games` are all, `unrated` those of them that rate nobody: every seat was at fault, or one bot held two seats.
    `deals` counts line-up and deal, whose rotations are one deal. `draw_probability` is TrueSkill's. `pairs` are all
    that can be compared and have enough data for it, in the order of their rows.
    """

    players: int
    games: int
    unrated: int
    deals: int
    draw_probability: float
    rows: tuple[Row, ...]
    pairs: tuple[ScorePair, ...]


class Standings(msgspec.Struct, frozen=True, kw_only=True):
    """The tables, by number of players."""

    tables: tuple[Table, ...]


def rate(results: Iterable[GameResult]) -> Standings:
    """The standings of a set of games, each given once, in any order: equal sets give equal standings.

    Time grows with the number of games, memory by some 20 bytes a game, and for TrueSkill by what different games (see
    `patterns`) need: some 60 bytes each with two players and 240 with six.
    """
    return Standings(tables=tuple(_table(games) for games in collect(results)))


def _table(games: Games) -> Table:
    # Slow to import, and not needed where standings are only shown.
    from referee.ratings.data.deals import deals_of
    from referee.ratings.scores.tallies import tally
    from referee.ratings.strength.strength import strengths

    tallied = tally(games)
    found = strengths(deals_of(games), len(games.bots))
    probability = draw_probability(games)
    rows = _rows(games.bots, tallied.bots, strength_values(found), skills(games, probability))
    numbers = {bot: number for number, bot in enumerate(games.bots)}
    return Table(
        players=games.players,
        games=tallied.games,
        unrated=tallied.unrated,
        deals=tallied.deals,
        draw_probability=round(probability, 9),
        rows=rows,
        pairs=pair_values(found, [numbers[row.bot] for row in rows]),
    )


def _rows(
    bots: tuple[Bot, ...], tallies: tuple[BotTally, ...], strengths: list[Strength | None], beliefs: list[Skill]
) -> tuple[Row, ...]:
    rows = [_row(*entry) for entry in zip(bots, tallies, strengths, beliefs, strict=True)]
    rows.sort(key=lambda row: (row.score is None, -(row.score or 0), -row.rating, row.bot))
    scores = [row.score for row in rows]
    return tuple(
        row if row.score is None else msgspec.structs.replace(row, rank=1 + scores.index(row.score)) for row in rows
    )


def _row(bot: Bot, counts: BotTally, strength: Strength | None, skill: Skill) -> Row:
    low, high = counts.score.interval() or (None, None)
    return Row(
        rank=None,
        bot=bot,
        games=counts.score.games,
        unrated=counts.unrated,
        deals=counts.score.deals,
        score=rounded(counts.score.score()),
        score_error=rounded(counts.score.error()),
        score_freedom=rounded(counts.score.freedom()),
        score_low=rounded(low),
        score_high=rounded(high),
        seats=seat_scores(counts.seats),
        strength=strength,
        mu=rounded(skill.mu),
        sigma=rounded(skill.sigma),
        rating=rounded(skill.mu - 3 * skill.sigma),
        wins=counts.wins,
        places=counts.places,
        faults=counts.faults,
    )
