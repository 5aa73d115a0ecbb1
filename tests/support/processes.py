"""Running the referee as a user does, and looking at the processes it has."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

REFEREE = (sys.executable, "-m", "referee")


def wait_until(condition: Callable[[], bool], *, seconds: float = 60.0) -> None:
    """Return as soon as the condition holds; fail when it has not in `seconds`."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.002)


def children(pid: int) -> list[int]:
    """What a process has started and not yet reaped; nothing where it is gone, or goes while we look."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        return [int(word) for task in tasks for word in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except OSError:
        return []


def descendants(pid: int) -> set[int]:
    """The process and all that descend from it now."""
    found = {pid}
    waiting = [pid]
    while waiting:
        for child in children(waiting.pop()):
            found.add(child)
            waiting.append(child)
    return found


def state(pid: int) -> str:
    """The letter of proc(5) for what a process does; nothing where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def states(pids: Iterable[int]) -> set[str]:
    """What some processes do, those apart that are dead or gone."""
    return {state(pid) for pid in pids} - {"", "Z", "X"}


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet reaped does not."""
    return state(pid) not in ("", "Z")
