"""A game as it is stored: its packed record, and beside it the few columns that ratings need."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from referee.errors import DatabaseError
from referee.record import Bot, GameRecord, GameResult, LineUp
from referee.rules import Ending
from referee.store import columns


class StoredRound(NamedTuple):
    """A round of a tournament as it is kept; what its manifest means is not the store's to know.

    `number` counts from 1 through the life of the database, as `season` does. `secret` is hex, `seed` the text that
    it comes from, None where it was drawn; `sealed` says that the commitment stood before the first game. `unplayed`
    are the games that were still owed when it was closed.
    """

    number: int
    season: int
    manifest: str
    commitment: str
    secret: str
    seed: str | None
    sealed: bool
    closed: bool
    unplayed: int = 0


def round_of(row: tuple[object, ...]) -> StoredRound:
    """A round from its columns. Raises ValueError where they make no sense."""
    number, season, manifest, commitment, secret, seed, sealed, closed, unplayed = row
    return StoredRound(
        columns.number(number),
        columns.number(season),
        columns.text(manifest),
        columns.text(commitment),
        columns.text(secret),
        None if seed is None else columns.text(seed),
        bool(columns.number(sealed)),
        bool(closed),
        columns.number(unplayed),
    )


class Faulted(NamedTuple):
    """A game in which these bots were at fault, first fault first."""

    line_up: LineUp
    deal: int
    rotation: int
    bots: tuple[Bot, ...]


class Held(NamedTuple):
    """In how many games a bot was held, and how many ms of a processor it used out of turn in them."""

    games: int
    cpu_ms: int


class Stored(NamedTuple):
    """One game, ready to be saved; made by the process that played it and cheap to send to another.

    `round` is the number of its round, 0 outside one.
    `seats` has for each seat one digit, the index of its bot in `line_up`; `places` one digit a seat, from 1;
    `forfeited` the seats at fault, first fault first; `faults` and `decisions` are counts;
    `held` has `seat:ms` for each seat that was held, with the processor time that it used out of turn.
    """

    round: int
    game_id: str
    line_up: LineUp
    deal: int
    rotation: int
    seats: str
    reason: str
    places: str
    forfeited: str
    faults: int
    decisions: int
    held: str
    packed: bytes

    @classmethod
    def of(cls, record: GameRecord) -> Stored:
        """What is stored of a record."""
        order = sorted(range(len(record.seats)), key=record.seats.__getitem__)
        places_in_line_up = sorted(range(len(order)), key=order.__getitem__)
        return cls(
            record.round or 0,
            record.game_id,
            tuple([record.seats[seat] for seat in order]),
            record.deal,
            record.rotation,
            _digits(places_in_line_up),
            record.reason.value,
            _digits(record.places),
            _digits(record.forfeited),
            len(record.faults),
            len(record.steps),
            " ".join([f"{seat}:{record.idle_cpu_ms[seat]}" for seat in record.held]),
            record.pack(),
        )

    @property
    def result(self) -> GameResult:
        """What ratings need of this game."""
        make = results_of(self.line_up)
        return make((self.deal, self.rotation, self.seats, self.reason, self.places, self.forfeited))

    @property
    def faulted(self) -> Faulted | None:
        """Who was at fault; None where nobody was."""
        return (
            faulted_of(self.line_up, self.deal, self.rotation, self.seats, self.forfeited) if self.forfeited else None
        )


def faulted_of(line_up: LineUp, deal: int, rotation: int, seats: str, forfeited: str) -> Faulted:
    """Who was at fault in a game, from its columns. Raises ValueError where they make no sense."""
    bots = _bots_of(line_up, seats)
    charged = columns.digits(forfeited, below=len(bots))
    return Faulted(line_up, columns.number(deal), columns.number(rotation), tuple(bots[seat] for seat in charged))


def held_of(line_up: LineUp, seats: str, held: str) -> list[tuple[Bot, int]]:
    """Who was held in a game, and the ms of each, from its columns. Raises ValueError where they make no sense."""
    bots = _bots_of(line_up, seats)
    found = []
    for pair in columns.text(held).split(" "):
        seat, ms = _HELD.split(pair) if _IS_HELD(pair) else ("", "")
        [number] = columns.digits(seat, below=len(bots), count=1)
        found.append((bots[number], columns.number(int(ms))))
    return found


_HELD = re.compile(":")
_IS_HELD = re.compile(r"[0-9]:[0-9]{1,15}", re.ASCII).fullmatch


def _bots_of(line_up: LineUp, seats: str) -> LineUp:
    """The bots by seat."""
    members = columns.digits(seats, below=len(line_up), count=len(line_up))
    if len(set(members)) != len(members):
        raise ValueError("a bot has two seats, or none")
    return tuple(line_up[member] for member in members)


def _digits(numbers: list[int] | tuple[int, ...]) -> str:
    return "".join(map(str, numbers))


Row = tuple[int, int, str, str, str, str]
"""Deal, rotation, seats, reason, places, forfeited, as in `Stored`."""


@lru_cache(maxsize=1024)
def results_of(line_up: LineUp) -> Callable[[Row], GameResult]:
    """A function from a line-up's rows to results.

    It remembers what it has read, since there are few different endings. It raises DatabaseError where a row
    makes no sense.
    """
    known: dict[tuple[str, str, str, str], tuple[LineUp, Ending, tuple[int, ...], tuple[int, ...]]] = {}

    def read(key: tuple[str, str, str, str]) -> tuple[LineUp, Ending, tuple[int, ...], tuple[int, ...]]:
        seats, reason, places, forfeited = key
        size = len(line_up)
        try:
            in_places = columns.digits(places, below=size + 1, count=size)
            if 0 in in_places:
                raise ValueError("there is no place 0")
            return (
                _bots_of(line_up, seats),
                Ending(columns.text(reason)),
                in_places,
                columns.digits(forfeited, below=size),
            )
        except ValueError:
            raise DatabaseError(f"a stored game is damaged: it ends with {ascii(key)[:200]}") from None

    def make(row: Row) -> GameResult:
        deal, rotation, seats, reason, places, forfeited = row
        key = (seats, reason, places, forfeited)
        found = known.get(key)
        if found is None:
            found = known[key] = read(key)
        return GameResult(found[0], columns.number(deal), columns.number(rotation), found[1], found[2], found[3])

    return make
