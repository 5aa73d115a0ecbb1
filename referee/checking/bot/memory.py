"""How much memory some processes hold, and held at most."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_KIB = 1024


class Memory(NamedTuple):
    """Bytes that processes hold together, and the sum of the most that each of them ever held."""

    now: int
    peak: int


def held_by(pids: Iterable[int]) -> Memory:
    """What is resident of some processes; nothing where the system does not tell, as on macOS."""
    now = peak = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            fields = dict(
                line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines()
            )
            now += _bytes(fields.get("VmRSS"))
            peak += _bytes(fields.get("VmHWM"))
    return Memory(now, peak)


def _bytes(told: str | None) -> int:
    return 0 if told is None else int(told.split()[0]) * _KIB
