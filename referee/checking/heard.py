"""The last messages between referee and bot, whichever way they went."""

from __future__ import annotations

from collections import deque

from referee.checking.report import Message

KEPT = 8
"""How many messages are kept."""
_LONGEST = 16 * 1024
"""Bytes that are kept of one; the longest that a bot is sent, and the beginning of what it may say."""


class Heard:
    """A tap that keeps the last messages, and counts what was written to stderr."""

    def __init__(self) -> None:
        self.logged_bytes = 0
        self.count = 0
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
        self.logged_bytes += len(data)

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
