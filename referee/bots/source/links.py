"""Symbolic links in a bot's folder: whether they lead to something in it, wherever the folder is copied."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from protocol.text import readable
from referee.errors import InputError

_MOST_FOLLOWED = 40
"""Links on the way of one link, as in Linux."""

_MOST_STEPS = 100_000
"""Names on the ways of all links of a folder: checking takes time in proportion to them."""


class Links:
    """The links of one folder."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._steps = 0

    def check(self, path: str) -> str:
        """Return what the link at `path` holds.

        Raises InputError unless every step of its way is in the folder and something is at its end.
        """
        target = link_text(self._base / path)
        name = readable(path, 80)
        place = path.split("/")[:-1]
        left = _reversed_parts(target, name)
        followed = 0
        while left:
            self._steps += 1
            if self._steps > _MOST_STEPS:
                raise InputError("its links lead through too many folders: put files in the place of links")
            part = left.pop()
            if part == "..":
                if not place:
                    raise InputError(_leads_out(name))
                place.pop()
                continue
            mode = self._mode([*place, part], name)
            if stat.S_ISLNK(mode):
                followed += 1
                if followed > _MOST_FOLLOWED:
                    raise InputError(_leads_nowhere(name))
                left += _reversed_parts(link_text(self._base.joinpath(*place, part)), name)
                continue
            if left and not stat.S_ISDIR(mode):
                raise InputError(_leads_nowhere(name))
            place.append(part)
        return target

    def _mode(self, parts: list[str], name: str) -> int:
        try:
            return self._base.joinpath(*parts).lstat().st_mode
        except OSError:
            raise InputError(_leads_nowhere(name)) from None


def _reversed_parts(target: str, name: str) -> list[str]:
    if target.startswith("/"):
        raise InputError(_leads_out(name))
    return [part for part in reversed(target.split("/")) if part not in ("", ".")]


def _leads_out(name: str) -> str:
    return f"the link `{name}` leads out of the folder: put what it leads to into the folder"


def _leads_nowhere(name: str) -> str:
    return f"the link `{name}` leads nowhere: remove it, or make what it leads to"


def link_text(link: Path) -> str:
    """Return what a link holds, to the byte."""
    return os.readlink(link)  # noqa: PTH115 - Path.readlink drops `./` and doubled slashes
