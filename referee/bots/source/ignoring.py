"""What in a bot's folder does not belong to the bot: what tools leave there, and what its `.botignore` names.

`.botignore` has one pattern per line, as in `fnmatch`: `*` matches any characters (a slash too), `?` one, `[ab]` one of
a set. Blank lines and lines that begin with `#` mean nothing. A pattern without a slash is matched with the name of
every file and folder; one with a slash with the whole path from the bot's folder on. A slash at its beginning or end is
dropped. A folder that matches is left out with everything in it. `!` before a pattern brings back what an earlier
pattern, or `LEFT_OUT`, leaves out: the last pattern that matches decides. `bot.toml` and `.botignore` always belong.
"""

from __future__ import annotations

from enum import Enum, auto
from fnmatch import fnmatchcase
from typing import NamedTuple

from protocol.text import readable
from referee.bots.source.globs import Globs
from referee.bots.source.texts import text_of
from referee.errors import InputError

MOST_BYTES = 1 << 16
_MOST_PATTERNS = 1000
_LONGEST = 1024
_MOST_CHARACTERS = 8192
"""Characters of all patterns together: matching takes time in proportion to them."""

_ALWAYS = ("bot.toml", ".botignore")
NEVER = (".git", "__pycache__")
"""Names of what belongs to no tree, whatever `.botignore` says: a copy of a bot may have bytecode of its own."""

LEFT_OUT = (
    *(".hg", ".svn", ".DS_Store", "._*", "__MACOSX", ".AppleDouble", ".Spotlight-V100", ".Trashes", ".fseventsd"),
    *("Thumbs.db", "ehthumbs.db", "desktop.ini", ".directory", "*~", ".*.swp", ".*.swo", ".#*", "#*#", ".nfs*"),
    *(".idea", ".vscode", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints"),
)
"""Patterns of what systems, editors and tools leave behind; `!` in `.botignore` brings any of them back."""


class IgnoreVerdict(Enum):
    """What a file or folder is to the tree."""

    KEPT = auto()
    IGNORED = auto()
    LEFT_BEHIND = auto()
    """Ignored because of `LEFT_OUT`, not because its author says so."""


class Folder(NamedTuple):
    """A folder of a tree: its path, empty or with a slash at the end, and the state of matching after that path."""

    path: str
    state: int


class Ignoring:
    """The patterns of one tree, `LEFT_OUT` first."""

    def __init__(self, data: bytes) -> None:
        """Read a `.botignore`. Raises InputError where it cannot be used."""
        lines = [*LEFT_OUT, *_lines(data)]
        patterns = [line.removeprefix("!") for line in lines]
        self._brings_back = {number for number, line in enumerate(lines) if line.startswith("!")}
        self._by_name = [number for number, pattern in enumerate(patterns) if "/" not in pattern.rstrip("/")]
        self._by_path = [number for number, pattern in enumerate(patterns) if "/" in pattern.rstrip("/")]
        self._names = Globs([patterns[number].strip("/") for number in self._by_name])
        self._paths = Globs([patterns[number].strip("/") for number in self._by_path])
        self.root = Folder("", self._paths.start)

    def judge(self, folder: Folder, name: str) -> IgnoreVerdict:
        """Return what something of this name in a folder is to the tree; the last pattern that matches decides."""
        if folder.path + name in _ALWAYS:
            return IgnoreVerdict.KEPT
        if name in NEVER:
            return IgnoreVerdict.IGNORED
        by_name = self._names.last_match(self._names.advance(self._names.start, name))
        by_path = self._paths.last_match(self._paths.advance(folder.state, name))
        last = max(self._by_name[by_name] if by_name >= 0 else -1, self._by_path[by_path] if by_path >= 0 else -1)
        if last < 0 or last in self._brings_back:
            return IgnoreVerdict.KEPT
        return IgnoreVerdict.LEFT_BEHIND if last < len(LEFT_OUT) else IgnoreVerdict.IGNORED

    def inside(self, folder: Folder, name: str) -> Folder:
        """Return the folder of this name in another one."""
        return Folder(f"{folder.path}{name}/", self._paths.advance(folder.state, f"{name}/"))


class IgnoringNothing(Ignoring):
    """For a copy, whose files all count, except those called as in `NEVER`."""

    def __init__(self) -> None:
        super().__init__(b"")

    def judge(self, folder: Folder, name: str) -> IgnoreVerdict:
        """See `Ignoring`."""
        del folder
        return IgnoreVerdict.IGNORED if name in NEVER else IgnoreVerdict.KEPT


def is_left_behind(name: str) -> bool:
    """True if `LEFT_OUT` names something called so."""
    return any(fnmatchcase(name, pattern) for pattern in LEFT_OUT)


def _lines(data: bytes) -> list[str]:
    text = text_of(data, "`.botignore`")
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.startswith("#")]
    if len(lines) > _MOST_PATTERNS:
        raise InputError(
            f"`.botignore` has {len(lines):,} patterns, and {_MOST_PATTERNS:,} are allowed: name folders, or use `*`"
        )
    for line in lines:
        if len(line) > _LONGEST:
            raise InputError(f"`.botignore` has `{readable(line, 40)}`, which is longer than any path")
    characters = sum(map(len, lines))
    if characters > _MOST_CHARACTERS:
        raise InputError(
            f"the patterns of `.botignore` have {characters:,} characters together, and {_MOST_CHARACTERS:,} are "
            "allowed: name folders, or use `*`"
        )
    return lines
