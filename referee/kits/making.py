"""From a starter kit to a bot of one's own: a copy with another name."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from referee.bots.source.manifest import BOT_FILE, check_name
from referee.bots.source.tree import scan
from referee.errors import InputError
from referee.kits.catalogue import Kit
from referee.outputs import check_place

_NAME = re.compile(r"""(?<=["'])greedy(?=\\?["'])""")
"""Every kit calls itself greedy, in quotes: in its `ready`. Names of packages, which nobody sees, are `bot`."""
_TITLE = re.compile(r"\A# \S+")
_AUTHOR = re.compile(r'^author = ".*"$', re.MULTILINE)


def make(kit: Kit, name: str, place: Path) -> Path:
    """Copy a kit to the folder `name` in `place`, which is made too, with that name in it, and return the folder.

    Raises InputError, in one sentence, where the name is none for a bot, is taken, or cannot be written.
    """
    check_name(name)
    folder = place / name
    if os.path.lexists(folder):
        raise InputError(f"{name} is there already: take another name, or remove it")
    check_place(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=place) as scratch:
            made = Path(scratch) / name
            scan(kit.path).copy_to(made)
            _rename(made, kit, name)
            made.rename(folder)
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror}") from None
    return folder


def _rename(folder: Path, kit: Kit, name: str) -> None:
    for file, pattern, text in (
        (kit.source, _NAME, name),
        ("README.md", _TITLE, f"# {name}"),
        (BOT_FILE, _AUTHOR, '# author = "your name"'),
    ):
        path = folder / file
        path.write_text(pattern.sub(text, path.read_text("utf-8")), "utf-8")
