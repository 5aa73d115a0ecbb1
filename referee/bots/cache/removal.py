"""Removes whole trees, whatever a bot made of them: a thousand folders deep, closed to their owner, still growing."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PASSES = 3
"""How often a tree that somebody still writes to is gone through."""


def remove_tree(folder: Path) -> bool:
    """Remove a folder with all that is in it; True where nothing is left of it. Never raises OSError.

    No link is followed. Every folder inside is first moved to the top, so that neither depth nor the length of a
    path has a limit, and two descriptors do.
    """
    for _ in range(_PASSES):
        with contextlib.suppress(OSError):
            _empty(folder)
        with contextlib.suppress(OSError):
            folder.rmdir()
        if not os.path.lexists(folder):
            return True
    return False


def _empty(folder: Path) -> None:
    top = _open(str(folder), None)
    try:
        prefix = os.urandom(8).hex()
        waiting = _remove_files(top)
        moved = 0
        while waiting:
            name = waiting.pop()
            with contextlib.suppress(OSError):
                within = _open(name, top)
                try:
                    for inner in _remove_files(within):
                        moved += 1
                        with contextlib.suppress(OSError):
                            waiting.append(_move(inner, within, f"{prefix}{moved}", top))
                finally:
                    os.close(within)
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)


def _remove_files(folder: int) -> list[str]:
    """Remove all files in an open folder; return the names of its folders."""
    folders = []
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                folders.append(name)
            else:
                os.unlink(name, dir_fd=folder)
    return folders


def _move(name: str, folder: int, new_name: str, top: int) -> str:
    os.close(_open(name, folder))  # a folder that is closed to its owner cannot be moved either
    os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=top)
    return new_name


def _open(name: str, folder: int | None) -> int:
    """Open a folder, made accessible first; a link in its place is an OSError."""
    with contextlib.suppress(OSError):
        _give_access(name, folder)
    return os.open(name, _FOLDER, dir_fd=folder)


def _give_access(name: str, folder: int | None) -> None:
    if not hasattr(os, "O_PATH"):
        os.chmod(name, 0o700, dir_fd=folder, follow_symlinks=False)
        return
    # Linux has no chmod that does not follow links; through a descriptor there is no link to follow.
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        Path(f"/proc/self/fd/{handle}").chmod(0o700)
    finally:
        os.close(handle)
