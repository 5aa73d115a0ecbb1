"""Takes out of a folder what a build left in it, when all that could still change it is dead.

Nothing is trusted: no link is followed, no FIFO waited for, no owner, mode beyond "may be executed", hard link or hole
is kept, and it ends where there is more than was allowed.
"""

from __future__ import annotations

import os
import stat
from itertools import islice
from pathlib import Path

from protocol.text import readable
from referee.bots.source.tree import TreeLimits, check_path, what_is
from referee.errors import InputError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1 << 20


def copy_out(top: int, target: Path, limits: TreeLimits) -> None:
    """Copy files, folders and links from the open folder `top` into `target`, which is made.

    Raises InputError where something else is there, a path is too long, or there is more than `limits` allow; OSError
    where the disk is full.
    """
    target.mkdir()
    folders = [""]
    entries, left = 0, limits.size
    while folders:
        prefix = folders.pop()
        folder = _open(prefix or ".", _FOLDER, top, prefix)
        try:
            for name in _names(folder, limits.entries - entries + 1):
                path = prefix + name
                check_path(path)
                entries += 1
                if entries > limits.entries:
                    raise InputError(f"its build leaves more than {limits.entries:,} files")
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    (target / path).mkdir()
                    folders.append(f"{path}/")
                elif stat.S_ISLNK(status.st_mode):
                    (target / path).symlink_to(os.readlink(name, dir_fd=folder))
                elif stat.S_ISREG(status.st_mode):
                    left -= status.st_size
                    if left < 0:
                        raise InputError(f"its build leaves files of more than {limits.size >> 20} MiB")
                    _copy(folder, name, path, target / path)
                else:
                    raise InputError(
                        f"its build leaves `{readable(path, 80)}`, which is {what_is(status.st_mode)}: a bot is made "
                        "of files, folders and links"
                    )
        finally:
            os.close(folder)


def _names(folder: int, most: int) -> list[str]:
    """The names in a folder in their order; of very many only some, since a folder in memory may have millions."""
    with os.scandir(folder) as inside:
        return sorted(found.name for found in islice(inside, most))


def _copy(folder: int, name: str, path: str, target: Path) -> None:
    """Copy one file, as long as it was when it was opened."""
    source = _open(name, _FILE, folder, path)
    with open(source, "rb", buffering=0) as file, target.open("xb") as copy:
        status = os.fstat(source)
        left = status.st_size
        while left > 0 and (chunk := file.read(min(_CHUNK, left))):
            copy.write(chunk)
            left -= len(chunk)
    target.chmod(0o755 if status.st_mode & stat.S_IXUSR else 0o644)


def _open(name: str, flags: int, folder: int, path: str) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        raise InputError(f"its build leaves `{readable(path, 80)}`, which cannot be read") from None
