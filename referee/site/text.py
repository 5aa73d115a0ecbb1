"""Text of others made fit to show: one line, nothing unseen in it, no markup of the place where it goes."""

from __future__ import annotations

import re
import unicodedata

_SPACES = re.compile(r"\s+")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_MARKS = frozenset({"Mn", "Me"})
_MARKS_IN_A_ROW = 2
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~&@!$^]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_LEADING = re.compile(r"^(\d*)([-+=.)])")
_FORMULA = ("=", "+", "-", "@")


def plain(text: str, *, limit: int = 400) -> str:
    """`text` on one line of at most `limit` characters, longer ones cut with an ellipsis.

    Control characters, those that reorder or hide text, lone surrogates, unassigned ones and blanks posing as
    letters go, as do accents beyond two on a letter; letters of every script stay.
    """
    # A few accents per letter may go: what is worth cutting is known before a novel is normalised.
    flat = _SPACES.sub(" ", unicodedata.normalize("NFC", text[: 8 * limit]))
    shown: list[str] = []
    marks = 0
    for char in flat:
        category = unicodedata.category(char)
        if category in _UNSEEN or char in _BLANKS:
            continue
        marks = marks + 1 if category in _MARKS else 0
        if marks <= _MARKS_IN_A_ROW:
            shown.append(char)
    line = _SPACES.sub(" ", "".join(shown)).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def markdown(text: str) -> str:
    """`text` for a Markdown list or table cell, where it shows as it is: no markup, no HTML, no link, no new cell."""
    escaped = _MARKUP.sub(lambda match: "\\" + match[0], text)
    return _LEADING.sub(r"\1\\\2", escaped)


def cell(text: str) -> str:
    """`text` for a CSV cell: what a spreadsheet would run as a formula gets an apostrophe in front."""
    return "'" + text if text.lstrip("\t\r\n ").startswith(_FORMULA) else text
