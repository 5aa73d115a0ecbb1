"""A game for those who look on: it is followed question by question, as it is played or as its record has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from referee.actions import parse
from referee.cards import deck_of
from referee.cli.replay import SoFar, Turn
from referee.errors import BotFault
from referee.play import End, Player, Reply, Start
from referee.record import Fault, GameRecord, Step
from referee.rules import Question, State


class Stage(Protocol):
    """Where a game is shown. The game that each call gets is the same one, further on."""

    def asked(self, game: Spectator) -> None:
        """The seat to move is about to be asked."""

    def moved(self, game: Spectator, turns: Sequence[Turn]) -> None:
        """It has answered or is at fault; `turns` are those that are over since the last call."""

    def closed(self, game: Spectator, turns: Sequence[Turn]) -> None:
        """The game is over; `turns` has the one that broke off, if one did."""


class Spectator:
    """Follows a game: `record` as far as it came, `state` of now, and the `turns` that are over."""

    def __init__(self, opening: GameRecord, stage: Stage) -> None:
        self.record = opening
        self.state = State(opening.rules, len(opening.seats), deck_of(opening.deck))
        self.turns: list[Turn] = []
        self._stage = stage
        self._so_far = SoFar(opening)
        self._told = 0

    def absent(self, fault: Fault) -> None:
        """A seat is at fault before the first question."""
        self._charge(fault)

    def asked(self) -> None:
        """The seat to move is about to be asked."""
        self._begin()
        self._stage.asked(self)

    def answered(self, step: Step, fault: Fault | None = None) -> None:
        """It has answered, or is at fault."""
        if fault is not None:
            self._charge(fault)
        self.record = msgspec.structs.replace(self.record, steps=(*self.record.steps, step))
        self._so_far.answered(step)
        action = None if step.action is None else parse(step.action)
        if action is None:
            self.state.forfeit(step.seat)
        else:
            self.state.apply(action)
        new = list(self._so_far.completed(self.state.events[self._told :]))
        self._told = len(self.state.events)
        self.turns += new
        self._stage.moved(self, new)

    def closed(self, record: GameRecord) -> None:
        """The game is over, and this is its record."""
        self._begin()
        self.record = record
        new = list(self._so_far.broken_off())
        self.turns += new
        self._stage.closed(self, new)

    def _charge(self, fault: Fault) -> None:
        self.record = msgspec.structs.replace(self.record, faults=(*self.record.faults, fault))

    def _begin(self) -> None:
        absent = [fault.seat for fault in self.record.faults if fault.step is None]
        if absent and not self.record.steps and not self.state.forfeited:
            self.state.forfeit(*absent)
            self.turns += (new := list(self._so_far.completed(self.state.events)))
            self._told = len(new)


class Watched:
    """Another player, whose questions and answers a spectator sees."""

    def __init__(self, player: Player, seat: int, spectator: Spectator) -> None:
        self._player = player
        self._seat = seat
        self._spectator = spectator

    def begin(self, start: Start) -> None:
        """See `Player`."""
        try:
            self._player.begin(start)
        except BotFault as fault:
            self._spectator.absent(self._charged(fault, None))
            raise

    def ask(self, question: Question) -> Reply:
        """See `Player`."""
        self._spectator.asked()
        number = len(self._spectator.record.steps)
        try:
            reply = self._player.ask(question)
        except BotFault as fault:
            self._spectator.answered(Step(self._seat, None, fault.us), self._charged(fault, number))
            raise
        self._spectator.answered(Step(self._seat, reply.action.text, reply.us, reply.note))
        return reply

    def end(self, end: End) -> None:
        """See `Player`."""
        self._player.end(end)

    def _charged(self, fault: BotFault, step: int | None) -> Fault:
        return Fault(self._seat, step, fault.verdict, fault.detail, fault.evidence)


def opening_of(record: GameRecord) -> GameRecord:
    """A record as it was before the first question."""
    absent = tuple(fault for fault in record.faults if fault.step is None)
    return msgspec.structs.replace(record, steps=(), faults=absent)


def follow(record: GameRecord, stage: Stage) -> None:
    """Show a game that was played. The record has to follow the rules."""
    spectator = Spectator(opening_of(record), stage)
    faults = {fault.step: fault for fault in record.faults if fault.step is not None}
    for number, step in enumerate(record.steps):
        spectator.asked()
        spectator.answered(step, faults.get(number))
    spectator.closed(record)
