"""`referee db merge`: shares of rounds that were played on several machines, joined in one database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.commands.db.telling import Progress
from referee.cli.output.words import closed_in_words
from referee.cli.streams import echo_line
from referee.units import many, thousands

if TYPE_CHECKING:
    from referee.tournament.audit.merging import Joined, Merged

_PATH = click.Path(path_type=Path, readable=False)


@click.command(short_help="Join the games of several machines in one database.")
@click.argument("into", type=_PATH, metavar="INTO")
@click.argument("sources", nargs=-1, required=True, type=_PATH, metavar="FROM…")
@click.pass_context
def merge(ctx: click.Context, into: Path, sources: tuple[Path, ...]) -> None:
    """Bring the rounds and games of FROM… into the database INTO, which is made where it is missing.

    Nothing is written unless every game is one that its round owes, by the round's secret. A game that is there
    already stays as it is. A round that has all of its games then is closed. The same again changes nothing.
    """
    from referee.tournament.audit import merging

    quiet = bool(ctx.obj and ctx.obj.quiet)
    with Progress(quiet=quiet) as progress:
        done = merging.merge(into, sources, progress.tell)
    _say(done, into, quiet=quiet)


def _say(done: Merged, into: Path, *, quiet: bool) -> None:
    for one in done.joined:
        if not quiet or one.late or one.differing:
            click.echo(_in_words(one), err=True)
    for closed in done.closed:
        click.echo(closed_in_words(closed), err=True)
    for number, owed in done.owed.items():
        click.echo(f"round {number} is still open: it lacks {many(owed, 'game')}", err=True)
    echo_line(f"{into}: {_are(sum(one.added for one in done.joined), 'was', 'were')} added")


def _in_words(one: Joined) -> str:
    words = [f"{_are(one.added, 'is', 'are')} new"]
    if one.there:
        words.append(f"{one.there:,} were there already")
    if one.differing:
        words.append(f"{one.differing:,} of those went otherwise here, and the first stay")
    if one.late:
        words.append(f"{one.late:,} are left out, since the round is closed")
    return f"round {one.number} of {one.source}: {', '.join(words)}"


def _are(games: int, one: str, several: str) -> str:
    return f"{thousands(games, 'game')} {one if games == 1 else several}"
