"""Removal of empty groups: those of a process that ends, and those that killed referees left. Nothing here raises.

A name of a living maker, of another pid namespace or of another form than ours is never touched.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from referee.bots.process import system
from referee.bots.sandbox.cgroup_homes import Version
from referee.bots.sandbox.cgroups import PREFIX, home_or_none, home_that_was_used, remove_folder

_PATIENCE, _PAUSE = 2.0, 0.005
"""How long, and how often, the kernel is waited for until the killed are out of their group, in seconds."""


def remove_own() -> None:
    """Remove all groups that this process made, whose boxes were killed; for its end."""
    where = home_that_was_used()
    if where is not None:
        tag = f"{where.maker.tag}-"
        _clear(where.folders.values(), lambda name: name.startswith(tag), time.monotonic() + _PATIENCE)


def sweep() -> None:
    """Remove the groups of dead makers beside our own, as a killed worker leaves them; nothing where none were made."""
    where = home_that_was_used()
    if where is not None:
        _clear(where.folders.values(), where.maker.is_of_the_dead, time.monotonic() + _PATIENCE)


def sweep_everywhere() -> None:
    """Remove the groups of dead makers wherever they are, as a killed referee leaves them below its own group.

    With version 2 they are in a scope that has ended, and its creator removes them.
    """
    where = home_or_none()
    if where is not None and where.version is Version.ONE:
        for top in where.tops:
            _clear((Path(folder) for folder, _, _ in os.walk(top)), where.maker.is_of_the_dead, 0.0)


def _clear(folders: Iterable[Path], unwanted: Callable[[str], bool], until: float) -> None:
    """Remove the groups in `folders` that are `unwanted` by what follows our prefix. Never raises.

    Those whose processes are not over yet are tried again `until` the monotonic clock's time.
    """
    left = [
        folder / name
        for folder in folders
        for name in _names(folder)
        if name.startswith(PREFIX) and unwanted(name.removeprefix(PREFIX))
    ]
    while left := [place for place in left if not remove_folder(place)]:
        for place in left:
            _kill_all_in(place)
        if time.monotonic() > until:
            return
        time.sleep(_PAUSE)


def _kill_all_in(place: Path) -> None:
    """Kill what lives on in a group whose maker is dead or ends: a box that was killed before it was tied to anyone."""
    with contextlib.suppress(OSError):
        for pid in (place / "cgroup.procs").read_text().split():
            system.kill(int(pid))


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - a walk through thousands
    except OSError:
        return []
