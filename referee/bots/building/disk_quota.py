"""True if a build that nothing bounds takes too much of the disk: by what lies in its folders, and by what is free."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from referee.bots.process.workbench import LEAST_FREE

_BLOCK = 512
_PAUSE = 10
"""How many times as long as a walk through the folders took there is none."""
_SHORTEST = 0.1
_LONGEST_PATH = 4000
"""Bytes; the system takes no path of 4,096 at once, and a bot may have none of more than 1,024."""


class DiskQuota:
    """Looks at some folders of one disk.

    A file that was removed and is still open is found in no folder: that the disk runs out is seen by what is free.
    """

    def __init__(self, folders: Sequence[Path], most: int, *, least_free: int = LEAST_FREE) -> None:
        self._folders = folders
        self._most = most
        self._least_free = min(least_free, shutil.disk_usage(folders[0]).free // 2)
        self._next_walk = 0.0

    def exceeded(self) -> str | None:
        """What is taken too much of, None where nothing is; to be asked often."""
        if shutil.disk_usage(self._folders[0]).free < self._least_free:
            return f"left less than {self._least_free >> 20} MiB of the disk free"
        began = time.monotonic()
        if began < self._next_walk:
            return None
        size = 0
        for blocks in self._blocks():
            if blocks is None:
                return "made paths of more than 4,000 bytes"
            size += blocks * _BLOCK
            if size > self._most:
                return f"wrote more than {self._most >> 20} MiB"
        ended = time.monotonic()
        self._next_walk = ended + max(_SHORTEST, _PAUSE * (ended - began))
        return None

    def _blocks(self) -> Iterator[int | None]:
        """What each file has of the disk; None where a path is so long that nothing below it can be looked at."""
        waiting = [str(folder) for folder in self._folders]
        while waiting:
            folder = waiting.pop()
            if len(os.fsencode(folder)) > _LONGEST_PATH:
                yield None
            with suppress(OSError), os.scandir(folder) as inside:
                for found in inside:
                    with suppress(OSError):
                        if found.is_dir(follow_symlinks=False):
                            waiting.append(found.path)
                        else:
                            yield found.stat(follow_symlinks=False).st_blocks
