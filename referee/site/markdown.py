"""The standings as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from referee.ratings import Row, Standings, Table
from referee.site import view
from referee.site.about import About
from referee.site.text import markdown


def render(standings: Standings, about: About) -> str:
    """The page. `about` is cleaned; text of others is escaped here."""
    parts = [f"# {markdown(about.title)}", view.HOW_TO_READ, view.CAUTION]
    parts += [part for table in standings.tables for part in _section(table, about)]
    if not standings.tables:
        parts.append("No rated games yet.")
    if notes := view.notes(about):
        parts += ["## Notes", "\n".join(f"- {markdown(note)}" for note in notes)]
    if view.rounds(about):
        parts += [f"## Rounds of season {about.season}", view.HOW_ROUNDS_ARE_SEALED, _rounds(about)]
    rows = [(markdown(name), markdown(text)) for name, text in view.settings(about)]
    parts += ["## Settings", _grid(("setting", "value"), rows, numbers=())]
    return "\n\n".join(parts) + "\n"


def _rounds(about: About) -> str:
    rows = [
        (str(one.number), view.games(one), one.commitment, markdown(view.secret(one)), markdown(one.file))
        for one in view.rounds(about)
    ]
    return _grid(("round", "games", "commitment", "secret", "manifest"), rows, numbers=(0, 1))


def _section(table: Table, about: About) -> tuple[str, ...]:
    heads = ["#", "bot", "language", "author", "score", "±", "rating", "mu", "sigma", "games", "wins"]
    heads += [view.ordinal(place) for place in range(1, table.players + 1)] + ["faults"]
    numbers = [number for number in range(len(heads)) if number not in (1, 2, 3)]
    rows = [_cells(row, about) for row in table.rows]
    return f"## {table.players} players", view.summary(table), _grid(heads, rows, numbers=numbers)


def _cells(row: Row, about: About) -> tuple[str, ...]:
    label = about.label(row.bot)
    return (
        "" if row.rank is None else str(row.rank),
        f"{markdown(view.name(row.bot))} {markdown(view.short(row.bot.hash))}",
        markdown(label.language),
        markdown(label.author),
        view.score(row),
        view.score_error(row).removeprefix("± "),
        view.rating(row),
        f"{row.mu:.2f}",
        f"{row.sigma:.2f}",
        str(row.games),
        str(row.wins),
        *map(str, row.places),
        str(row.faults),
    )


def _grid(heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int]) -> str:
    rule = ["---:" if number in numbers else "---" for number in range(len(heads))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, rule, *rows))
