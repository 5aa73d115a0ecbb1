"""`referee collusion`: pairs of bots that do suspiciously well for each other."""

from __future__ import annotations

import csv
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from referee.cli.exit_codes import ExitCode
from referee.cli.options.common import Players, Real, reads_db
from referee.cli.streams import echo_line
from referee.contest.publishing import about
from referee.contest.season import Season, current_results
from referee.ratings.pairs.collusion import (
    ALPHA,
    MARGIN,
    SMALLEST_TABLE,
    CollusionReport,
    SuspectPair,
    everybody,
    suspicious,
)
from referee.record import Bot
from referee.site import view
from referee.site.about import About
from referee.site.text import cell
from referee.store import open_store

if TYPE_CHECKING:
    from rich.table import Table

FEW = 5
"""So many pairs are shown, where nobody asks for all of them."""

WIDE = 200
"""Columns where there is no terminal to fit."""

FORMAT = 1

COLUMNS = (
    *("players", "name_1", "hash_1", "author_1", "name_2", "hash_2", "author_2"),
    *("named", "games", "excess", "low", "high", "gain_1", "gain_2", "p", "detectable"),
)

NO_PROOF = "A statistical oddity is no proof: look at their games, and at what else could cause it (docs/collusion.md)."

_EXAMPLES = """\b
Examples:
  referee collusion
  referee collusion league.db --same-author
  referee collusion league.db --csv > pairs.csv
"""


@click.command(short_help="Name pairs of bots that do suspiciously well for each other.", epilog=_EXAMPLES)
@reads_db
@click.option("--season", type=click.IntRange(min=1), show_default="the last one", metavar="N", help="Which season.")
@click.option("--players", type=Players(), metavar="N[,N…]", help="Only tables of so many players, from 3 on.")
@click.option("--same-author", is_flag=True, help="Look only at pairs of one author: fewer, so that less stands out.")
@click.option(
    "--alpha",
    type=Real(0, 0.5, min_open=True),
    default=ALPHA,
    show_default=True,
    metavar="CHANCE",
    help="How likely it may be that luck alone has any pair named.",
)
@click.option(
    "--margin",
    type=Real(0, 1),
    default=MARGIN,
    show_default=True,
    metavar="SHARE",
    help="The excess, as a share of opponents beaten, that is let pass however sure it is.",
)
@click.option("--all", "show_all", is_flag=True, help="Show all pairs, not only those at the top.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with all pairs.")
@click.option("--csv", "as_csv", is_flag=True, help="Print all pairs as CSV.")
def command(
    db: Path,
    season: int | None,
    players: tuple[int, ...] | None,
    same_author: bool,
    alpha: float,
    margin: float,
    show_all: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Name pairs of bots that do better against the others when they sit together than each does alone.

    At tables of three or more; the database may be in use. Exit code 1 where a pair is named.
    """
    if as_json and as_csv:
        raise click.UsageError("--json or --csv, not both")
    if players and min(players) < SMALLEST_TABLE:
        raise click.UsageError(f"two players have nobody to help against: --players from {SMALLEST_TABLE} on")
    with open_store(db) as store:
        chosen = Season(store, season)
        authors = {bot: words.get("author", "") for bot, words in store.bots().items()}
        results = (one for one in current_results(store, chosen) if not players or len(one.seats) in players)

        def share_author(first: Bot, second: Bot) -> bool:
            return bool(authors[first]) and authors[first] == authors[second]

        report = suspicious(results, alpha=alpha, margin=margin, among=share_author if same_author else everybody)
        words = about(store, chosen).cleaned()
    if as_json:
        click.echo(_json(report, words))
    elif as_csv:
        click.echo(_csv(report, words), nl=False)
    else:
        _tell(report, words, db, show_all=show_all)
    if report.named:
        click.get_current_context().exit(ExitCode.NEGATIVE)


def _tell(report: CollusionReport, words: About, db: Path, *, show_all: bool) -> None:
    if not report.tables:
        echo_line(f"there are no rated games at tables of three or more in this season of {db}")
        return
    named, judged = len(report.named), len(report.pairs)
    if judged:
        luck = f"chance that luck alone has any of them named: {report.alpha:.2g}"
        click.echo(f"{_count(judged, 'pair')} looked at; {luck}")
        click.echo(f"{_count(named, 'pair')} stand{'s' if named == 1 else ''} out" if named else "nothing stands out")
    else:
        click.echo("no pair could be judged")
    if shown := report.pairs if show_all else report.pairs[: named or FEW]:
        from referee.cli.output.display import SafeConsole

        console = SafeConsole(width=None if sys.stdout.isatty() or os.environ.get("COLUMNS") else WIDE)
        console.print(_table(shown, words))
    for table in report.tables:
        if table.spread is not None:
            click.echo(f"{table.players} players: side effects of manners of play spread by {table.spread:.3f}")
        if table.unjudged:
            click.echo(
                f"{table.players} players: {_count(table.unjudged, 'pair')} cannot be judged: it takes "
                f"{table.players + 2} bots, and games with and without each other against the same opponents"
            )
    if named:
        click.echo(NO_PROOF)


def _table(pairs: tuple[SuspectPair, ...], words: About) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("pair", overflow="fold")
    table.add_column("authors", overflow="fold")
    for head in ("players", "games", "excess", "95%", "gains", "p", "would be seen from"):
        table.add_column(head, justify="right")
    for pair in pairs:
        cells = (
            " + ".join(f"{view.name(bot)} {view.short(bot.hash)}" for bot in pair.bots),
            " + ".join(dict.fromkeys(words.label(bot).author or "–" for bot in pair.bots)),
            str(pair.players),
            str(pair.games),
            _signed(pair.excess),
            f"{_signed(pair.low)} to {_signed(pair.high)}",
            ", ".join(map(_signed, pair.gains)),
            f"{pair.p:.2g}" if pair.p >= 1e-6 else "< 1e-6",
            _signed(pair.detectable) if pair.detectable < 1 else "nothing",
        )
        table.add_row(*map(Text, cells), style="red" if pair.named else "")
    return table


def _rows(report: CollusionReport, words: About) -> list[dict[str, object]]:
    return [
        dict(
            zip(
                COLUMNS,
                (
                    pair.players,
                    *(text for bot in pair.bots for text in (view.name(bot), bot.hash, words.label(bot).author)),
                    *(int(pair.named), pair.games, pair.excess, pair.low, pair.high),
                    *(*pair.gains, pair.p, pair.detectable),
                ),
                strict=True,
            )
        )
        for pair in report.pairs
    ]


def _json(report: CollusionReport, words: About) -> str:
    document = {
        "format": FORMAT,
        "game": "four-widows",
        "alpha": report.alpha,
        "margin": report.margin,
        "tables": report.tables,
        "pairs": _rows(report, words),
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _csv(report: CollusionReport, words: About) -> str:
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in _rows(report, words):
        writer.writerow([cell(value) if isinstance(value, str) else value for value in row.values()])
    return sheet.getvalue()


def _signed(number: float) -> str:
    return view.signed(f"{number:+.3f}")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
