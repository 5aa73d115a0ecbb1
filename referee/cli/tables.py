"""The standings as tables for a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from referee.ratings import Row, Standings
from referee.ratings import Table as Standing
from referee.site import view


def standings_tables(standings: Standings) -> list[Table]:
    """One table for each number of players, for a rich Console of any width; no name is read as markup.

    Where two bots share a name, the beginning of the hash tells them apart.
    """
    return [_table(table) for table in standings.tables]


def _table(standing: Standing) -> Table:
    table = Table(
        title=Text.assemble((f"{standing.players} players", "bold"), f": {view.counts(standing)}"),
        title_justify="left",
        title_style="",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("#", justify="right")
    table.add_column("bot", overflow="fold")
    for head in ("score", "±", "rating", "games", "wins"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column(f"places 1 to {standing.players}", justify="right")
    table.add_column("faults", justify="right")
    names = [view.name(row.bot) for row in standing.rows]
    for row in standing.rows:
        table.add_row(*_cells(row, shared=names.count(view.name(row.bot)) > 1))
    return table


def _cells(row: Row, *, shared: bool) -> tuple[Text, ...]:
    name = Text(view.name(row.bot))
    texts = (
        view.score(row),
        view.score_error(row).removeprefix("± "),
        view.rating(row),
        str(row.games),
        str(row.wins),
        " ".join(map(str, row.places)),
    )
    return (
        Text("–" if row.rank is None else str(row.rank)),
        Text.assemble(name, (f" {view.short(row.bot.hash)}", "dim")) if shared else name,
        *map(Text, texts),
        Text(str(row.faults), style="red" if row.faults else ""),
    )
