"""`referee compare`: why one bot stands above another."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from referee.cli.options.common import Players, db_option
from referee.cli.options.league import all_versions_option
from referee.cli.options.selection import selection_options
from referee.cli.streams import echo_line
from referee.contest.season import Season, current_results
from referee.contest.selection import Spans, one_bot, select
from referee.errors import InputError
from referee.store import open_store

_EXAMPLES = """\b
Examples:
  referee compare mybot greedy
  referee compare mybot greedy --players 2 --exclude random
  referee compare mybot@3f9a mybot@81c0 --all-versions --json
"""


@click.command(short_help="Tell why one bot stands above another.", epilog=_EXAMPLES)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@db_option
@click.option("--season", type=click.IntRange(min=1), show_default="the last one", metavar="N", help="Which season.")
@click.option("--players", type=Players(), metavar="N[,N…]", help="Only tables of so many players.")
@selection_options
@all_versions_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    first: str,
    second: str,
    db: Path,
    season: int | None,
    players: tuple[int, ...] | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    rounds: Spans | None,
    all_versions: bool,
    as_json: bool,
) -> None:
    """Tell why bot A stands above bot B, or B above A, and how sure that is.

    Head to head, against common opponents, by seat, and by how games ended, with 95% intervals. A bot's name may be
    followed by @ and the beginning of its hash. The database may be in use.
    """
    from referee.ratings.pairs.comparison import compare  # numpy is slow to import

    with open_store(db) as store:
        chosen = Season(store, season)
        pair = [one_bot(store, chosen, name, all_versions=all_versions) for name in (first, second)]
        if pair[0] == pair[1]:
            raise InputError(f"{first} and {second} are the same bot: name another one to compare it with")
        part = select(store, chosen, include=include, exclude=exclude, rounds=rounds, all_versions=all_versions)
        for name, bot in zip((first, second), pair, strict=True):
            if part.bots is not None and bot not in part.bots:
                raise InputError(f"{name} is to be compared and is not among the bots that count: include it")
        results = current_results(store, chosen, all_versions=all_versions, bots=part.bots, rounds=part.rounds)
        found = compare((one for one in results if not players or len(one.seats) in players), pair[0], pair[1])
    from referee.cli.output import compare_report

    if as_json:
        click.echo(compare_report.document(found, part.notes))
        return
    from referee.cli.output.bars import charset_of
    from referee.cli.output.tables import output

    console = output()
    for note in part.notes:
        console.print(note, markup=False)
    if not found:
        echo_line(f"{first} and {second} have no rated games at tables of the same size in {db}")
    for one in compare_report.parts(found, charset_of(sys.stdout)):
        console.print(one)
