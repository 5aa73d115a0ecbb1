"""Standard input, output and error made safe: closed, full or unread ones, and text that a terminal would obey.

While `careful_streams` is active, `sys.stdout` and `sys.stderr` escape every control character that is written to them.
What a write to standard error cannot deliver is dropped, since a run does not depend on its messages. What a write to
standard output cannot deliver ends the run with `OutputLost`.
"""

from __future__ import annotations

import io
import os
import re
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, TextIO

import click

from protocol.text import printable

_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")


class OutputLost(Exception):
    """Standard output cannot be written; `error` says why."""

    def __init__(self, error: OSError) -> None:
        self.error = error
        super().__init__(error.strerror)


class _Guarded(io.RawIOBase):
    """Bytes to `target`. After its first failure everything is dropped, and `failed` has been called with the error."""

    def __init__(self, target: Any, failed: Callable[[OSError], None]) -> None:
        super().__init__()
        self._target = target
        self._failed = failed
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return bool(self._target.isatty())

    def fileno(self) -> int:
        return int(self._target.fileno())

    def write(self, data: Any, /) -> int:
        size = memoryview(data).nbytes
        if self.error is not None:
            return size
        try:
            written = self._target.write(data)
            while written is None:  # another process has made it non-blocking, and it takes nothing now
                select.select([], [self._target], [])
                written = self._target.write(data)
            return int(written)
        except OSError as error:
            self.error = error
            self._failed(error)
            return size

    def flush(self) -> None:
        super().flush()
        if self.error is None:
            with suppress(OSError):
                self._target.flush()


class Careful(io.TextIOWrapper):
    """Text that escapes control characters; of each write to `one_line` streams only the last newline is kept."""

    def __init__(self, stream: TextIO, failed: Callable[[OSError], None], *, one_line: bool) -> None:
        self._original = stream  # its end would close the binary stream
        binary = getattr(stream.buffer, "raw", stream.buffer)
        self.guarded = _Guarded(binary, failed)
        buffer = io.BufferedWriter(self.guarded)
        lines = one_line or self.guarded.isatty()
        super().__init__(buffer, stream.encoding, "backslashreplace", newline="\n", line_buffering=lines)
        self._one_line = one_line

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The codec. ASCII gets a name that click does not know: it would replace the stream by one of its own."""
        name = super().encoding
        return "ascii, escaped" if name.lower() in ("ascii", "us-ascii", "ansi_x3.4-1968") else name

    def write(self, text: str, /) -> int:
        """Write `text`, escaped."""
        if self._one_line and text.endswith("\n"):
            super().write(printable(text[:-1]) + "\n")
        else:
            super().write(printable(text, "" if self._one_line else "\n\t"))
        return len(text)

    def write_unescaped(self, text: str) -> int:
        """Write `text`, which is escaped already and has sequences of our own for the terminal."""
        return super().write(text)


class _Unescaped:
    """A `Careful` stream as a file whose writes are not escaped."""

    def __init__(self, stream: Careful) -> None:
        self._stream = stream
        self.write = stream.write_unescaped

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def unescaped(stream: TextIO) -> IO[str]:
    """`stream` for text that is escaped already and has colours or cursor movements of our own in it."""
    return _Unescaped(stream) if isinstance(stream, Careful) else stream  # type: ignore[return-value]


def echo_line(line: str) -> None:
    """Print one line whose only control characters are the colours of `click.style`; others are escaped."""
    parts = (part if _COLOURS.fullmatch(part) else printable(part) for part in _COLOURS.split(line))
    click.echo("".join(parts), file=unescaped(sys.stdout))


@contextmanager
def careful_streams() -> Iterator[None]:
    """Inside, the three standard streams exist and are safe to use; see the module."""
    before = sys.stdin, sys.stdout, sys.stderr
    _open_closed_descriptors()
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays
    sys.stdout = _careful(sys.stdout, 1, _lose, one_line=False)
    sys.stderr = _careful(sys.stderr, 2, _drop, one_line=True)
    ours = sys.stdout, sys.stderr
    try:
        yield
    finally:
        for stream in ours:
            with suppress(OutputLost, ValueError):
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = before


def lost_output() -> OSError | None:
    """Why standard output could not be written, if it could not."""
    return sys.stdout.guarded.error if isinstance(sys.stdout, Careful) else None


def _open_closed_descriptors() -> None:
    """Open 0, 1 and 2 to /dev/null where they are closed: no database may get one of them and an error text in it."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
            os.set_inheritable(descriptor, True)


def _careful(stream: TextIO | None, descriptor: int, failed: Callable[[OSError], None], *, one_line: bool) -> TextIO:
    if stream is None:
        stream = open(descriptor, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays
    if isinstance(stream, Careful) or not hasattr(stream, "buffer"):
        return stream
    return Careful(stream, failed, one_line=one_line)


def _lose(error: OSError) -> None:
    raise OutputLost(error)


def _drop(_: OSError) -> None:
    pass
