"""`referee standings`: the table of a database."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from referee.cli.options.common import Command, Players, reads_db, with_options
from referee.cli.options.league import all_versions_option
from referee.cli.options.selection import selection_options
from referee.cli.streams import echo_line
from referee.contest.publishing import about
from referee.contest.season import Season, current_results, held_bots, isolation_notes
from referee.contest.selection import Spans, select
from referee.contest.stop_notes import stop_notes
from referee.ratings.standings import Standings, rate
from referee.site.about import About
from referee.site.ordering import ORDERS, ordered
from referee.store import open_store

_EXAMPLES = """\b
Examples:
  referee standings
  referee standings --players 2,4 --by-seat
  referee standings --include 'mine-*,greedy' --rounds 2-3
  referee standings league.db --csv > table.csv
"""


_SHOWN = (
    click.option("--players", type=Players(), metavar="N[,N…]", help="Only tables of so many players."),
    click.option(
        "--sort", type=click.Choice(ORDERS), default="score", show_default=True, help="What rows are sorted by."
    ),
    click.option("--by-seat", is_flag=True, help="Show every bot's score in every seat too."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document, as it is published."),
    click.option("--csv", "as_csv", is_flag=True, help="Print CSV, as it is published."),
)


def _shown_options(command: Command) -> Command:
    """What of the tables is shown, and how."""
    return with_options(command, _SHOWN)


@click.command(short_help="Show the table of a database.", epilog=_EXAMPLES)
@reads_db
@click.option("--season", type=click.IntRange(min=1), show_default="the last one", metavar="N", help="Which season.")
@_shown_options
@selection_options
@all_versions_option
def command(
    db: Path,
    season: int | None,
    players: tuple[int, ...] | None,
    sort: str,
    by_seat: bool,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    rounds: Spans | None,
    all_versions: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Rate the games of a database anew and show the standings; it may be in use.

    Of a bot that changed, only the games of its last version count, unless --all-versions. A bot's name may be followed
    by @ and the beginning of its hash.
    """
    if as_json and as_csv:
        raise click.UsageError("--json or --csv, not both")
    with open_store(db) as store:
        chosen = Season(store, season)
        part = select(store, chosen, include=include, exclude=exclude, rounds=rounds, all_versions=all_versions)
        results = current_results(store, chosen, all_versions=all_versions, bots=part.bots, rounds=part.rounds)
        rated = rate(one for one in results if players is None or len(one.seats) in players)
        standings = Standings(tables=tuple(ordered(one, sort) for one in rated.tables))
        notes = (*part.notes, *stop_notes(chosen.rounds, store), *isolation_notes(store, chosen))
        words = about(store, chosen, notes, held_bots(store, chosen, standings)).cleaned()
    if as_json:
        from referee.site import data

        click.echo(data.render(standings, words), nl=False)
    elif as_csv:
        from referee.site import sheet

        for note in words.notes:
            click.echo(note, err=True)
        click.echo(sheet.render(standings, words), nl=False)
    elif not standings.tables:
        _say_nothing(db, chosen, words, players)
    else:
        _show(standings, words, by_seat=by_seat)


def _say_nothing(db: Path, season: Season, words: About, players: tuple[int, ...] | None) -> None:
    """Say that nothing can be shown, and what may be the reason."""
    from referee.site import view

    size = f" with {' or '.join(map(str, players))} players" if players else ""
    click.echo("".join(f"{note}\n" for note in words.notes), nl=False)
    echo_line(f"there are no rated games{size} of season {season.number} in {db}")
    for left_out in words.withdrawn:
        click.echo(view.withdrawn(left_out))
    if not words.withdrawn and season.rounds:
        click.echo("a deal is rated when it was played in all of its rotations, between bots as they are now")


def _show(standings: Standings, words: About, *, by_seat: bool) -> None:
    from referee.cli.output import tables
    from referee.cli.output.bars import charset_of
    from referee.site import view

    charset = charset_of(sys.stdout)
    console = tables.output()
    for note in words.notes:
        console.print(note, markup=False)
    shown = tables.standings_tables(standings, charset)
    if by_seat:
        seats = tables.seat_tables(standings, charset)
        shown = [one for both in zip(shown, seats, strict=True) for one in both]
    for one in (*shown, tables.legend(charset)):
        console.print(one)
    for left_out in words.withdrawn:
        console.print(charset.words(view.withdrawn(left_out)), markup=False)
    for held in words.held:
        console.print(charset.words(view.held(held)), markup=False)
