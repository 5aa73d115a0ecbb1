"""A bot at a seat: the wire protocol on one side, the game's language on the other."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from protocol.codec import WireError, encode, parse_answer, parse_ready, readable
from protocol.messages import PROTOCOL_VERSION, Hello, Quit
from referee import __version__, actions
from referee.actions import Action, Kind
from referee.bots.blame import blame, blame_silence, how_it_ended
from referee.bots.launcher import Launcher
from referee.bots.prepare import Prepared
from referee.bots.process import OVERSLEPT, BotProcess, NoLine, Silence, Tap
from referee.bots.wire import QuestionWriter, end_line, start_line
from referee.errors import BotFault, Verdict, VoidGame
from referee.play import Clock, End, Reply, Start
from referee.rules import Question

_MS = 1_000_000
_QUIT_GRACE = 1000 * _MS
_QUIT = encode(Quit(type="quit"))


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a bot may take, in ms, None for no limit: to say ready, for a decision, for its decisions of a game."""

    start_ms: int | None = 10_000
    move_ms: int | None = 1_000
    game_ms: int | None = None


class Reuse(Enum):
    """Whether one process plays many games, or each game gets a new one."""

    MANY_GAMES = auto()
    FRESH = auto()


Allowance = tuple[int | None, int | None, int | None]
"""For a decision: its limit in ns, `time_left_ms`, `game_left_ms`."""


def question_ids() -> Iterator[int]:
    """Ids from 1 to 2^31 - 1 that nobody can guess."""
    while True:
        for number in array("I", os.urandom(4096)):
            if number >> 1:
                yield number >> 1


class BotPlayer:
    """One seat's bot: a `referee.play.Player` whose process is started when a game needs it.

    `labels` is what the bot last said of itself in `ready`: for people, never trusted.
    """

    def __init__(
        self,
        bot: Prepared,
        *,
        launcher: Launcher,
        clock: Clock,
        limits: Limits,
        reuse: Reuse = Reuse.MANY_GAMES,
        tap: Tap | None = None,
    ) -> None:
        self.bot = bot
        self.labels: dict[str, str | None] = {}
        self._launcher = launcher
        self._clock = clock
        self._limits = limits
        self._reuse = reuse
        self._tap = tap
        self._ids = question_ids()
        self._process: BotProcess | None = None
        self._start: Start | None = None
        self._writer: QuestionWriter | None = None
        self._unsent = b""
        self._used = 0
        self._first_question = True
        self._seasoned = False
        self._allowance = self._allowance_now()
        self._late_us = None if limits.move_ms is None else (limits.move_ms * _MS + OVERSLEPT) // 1000

    # -- a game

    def start(self) -> None:
        """Start the process now, if there is none, and wait for its `ready`. Raises BotFault, VoidGame."""
        if self._process is None:
            self._process = self._launch()

    def begin(self, start: Start) -> None:
        """See `Player`. Starts a process where there is none that can be used again."""
        self._start = start
        self._writer = QuestionWriter(start)
        self._unsent = start_line(start)
        self._used = 0
        self._first_question = True
        if self._process is not None and self._process.unasked():
            self.stop()
        self._seasoned = self._process is not None
        self.start()

    def ask(self, question: Question) -> Reply:
        """See `Player`."""
        process = self._process
        assert process is not None and self._writer is not None
        try:
            return self._ask(process, question)
        except BotFault as fault:
            self._process = None
            if self._seasoned and self._first_question and fault.verdict in (Verdict.CRASH, Verdict.PROTOCOL_ERROR):
                # What a process did after its last game's end cannot be told from what it does now, and is not
                # charged: a new one is asked. Whatever it does by itself it will do again.
                return self._ask_again(question)
            raise

    def end(self, end: End) -> None:
        """See `Player`. The message is not waited for: what the pipe does not take goes out later."""
        process = self._process
        if process is None:
            return
        process.send(self._unsent + end_line(end))
        self._unsent = b""
        if self._reuse is Reuse.FRESH:
            self.stop()

    def stop(self) -> None:
        """Send `quit`, give the process a second to exit, end its whole tree. Harmless where there is none."""
        process, self._process = self._process, None
        if process is not None:
            process.say_goodbye(_QUIT)
            process.stop(_QUIT_GRACE)

    def say_quit(self) -> None:
        """Send `quit` without waiting, so that several processes may exit side by side; `stop` follows."""
        if self._process is not None:
            self._process.say_goodbye(_QUIT)

    def listen(self, tap: Tap | None) -> None:
        """Let `tap` hear what the process says from now on."""
        self._tap = tap
        if self._process is not None:
            self._process.tap = tap

    def kill(self) -> None:
        """End the process tree at once."""
        process, self._process = self._process, None
        if process is not None:
            process.child.end()

    # -- a decision

    def _ask(self, process: BotProcess, question: Question) -> Reply:
        assert self._writer is not None
        if process.inbox:
            raise self._spoke_unasked(process)
        allowance = self._allowance if self._limits.game_ms is None else self._allowance_now()
        limit, time_left, game_left = allowance
        question_id = next(self._ids)
        line = self._writer.line(question, question_id, time_left, game_left)
        if self._unsent:
            line = self._unsent + line
            self._unsent = b""
        began = self._clock.now()
        try:
            answer = process.exchange(line, None if limit is None else began + limit)
        except NoLine as silence:
            raise self._silence(process, silence.why, limit, began) from None
        spent = self._clock.now() - began
        us = spent // 1000
        self._used += spent
        if self._late_us is not None and us > self._late_us:
            raise VoidGame("the referee looked late at an answer: this machine is too busy, or was suspended")
        return self._judge(process, question, question_id, answer, us)

    def _ask_again(self, question: Question) -> Reply:
        assert self._start is not None
        self._seasoned = False
        self._unsent = start_line(self._start)
        self._used = 0
        self._process = self._launch()
        try:
            return self._ask(self._process, question)
        except BotFault:
            self._process = None
            raise

    def _judge(self, process: BotProcess, question: Question, question_id: int, line: bytes, us: int) -> Reply:
        try:
            answered, text, note = parse_answer(line)
        except WireError as error:
            raise blame(process, Verdict.PROTOCOL_ERROR, str(error), line=line, us=us) from None
        if answered != question_id:
            detail = (
                f"the reply echoed id {answered}, the question was {question_id}: "
                "answer each question once, after it was asked"
            )
            raise blame(process, Verdict.PROTOCOL_ERROR, detail, line=line, us=us)
        action = actions.parse(text)
        if action is None or not _is_legal(action, question):
            allowed = ", ".join(one.text for one in question.legal)
            detail = f"{readable(text, 80)} is not allowed here; to the letter one of: {allowed}"
            raise blame(process, Verdict.ILLEGAL_ACTION, detail, line=line, us=us)
        self._first_question = False
        return Reply(action, us, note)

    def _allowance_now(self) -> Allowance:
        move, game = self._limits.move_ms, self._limits.game_ms
        game_left = None if game is None else max(game * _MS - self._used, 0)
        left = [time for time in (None if move is None else move * _MS, game_left) if time is not None]
        limit = min(left, default=None)
        return limit, None if limit is None else limit // _MS, None if game_left is None else game_left // _MS

    # -- blame

    def _spoke_unasked(self, process: BotProcess) -> BotFault:
        said = bytes(process.inbox)
        detail = f"it said more than one line to one question, or spoke before it was asked: {readable(said, 80)}"
        return blame(process, Verdict.PROTOCOL_ERROR, detail, line=said)

    def _silence(self, process: BotProcess, why: Silence, limit: int | None, began: int) -> BotFault:
        us = (self._clock.now() - began) // 1000
        waited = "comes" if limit is None else f"within {limit // _MS} ms"
        return blame_silence(process, why, waited=waited, us=us)

    # -- starting

    def _launch(self) -> BotProcess:
        limits = self._limits
        process = BotProcess(self._launcher.launch(self.bot), self._clock, self._tap)
        hello = Hello(
            type="hello",
            protocol=(PROTOCOL_VERSION,),
            game="four-widows",
            referee=__version__,
            start_ms=limits.start_ms,
            move_ms=limits.move_ms,
            game_ms=limits.game_ms,
        )
        began = self._clock.now()
        try:
            line = process.exchange(encode(hello), None if limits.start_ms is None else began + limits.start_ms * _MS)
            ready = parse_ready(line)
        except NoLine as silence:
            raise self._never_ready(process, silence.why) from None
        except WireError as error:
            detail = f"its first line is to be its `ready` message: {error}"
            raise blame(process, Verdict.START_FAILED, detail, line=line) from None
        if ready.protocol != PROTOCOL_VERSION:
            detail = f"it chose version {ready.protocol} of the protocol, and only 1 was offered"
            raise blame(process, Verdict.START_FAILED, detail, line=line)
        if process.inbox:
            detail = f"it said more than its `ready` before it was asked: {readable(bytes(process.inbox), 80)}"
            raise blame(process, Verdict.START_FAILED, detail, line=bytes(process.inbox))
        self.labels = {
            "name": ready.name,
            "version": ready.version,
            "author": ready.author,
            "language": ready.language,
        }
        return process

    def _never_ready(self, process: BotProcess, why: Silence) -> BotFault:
        said = bytes(process.inbox)
        if why is Silence.GONE:
            detail = f"{how_it_ended(process)} before it said `ready`"
        elif why is Silence.TOO_LONG:
            detail = f"its first line has no end: {readable(said, 80)}"
        else:
            detail = f"no `ready` within {self._limits.start_ms} ms" + (
                f", only {readable(said, 80)} without a newline"
                if said
                else "; if it was printed, stdout was not flushed"
            )
            return blame(process, Verdict.START_TIMEOUT, detail, line=said or None)
        return blame(process, Verdict.START_FAILED, detail, line=said or None)


def _is_legal(action: Action, question: Question) -> bool:
    if question.drawn is None:
        return action.kind is Kind.LAY and action.cards & question.hand != 0
    return action in question.legal
