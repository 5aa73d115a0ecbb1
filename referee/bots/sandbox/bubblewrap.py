"""The arguments of bubblewrap for one bot's box: what is in it; it depends on the machine alone.

In the box are /usr, what programs in it need of /etc, the folders that the organiser allows, the bot's own folder at
/bot, all read-only; a /dev without /dev/zero, through which memory could be had that no limit counts; and a /tmp and
a /dev/shm of bounded size, which are gone with it. Where something is built, /bot is such a folder of bounded size too,
and what it is built from lies beside it; see `Workbench`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from referee.bots.process import system
from referee.bots.process.environment import bare_environment, told_memory
from referee.bots.process.limits import SHM_SIZE, Box
from referee.bots.process.process_limits import process_limits
from referee.bots.process.workbench import Workbench
from referee.bots.source.programs import BOXED_PATH
from referee.bots.tiers import Tier, TierUnavailable

BOT = "/bot"
"""Where a bot finds its folder."""
SOURCE = "/source"
"""Where a build finds what it is to build."""
PASSWD = b"root:x:0:0::/:/bin/false\nbot:x:65534:65534::/tmp:/bin/sh\n"
GROUP = b"root:x:0:\nbot:x:65534:\n"
_NOBODY = "65534"
_ROOT_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "java*", "python3*", "perl", "php", "lua*")
"""What programs of /usr read of /etc, as patterns; nothing that says anything about the machine or its users."""
ETC_OF_NETWORK = (
    *("resolv.conf", "hosts", "host.conf", "nsswitch.conf", "gai.conf", "services", "protocols"),
    *("ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "crypto-policies"),
    *("pki/tls/certs", "pki/tls/cert.pem", "pki/ca-trust/extracted"),
    *("os-release", "lsb-release", "debian_version"),
)
"""What programs read of /etc to find a host, to know that it is the one, and to tell it for which system they ask.

pip gives up where the last of these is there and may not be read, as in tier C.
"""
_FOR_LINKERS = "ld.so.conf"
"""What of this only programs read that link others."""
_DEVICES = ("null", "full", "urandom")
_COUNTERS = (
    *("sys", "pressure", "locks", "vmstat", "zoneinfo", "buddyinfo", "pagetypeinfo"),
    *("interrupts", "softirqs", "diskstats", "schedstat"),
)
_INSTALL = "apt-get install bubblewrap"


@dataclass(frozen=True, slots=True)
class Tools:
    """The programs that make a box: bubblewrap here, prlimit as it is found inside."""

    bwrap: str
    prlimit: str
    disables_namespaces: bool


@cache
def tools() -> Tools:
    """The tools of this machine. Raises Unproven where one is missing or too old."""
    bwrap = system.find_tool("bwrap")
    if bwrap is None:
        raise TierUnavailable("bubblewrap is not installed", _INSTALL)
    if not Path("/proc/self").exists():
        raise TierUnavailable("/proc is not mounted, and bubblewrap needs it", "mount -t proc proc /proc")
    told = subprocess.run([bwrap, "--help"], capture_output=True, text=True, check=False)
    said = told.stdout + told.stderr
    if not all(option in said for option in ("--size", "--json-status-fd", "--args", "--die-with-parent")):
        raise TierUnavailable("this bubblewrap is too old", "install version 0.8 or newer")
    prlimit = shutil.which("prlimit", path=BOXED_PATH)
    if prlimit is None:
        raise TierUnavailable("prlimit is not installed", "apt-get install util-linux")
    return Tools(bwrap, prlimit, "--disable-userns" in said)


class Descriptors(NamedTuple):
    """What bubblewrap reads and writes by number."""

    seccomp: int
    status: int
    passwd: int
    group: int


def box_options(
    tier: Tier,
    box: Box,
    *,
    folder: Path,
    runtime: Sequence[Path],
    path: str,
    descriptors: Descriptors,
    bench: Workbench | None = None,
) -> tuple[str, ...]:
    """Everything but the command: `folder` becomes /bot, `runtime` are further folders, `path` is PATH inside.

    With a `bench` something is built: `folder` becomes /source, and /bot is empty and can be written to.
    """
    return (
        *_namespaces(network=bench is not None and bench.network),
        *_environment(path, box, bench),
        *_machine(building=bench is not None),
        *(_etc_of_network() if bench is not None and bench.network else ()),
        *("--perms", "0444", "--file", str(descriptors.passwd), "/etc/passwd"),
        *("--perms", "0444", "--file", str(descriptors.group), "/etc/group"),
        *(("--proc", "/proc") if tier is Tier.A else ("--perms", "0555", "--tmpfs", "/proc")),
        *(_covered() if tier is Tier.A and bench is None else ()),
        *("--size", str(SHM_SIZE), "--tmpfs", "/dev/shm"),  # noqa: S108 - the box's own
        *("--perms", "1777", "--size", str(box.tmp_size), "--tmpfs", "/tmp"),  # noqa: S108
        *_read_only(() if bench is None else bench.certificates),
        *_read_only(runtime),
        *_own_folder(folder, bench),
        *("--remount-ro", "/proc"),  # or a bot could take back that it is the first to go where memory runs out
        *("--remount-ro", "/"),
        *("--seccomp", str(descriptors.seccomp), "--json-status-fd", str(descriptors.status)),
    )


def limits_inside(box: Box) -> tuple[str, ...]:
    """The tool that sets the limits, inside, where they are the box's own; the bot's command follows."""
    limits = process_limits(box, processes=box.processes)
    return (tools().prlimit, *(f"--{one.name.lower()}={one.soft}:{one.hard}" for one in limits), "--")


def _read_only(places: Sequence[Path]) -> Iterator[str]:
    for place in places:
        yield from ("--ro-bind", str(place), str(place))


def _own_folder(folder: Path, bench: Workbench | None) -> Iterator[str]:
    if bench is None:
        yield from ("--ro-bind", str(folder), BOT)
    else:
        yield from ("--ro-bind", str(folder), SOURCE, "--perms", "0755", "--size", str(bench.size), "--tmpfs", BOT)
    yield from ("--chdir", BOT)


def _namespaces(*, network: bool) -> Iterator[str]:
    yield "--unshare-user"
    if tools().disables_namespaces:
        yield "--disable-userns"
    for kind in ("ipc", "pid", "uts", "cgroup-try", *(() if network else ("net",))):
        yield f"--unshare-{kind}"
    yield from ("--uid", _NOBODY, "--gid", _NOBODY, "--hostname", "bot")
    yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv")


def _environment(path: str, box: Box, bench: Workbench | None) -> Iterator[str]:
    more = {} if bench is None else bench.environment
    said = bare_environment(Path("/tmp")) | told_memory(box) | {"PATH": path} | more  # noqa: S108
    for name, value in said.items():
        yield from ("--setenv", name, value)


def of_etc() -> list[Path]:
    """What of /etc every bot may read on this machine."""
    return [place for pattern in ETC for place in sorted(Path("/etc").glob(pattern))]


def etc_of_network() -> list[Path]:
    """What of /etc a program needs that may use the network, on this machine."""
    return [place for name in ETC_OF_NETWORK if (place := Path("/etc") / name).exists()]


def shown_with_network() -> list[Path]:
    """What of this machine's files is in the box of a build that has the network, whatever it is told."""
    return [Path("/usr"), *(Path("/") / name for name in _ROOT_LINKS), *of_etc(), *etc_of_network()]


def _etc_of_network() -> Iterator[str]:
    for place in etc_of_network():
        yield from ("--ro-bind-try", str(place), str(place))


@cache
def _covered() -> tuple[str, ...]:
    """The folders and files of /proc that count for the whole machine and that no runtime reads, as empty ones."""
    words: list[str] = []
    for name in _COUNTERS:
        place = Path("/proc") / name
        if place.is_dir():
            words += ["--perms", "0555", "--tmpfs", str(place), "--remount-ro", str(place)]
        elif place.exists():
            words += ["--ro-bind", "/dev/null", str(place)]  # without devices, so that it cannot be opened
    return tuple(words)


@cache
def _machine(*, building: bool) -> tuple[str, ...]:
    """What of this machine is in every box. Each mount takes a hundredth of a start."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in _ROOT_LINKS:
        place = Path("/") / name
        if place.is_symlink():
            words += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            words += ["--ro-bind", str(place), str(place)]
    for place in of_etc():
        if place.name.startswith(_FOR_LINKERS) and not building:
            continue
        words += ["--ro-bind-try", str(place), str(place)]
    for name in _DEVICES:
        words += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    words += ["--symlink", "urandom", "/dev/random"]
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        words += ["--symlink", f"/proc/self/{target}", f"/dev/{name}"]
    return tuple(words)
