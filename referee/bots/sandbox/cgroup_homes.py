"""Where in Linux's hierarchies of control groups this process may make groups, and who made those that are there."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from referee.bots.process import system
from referee.bots.process.system import stat_of
from referee.bots.tiers import TierUnavailable

OWN_LEAF = "referee-main"
"""With version 2: the group into which the referee and its workers move, beside those of their boxes."""
_CONTROLLERS = ("memory", "pids")
_HIERARCHIES = ("memory", "pids", "cpuacct")
_FOR_A_USER = "run the referee as root, or boot with systemd.unified_cgroup_hierarchy=1"
_TAG = re.compile(r"(\d+)-(\d+)-(\d+)-\d+")


class Version(Enum):
    """Of cgroups."""

    ONE = 1
    TWO = 2

    @property
    def remedy(self) -> str:
        """What would let groups be made, as a command where there is one; empty where nothing is known."""
        if self is Version.ONE:
            return "" if os.geteuid() == 0 else _FOR_A_USER
        if not Path("/run/systemd/system").is_dir():
            return ""
        return f"systemd-run {'' if os.geteuid() == 0 else '--user '}--scope -p Delegate=yes referee …"


@dataclass(frozen=True, slots=True)
class Maker:
    """Who makes groups: a process, by the number of its pid namespace, its pid and when it began."""

    namespace: int
    pid: int
    began: int

    @property
    def tag(self) -> str:
        """As it stands in names."""
        return f"{self.namespace}-{self.pid}-{self.began}"

    def is_of_the_dead(self, tag: str) -> bool:
        """True if what follows our prefix in a name is the tag of a process that could be seen here, and is over."""
        found = _TAG.fullmatch(tag)
        if found is None or int(found[1]) != self.namespace:
            return False
        return _began(int(found[2])) != int(found[3])


def this_maker() -> Maker:
    """This process. Raises OSError where there is no /proc."""
    return Maker(Path("/proc/self/ns/pid").stat().st_ino, os.getpid(), _began(os.getpid()) or 0)


class Home(NamedTuple):
    """Where groups are made: a folder for each hierarchy (of version 2 one, called ""), and the hierarchies' tops."""

    version: Version
    folders: dict[str, Path]
    tops: tuple[Path, ...]
    maker: Maker


class _Mount(NamedTuple):
    kind: str
    root: str
    place: Path
    options: tuple[str, ...]


def find_home() -> Home:
    """Where this process may make groups. Raises Unproven.

    With version 2 it, and all that it starts from now on, moves into a group of its own.
    """
    try:
        lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
        mounts = _mounts()
        maker = this_maker()
    except OSError:
        raise TierUnavailable("this system has no cgroups", "") from None
    own = {name: path for _, names, path in lines for name in names.split(",")}
    unified = _own_folder(mounts, own.get(""), "cgroup2")
    if unified is not None and "memory" in _words(unified[0] / "cgroup.controllers"):
        return Home(Version.TWO, {"": _delegated(unified[0])}, (unified[1],), maker)
    found = [_own_folder(mounts, own.get(name), "cgroup", name) for name in _HIERARCHIES]
    folders = {name: place[0] for name, place in zip(_HIERARCHIES, found, strict=True) if place is not None}
    if len(folders) < len(_HIERARCHIES):
        raise TierUnavailable("no cgroups for memory, processes and processor time are mounted", "")
    if not all(os.access(folder, os.W_OK) for folder in folders.values()):
        raise TierUnavailable("this user may make no cgroups", Version.ONE.remedy)
    return Home(Version.ONE, folders, tuple({place[1] for place in found if place is not None}), maker)


def _delegated(own: Path) -> Path:
    """The group in which those of boxes may be made. Raises Unproven."""
    if own.name == OWN_LEAF:
        own = own.parent
    if not os.access(own, os.W_OK) or not os.access(own / "cgroup.procs", os.W_OK):
        raise TierUnavailable("the referee's own cgroup is not delegated to this user", Version.TWO.remedy)
    if set(_CONTROLLERS) <= set(_words(own / "cgroup.subtree_control")):
        return own
    ours = [str(pid) for pid in (os.getpid(), system.guard) if pid is not None]
    if set(_words(own / "cgroup.procs")) - set(ours):
        raise TierUnavailable(
            "others are in the referee's own cgroup, so that none can be made in it", Version.TWO.remedy
        )
    leaf = own / OWN_LEAF
    try:
        leaf.mkdir(exist_ok=True)
        for pid in ours:
            (leaf / "cgroup.procs").write_text(pid)
        (own / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in _CONTROLLERS))
    except OSError as error:
        with contextlib.suppress(OSError):
            for pid in ours:
                (own / "cgroup.procs").write_text(pid)
            leaf.rmdir()
        reason = f"the controllers of the referee's own cgroup cannot be handed on: {error.strerror}"
        raise TierUnavailable(reason, Version.TWO.remedy) from None
    return own


def _own_folder(mounts: list[_Mount], path: str | None, kind: str, option: str = "") -> tuple[Path, Path] | None:
    """The folder of this process's own group in a hierarchy, and the top of that; None where it is not mounted."""
    for mount in mounts:
        if path is None or mount.kind != kind or (option and option not in mount.options):
            continue
        with contextlib.suppress(ValueError):
            return mount.place / Path(path).relative_to(mount.root), mount.place
    return None


def _mounts() -> list[_Mount]:
    """What is mounted of cgroups, as proc(5) describes `mountinfo`."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place, _, system = line.partition(" - ")
        kind, _, options = system.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            fields = place.split(" ")
            found.append(_Mount(kind, fields[3], Path(fields[4]), tuple(options.split(","))))
    return found


def _began(pid: int) -> int | None:
    """When a process began, in ticks since the machine did; None where there is none that lives."""
    fields = stat_of(f"/proc/{pid}")
    return int(fields[19]) if fields and fields[0] not in (b"Z", b"X") else None


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []
