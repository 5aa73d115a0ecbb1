"""The limits that the kernel keeps for each process of a bot, and whether the referee's own let it set them."""

from __future__ import annotations

import resource
from typing import NamedTuple

from referee.bots.limits import MIB, Box

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


def _hard(kind: int, otherwise: int) -> int:
    """Return the referee's own hard limit, `otherwise` where it has none."""
    hard = resource.getrlimit(kind)[1]
    return otherwise if hard == resource.RLIM_INFINITY else hard
