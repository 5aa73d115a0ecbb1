"""`referee db backup`: a copy of a database, while others play on it."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.commands.db.telling import Progress
from referee.cli.options.common import db_option, force_option, one_db
from referee.cli.streams import echo_line
from referee.store import open_store
from referee.units import thousands


@click.command(short_help="Copy a database while it is in use.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, readable=False), metavar="[DB] FILE")
@db_option
@force_option
@click.pass_context
def backup(ctx: click.Context, files: tuple[Path, ...], db: Path, force: bool) -> None:
    """Copy the database DB to FILE, whole or not at all.

    A tournament that plays on it goes on; the copy is of the moment at which the command was given. It holds the
    secrets of open rounds, and only you may read it.
    """
    if len(files) > 2:
        raise click.UsageError("one database and one file: [DB] FILE")
    source = one_db(files[0] if len(files) == 2 else None, db)
    target = files[-1]
    with open_store(source) as store, Progress(quiet=bool(ctx.obj and ctx.obj.quiet), unit="pages") as progress:
        games = store.counts().games
        store.back_up(target, force=force, progress=lambda done, total: progress.tell("copied", done, total))
    echo_line(f"{target}: {thousands(games, 'game')}")
