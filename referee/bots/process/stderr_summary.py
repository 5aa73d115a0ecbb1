"""What a program that broke said of it: the line of its stderr that names the error, and where in its source it was."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from protocol.text import readable

_QUOTED = 200
_PLACE_QUOTED = 80
_LINES = 400
"""How many lines from the end are looked at."""
_GREETING = "NOTE: Picked up JDK_JAVA_OPTIONS: "
"""What every Java begins with where it is told of its memory: no word of the program's."""


class _Language(NamedTuple):
    """How a language tells of an error: the line that names it, and lines that say where, the first or last of them.

    `before` is a line that says where, ahead of the one that names an error of syntax.
    """

    error: re.Pattern[str]
    place: re.Pattern[str]
    innermost: int
    before: re.Pattern[str] | None = None


_FIRST, _LAST = 0, -1
# Each in the form in which the usual runtime of the language prints an error that nobody caught.
_LANGUAGES = (
    # Go: `panic: …`, then a stack of functions, each followed by an indented path and line.
    _Language(re.compile(r"(?:panic|fatal error): .+"), re.compile(r"^\t(\S+\.go):(\d+)"), _FIRST),
    # Rust: `thread 'main' panicked at src/main.rs:12:5:`, the words on the next line.
    _Language(
        re.compile(r"thread '.*' (?:\(\d+\) )?panicked at .+"), re.compile(r"panicked at (\S+\.rs):(\d+)"), _LAST
    ),
    # Java: `Exception in thread "main" java.lang.…: …`, then `at Bot.main(Bot.java:12)`; Java's own lines, which may
    # come first, name their module: `at java.base/java.util.ArrayList.get(ArrayList.java:427)`.
    _Language(re.compile(r"Exception in thread .+"), re.compile(r"^\s+at [^/]*\(([\w$]+\.java):(\d+)\)"), _FIRST),
    # Node: place and source line, then `TypeError: …`, then `at play (/bot/bot.js:12:5)`, not for an error of syntax.
    _Language(
        re.compile(r"(?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .+"),
        re.compile(r"^\s+at .*?\(?(?:file://)?([^\s(]+\.[cm]?js):(\d+):\d+\)?"),
        _FIRST,
        re.compile(r"^(?:file://)?(/\S+\.[cm]?js):(\d+)$"),
    ),
    # C and C++ with an assertion, or with the compiler's sanitizers.
    _Language(
        re.compile(r".*Assertion .* failed.*|terminate called .+|.*ERROR: \w+Sanitizer: .+|.*: runtime error: .+"),
        re.compile(r"(\S+?\.(?:c|cc|cpp|h|hpp)):(\d+)"),
        _FIRST,
    ),
)
_PYTHON = "Traceback (most recent call last):"
_PYTHON_PLACE = re.compile(r'^\s+File "([^"]+)", line (\d+)')


def last_words(log: str) -> str:
    """The line of a log that names an error, with its place in the source where that is told; else its last line.

    Safe to show, and empty where the log is.
    """
    lines = [line for line in log.splitlines()[-_LINES:] if line.strip() and not line.startswith(_GREETING)]
    if not lines:
        return ""
    words, place = _python(lines) or _others(lines) or (lines[-1], None)
    shown = readable(words.strip(), _QUOTED)
    if place is None or f"{place[0]}:{place[1]}" in shown:
        return shown
    return f"{shown}, in line {place[1]} of {readable(place[0].rpartition('/')[2], _PLACE_QUOTED)}"


_Found = tuple[str, tuple[str, str] | None]


def _python(lines: list[str]) -> _Found | None:
    starts = [number for number, line in enumerate(lines) if line.strip() == _PYTHON]
    if not starts:  # an error of syntax has no traceback
        starts = [number - 1 for number, line in enumerate(lines) if _PYTHON_PLACE.match(line)][:1]
    if not starts:
        return None
    shown = lines[starts[-1] + 1 :]
    words = next((line for line in shown if not line.startswith((" ", "\t"))), None)
    if words is None:
        return None
    places = _places(shown, _PYTHON_PLACE)
    own = [place for place in places if "/lib/python" not in place[0] and not place[0].startswith("<")]
    found = own or places
    return words, found[_LAST] if found else None


def _others(lines: list[str]) -> _Found | None:
    for language in _LANGUAGES:
        for number in range(len(lines) - 1, -1, -1):
            if language.error.match(lines[number]):
                words = lines[number]
                if words.endswith(":") and number + 1 < len(lines):
                    words += f" {lines[number + 1].strip()}"
                places = _places(lines[number:], language.place)
                if not places and language.before is not None:
                    places = _places(lines[max(number - 4, 0) : number], language.before)
                return words, places[language.innermost] if places else None
    return None


def _places(lines: Iterable[str], pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    return [(found[1], found[2]) for line in lines if (found := pattern.search(line))]
