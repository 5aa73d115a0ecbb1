"""The limits that the kernel keeps for each process of a bot, and whether the referee's own let it set them."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import NamedTuple

from referee.bots.process.limits import MIB, Box

_STACK, _LARGEST_STACK = 8 * MIB, 64 * MIB
_SIGNALS = 256
_FLAGS = {"DATA": "-d", "STACK": "-s", "NPROC": "-u", "FSIZE": "-f", "NOFILE": "-n"}
"""The option of the shell's `ulimit` for each limit that a bot may not have less of than it is promised."""
_UNITS = {"DATA": 1024, "STACK": 1024, "FSIZE": 1024}


class ProcessLimit(NamedTuple):
    """One limit: the name that follows `RLIMIT_`, the number of the resource, and the two values."""

    name: str
    kind: int
    soft: int
    hard: int


def process_limits(box: Box, *, processes: int | None) -> list[ProcessLimit]:
    """Return the limits of one process in a box, as far as this system knows them.

    `processes` limits the processes of its user; None: leave that as it is. Address space is not limited, since Go,
    Node and Java reserve gigabytes that they never touch.
    """
    wanted = {
        "DATA": (box.memory, box.memory),
        "STACK": (min(_STACK, box.memory), min(_LARGEST_STACK, box.memory)),
        "FSIZE": (box.file_size, box.file_size),
        "NOFILE": (box.open_files, box.open_files),
        "CORE": (0, 0),
        "MEMLOCK": (0, 0),
        "MSGQUEUE": (0, 0),
        "SIGPENDING": (_SIGNALS, _SIGNALS),
        "RTPRIO": (0, 0),
    }
    if processes is not None:
        wanted["NPROC"] = (processes, processes)
    found = []
    for name, (soft, hard) in wanted.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is not None:
            most = hard if name in _FLAGS else min(hard, _hard(kind, hard))
            found.append(ProcessLimit(name, kind, min(soft, most), most))
    return found


def shortfall(box: Box) -> str | None:
    """Return the first limit of the referee's own that is lower than a bot's, in words; None where none is."""
    for name, kind, _, wanted in process_limits(box, processes=box.processes):
        own = _hard(kind, wanted)
        if own < wanted and name in _FLAGS:
            unit = _UNITS.get(name, 1)
            return f"the hard limit `ulimit -H{_FLAGS[name][1:]}` is {own // unit}, and a bot gets {wanted // unit}"
    return None


def crowded(box: Box) -> str | None:
    """Return why this user cannot have the processes of one more bot, in words; None where the limit is not near."""
    most = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if most == resource.RLIM_INFINITY or os.geteuid() == 0:  # root's boxes are another user's, who has no others
        return None
    there = sum(_threads(place) for place in Path("/proc").glob("[0-9]*"))
    if there + box.processes < most:
        return None
    return f"this user has {there} processes and threads, and `ulimit -u` allows {most}"


def _threads(process: Path) -> int:
    """Return how many threads a process has, 0 where it is another user's or gone."""
    try:
        if process.stat().st_uid != os.getuid():
            return 0
        return len(os.listdir(process / "task"))  # noqa: PTH208 - only their number
    except OSError:
        return 0


def _hard(kind: int, otherwise: int) -> int:
    """Return the referee's own hard limit, `otherwise` where it has none."""
    hard = resource.getrlimit(kind)[1]
    return otherwise if hard == resource.RLIM_INFINITY else hard
