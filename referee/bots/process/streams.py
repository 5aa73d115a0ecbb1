"""What is kept of a bot's output: bounded, whatever it writes."""

from __future__ import annotations

KEPT = 32 * 1024
"""Bytes of stderr kept from its beginning, and as many from its end."""


class HeadTail:
    """The first and the last `kept` bytes of a stream of any length."""

    __slots__ = ("_head", "_kept", "_tail", "total")

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take the next piece of the stream."""
        self.total += len(data)
        room = self._kept - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._kept:
            del self._tail[: -self._kept]

    def text(self) -> str:
        """What is kept, with a line that says how much was left out; bytes that are no UTF-8 stand as escapes."""
        tail = self._tail[-self._kept :]
        left_out = self.total - len(self._head) - len(tail)
        gap = f"\n[{left_out} bytes left out]\n".encode() if left_out else b""
        return (bytes(self._head) + gap + bytes(tail)).decode("utf-8", "backslashreplace")
