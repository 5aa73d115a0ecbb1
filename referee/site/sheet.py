"""The standings as CSV: every table in one, told apart by the column `players`."""

from __future__ import annotations

import csv
import io

from referee.ratings import Row, Standings
from referee.rules import MAX_PLAYERS
from referee.site import view
from referee.site.about import About
from referee.site.text import cell, plain

COLUMNS = (
    *("players", "rank", "name", "hash", "language", "author", "score", "score_error", "rating", "mu", "sigma"),
    *("games", "unrated", "deals", "wins"),
    *(f"place_{place}" for place in range(1, MAX_PLAYERS + 1)),
    "faults",
)


def render(standings: Standings, about: About) -> str:
    """The sheet, its lines ended by LF; a number that is not there is an empty cell. `about` is cleaned."""
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(COLUMNS)
    for table in standings.tables:
        writer.writerows((table.players, *_cells(row, about)) for row in table.rows)
    return sheet.getvalue()


def _cells(row: Row, about: About) -> tuple[str | int | float | None, ...]:
    label = about.label(row.bot)
    places = (*row.places, *[None] * (MAX_PLAYERS - len(row.places)))
    texts = (cell(text) for text in (view.name(row.bot), plain(row.bot.hash), label.language, label.author))
    numbers = (row.score, row.score_error, row.rating, row.mu, row.sigma, row.games, row.unrated, row.deals, row.wins)
    return (row.rank, *texts, *numbers, *places, row.faults)
