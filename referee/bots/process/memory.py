"""How much memory the processes of a bot have together, where no control group limits it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable

from referee.bots.process.system import read_proc

LOOK_EVERY = 50_000_000
"""Nanoseconds from one look at a bot's memory to the next: what a bot takes meanwhile comes on top of its limit."""
_PATIENCE = 20_000_000
"""Nanoseconds of processor time after which no further process is read exactly: a bot could make it take seconds."""
_OWN = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap|VmPTE):\s+(\d+) kB$", re.MULTILINE)
_TABLES = re.compile(rb"^VmPTE:\s+(\d+) kB$", re.MULTILINE)
_SHARES = re.compile(rb"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_KILLS = re.compile(rb"^oom_kill (\d+)$", re.MULTILINE)


def memory_of(pids: Iterable[int], *, limit: int | None = None) -> int:
    """Return the bytes that some processes have together: their own pages, page tables and swap.

    Pages that they share are first counted once for each process. Only where that is more than `limit` is each share
    read, which takes the kernel about 1 ms for each 100 MiB, and much longer where a process has very many mappings. So
    this ends after 20 ms, and what was not read exactly by then counts in full. Files that are mapped are not counted.
    """
    pids = list(pids)
    most = sum(_upper(pid) for pid in pids) << 10
    if limit is None or most <= limit:
        return most
    until = time.thread_time_ns() + _PATIENCE
    return sum(_exact(pid) if time.thread_time_ns() < until else _upper(pid) for pid in pids) << 10


def _upper(pid: int) -> int:
    return _kib(_OWN, read_proc(f"/proc/{pid}/status"))


def _exact(pid: int) -> int:
    status, shares = read_proc(f"/proc/{pid}/status"), read_proc(f"/proc/{pid}/smaps_rollup")
    return _kib(_SHARES, shares) + _kib(_TABLES, status) if shares else _kib(_OWN, status)


def _kib(pattern: re.Pattern[bytes], text: bytes) -> int:
    return sum(int(number) for number in pattern.findall(text))


def oom_kills() -> int:
    """Return how many processes the kernel of this machine has killed for want of memory; 0 where it does not count."""
    return _kib(_KILLS, read_proc("/proc/vmstat"))
