"""`referee bundle`: what an author gets of a game that the bot lost by a fault, or of any other, as files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.bots.process.limits import Limits
from referee.cli.options.common import db_option, one_db
from referee.cli.streams import echo_line
from referee.contest.sides import limits_by_round, one_seat
from referee.errors import InputError
from referee.record import GameRecord, on_one_line
from referee.store import Store, open_store

if TYPE_CHECKING:
    from referee.bundles.place import BundleOutput

ALL_SEEING = "game.json"
"""The whole record, where it is asked for."""

_EXAMPLES = """\b
Examples:
  referee bundle 3f9a -o fault.zip
  referee bundle league.db 3f9a --seat 1 -o fault
  referee bundle --all -o faults
"""


@click.command(short_help="Write what an author needs to see why a bot lost a game.", epilog=_EXAMPLES)
@click.argument("target", nargs=-1, metavar="[DB] GAME")
@db_option
@click.option("--seat", type=click.IntRange(min=0), metavar="N", help="This seat's side, whether at fault or not.")
@click.option(
    "--all", "everything", is_flag=True, help="Every fault of the database, in a folder for each bot; GAME is left out."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FOLDER|FILE.zip",
    help="Where to write: a new folder, or a new file that ends in .zip.",
)
@click.option(
    "--with-record",
    is_flag=True,
    help="Add the whole record of the game, all hands and the deck: not for authors while the round is open.",
)
def command(
    target: tuple[str, ...], db: Path, seat: int | None, everything: bool, output: Path, with_record: bool
) -> None:
    """Write one seat's side of the game whose id is GAME or begins so: what went wrong in words, every message both
    ways, stderr, the offending line to the byte.

    Without --seat it is the seat at fault; where several were, each gets a folder. Nothing is in it that the seat did
    not see.
    """
    from referee.bundles.place import BundleOutput

    at_most = 1 if everything else 2
    if len(target) > at_most or (not everything and not target) or (everything and seat is not None):
        raise click.UsageError("name one game: DB GAME, or GAME alone; or --all, with DB or without, and no seat")
    named = Path(target[0]) if len(target) == at_most else None
    database = one_db(named, db)
    with open_store(database) as store, BundleOutput(output, reads=[database], private=with_record) as place:
        sides = _all(store) if everything else _of_game(store.record(target[-1]), seat)
        count = _write(place, sides, limits_by_round(store), with_record=with_record)
    echo_line(f"wrote {count} bundle{'' if count == 1 else 's'} to {output}")
    if with_record:
        click.echo("with all hands and decks in it: not for authors while the round is open", err=True)


Side = tuple[GameRecord, int, str]
"""A game, a seat of it, and the folder for its bundle."""


def _of_game(record: GameRecord, seat: int | None) -> Iterator[Side]:
    if seat is not None or len(record.faults) < 2:
        yield record, one_seat(record, seat), ""
        return
    for fault in record.faults:
        yield record, fault.seat, f"seat-{fault.seat}/"


def _all(store: Store) -> Iterator[Side]:
    for record, fault in store.faults():
        bot = record.seats[fault.seat]
        yield record, fault.seat, f"{_name(bot.name)}/{_name(record.game_id)}-seat-{fault.seat}/"


def _name(text: str) -> str:
    """A text of a database as a folder's name: a database may be anybody's."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)[:64].lstrip(".") or "_"


def _write(place: BundleOutput, sides: Iterator[Side], limits: dict[int | None, Limits], *, with_record: bool) -> int:
    from referee.bots.seat.recorded import transcript_of
    from referee.bundles.bundle import files_of

    count = 0
    for record, seat, under in sides:
        files = files_of(transcript_of(record, seat, limits.get(record.round, Limits())))
        if with_record:
            files[ALL_SEEING] = on_one_line(record.to_json()) + b"\n"
        place.write(files, under)
        count += 1
    if not count:
        raise InputError("there is no fault in this database")
    return count
