"""What a program holds while it runs, and what it left on the machine after its end."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from processes import children, state

_LOOKS = 600
_PAUSE = 0.005
_ALONE = 10
"""In how many looks a process must have no bots, since one of them may see it between two steps of ending a bot."""
_LONGEST_SECONDS = 120
"""After so long a process is taken as it is: it may have bots that it cannot get rid of."""
_PUBLIC = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/dev")
"""Where anybody may write, or root may."""


class Held(NamedTuple):
    """What one process holds: memory in KiB, descriptors and the sockets among them, children that are dead."""

    resident: int
    descriptors: int
    sockets: int
    zombies: int


def held(pid: int) -> Held:
    """One look. Raises OSError where the process has gone."""
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    targets = [_target(pid, name) for name in os.listdir(f"/proc/{pid}/fd")]
    return Held(
        resident, len(targets), sum(one.startswith("socket:") for one in targets), sum(map(dead, children(pid)))
    )


def least_held(pids: Sequence[int], looks: int = _LOOKS) -> list[Held]:
    """The least of each that was seen in some seconds, and until each was seen without bots: what it holds by itself.

    Memory is the median: it does not come and go with bots. Raises OSError where one of the processes has gone.
    """
    seen: dict[int, list[Held]] = {pid: [] for pid in pids}
    alone = dict.fromkeys(pids, 0)
    until = time.monotonic() + _LONGEST_SECONDS
    while len(seen[pids[0]]) < looks or (min(alone.values()) < _ALONE and time.monotonic() < until):
        for pid, so_far in seen.items():
            so_far.append(held(pid))
            alone[pid] += seen.keys() >= set(children(pid))
        time.sleep(_PAUSE)
    return [
        Held(
            sorted(look.resident for look in so_far)[len(so_far) // 2],
            min(look.descriptors for look in so_far),
            min(look.sockets for look in so_far),
            min(look.zombies for look in so_far),
        )
        for so_far in seen.values()
    ]


def dead(pid: int) -> bool:
    """Whether a process is dead and waits for its parent to hear of it."""
    return state(pid) == "Z"


def _target(pid: int, name: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/fd/{name}")
    except OSError:
        return ""


def left_behind(folder: Path, token: str, pids: Sequence[int]) -> dict[str, list[str]]:
    """What a run left on the machine, by kind; only what is its own, for others use the machine too.

    `folder` is all the run's, `folder/tmp` its TMPDIR; `token` the name that bots gave to files wherever they could
    write, `pids` the processes of the referee, which stand in the names of boxes' control groups.
    """
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    groups = [str(path) for path in Path("/sys/fs/cgroup").rglob("referee*")]
    public = [path for place in _PUBLIC if (path := Path(place, token)).exists()]
    return {
        "mounts": [line for line in mounts if str(folder) in line or "newroot" in line],
        "control groups": [path for path in groups if any(f"-{pid}-" in path for pid in pids)],
        "files": sorted(map(str, [*(folder / "tmp").iterdir(), *public])),
    }
