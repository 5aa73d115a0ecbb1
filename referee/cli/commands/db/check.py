"""`referee db check`: whether everything in a database is as it should be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click

from referee.cli.commands.db.telling import Progress
from referee.cli.options.common import reads_db
from referee.cli.streams import echo_line
from referee.errors import DatabaseError
from referee.site.text import plain
from referee.store import Store, open_store
from referee.units import many, thousands

_SHOWN = 20
"""Findings that are told of, one line each."""


@click.command(short_help="Find out whether a database is as it should be.")
@reads_db
@click.option("--quick", is_flag=True, help="Do not play the games again by the rules: half the time or less.")
@click.pass_context
def check(ctx: click.Context, db: Path, quick: bool) -> None:
    """Check the file, its rounds, and every game; the database may be in use.

    Each round's commitment is that of its secret and manifest. Each game is one of its round, has the id, the deck
    and the seeds that the secret gives it, and ends, played again by the rules, as its record says. A closed round
    has all games that it had when it was closed. Exit code 1 where something is not so.
    """
    found = games = 0
    with open_store(db) as store, Progress(quiet=bool(ctx.obj and ctx.obj.quiet)) as progress:
        for looked_at, findings in _look(store, progress, quick=quick):
            games += looked_at
            for finding in findings:
                found += 1
                if found <= _SHOWN:
                    click.echo(plain(finding, limit=600))
    if found:
        more = f", of which {_SHOWN} are shown" if found > _SHOWN else ""
        echo_line(f"{db}: {found} findings{more}" if found > 1 else f"{db}: 1 finding")
        ctx.exit(1)
    echo_line(f"{db}: all is as it should be; {thousands(games, 'game')}{'' if quick else ', each played again'}")


def _look(store: Store, progress: Progress, *, quick: bool) -> Iterator[tuple[int, tuple[str, ...]]]:
    """How many games were looked at, and what was found; what cannot be read at all is a finding too."""
    for part in (_look_at_file(store), _look_at_games(store, progress, quick=quick)):
        try:
            yield from part
        except DatabaseError as error:
            yield 0, (str(error),)


def _look_at_file(store: Store) -> Iterator[tuple[int, tuple[str, ...]]]:
    for finding in chain(store.damage(), store.unreadable()):
        yield 0, (finding,)


def _look_at_games(store: Store, progress: Progress, *, quick: bool) -> Iterator[tuple[int, tuple[str, ...]]]:
    from referee.tournament.audit.due import Depth
    from referee.tournament.audit.verifying import check_rounds, gone, verify
    from referee.tournament.progress.owed import stops_by_itself

    depth = Depth.WITHOUT_REPLAYS if quick else Depth.WITH_REPLAYS
    stored = store.rounds()
    counts = store.round_counts()
    for number in counts.keys() - {one.number for one in stored}:
        yield 0, (f"round {number} was never opened, and has {many(counts[number].games, 'game')}",)
    for one, findings in check_rounds(stored):
        yield 0, tuple(findings)
        if one is None:
            continue
        done, count, all_due = 0, counts[one.number].games, True
        for looked in verify(one, store.games(one.number), depth=depth, count=count):
            done += looked.games
            all_due &= not looked.findings
            progress.tell(f"round {one.number} is checked", done, count)
            yield looked
        if one.closed and all_due and (lost := gone(one, store)) > 0:
            # One that stops by itself stops elsewhere without them, so that their number is not known.
            games = "games" if stops_by_itself(one) else many(lost, "game")
            yield 0, (f"round {one.number} lacks {games} that it had when it was closed",)
