"""`referee export`: the games of a database for other programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from referee.cli.options.common import Players, force_option, output_option, reads_db
from referee.contest.export import Format, Write, export
from referee.outputs import new_file
from referee.store import open_store

_EXAMPLES = """\b
Examples:
  referee export --format csv > games.csv
  referee export league.db --players 2 -o games.jsonl
  referee export --bot mine --faults | head -n 1
"""


@click.command(short_help="Write the games of a database as JSON or CSV.", epilog=_EXAMPLES)
@reads_db
@click.option(
    "--format",
    "how",
    type=click.Choice(["jsonl", "csv", "json"]),
    default="jsonl",
    show_default=True,
    help="jsonl: a whole record a line. csv: a row a game. json: rounds, bots, and what came of each game.",
)
@click.option("--players", type=Players(), metavar="N[,N…]", help="Only games of so many players.")
@click.option(
    "--bot",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only games in which this bot sat, of whatever version; NAME@HASH is one. May be repeated: all of them sat.",
)
@click.option(
    "--faults", "faulty", is_flag=True, help="Only games with a fault; with --bot, of one that is named there."
)
@click.option(
    "--with-secret",
    is_flag=True,
    help="In json: the secret of the open round too. Who has it knows all decks still to be dealt.",
)
@click.option(
    "--no-times",
    is_flag=True,
    help="Leave out what a clock said. Games that were played alike, whenever and wherever, are then written alike.",
)
@output_option
@force_option
def command(
    db: Path,
    how: Format,
    players: tuple[int, ...] | None,
    names: tuple[str, ...],
    faulty: bool,
    with_secret: bool,
    no_times: bool,
    output: Path | None,
    force: bool,
) -> None:
    """Write all games, in the order of the schedule; the database may be in use."""
    private = with_secret and how == "json"
    with open_store(db) as store, new_file(output or Path("-"), reads=[db], force=force, private=private) as file:
        export(
            store,
            harmless(file.write) if file.isatty() else file.write,
            how=how,
            players=players,
            bots=names,
            faulty=faulty,
            with_secret=with_secret,
            times=not no_times,
        )


def harmless(write: Write) -> Write:
    """Writes JSON to a terminal: what is not visible ASCII stands as an escape, and means the same."""

    def escaped(data: bytes) -> object:
        return write(
            _ODD.sub(lambda found: json.dumps(found[0])[1:-1], data.decode()).replace("\x7f", r"\u007f").encode()
        )

    return escaped


_ODD = re.compile(r"[^\x00-\x7f]")
