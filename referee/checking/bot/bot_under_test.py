"""The bot that is checked, at a seat: what it is sent can be dressed up, or given line by line; nothing is forgiven.

In a tournament a process that fails between two games is replaced and nobody is charged. Here it is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Launcher
from referee.bots.process.limits import Limits
from referee.bots.process.process import BotProcess
from referee.bots.seat.player import Allowance, BotPlayer, Writer, question_ids
from referee.bots.seat.wire import end_line, hello_line, start_line
from referee.checking.bot.memory import Memory, held_by
from referee.checking.bot.traffic_log import Diary, Heard
from referee.checking.bot.transcript import Put, Side
from referee.play import Clock, End, Reply, Start
from referee.rules import Question

_MS = 1_000_000
_ID = re.compile(rb'"type":"act","id":(\d+)')
WITHOUT_LIMIT = 60_000
"""How long a bot is waited for where it is told that there is no limit, in ms: a check has to end."""


class Leaving(NamedTuple):
    """How a process left: its exit status, None where it would not; seconds; what it still said, and its stderr."""

    status: int | None
    seconds: float
    said: bytes
    stderr: str


Dress = Callable[[bytes], bytes]
"""What is done to each message before it is sent, its LF included; more lines may come of it."""


def plain(line: bytes) -> bytes:
    """Nothing is done."""
    return line


class _Dressed:
    """A writer whose lines are dressed up; the last one is kept."""

    def __init__(self, real: Writer, dress: Dress) -> None:
        self._real = real
        self._dress = dress
        self.last = b""

    def line(self, question: Question, question_id: int, time_left: int | None, game_left: int | None) -> bytes:
        """See `Writer`."""
        self.last = self._dress(self._real.line(question, question_id, time_left, game_left))
        return self.last


class _Given:
    """A writer that was given its line."""

    def __init__(self, line: bytes) -> None:
        self._line = line

    def line(self, question: Question, question_id: int, time_left: int | None, game_left: int | None) -> bytes:
        """See `Writer`."""
        del question, question_id, time_left, game_left
        return self._line


class Subject(BotPlayer):
    """A player whose process is told `limits`, and waited for as long, for `WITHOUT_LIMIT` where there is none.

    `side` is all that it was told since its process was started, and its answers. One that is `forgiving` replaces a
    process that fails between two games, as a tournament does; `launched` counts processes.
    """

    def __init__(
        self,
        bot: Prepared,
        *,
        launcher: Launcher,
        clock: Clock,
        limits: Limits,
        dress: Dress = plain,
        ids: Iterator[int] | None = None,
        hello: bytes | None = None,
        diary: Diary | None = None,
        forgiving: bool = False,
    ) -> None:
        self.launched = 0
        self._forgiving = forgiving
        self.diary = diary or Diary()
        self.heard = Heard(self.diary)
        self.games = 0
        self._puts: list[Put] = []
        self._told = limits
        self._greeting = hello
        self._dress = dress
        enforced = Limits(_bounded(limits.start_ms), _bounded(limits.move_ms), limits.game_ms)
        super().__init__(bot, launcher=launcher, clock=clock, limits=enforced, tap=self.heard)
        self._ids = ids or question_ids()

    # -- whole games

    def begin(self, start: Start) -> None:
        """See `Player`."""
        if self._process is None:  # the next one has heard nothing
            self.games = 0
            self._puts.clear()
        super().begin(start)
        assert self._writer is not None
        self._unsent = self._dress(start_line(start))
        self._writer = _Dressed(self._writer, self._dress)
        self._note(self._unsent)

    def ask(self, question: Question) -> Reply:
        """See `Player`. Raises EnoughError too, where it was waited for as long as it is to be."""
        self.diary.waiting.asking()
        answered = None
        began = self._clock.now()
        try:
            reply = super().ask(question)
            answered = reply.action.text
        finally:
            self.diary.waiting.add(self._clock.now() - began)
            if isinstance(self._writer, _Dressed):
                self._note(self._writer.last, question, answered)
        self.diary.times.append(reply.us)
        return reply

    def end(self, end: End) -> None:
        """See `Player`."""
        line = self._dress(end_line(end))
        self._note(line)
        self.tell(line)
        self.games += 1
        self._seasoned = self._forgiving

    def kill(self) -> None:
        """See `BotPlayer`."""
        self.diary.peak = max(self.diary.peak, self.memory().peak)
        super().kill()

    @property
    def side(self) -> Side:
        """What the process was told so far, and its answers."""
        seat = 0 if self._start is None else self._start.seat
        return Side(seat, Put(1, self._hello()), tuple(self._puts))

    def _note(self, line: bytes, question: Question | None = None, action: str | None = None) -> None:
        self._puts.append(Put(len(self._puts) + 2, line, question, _id_in(line), action))

    # -- line by line

    def tell(self, line: bytes) -> None:
        """Send a line that wants no answer, and before it what was held back."""
        if self._process is not None:
            self._process.send(self._unsent + line)
        self._unsent = b""

    def hold(self, line: bytes) -> None:
        """Send a line that wants no answer together with the next one."""
        self._unsent += line

    def put(self, line: bytes, question: Question, question_id: int) -> Reply:
        """Send a question as it is given, and judge the answer. Raises BotFault, VoidGame."""
        self._writer = _Given(line)
        self._ids = iter([question_id])
        return self.ask(question)

    # -- its process

    def memory(self) -> Memory:
        """What its processes hold."""
        return Memory(0, 0) if self._process is None else held_by(self._process.child.processes())

    def leave(self, farewell: bytes, *, seconds: float) -> Leaving:
        """Send a last line, close stdin, and wait for the process to exit; then end it."""
        process = self._forget_process()
        assert process is not None
        began = self._clock.now()
        process.say_goodbye(farewell)
        status = process.settle(int(seconds * 1000) * _MS)
        took = (self._clock.now() - began) / (1000 * _MS)
        said, log = bytes(process.inbox), process.stderr.text()
        process.child.end()
        return Leaving(status, took, said, log)

    def _launch(self) -> BotProcess:
        self.launched += 1
        began = self._clock.now()
        try:
            return super()._launch()
        finally:
            self.diary.waiting.add(self._clock.now() - began)

    # -- what it is told

    def _hello(self) -> bytes:
        return self._dress(self._greeting or hello_line(self._told))

    def _allowance_now(self) -> Allowance:
        limit, time_left, game_left = super()._allowance_now()
        if self._told.move_ms is None:  # what is enforced then is not told
            time_left = game_left
        return limit, time_left, game_left


def _id_in(line: bytes) -> int:
    """The id of a question as it is written, 0 where it is none."""
    found = _ID.search(line)
    return int(found[1]) if found else 0


def _bounded(ms: int | None) -> int:
    return WITHOUT_LIMIT if ms is None else ms
