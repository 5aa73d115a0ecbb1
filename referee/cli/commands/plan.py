"""`referee plan`: how many deals are needed to tell two bots apart."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import click
from rich.table import Table

from referee.cli.options.common import Real, players_option
from referee.cli.output.bars import charset_of
from referee.cli.output.display import SafeConsole
from referee.cli.output.tables import framed
from referee.contest.deal_scores import deal_scores
from referee.errors import InputError
from referee.ratings.sequential.betting import deal_variance
from referee.ratings.sequential.lengths import Plan, plan, variance_of
from referee.store import open_store

_DIFFERENCES = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
"""Those of the table that is printed where none is asked for."""

_EXAMPLES = """\b
Examples:
  referee plan
  referee plan --difference 0.02 --players 2
  referee plan --difference 0.02 --bots 10 --players 2,4 --db league.db
"""


class _Source(NamedTuple):
    """A variance, and where it comes from, in words."""

    variance: float
    words: str


@click.command(short_help="How many deals it takes to tell two bots apart.", epilog=_EXAMPLES)
@click.option(
    "--difference",
    type=Real(0, 1, min_open=True, max_open=True),
    metavar="D",
    help="How far apart their scores in the table are, such as 0.02 for 0.51 and 0.49.",
)
@players_option
@click.option(
    "--bots",
    type=click.IntRange(2, 1000),
    metavar="K",
    help="How many bots the field has, all pairs of which are judged at once; as many as sit at a table without it.",
)
@click.option(
    "--power",
    type=Real(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    metavar="P",
    help="How often the difference is to be found.",
)
@click.option(
    "--alpha",
    type=Real(0, 0.5, min_open=True),
    default=0.05,
    show_default=True,
    metavar="P",
    help="How often equal bots may be told apart, any two of them.",
)
@click.option(
    "--db",
    type=click.Path(path_type=Path, readable=False),
    metavar="FILE",
    help="Take the variance of a deal from the games of this database, not from the simulated ones.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")
def command(
    difference: float | None,
    players: tuple[int, ...],
    bots: int | None,
    power: float,
    alpha: float,
    db: Path | None,
    as_json: bool,
) -> None:
    """Say how many deals a league needs to find a difference of scores, if it plays a fixed number of them.

    Each deal is played once in every rotation of the seats. The scores are those of the table: opponents beaten and
    half of those tied, over opponents met.
    """
    if bots is not None and bots < players[-1]:
        raise click.UsageError(f"--bots {bots} are too few for tables of {players[-1]}")
    sources = {size: _simulated(size) if db is None else _measured(db, size) for size in players}
    differences = _DIFFERENCES if difference is None else (difference,)
    plans = [
        plan(one, size, bots or size, power=power, alpha=alpha, variance=sources[size].variance)
        for size in players
        for one in differences
    ]
    if as_json:
        rows = [asdict(one) | {"variance": round(one.variance, 6), "bound": round(one.bound, 4)} for one in plans]
        told = {str(size): source.words for size, source in sources.items()}
        click.echo(json.dumps({"power": power, "alpha": alpha, "variances": told, "plans": rows}, indent=2))
        return
    SafeConsole().print(_table(plans))
    click.echo(f"\npower {power:g}, alpha {alpha:g}" + (" for all pairs at once" if bots and bots > 2 else ""))
    for size, source in sources.items():
        click.echo(f"tables of {size}: the variance of a deal's score is {source.variance:.4f}, {source.words}")


def _table(plans: list[Plan]) -> Table:
    table = framed(charset_of(sys.stdout))
    for head in ("players", "bots", "difference", "deals a line-up", "line-ups", "games"):
        table.add_column(head, justify="right")
    for one in plans:
        counts = (one.deals, one.line_ups, one.games)
        table.add_row(str(one.players), str(one.bots), f"{one.difference:g}", *(f"{count:,}" for count in counts))
    return table


def _simulated(players: int) -> _Source:
    what = "as of equal players" if players == 2 else "three quarters of that of equal players without ties"
    return _Source(deal_variance(players), f"{what} (simulated games of close bots: docs/how-many-deals.md)")


def _measured(db: Path, players: int) -> _Source:
    """Raises InputError where there are too few games."""
    with open_store(db) as store:
        found = variance_of(deal_scores(store.results(players, whole_deals=True)))
    if found is None or not found[0]:
        raise InputError(
            f"{db} has no two deals of one line-up of {players} that differ: leave --db out, or play more games"
        )
    return _Source(
        found[0], f"measured in the games of {db}, which tell as much of it as {found[1] + 1:,} deals of one bot"
    )
