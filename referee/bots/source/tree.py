"""The files of a bot: read without following a link out of them, named by one hash, copied.

A tree is a folder, or a single file, which counts as a folder with that one file in it. What does not belong to it is
in `referee.bots.source.ignoring`; empty folders do not either.

A link belongs to the tree as a link, and is never followed. It must be relative, lead to something in the folder, and
not leave the folder on its way, so that it leads to the same in a copy (`referee.bots.source.links`).
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import BinaryIO, NamedTuple

from protocol.text import readable
from referee.bots.source.ignoring import MOST_BYTES, Folder, IgnoreVerdict, Ignoring
from referee.bots.source.links import Links, link_text
from referee.errors import InputError

_CHUNK = 1 << 20
_LONGEST_PATH = 1024
_MOST_NAMED = 20
"""Paths that are kept of what was left out."""


class TreeLimits(NamedTuple):
    """How much a tree may hold: files, folders and links together, and the bytes of all files.

    `seen` and `names` also count what is ignored: files, folders and links, and the characters of their names.
    """

    entries: int
    size: int
    seen: int = sys.maxsize
    names: int = sys.maxsize


AS_GIVEN = TreeLimits(20_000, 256 << 20, 50_000, 2 << 20)
"""For what an author hands in."""


class EntryKind(Enum):
    """What stands at a path, and its letter in the hash."""

    FILE = b"f"
    PROGRAM = b"x"
    LINK = b"l"


class TreeEntry(NamedTuple):
    """A file or link of a tree: its path in the tree, with `/` between names, and its size in bytes."""

    path: str
    kind: EntryKind
    size: int


class Tree(NamedTuple):
    """The files and links of a tree, in the order of the bytes of their paths; `base` is where the paths begin.

    `left_out` are the first paths that do not belong to it because of `referee.bots.source.ignoring.LEFT_OUT`.
    """

    base: Path
    entries: tuple[TreeEntry, ...]
    left_out: tuple[str, ...] = ()

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

    def content(self, entry: TreeEntry) -> Iterator[bytes]:
        """The bytes of one entry, in pieces. Raises InputError where they are no longer as many as they were."""
        path = self.base / entry.path
        if entry.kind is EntryKind.LINK:
            yield os.fsencode(link_text(path))
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
            if entry.kind is EntryKind.LINK:
                target.symlink_to(link_text(self.base / entry.path))
                continue
            with target.open("xb") as file:
                file.writelines(self.content(entry))
            target.chmod(0o755 if entry.kind is EntryKind.PROGRAM else 0o644)


def _number(value: int) -> bytes:
    return value.to_bytes(8, "big")


def scan(root: Path, *, ignoring: Ignoring | None = None, limits: TreeLimits = AS_GIVEN) -> Tree:
    """Return the tree at `root`, its files not yet read; without `ignoring`, its own `.botignore` is read.

    Raises InputError where something in it is neither file, folder nor link, a link leads out, a path is longer
    than 1,024 bytes or not valid UTF-8, or there is more of it than `limits` allow.
    """
    left_out: list[str] = []
    if stat.S_ISDIR(root.lstat().st_mode):
        base, entries = root, list(_walk(root, _ignoring_in(root) if ignoring is None else ignoring, limits, left_out))
    else:
        base, entries = root.parent, [_entry(root.parent, root.name, Links(root.parent))]
    size = sum(entry.size for entry in entries)
    if size > limits.size:
        raise InputError(
            f"its files have {size >> 20} MiB, and {limits.size >> 20} are allowed: name in .botignore what it need not"
        )
    in_order = sorted(entries, key=lambda entry: entry.path.encode())
    return Tree(base, tuple(in_order), tuple(sorted(left_out)[:_MOST_NAMED]))


def _ignoring_in(root: Path) -> Ignoring:
    try:
        return Ignoring(read_small(root / ".botignore", MOST_BYTES))
    except FileNotFoundError:
        return Ignoring(b"")


def _walk(root: Path, ignoring: Ignoring, limits: TreeLimits, left_out: list[str]) -> Iterator[TreeEntry]:
    """Yield the files and links, and append to `left_out`."""
    links = Links(root)
    folders = [ignoring.root]
    count = 0
    for folder, found in _seen(root, folders, limits):
        path = folder.path + found.name
        match ignoring.judge(folder, found.name):
            case IgnoreVerdict.LEFT_BEHIND:
                left_out.append(path)
                continue
            case IgnoreVerdict.IGNORED:
                continue
        count += 1
        if count > limits.entries:
            raise InputError(f"it has more than {limits.entries:,} files: name in .botignore what it need not")
        if found.is_dir(follow_symlinks=False):
            check_path(path)
            folders.append(ignoring.inside(folder, found.name))
        else:
            yield _entry(root, path, links)


def _seen(root: Path, folders: list[Folder], limits: TreeLimits) -> Iterator[tuple[Folder, os.DirEntry[str]]]:
    """Yield what is in the folders, to which the caller adds. Raises InputError where it is too much to look at."""
    count = names = 0
    while folders:
        folder = folders.pop()
        with os.scandir(root / folder.path) as inside:
            for found in inside:
                count += 1
                names += len(found.name)
                if count > limits.seen or names > limits.names:
                    raise InputError(
                        f"it has more than {limits.seen:,} files and folders, or names with more than "
                        f"{limits.names:,} characters together, even with what it ignores: move them elsewhere"
                    )
                yield folder, found


def _entry(base: Path, path: str, links: Links) -> TreeEntry:
    check_path(path)
    status = (base / path).lstat()
    if stat.S_ISLNK(status.st_mode):
        return TreeEntry(path, EntryKind.LINK, len(os.fsencode(links.check(path))))
    if not stat.S_ISREG(status.st_mode):
        raise InputError(
            f"`{readable(path, 80)}` is {what_is(status.st_mode)}: a bot is made of files, folders and links"
        )
    return TreeEntry(path, EntryKind.PROGRAM if status.st_mode & stat.S_IXUSR else EntryKind.FILE, status.st_size)


def check_path(path: str) -> None:
    """Raise InputError if a path in a tree is not UTF-8, or is too long."""
    try:
        length = len(path.encode())
    except UnicodeEncodeError:
        raise InputError(f"`{readable(os.fsencode(path), 80)}` is a name that is not UTF-8: rename it") from None
    if length > _LONGEST_PATH:
        raise InputError(f"`{readable(path, 40)}` is a path of {length:,} bytes, and {_LONGEST_PATH:,} are allowed")


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
