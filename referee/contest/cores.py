"""Where games are played on this machine: the processors of each worker, and of its bots."""

from __future__ import annotations

import socket
import sys

from referee.bots.process import system
from referee.errors import InputError

Cores = tuple[frozenset[int] | None, frozenset[int] | None]
"""A worker's processors, and those of its bots where they are not its own."""

_NAME = "\0referee-processor"
"""How the names of claims begin."""
_MOST = 16
"""How many commands at most count for one processor."""
_claims: list[socket.socket] = []
"""What this command has claimed; the kernel takes it back when the process ends, however it ends."""


def cores_of(jobs: int | None, per_game: int | None = None) -> list[Cores]:
    """For each of `jobs` workers, None for as many as the processors allow; its bots get `per_game` of their own.

    Processors on which no other referee plays come first. Raises InputError if there are not enough processors.
    """
    usable = len(system.usable_cores())
    if per_game is None:
        cores = claim(min(jobs or usable, usable))
        return [(frozenset({cores[job % len(cores)]}), None) for job in range(jobs or usable)]
    most = usable // per_game
    if (jobs or 1) > most:
        needed = per_game * (jobs or 1)
        raise InputError(f"--cores-per-bot {per_game} with so many jobs needs {needed} processors of {usable}")
    cores = sorted(claim(per_game * (jobs or most)))
    shares = [frozenset(cores[job * per_game : (job + 1) * per_game]) for job in range(jobs or most)]
    return [(share, share) for share in shares]


def share_a_core() -> None:
    """Keep this process, and the bots it starts, on one processor: only one of them ever has work.

    Waking another costs more than the work itself.
    """
    system.pin_to(set(claim(1)))


def claim(count: int) -> list[int]:
    """Claim `count` processors, first those that the fewest referees of this machine have claimed.

    What the same process claimed before is given back.
    """
    while _claims:
        _claims.pop().close()
    cores = system.usable_cores()
    found: list[int] = []
    for turn in range(_MOST):
        for core in cores:
            if len(found) < count and core not in found and _is_mine(core, turn):
                found.append(core)
    return (found + [core for core in cores if core not in found])[:count]


def _is_mine(core: int, turn: int) -> bool:
    """Take a name that stands for a processor, and that only one process of this machine can have; True if it is free.

    Such a name of Linux's, an abstract socket, is no file: it needs no folder and no rights, and nothing stays of it.
    """
    if not sys.platform.startswith("linux"):
        return True
    mine = socket.socket(socket.AF_UNIX)
    try:
        mine.bind(f"{_NAME}-{core}-{turn}")
    except OSError:
        mine.close()
        return False
    _claims.append(mine)
    return True
