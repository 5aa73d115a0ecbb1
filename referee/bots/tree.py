"""The files of a bot: read without following a link out of them, named by one hash, copied.

A tree is a folder, or a single file, which counts as a folder with that one file in it. Not part of it: what is
called `.git` or `__pycache__`, what its `.botignore` names, and empty folders.

`.botignore` has a pattern a line, as in `fnmatch`: `*` stands for any characters (a slash too), `?` for one, `[ab]` for
one of those; blank lines and lines that begin with `#` say nothing. A pattern without a slash is matched with the name
of every file and folder; one with a slash with the whole path from the bot's folder on, a slash at its beginning or
end dropped. A folder that matches goes with all that is in it. `bot.toml` and `.botignore` itself always belong to it.

A link belongs to the tree as a link, and is never followed. It must be relative, lead to something in the folder, and
not leave the folder on its way, so that it leads to the same in a copy.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from enum import Enum
from fnmatch import translate
from pathlib import Path
from typing import BinaryIO, NamedTuple

from protocol.text import readable
from referee.errors import InputError

_CHUNK = 1 << 20
_LONGEST_PATH = 1024
_LONGEST_IGNORE = 1 << 16
_MOST_PATTERNS = 1000
_ALWAYS = ("bot.toml", ".botignore")
_NEVER = (".git", "__pycache__")

Ignored = Callable[[str], bool]
"""Whether the file or folder at a path, relative to the tree, is no part of it."""


class Limits(NamedTuple):
    """How much a tree may hold: files, folders and links together, and the bytes of all files."""

    entries: int
    size: int


AS_GIVEN = Limits(20_000, 256 << 20)
"""For what an author hands in."""


class Kind(Enum):
    """What stands at a path, and its letter in the hash."""

    FILE = b"f"
    PROGRAM = b"x"
    LINK = b"l"


class Entry(NamedTuple):
    """A file or link of a tree: its path in the tree, with `/` between names, and its size in bytes."""

    path: str
    kind: Kind
    size: int


class Tree(NamedTuple):
    """The files and links of a tree, in the order of the bytes of their paths; `base` is where the paths begin."""

    base: Path
    entries: tuple[Entry, ...]

    def hash(self) -> str:
        """The SHA-256 of the tree, in hex.

        The specification, for other languages; a number is 8 bytes, most significant first:

        1. The 18 characters `referee bot tree 1` in ASCII, and LF.
        2. For each file and link, in the order of the bytes of their paths (UTF-8, relative, `/` between names):
           one byte, `x` for a file that its owner may execute, `f` for another file, `l` for a link; the length of
           the path and the path; the length of the content and the content, for a link the path that it holds.

        Folders are not in it, nor is the tree's own name, unless it is a single file. Raises InputError.
        """
        digest = hashlib.sha256(b"referee bot tree 1\n")
        for entry in self.entries:
            path = entry.path.encode()
            digest.update(entry.kind.value + _number(len(path)) + path + _number(entry.size))
            for chunk in self.content(entry):
                digest.update(chunk)
        return digest.hexdigest()

    def content(self, entry: Entry) -> Iterator[bytes]:
        """The bytes of one entry, in pieces. Raises InputError where they are no longer as many as they were."""
        path = self.base / entry.path
        if entry.kind is Kind.LINK:
            yield os.fsencode(_link_text(path))
            return
        left = entry.size
        with open_regular(path) as file:
            while chunk := file.read(min(_CHUNK, left + 1)):
                left -= len(chunk)
                if left < 0:
                    break
                yield chunk
        if left:
            raise InputError(f"`{readable(entry.path, 80)}` was changed while it was read: try again")

    def copy_to(self, folder: Path) -> None:
        """Copy every file and link into `folder`, which is made. Raises InputError and OSError."""
        folder.mkdir()
        for entry in self.entries:
            target = folder / entry.path
            target.parent.mkdir(parents=True, exist_ok=True)
            if entry.kind is Kind.LINK:
                target.symlink_to(_link_text(self.base / entry.path))
                continue
            with target.open("xb") as file:
                file.writelines(self.content(entry))
            target.chmod(0o755 if entry.kind is Kind.PROGRAM else 0o644)


def _number(value: int) -> bytes:
    return value.to_bytes(8, "big")


def scan(root: Path, *, ignored: Ignored | None = None, limits: Limits = AS_GIVEN) -> Tree:
    """The tree at `root`, its files not yet read; without `ignored`, what its own `.botignore` says is left out.

    Raises InputError where something in it is neither file, folder nor link, a link leads out, a path is longer
    than 1,024 bytes or no UTF-8, or there is more of it than `limits` allow.
    """
    if stat.S_ISDIR(root.lstat().st_mode):
        base, entries = root, list(_walk(root, _ignored_in(root) if ignored is None else ignored, limits))
    else:
        base, entries = root.parent, [_entry(root.parent, root.name)]
    size = sum(entry.size for entry in entries)
    if size > limits.size:
        raise InputError(
            f"its files have {size >> 20} MiB, and {limits.size >> 20} are allowed: name in .botignore what it need not"
        )
    return Tree(base, tuple(sorted(entries, key=lambda entry: entry.path.encode())))


def _walk(root: Path, ignored: Ignored, limits: Limits) -> Iterator[Entry]:
    folders = [""]
    seen = 0
    while folders:
        prefix = folders.pop()
        with os.scandir(root / prefix) as inside:
            for found in inside:
                path = prefix + found.name
                if ignored(path):
                    continue
                seen += 1
                if seen > limits.entries:
                    raise InputError(f"it has more than {limits.entries:,} files: name in .botignore what it need not")
                if found.is_dir(follow_symlinks=False):
                    check_path(path)
                    folders.append(f"{path}/")
                else:
                    yield _entry(root, path)


def _entry(base: Path, path: str) -> Entry:
    check_path(path)
    place = base / path
    status = place.lstat()
    if stat.S_ISLNK(status.st_mode):
        return Entry(path, Kind.LINK, len(os.fsencode(_target_inside(base, place))))
    if not stat.S_ISREG(status.st_mode):
        raise InputError(
            f"`{readable(path, 80)}` is {what_is(status.st_mode)}: a bot is made of files, folders and links"
        )
    return Entry(path, Kind.PROGRAM if status.st_mode & stat.S_IXUSR else Kind.FILE, status.st_size)


def check_path(path: str) -> None:
    """Raise InputError where a path in a tree is no UTF-8, or too long."""
    try:
        length = len(path.encode())
    except UnicodeEncodeError:
        raise InputError(f"`{readable(os.fsencode(path), 80)}` is a name that is no UTF-8: rename it") from None
    if length > _LONGEST_PATH:
        raise InputError(f"`{readable(path, 40)}` is a path of {length:,} bytes, and {_LONGEST_PATH:,} are allowed")


def _target_inside(base: Path, link: Path) -> str:
    """What `link` holds. Raises InputError unless every step of its way is in `base` and the last one is there."""
    name = readable(str(link.relative_to(base)), 80)
    target = _link_text(link)
    home = Path(os.path.realpath(base))
    step = link.parent
    for part in Path(target).parts:
        step = step / part
        if target.startswith("/") or not Path(os.path.realpath(step)).is_relative_to(home):
            raise InputError(f"the link `{name}` leads out of the folder: put what it leads to into the folder")
    if not step.exists():
        raise InputError(f"the link `{name}` leads nowhere: remove it, or make what it leads to")
    return target


def _link_text(link: Path) -> str:
    return os.readlink(link)  # noqa: PTH115 - Path.readlink drops `./` and doubled slashes


def what_is(mode: int) -> str:
    """What stands at a path, by its mode, in words."""
    kinds = {
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
        stat.S_IFDIR: "a folder",
        stat.S_IFLNK: "a link",
    }
    return kinds.get(stat.S_IFMT(mode), "no regular file")


def open_regular(path: Path) -> BinaryIO:
    """`path` opened for reading, at once even if it is a FIFO. Raises InputError unless it is a regular file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        _refuse_irregular(path, path.lstat().st_mode)
        raise
    try:
        _refuse_irregular(path, os.fstat(descriptor).st_mode)
    except InputError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _refuse_irregular(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise InputError(f"`{readable(path.name, 80)}` is {what_is(mode)} and no regular file")


def read_small(path: Path, limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes. Raises InputError, OSError where it is not there."""
    with open_regular(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(
            f"`{readable(path.name, 80)}` has more than {limit:,} bytes, which is too much for such a file"
        )
    return data


def _ignored_in(root: Path) -> Ignored:
    try:
        text = read_small(root / ".botignore", _LONGEST_IGNORE).decode()
    except FileNotFoundError:
        return only_by_rule
    except UnicodeDecodeError:
        raise InputError("`.botignore` is no UTF-8: save it as such") from None
    patterns = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(patterns) > _MOST_PATTERNS:
        raise InputError(
            f"`.botignore` has {len(patterns):,} patterns, and {_MOST_PATTERNS:,} are allowed: name folders, or use `*`"
        )
    for pattern in patterns:
        if len(pattern) > _LONGEST_PATH:
            raise InputError(f"`.botignore` has `{readable(pattern, 40)}`, which is longer than any path")
        if pattern.startswith("!"):
            raise InputError(f"`.botignore` has `{readable(pattern, 80)}`, and there are no exceptions with `!`")
    is_path = _any_of([pattern.strip("/") for pattern in patterns if "/" in pattern.rstrip("/")])
    is_name = _any_of([pattern.strip("/") for pattern in patterns if "/" not in pattern.rstrip("/")])

    def ignored(path: str) -> bool:
        if path in _ALWAYS:
            return False
        return only_by_rule(path) or is_name(path.rpartition("/")[2]) or is_path(path)

    return ignored


def _any_of(patterns: list[str]) -> Ignored:
    """Whether one of some patterns matches, found in one search: an author may have many, and many files."""
    if not patterns:
        return lambda _: False
    match = re.compile("|".join(map(translate, patterns))).match
    return lambda name: match(name) is not None


def only_by_rule(path: str) -> bool:
    """What is ignored in every tree: `.git` and `__pycache__`."""
    return path.rpartition("/")[2] in _NEVER
