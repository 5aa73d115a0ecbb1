"""Whether a game is the one due: by its round's secret, its columns by its record, and the rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from referee.cards import names
from referee.errors import RefereeError
from referee.record import GameRecord, replay
from referee.rules import Rules
from referee.store import Stored
from referee.tournament.rounds.derivation import Derivation
from referee.tournament.rounds.schedule import GameSpec, game_of

SENSELESS = (RefereeError, ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""What comes of records in which nothing fits."""


class Depth(Enum):
    """How closely games are looked at: replays take nearly all of the time."""

    WITHOUT_REPLAYS = auto()
    WITH_REPLAYS = auto()


class Due(NamedTuple):
    """What the games of a round are judged by, apart from its schedule."""

    number: int
    secret: bytes
    rules: Rules
    may_be_unnumbered: bool
    depth: Depth
    derivation: Derivation


def examine(due: Due, games: list[Stored]) -> list[str | None]:
    """For each game that its round has, why it is not the one due; None where it is."""
    return [_why_not(due, game) for game in games]


def _why_not(due: Due, game: Stored) -> str | None:
    try:
        record = GameRecord.unpack(game.packed)
    except SENSELESS:
        return "its record cannot be read"
    try:
        return _check(due, game, record)
    except RefereeError as error:
        return str(error)
    except SENSELESS as error:
        return f"its record makes no sense ({error})"


def _check(due: Due, game: Stored, record: GameRecord) -> str | None:
    spec = game_of(due.secret, game.line_up, game.deal, game.rotation, derivation=due.derivation)
    if game.game_id != spec.game_id:
        return f"by the round's secret its id would be {spec.game_id}"
    if wrong := [name for name, is_due in _compared(due, record, spec) if not is_due]:
        return f"its record has another {' and another '.join(wrong)} than is due"
    if Stored.of(record)[1:-1] != game[1:-1]:
        return "what is stored beside its record is not what the record says"
    if due.depth is Depth.WITH_REPLAYS:
        deque(replay(record), maxlen=0)
    return None


def _compared(due: Due, record: GameRecord, spec: GameSpec) -> Iterator[tuple[str, bool]]:
    yield "round", record.round == due.number or (record.round is None and due.may_be_unnumbered)
    yield "version", record.version == spec.version
    yield "id", record.game_id == spec.game_id
    yield "place in the schedule", (record.deal, record.rotation) == (spec.deal, spec.rotation)
    yield "table", record.seats == spec.seats
    yield "key", spec.key is not None and record.key == spec.key.hex()
    yield "deck", record.deck == tuple(names(spec.deck))
    yield "list of seeds", record.seeds == spec.seeds
    yield "set of rules", record.rules == due.rules
