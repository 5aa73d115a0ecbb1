"""The standings as CSV: every table in one, told apart by the column `players`."""

from __future__ import annotations

import csv
import io

from referee.ratings import Row, Standings
from referee.record import Bot
from referee.rules import MAX_PLAYERS
from referee.site import view
from referee.site.about import About
from referee.site.text import cell, plain

SEAT_COLUMNS = tuple(f"seat_{seat}{end}" for seat in range(MAX_PLAYERS) for end in ("", "_low", "_high"))
COLUMNS = (
    *("players", "rank", "name", "hash", "language", "author", "score", "score_low", "score_high", "score_error"),
    *("rank_low", "rank_high", "groups", "component", "elo", "elo_low", "elo_high"),
    *("rating", "mu", "sigma", "games", "unrated", "deals", "wins"),
    *(f"place_{place}" for place in range(1, MAX_PLAYERS + 1)),
    *("faults", *SEAT_COLUMNS),
)

Cell = str | int | float | None


def render(standings: Standings, about: About) -> str:
    """The sheet, its lines ended by LF; a number that is not there is an empty cell. `about` is cleaned."""
    sheet = io.StringIO()
    writer = csv.DictWriter(sheet, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for table in standings.tables:
        writer.writerows({"players": table.players, **_cells(row, about)} for row in table.rows)
    return sheet.getvalue()


def _names(bot: Bot, about: About) -> dict[str, Cell]:
    label = about.label(bot)
    texts = (cell(text) for text in (view.name(bot), plain(bot.hash), label.language, label.author))
    return dict(zip(("name", "hash", "language", "author"), texts, strict=True))


def _cells(row: Row, about: About) -> dict[str, Cell]:
    found = {**_names(row.bot, about), **_numbers(row)}
    if row.strength:
        found |= {name: getattr(row.strength, name) for name in _OF_STRENGTH}
        found["groups"] = " ".join(row.strength.groups)
    for seat, one in enumerate(row.seats):
        found |= {f"seat_{seat}": one.score, f"seat_{seat}_low": one.score_low, f"seat_{seat}_high": one.score_high}
    return found


def _numbers(row: Row) -> dict[str, Cell]:
    places = {f"place_{place}": count for place, count in enumerate(row.places, 1)}
    return {**{name: getattr(row, name) for name in _OF_ROW}, **places}


_OF_STRENGTH = ("rank_low", "rank_high", "component", "elo", "elo_low", "elo_high")
_OF_ROW = (
    *("rank", "score", "score_low", "score_high", "score_error", "rating", "mu", "sigma"),
    *("games", "unrated", "deals", "wins", "faults"),
)
