"""`referee db migrate`: bringing a database of an older referee up to date."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.options import reads_db
from referee.store import VERSIONS, migrate_store


@click.command(short_help="Bring a database of an older referee up to date.")
@reads_db
def migrate(db: Path) -> None:
    """Bring a database up to date, keeping a copy of it as it was; `referee tournament` does so too.

    A database that is up to date is left as it is.
    """
    kept = migrate_store(db)
    if kept is None:
        click.echo(f"{db} is up to date: store version {VERSIONS['store']}")
    else:
        click.echo(f"as it was it is kept in {kept}", err=True)
        click.echo(f"{db} was brought up to date: store version {VERSIONS['store']}")
