"""`referee standings`: the table of a database."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from referee.cli.league_options import all_versions_option
from referee.cli.options import reads_db
from referee.cli.publishing import Season, about, held_bots, standings_of
from referee.store import open_store

WIDE = 200
"""Columns where there is no terminal to fit."""

_EXAMPLES = """\b
Examples:
  referee standings
  referee standings league.db --csv > table.csv
"""


@click.command(short_help="Show the table of a database.", epilog=_EXAMPLES)
@reads_db
@click.option("--season", type=click.IntRange(min=1), show_default="the last one", metavar="N", help="Which season.")
@all_versions_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, as it is published.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, as it is published.")
def command(db: Path, season: int | None, all_versions: bool, as_json: bool, as_csv: bool) -> None:
    """Rate the games of a database anew and show the standings; it may be in use.

    Of a bot that changed, only the games of its last version count, unless --all-versions.
    """
    if as_json and as_csv:
        raise click.UsageError("--json or --csv, not both")
    with open_store(db) as store:
        chosen = Season(store, season)
        standings = standings_of(store, chosen, all_versions=all_versions)
        words = about(store, chosen, held=held_bots(store, chosen, standings)).cleaned()
    if as_json:
        from referee.site import data

        click.echo(data.render(standings, words), nl=False)
    elif as_csv:
        from referee.site import sheet

        click.echo(sheet.render(standings, words), nl=False)
    elif not standings.tables:
        click.echo(f"there are no rated games of season {chosen.number} in {db}")
    else:
        from rich.console import Console

        from referee.cli.tables import standings_tables
        from referee.site import view

        console = Console(width=None if sys.stdout.isatty() or os.environ.get("COLUMNS") else WIDE)
        for table in standings_tables(standings):
            console.print(table)
        for one in words.held:
            click.echo(view.held(one))
