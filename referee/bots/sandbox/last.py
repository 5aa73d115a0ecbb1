"""The end of a process that has bots, whether or not anything waits for it."""

from __future__ import annotations

import os
from typing import NoReturn

from referee.bots.process import system
from referee.bots.process.launcher import starting
from referee.bots.sandbox import cgroup_leavings

_START_SECONDS = 6.0
"""How long it takes at most to start a process, or to find that it cannot be started."""


def end_everything() -> NoReturn:
    """End all descendants of this process, a subreaper, remove its cgroups and leave; for any thread."""
    system.end_descendants()
    # Another thread may be starting a process, which can be ended once it runs; that thread starts no other.
    starting.acquire(timeout=_START_SECONDS)
    system.end_descendants()
    cgroup_leavings.remove_own()
    os._exit(1)
