"""Compilers where a sandbox may see them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def linked_copy(source: Path, target: Path, *, symlinks: bool = False) -> Path:
    """A copy of a folder whose files are hard links where the disk is the same; `symlinks` is that of `copytree`."""
    return shutil.copytree(source, target, copy_function=_link_or_copy, symlinks=symlinks)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
