"""Playing a transcript back: its messages are sent to a bot once more, and the answers are compared."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple, Protocol

from referee.bots.seat.transcript import SeatFault, SentLine, Transcript
from referee.errors import BotFault
from referee.play import Reply
from referee.rules import Question


class PlaybackTarget(Protocol):
    """A seat to which a transcript is played back: a `Conversation`, or the bot under test."""

    def start(self) -> None:
        """Start the process and send `hello`. Raises BotFault."""

    def begin_game(self, line: bytes) -> None:
        """Send the `start` of a game together with the first question."""

    def tell(self, line: bytes) -> None:
        """Send a message that wants no answer."""

    def put(self, line: bytes, question: Question, question_id: int) -> Reply:
        """Send a question and judge the answer. Raises BotFault."""

    def listen(self) -> BotFault | None:
        """Return the fault of a bot that speaks or ends where nothing is due."""


class Onward(Enum):
    """What to do after a different answer: end there, or ask on as in the transcript."""

    STOP = auto()
    GO_ON = auto()


class PlayedBack(NamedTuple):
    """One moment, then and now: a question, or a fault without one.

    `sent` is None where nothing was asked: at the start, or where the bot had spoken before the question. `fault` is
    the fault of the transcript here, if it has one. `now` is None where nothing is wrong any more.
    """

    sent: SentLine | None
    fault: SeatFault | None
    now: Reply | BotFault | None

    @property
    def same(self) -> bool:
        """True if it went as in the transcript: the same action, or the same verdict."""
        if isinstance(self.now, BotFault):
            return self.fault is not None and self.now.verdict == self.fault.verdict
        if self.fault is not None or self.sent is None:
            return self.fault is None
        return self.now is not None and self.sent.action in (None, self.now.action.text)


def play_back(
    transcript: Transcript, listener: PlaybackTarget, *, onward: Onward = Onward.STOP, until: int | None = None
) -> Iterator[PlayedBack]:
    """Start the bot, send it the lines of the transcript, ids and times included, and yield each moment as it comes.

    After turn `until` nothing is asked. It ends at a fault, which ends the process, and, unless `onward` is GO_ON, at
    a different answer. Raises VoidGame if the machine failed.
    """
    fault = transcript.fault
    started = _started(listener)
    if started is not None or (fault is not None and fault.turn is None):
        yield PlayedBack(None, fault if fault is not None and fault.turn is None else None, started)
        return
    last = transcript.questions[-1:] if fault is not None and fault.asked else []
    for sent in transcript.lines:
        if sent.id is None:
            _tell(sent.line, listener)
            continue
        if until is not None and sent.number > until:
            return
        is_at_fault = sent in last
        moment = PlayedBack(sent, fault if is_at_fault else None, _put(sent, sent.id, listener))
        yield moment
        if isinstance(moment.now, BotFault) or is_at_fault or (onward is Onward.STOP and not moment.same):
            return
    if fault is not None and fault.turn is not None and (until is None or fault.turn <= until):
        yield PlayedBack(None, fault, listener.listen())


def first_difference(transcript: Transcript, listener: PlaybackTarget) -> PlayedBack | None:
    """Play a transcript back up to the first moment that is different or a fault. Raises VoidGame."""
    moments = play_back(transcript, listener)
    return next((one for one in moments if not one.same or isinstance(one.now, BotFault)), None)


def _started(listener: PlaybackTarget) -> BotFault | None:
    try:
        listener.start()
    except BotFault as fault:
        return fault
    return None


def _tell(line: bytes, listener: PlaybackTarget) -> None:
    if line.startswith(b'{"type":"start"'):
        listener.begin_game(line)
    else:
        listener.tell(line)


def _put(sent: SentLine, question_id: int, listener: PlaybackTarget) -> Reply | BotFault:
    try:
        return listener.put(sent.line, sent.question, question_id)
    except BotFault as fault:
        return fault
