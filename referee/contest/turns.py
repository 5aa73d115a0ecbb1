"""A game turn by turn, from its record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from referee.cards import BITS, deck_of, set_of
from referee.record import GameRecord, Replayed, Step, replay
from referee.rules import DrawFate, Event, deal


class Turn(NamedTuple):
    """One turn: the mover's hand before it, its questions and answers, and what happened.

    `event` is None if the game ended in the middle of the turn; `steps` is empty if the house played. `first_step` is
    the index of the first of them in the record.
    """

    seat: int
    hand: int
    steps: tuple[Step, ...]
    first_step: int
    event: Event | None


def turns_of(record: GameRecord) -> Iterator[Turn]:
    """Yield the turns of a game, in order. Raises RefereeError if the record does not follow the rules."""
    dealt = deal(record.rules, len(record.seats), deck_of(record.deck))[0]
    hands = [set_of(cards) for cards in dealt]
    steps: list[Step] = []
    asked = told = 0

    def completed(events: Sequence[Event]) -> Iterator[Turn]:
        for event in events:
            yield Turn(event.seat, hands[event.seat], tuple(steps), asked - len(steps), event)
            hands[event.seat] = _after(hands[event.seat], event)
            steps.clear()

    moment: Replayed | None = None
    for moment in replay(record):
        yield from completed(moment.events)
        told += len(moment.events)
        steps.append(moment.step)
        asked += 1
    if moment is not None:
        yield from completed(moment.position.events[told:])
    if steps:  # the game ended in the middle of a turn
        seat = steps[0].seat
        yield Turn(seat, hands[seat], tuple(steps), asked - len(steps), None)


def _after(hand: int, event: Event) -> int:
    """Return the hand after its turn."""
    assert event.laid is not None
    assert event.drew is not None
    hand ^= BITS[event.laid]
    return hand | BITS[event.drew] if event.result is DrawFate.KEPT else hand & ~set_of(event.discarded)
