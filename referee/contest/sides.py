"""One seat's side of a game: which seat is meant, and the limits it played under."""

from __future__ import annotations

from referee.bots.process.limits import Limits
from referee.errors import InputError
from referee.record import GameRecord
from referee.store import Store


def one_seat(record: GameRecord, seat: int | None) -> int:
    """Return the given seat, or else the only seat at fault. Raises InputError if there is none."""
    seats = f"they are 0 to {len(record.seats) - 1}"
    if seat is not None:
        if seat >= len(record.seats):
            raise InputError(f"game {record.game_id} has no seat {seat}: {seats}")
        return seat
    if len(record.faults) != 1:
        several = "several seats were" if record.faults else "no seat was"
        raise InputError(f"{several} at fault in game {record.game_id}: say with --seat which one you mean; {seats}")
    return record.faults[0].seat


def limits_by_round(store: Store) -> dict[int | None, Limits]:
    """Return, by round, the limits that its games were played under."""
    from referee.tournament.rounds.rounds import Round

    return {one.number: Round.of(one).manifest.conditions.limits for one in store.rounds()}
