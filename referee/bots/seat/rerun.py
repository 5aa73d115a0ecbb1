"""Telling a bot once more what it was told in a game, outside any tournament, and comparing what it answers."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Launcher
from referee.bots.process.limits import Limits
from referee.bots.process.process import Tap
from referee.bots.seat.dialogue import Asked, Charge, Dialogue
from referee.bots.seat.faults import blame, how_it_ended
from referee.bots.seat.player import BotPlayer
from referee.errors import BotFault, Verdict
from referee.play import Clock, Reply
from referee.rules import Question

UNASKED = 250_000_000
"""How long a bot that spoke unasked, or was gone, is listened to where it did so, in ns."""


class Onward(Enum):
    """What to do where an answer is another one: end there, or ask on as the game went then."""

    STOP = auto()
    GO_ON = auto()


class Compared(NamedTuple):
    """One moment, then and now: a question, or what was charged without one.

    `asked` is None where nothing was asked: at the start, or where the bot had spoken before the question. `charge` is
    what it was charged with here then, None where it was not. `now` is None where nothing is wrong any more.
    """

    asked: Asked | None
    charge: Charge | None
    now: Reply | BotFault | None

    @property
    def same(self) -> bool:
        """Whether it went as it did then: the same action, or the same verdict."""
        if isinstance(self.now, BotFault):
            return self.charge is not None and self.now.verdict == self.charge.verdict
        if self.charge is not None or self.asked is None:
            return self.charge is None
        return self.now is not None and self.now.action.text == self.asked.action


def rerun(
    dialogue: Dialogue,
    bot: Prepared,
    *,
    launcher: Launcher,
    clock: Clock,
    limits: Limits,
    onward: Onward = Onward.STOP,
    until: int | None = None,
    tap: Tap | None = None,
) -> Iterator[Compared]:
    """Start the bot, send it the lines of `dialogue`, ids and times included, and yield each moment as it comes.

    `limits` are those that are enforced; `hello` and the questions tell what the dialogue says. After turn `until`
    nothing is asked. It ends at a fault, which ends the process, and, unless `onward` is GO_ON, at another answer.
    Raises VoidGame where the machine failed.
    """
    player = _Reader(dialogue, bot, launcher=launcher, clock=clock, limits=limits, tap=tap)
    try:
        yield from _moments(dialogue, player, onward, until)
    finally:
        player.stop()


def _moments(dialogue: Dialogue, player: _Reader, onward: Onward, until: int | None) -> Iterator[Compared]:
    charge = dialogue.charge
    started = player.try_start()
    if started is not None or (charge is not None and charge.turn is None):
        yield Compared(None, charge if charge is not None and charge.turn is None else None, started)
        return
    for number, asked in enumerate(dialogue.asked):
        if until is not None and asked.turn > until:
            return
        is_charged = charge is not None and charge.asked and number == len(dialogue.asked) - 1
        compared = Compared(asked, charge if is_charged else None, player.try_ask(asked.question))
        yield compared
        if isinstance(compared.now, BotFault) or is_charged or (onward is Onward.STOP and not compared.same):
            return
    if charge is not None and charge.turn is not None and (until is None or charge.turn <= until):
        yield Compared(None, charge, player.try_silence())
    elif until is None:
        player.say_end()


class _Script:
    """Gives the lines of a dialogue where a player would write its questions."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._lines = iter([asked.line for asked in dialogue.asked])

    def line(self, question: Question, question_id: int, time_left: int | None, game_left: int | None) -> bytes:
        """The next line."""
        del question, question_id, time_left, game_left
        return next(self._lines)


class _Reader(BotPlayer):
    """A player that reads its lines from a dialogue; answers are judged as in any game."""

    def __init__(
        self, dialogue: Dialogue, bot: Prepared, *, launcher: Launcher, clock: Clock, limits: Limits, tap: Tap | None
    ) -> None:
        super().__init__(bot, launcher=launcher, clock=clock, limits=limits, tap=tap)
        self._dialogue = dialogue
        self._ids = iter([asked.id for asked in dialogue.asked])
        self._writer = _Script(dialogue)
        self._unsent = dialogue.start or b""

    def _hello(self) -> bytes:
        return self._dialogue.hello or super()._hello()

    def try_start(self) -> BotFault | None:
        """Start the process; its fault where it does not say `ready`."""
        try:
            self.start()
        except BotFault as fault:
            return fault
        return None

    def try_ask(self, question: Question) -> Reply | BotFault:
        """Send the next line and judge the answer."""
        try:
            return self.ask(question)
        except BotFault as fault:
            return fault

    def try_silence(self) -> BotFault | None:
        """Listen where nothing is due; the fault of a bot that speaks or ends."""
        process = self._process
        assert process is not None
        process.settle(UNASKED)
        if not process.unasked():
            return None
        self._process = None
        if process.inbox:
            return self._spoke_unasked(process)
        return blame(process, Verdict.CRASH, f"{how_it_ended(process)} after its answer")

    def say_end(self) -> None:
        """Send the message that ended the game."""
        if self._process is not None:
            self._process.send(self._unsent + (self._dialogue.end or b""))
