"""The bot that is checked, at a seat: what it is sent can be dressed up, or given line by line; nothing is forgiven.

In a tournament a process that fails between two games is replaced and nobody is charged. Here it is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from referee.bots.launcher import Launcher
from referee.bots.limits import Limits
from referee.bots.player import Allowance, BotPlayer, Writer, question_ids
from referee.bots.prepare import Prepared
from referee.bots.wire import end_line, hello_line, start_line
from referee.checking.heard import Heard
from referee.play import Clock, End, Reply, Start
from referee.rules import Question

_MS = 1_000_000
WITHOUT_LIMIT = 60_000
"""How long a bot is waited for where it is told that there is no limit, in ms: a check has to end."""

Dress = Callable[[bytes], bytes]
"""What is done to each message before it is sent, its LF included; more lines may come of it."""


def plain(line: bytes) -> bytes:
    """Nothing is done."""
    return line


class _Dressed:
    """A writer whose lines are dressed up."""

    def __init__(self, real: Writer, dress: Dress) -> None:
        self._real = real
        self._dress = dress

    def line(self, question: Question, question_id: int, time_left: int | None, game_left: int | None) -> bytes:
        """See `Writer`."""
        return self._dress(self._real.line(question, question_id, time_left, game_left))


class _Given:
    """A writer that was given its line."""

    def __init__(self, line: bytes) -> None:
        self._line = line

    def line(self, question: Question, question_id: int, time_left: int | None, game_left: int | None) -> bytes:
        """See `Writer`."""
        del question, question_id, time_left, game_left
        return self._line


class Subject(BotPlayer):
    """A player whose process is told `limits`, and waited for as long, for `WITHOUT_LIMIT` where there is none."""

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
    ) -> None:
        self.heard = Heard()
        self._told = limits
        self._greeting = hello
        self._dress = dress
        enforced = Limits(_bounded(limits.start_ms), _bounded(limits.move_ms), limits.game_ms)
        super().__init__(bot, launcher=launcher, clock=clock, limits=enforced, tap=self.heard)
        self._ids = ids or question_ids()

    # -- whole games

    def begin(self, start: Start) -> None:
        """See `Player`."""
        super().begin(start)
        assert self._writer is not None
        self._unsent = self._dress(start_line(start))
        self._writer = _Dressed(self._writer, self._dress)

    def end(self, end: End) -> None:
        """See `Player`."""
        self.tell(self._dress(end_line(end)))

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

    # -- what it is told

    def _hello(self) -> bytes:
        return self._dress(self._greeting or hello_line(self._told))

    def _allowance_now(self) -> Allowance:
        limit, time_left, game_left = super()._allowance_now()
        if self._told.move_ms is None:  # what is enforced then is not told
            time_left = game_left
        return limit, time_left, game_left


def _bounded(ms: int | None) -> int:
    return WITHOUT_LIMIT if ms is None else ms
