"""Single keys from a terminal, which is left as it was."""

from __future__ import annotations

import os
import select
import sys

if sys.platform != "win32":
    import termios
    import tty


class Keys:
    """Inside, standard input gives each key at once and shows none; where it is no terminal there are no keys."""

    def __init__(self) -> None:
        self._input = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
        self._before: list[object] | None = None

    @property
    def are_there(self) -> bool:
        """Whether anybody could press one."""
        return self._input is not None

    def __enter__(self) -> Keys:
        if self._input is not None:
            self._before = list(termios.tcgetattr(self._input))
            tty.setcbreak(self._input)
        return self

    def __exit__(self, *_: object) -> None:
        if self._input is not None and self._before is not None:
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]

    def within(self, seconds: float) -> str | None:
        """The next key, or None where none was pressed in that time. "" says that the terminal is gone."""
        watched = [] if self._input is None else [self._input]
        if not select.select(watched, [], [], max(seconds, 0))[0] or self._input is None:
            return None
        try:
            return os.read(self._input, 1).decode("latin-1")
        except OSError:
            return ""
