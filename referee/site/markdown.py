"""The standings as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from referee.ratings import Row, Standings, Table
from referee.site import view
from referee.site.about import About
from referee.site.matrix import MatrixCell, matrix
from referee.site.text import markdown


def render(standings: Standings, about: About) -> str:
    """The page. `about` is cleaned; text of others is escaped here."""
    parts = [f"# {markdown(about.title)}", view.HOW_TO_READ, _guide()]
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


def _guide() -> str:
    return "\n".join([*(f"- **{name}**: {text}" for name, text in view.GUIDE), f"- {view.MORE_TO_READ}"])


def _section(table: Table, about: About) -> tuple[str, ...]:
    heads = ["#", "bot", "language", "author", "score", "95%", "ranks", "group", "strength", "TrueSkill", "mu", "sigma"]
    heads += ["games", "deals", "faults", "wins", *(view.ordinal(place) for place in range(1, table.players + 1))]
    numbers = [number for number, head in enumerate(heads) if head not in ("bot", "language", "author", "group")]
    rows = [_cells(row, table, about) for row in table.rows]
    seats = [f"seat {seat}" for seat in range(table.players)]
    by_seat = [(_name(row), *map(view.two_digits, row.seats)) for row in table.rows]
    return (
        *(f"## {table.players} players", view.summary(table), _grid(heads, rows, numbers=numbers)),
        *map(markdown, view.incomparable(table)),
        *_pairs(table),
        *("Scores by seat:", _grid(["bot", *seats], by_seat, numbers=range(1, table.players + 1))),
    )


def _name(row: Row) -> str:
    return f"{markdown(view.name(row.bot))} {markdown(view.short(row.bot.hash))}"


def _cells(row: Row, table: Table, about: About) -> tuple[str, ...]:
    label = about.label(row.bot)
    return (
        "" if row.rank is None else str(row.rank),
        _name(row),
        markdown(label.language),
        markdown(label.author),
        view.score(row),
        "" if row.score is None else view.interval(row.score_low, row.score_high),
        view.ranks(row),
        view.groups(row),
        view.strength(row, table),
        view.rating(row),
        f"{row.mu:.2f}",
        f"{row.sigma:.2f}",
        *map(str, (row.games, row.deals, row.faults, row.wins, *row.places)),
    )


def _pairs(table: Table) -> tuple[str, ...]:
    cells = matrix(table)
    if not cells:
        return ()
    heads = ["", *(str(number) for number, _ in enumerate(cells, 1))]
    rows = [(f"{number} {_name(table.rows[number - 1])}", *map(_pair, line)) for number, line in enumerate(cells, 1)]
    return view.HOW_PAIRS_READ, _grid(heads, rows, numbers=range(1, len(heads)))


def _pair(cell: MatrixCell | None) -> str:
    if cell is None:
        return ""
    text = markdown(cell.text)
    return f"**{text}**" if cell.apart else text


def _grid(heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int]) -> str:
    rule = ["---:" if number in numbers else "---" for number in range(len(heads))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, rule, *rows))
