"""`referee db info`: what a database holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.options.common import reads_db
from referee.cli.output.words import in_json
from referee.cli.streams import echo_line
from referee.site.text import plain
from referee.store import open_store
from referee.units import many

if TYPE_CHECKING:
    from rich.table import Table

    from referee.tournament.audit.survey import RoundSurvey, Survey


@click.command(short_help="Show what a database holds.")
@reads_db
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def info(db: Path, as_json: bool) -> None:
    """Show the rounds of a database, how far they are, and its bots; it may be in use.

    The secret of a round that is open is not shown.
    """
    from referee.tournament.audit.survey import survey

    with open_store(db) as store:
        found = survey(store)
    if as_json:
        import msgspec

        click.echo(in_json(msgspec.to_builtins(found), indent=2))
    else:
        _print(found)


def _print(found: Survey) -> None:
    from referee.cli.output.tables import output

    versions = ", ".join(f"{part} {number}" for part, number in found.versions.items())
    log = f" and {_bytes(found.log_size)} of log" if found.log_size else ""
    echo_line(f"{found.path}: {_bytes(found.size)}{log}; versions: {versions}")
    click.echo(
        ", ".join(
            (
                many(found.seasons, "season"),
                many(len(found.rounds), "round"),
                many(found.line_ups, "line-up"),
                many(found.games, "game"),
            )
        )
    )
    console = output()
    if found.rounds:
        console.print(_rounds(found))
        for one in found.rounds:
            click.echo(_seal(one))
    if found.bots:
        console.print(_bots(found))


def _rounds(found: Survey) -> Table:
    heads = ("round", "season", "opened", "closed", "bots", "games", "played", "owed", "faults", "withdrawn")
    table = _table("rounds", *heads)
    for one in found.rounds:
        counts = (one.bots, one.games, one.played, one.owed, one.faults)
        withdrawn = ", ".join(plain(bot.name, limit=40) for bot in one.withdrawn)
        times = (one.opened or "–", one.closed or "open")
        table.add_row(str(one.round), str(one.season), *times, *(f"{count:,}" for count in counts), _text(withdrawn))
    return table


def _seal(one: RoundSurvey) -> str:
    secret = f"its secret was {one.secret}" if one.secret else "its secret is shown when it is closed"
    seal = "" if one.sealed else ", not sealed"
    return f"round {one.round}{seal}: its commitment is {one.commitment}; {secret}"


def _bots(found: Survey) -> Table:
    table = _table("bots", "bot", "hash", "version", "language", "author")
    for bot in found.bots:
        version = "current" if bot.current else "older"
        table.add_row(*map(_text, (bot.name, bot.hash[:8], version, bot.language, bot.author)))
    return table


def _table(title: str, *heads: str) -> Table:
    from rich import box
    from rich.table import Table

    return Table(*heads, title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)


def _text(text: str) -> str:
    from rich.markup import escape

    return escape(plain(text, limit=80))


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"
