"""`referee standings`: the table of a database."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli.league_options import all_versions_option
from referee.cli.options import Command, Players, reads_db, with_options
from referee.cli.publishing import Season, about, current_results, held_bots, isolation_notes
from referee.cli.selection import Spans, select, selection_options
from referee.cli.stops import stop_notes
from referee.ratings.standings import Standings, rate
from referee.rules import MAX_PLAYERS, MIN_PLAYERS
from referee.site.about import About
from referee.site.ordering import ORDERS, ordered
from referee.site.pooled import Pool, pooled
from referee.store import open_store

if TYPE_CHECKING:
    WeightsType = click.ParamType[dict[int, float]]
else:  # click before 8.4 has no parameters here
    WeightsType = click.ParamType

_EXAMPLES = """\b
Examples:
  referee standings
  referee standings --players 2,4 --by-seat
  referee standings --include 'mine-*,greedy' --rounds 2-3
  referee standings --pooled 2=1,4=1
  referee standings league.db --csv > table.csv
"""


class Weights(WeightsType):
    """Weights of table sizes such as `2=1,4=0.5`."""

    name = "weights"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[int, float]:
        """By number of players; what a weight may be is told where it is used."""
        if isinstance(value, dict):
            return value
        found: dict[int, float] = {}
        for part in str(value).split(","):
            players, _, weight = (word.strip() for word in part.partition("="))
            if players not in map(str, range(MIN_PLAYERS, MAX_PLAYERS + 1)):
                self.fail(f"{part.strip()!r} is no weight: write players=weight, such as 2=1,4=0.5", param, ctx)
            if int(players) in found:
                self.fail(f"{value!r} weighs the tables of {players} twice", param, ctx)
            try:
                found[int(players)] = float(weight)
            except ValueError:
                self.fail(f"{weight!r} is no number: write players=weight, such as 2=1,4=0.5", param, ctx)
        return found


_SHOWN = (
    click.option("--players", type=Players(), metavar="N[,N…]", help="Only tables of so many players."),
    click.option(
        "--sort", type=click.Choice(ORDERS), default="score", show_default=True, help="What rows are sorted by."
    ),
    click.option("--by-seat", is_flag=True, help="Show every bot's score in every seat too."),
    click.option(
        "--pooled",
        "weights",
        type=Weights(),
        metavar="N=WEIGHT[,…]",
        help="Show a mean of the scores at several numbers of players too, with these weights.",
    ),
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
    weights: dict[int, float] | None,
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
        sizes = {*players, *(weights or ())} if players else None
        results = current_results(store, chosen, all_versions=all_versions, bots=part.bots, rounds=part.rounds)
        everything = rate(one for one in results if sizes is None or len(one.seats) in sizes)
        standings = Standings(
            tables=tuple(ordered(one, sort) for one in everything.tables if not players or one.players in players)
        )
        notes = (*part.notes, *stop_notes(chosen.rounds, store), *isolation_notes(store, chosen))
        words = about(store, chosen, notes, held_bots(store, chosen, standings)).cleaned()
    pool = pooled(everything, weights) if weights else None
    if as_json:
        from referee.site import data

        click.echo(data.render(standings, words, pool), nl=False)
    elif as_csv:
        from referee.site import sheet

        for note in words.notes:
            click.echo(note, err=True)
        click.echo(sheet.render(standings, words, pool), nl=False)
    elif not standings.tables:
        _say_nothing(db, chosen, words, players)
    else:
        _show(standings, words, pool, by_seat=by_seat)


def _say_nothing(db: Path, season: Season, words: About, players: tuple[int, ...] | None) -> None:
    """Say that nothing can be shown, and what may be the reason."""
    from referee.site import view

    size = f" with {' or '.join(map(str, players))} players" if players else ""
    click.echo("".join(f"{note}\n" for note in words.notes), nl=False)
    click.echo(f"there are no rated games{size} of season {season.number} in {db}")
    for left_out in words.withdrawn:
        click.echo(view.withdrawn(left_out))
    if not words.withdrawn and season.rounds:
        click.echo("a deal is rated when it was played in all of its rotations, between bots as they are now")


def _show(standings: Standings, words: About, pool: Pool | None, *, by_seat: bool) -> None:
    from referee.cli import tables
    from referee.cli.bars import charset_of
    from referee.site import view

    charset = charset_of(sys.stdout)
    console = tables.output()
    for note in words.notes:
        console.print(note, markup=False)
    shown = tables.standings_tables(standings, charset)
    if by_seat:
        seats = tables.seat_tables(standings, charset)
        shown = [one for both in zip(shown, seats, strict=True) for one in both]
    if pool:
        shown.append(tables.pool_table(pool, charset))
    for one in (*shown, tables.legend(charset)):
        console.print(one)
    for left_out in words.withdrawn:
        console.print(charset.words(view.withdrawn(left_out)), markup=False)
    for held in words.held:
        console.print(charset.words(view.held(held)), markup=False)
