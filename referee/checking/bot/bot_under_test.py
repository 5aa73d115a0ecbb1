"""The bot under test: a player whose messages can be changed, or given line by line, and of which all is noted.

In a tournament a process that fails between two games is replaced, which is not a fault. Here it is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Launcher
from referee.bots.process.limits import Limits
from referee.bots.seat.conversation import Conversation
from referee.bots.seat.player import question_ids
from referee.bots.seat.transcript import SentLine, Transcript
from referee.bots.seat.wire import QuestionWriter, end_line, hello_line, start_line
from referee.checking.bot.memory import Memory, held_by
from referee.checking.bot.traffic_log import BotHistory, TrafficLog
from referee.errors import BotFault
from referee.play import Clock, GameEnd, GameStart, Reply
from referee.rules import Question

_MS = 1_000_000
_ID = re.compile(rb'"type":"act","id":(\d+)')
WITHOUT_LIMIT = 60_000
"""How long a bot is waited for if it is told that there is no limit, in ms: a check has to end."""


class Departure(NamedTuple):
    """How a process left: its exit status, None if it stayed; seconds; what it still said, and its stderr."""

    status: int | None
    seconds: float
    said: bytes
    stderr: str


Change = Callable[[bytes], bytes]
"""Changes a message before it is sent, its LF included; the result may have more lines."""


def unchanged(line: bytes) -> bytes:
    """Return the line as it is."""
    return line


class BotUnderTest:
    """A player whose process is told `limits`, and waited for as long; for `WITHOUT_LIMIT` if there is none.

    If it is `forgiving`, a process that fails between two games is replaced, as in a tournament. `launched` counts
    processes, `games` the games of the current one. It is also a `Listener` for `play_back`.
    """

    def __init__(
        self,
        bot: Prepared,
        *,
        launcher: Launcher,
        clock: Clock,
        limits: Limits,
        change: Change = unchanged,
        ids: Iterator[int] | None = None,
        hello: bytes | None = None,
        history: BotHistory | None = None,
        forgiving: bool = False,
    ) -> None:
        self.launched = self.games = 0
        self.history = history or BotHistory()
        self.traffic = TrafficLog(self.history)
        self._bot = bot
        self._launcher = launcher
        self._clock = clock
        self._told = limits
        self._enforced = Limits(_bounded(limits.start_ms), _bounded(limits.move_ms), limits.game_ms)
        self._hello = change(hello or hello_line(limits))
        self._change = change
        self._ids = ids or question_ids()
        self._forgiving = forgiving
        self._conversation: Conversation | None = None
        self._start: GameStart | None = None
        self._writer: QuestionWriter | None = None
        self._is_first_question = True
        self._lines: list[SentLine] = []

    # -- whole games

    def begin(self, start: GameStart) -> None:
        """See `Player`."""
        conversation = self._conversation
        if conversation is not None and self._forgiving and self.games and conversation.process.unasked():
            self.kill()
        if self._conversation is None:
            self.start()
        self._start = start
        self._writer = QuestionWriter(start)
        self._is_first_question = True
        line = self._change(start_line(start))
        self.begin_game(line)
        self._note(line)

    def ask(self, question: Question) -> Reply:
        """See `Player`. Also raises EnoughError once the bot was waited for long enough."""
        assert self._writer is not None
        conversation = self._current()
        _, time_left, game_left = conversation.allowance()
        if self._told.move_ms is None:  # what is enforced then is not told
            time_left = game_left
        question_id = next(self._ids)
        line = self._change(self._writer.line(question, question_id, time_left, game_left))
        try:
            reply = self.put(line, question, question_id)
        except BotFault as fault:
            self._note(line)
            may_be_forgiven = self._forgiving and self.games and self._is_first_question
            if not may_be_forgiven or not conversation.could_be_of_the_last_game(fault, question_id):
                raise
            assert self._start is not None
            self.begin(self._start)
            return self.ask(question)
        self._is_first_question = False
        self._note(line, reply.action.text)
        return reply

    def end(self, end: GameEnd) -> None:
        """See `Player`."""
        line = self._change(end_line(end))
        self._note(line)
        if self._conversation is not None:
            self._conversation.tell(line)
        self.games += 1

    @property
    def transcript(self) -> Transcript:
        """What the process was told so far, and its answers."""
        seat = 0 if self._start is None else self._start.seat
        return Transcript(seat=seat, hello=SentLine(line=self._hello, number=1), lines=tuple(self._lines))

    def _note(self, line: bytes, action: str | None = None) -> None:
        self._lines.append(SentLine(line=line, number=len(self._lines) + 2, id=_id_in(line), action=action))

    # -- line by line: a `Listener` for `play_back`

    def start(self) -> None:
        """Start a process. Raises BotFault, VoidGame."""
        self.games = 0
        self._lines.clear()
        self.launched += 1
        conversation = Conversation(
            self._bot,
            launcher=self._launcher,
            clock=self._clock,
            limits=self._enforced,
            hello=self._hello,
            tap=self.traffic,
        )
        began = self._clock.now()
        try:
            conversation.start()
        finally:
            self.history.waiting.add(self._clock.now() - began)
        self._conversation = conversation

    def begin_game(self, line: bytes) -> None:
        """Send the `start` of a game together with the first question."""
        self._current().begin_game(line)

    def tell(self, line: bytes) -> None:
        """Send a message that wants no answer."""
        self._current().tell(line)

    def put(self, line: bytes, question: Question, question_id: int) -> Reply:
        """Send a question and judge the answer. Raises BotFault, VoidGame, EnoughError."""
        waiting = self.history.waiting
        waiting.asking()
        began = self._clock.now()
        try:
            reply = self._current().put(line, question, question_id)
        except BotFault:
            self._conversation = None
            raise
        finally:
            waiting.add(self._clock.now() - began)
        self.history.times.append(reply.us)
        return reply

    def listen(self) -> BotFault | None:
        """Return the fault of a bot that speaks or ends where nothing is due."""
        return self._current().listen()

    # -- its process

    def memory(self) -> Memory:
        """Return what its processes hold."""
        conversation = self._conversation
        return Memory(0, 0) if conversation is None else held_by(conversation.process.child.processes())

    def leave(self, farewell: bytes, *, seconds: float) -> Departure:
        """Send a last line, close stdin, and wait for the process to exit; then end it."""
        process = self._current().process
        self._conversation = None
        began = self._clock.now()
        process.say_goodbye(farewell)
        status = process.settle(int(seconds * 1000) * _MS)
        took = (self._clock.now() - began) / (1000 * _MS)
        said, log = bytes(process.inbox), process.stderr.text()
        process.child.end()
        return Departure(status, took, said, log)

    def kill(self) -> None:
        """End the process, if there is one, and note its memory."""
        self.history.peak = max(self.history.peak, self.memory().peak)
        conversation, self._conversation = self._conversation, None
        if conversation is not None:
            conversation.kill()

    def _current(self) -> Conversation:
        assert self._conversation is not None
        return self._conversation


def _id_in(line: bytes) -> int | None:
    """Return the id of a question as it is written, None for another message."""
    found = _ID.search(line)
    return int(found[1]) if found else None


def _bounded(ms: int | None) -> int:
    return WITHOUT_LIMIT if ms is None else ms
