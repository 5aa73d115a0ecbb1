"""What is known of a bot under test: its last messages, and times, memory and stderr of all its processes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from referee.bots.process.streams import HeadTail
from referee.checking.report.patience import Patience
from referee.checking.report.report import Message

KEPT = 8
"""How many messages are kept."""
_LONGEST = 16 * 1024
"""Bytes that are kept of one; the longest that a bot is sent, and the beginning of what it may say."""


_LOG_KEPT = 4096


@dataclass(slots=True)
class BotHistory:
    """All processes of a bot: decisions in us, the most memory of one and its growth, and their stderr.

    Memory is in bytes, that of a process and all that it started.
    """

    times: list[int] = field(default_factory=list)
    peak: int = 0
    grown: int = 0
    waiting: Patience = field(default_factory=Patience)
    stderr: HeadTail = field(default_factory=lambda: HeadTail(_LOG_KEPT))


class TrafficLog:
    """A tap that keeps the last messages, counts all, and notes in a history what was written to stderr."""

    def __init__(self, history: BotHistory) -> None:
        self.count = 0
        self._history = history
        self._lines: deque[tuple[str, bytes]] = deque(maxlen=KEPT)
        self._open = {"bot": b"", "referee": b""}

    def sent(self, data: bytes, at: int) -> None:
        """See `Tap`."""
        del at
        self._take("bot", data)

    def received(self, data: bytes, at: int) -> None:
        """See `Tap`."""
        del at
        self._take("referee", data)

    def logged(self, data: bytes, at: int) -> None:
        """See `Tap`."""
        del at
        self._history.stderr.add(data)

    def last(self) -> tuple[Message, ...]:
        """The last messages, oldest first; one without an end too."""
        begun = [(to, line) for to, line in self._open.items() if line]
        return tuple(Message(to, line.decode("utf-8", "backslashreplace")) for to, line in [*self._lines, *begun])

    def _take(self, to: str, data: bytes) -> None:
        *whole, rest = (self._open[to] + data).split(b"\n")
        for line in whole:
            self._lines.append((to, line[:_LONGEST]))
        self.count += len(whole)
        self._open[to] = rest[:_LONGEST]
