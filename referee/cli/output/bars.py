"""Intervals drawn as lines of text on a common axis, with the characters that a terminal can show."""

from __future__ import annotations

import locale
import math
import os
from dataclasses import dataclass
from typing import IO

from referee.site.axis import Axis


@dataclass(frozen=True, slots=True)
class Charset:
    """What intervals and numbers are written with: the ends, the line and the value, the middle of all scores."""

    left: str = "├"
    line: str = "─"
    right: str = "┤"
    value: str = "●"
    middle: str = "┊"
    ascii: bool = False

    def words(self, text: str) -> str:
        """A text in these characters."""
        return text.translate(_PLAIN) if self.ascii else text


UNICODE = Charset()
ASCII = Charset("|", "-", "|", "o", ":", ascii=True)

_PLAIN = str.maketrans({"–": "-", "−": "-", "±": "+/-", "…": "...", "×": "x", "·": "-"})


def charset_of(stream: IO[str]) -> Charset:
    """ASCII where the stream, or the locale that somebody chose, knows no other characters."""
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "").replace("_", "")
    return UNICODE if encoding.startswith("utf") and _unicode_locale() else ASCII


def _unicode_locale() -> bool:
    """Python takes the locales C and POSIX for UTF-8, which terminals that were set up so need not know."""
    chosen = next((os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)), "")
    return not chosen or "utf" in chosen.lower() or "utf" in locale.normalize(chosen).lower()


@dataclass(frozen=True, slots=True)
class Bars:
    """Drawings of `width` characters on one axis."""

    axis: Axis
    width: int

    def head(self) -> str:
        """What stands above the drawings: where the axis begins and ends."""
        low, high = self.axis.ends
        return low + high.rjust(self.width - len(low))

    def draw(self, value: float | None, low: float | None, high: float | None, charset: Charset) -> str:
        """The value, and its interval where it is known; nothing where there is no value."""
        if value is None:
            return ""
        cells = [" "] * self.width
        if self.axis.shows_middle:
            cells[self._cell(0.5)] = charset.middle
        if low is not None and high is not None:
            first, last = self._cell(low), self._cell(high)
            cells[first : last + 1] = charset.line * (last - first + 1)
            cells[first], cells[last] = charset.left, charset.right
        cells[self._cell(value)] = charset.value
        return "".join(cells)

    def _cell(self, value: float) -> int:
        return min(max(math.floor(self.axis.share(value) * self.width + 1e-9), 0), self.width - 1)
