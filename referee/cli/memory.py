"""Whether a limit of this process leaves enough memory for the ratings, found out before any game is played."""

from __future__ import annotations

import resource
import sys

from referee.errors import InputError

RATING = frozenset({"tournament", "duel", "plan", "standings", "compare", "collusion"})
"""The commands that rate."""
_PROBE = "import sqlite3, numpy, jinja2, msgspec, pydantic, rich; numpy.linalg.inv(numpy.eye(256)); bytes(32 << 20)"
_MIB = 1 << 20


def check_address_space() -> None:
    """Raise InputError where `ulimit -v` leaves too little: numpy would end this process at once, after the games."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    import subprocess  # slow, and hardly ever needed

    try:
        done = subprocess.run([sys.executable, "-P", "-c", _PROBE], capture_output=True, check=False)
        works = done.returncode == 0
    except OSError:
        works = False
    if not works:
        raise InputError(
            f"{limit // _MIB} MiB of memory for a process (ulimit -v) are too little for the ratings: allow more"
        )
