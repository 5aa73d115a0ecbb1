"""`referee doctor`: what this machine can do for a tournament, found out by trying, and what would improve it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import click

from referee.bots.cache.prepare import NOEXEC, default_cache, is_executable
from referee.bots.process import system
from referee.bots.tiers import SetupFault, Tier, TierUnavailable
from referee.cli.streams import echo_line
from referee.errors import InputError

_GIB = 1 << 30
_LITTLE_DISK = 1 * _GIB
_COARSE_CLOCK = 1000
"""Nanoseconds beyond which a clock's steps would show in the times of decisions."""

_EXAMPLES = """\b
Examples:
  referee doctor
"""


class MachineState(Enum):
    """How good a finding is, with its sign."""

    GOOD = ("✓", "green")
    FAIR = ("!", "yellow")
    BAD = ("✗", "red")


class Finding(NamedTuple):
    """One line: how good it is, what it is about, what was found."""

    state: MachineState
    subject: str
    words: str


class Remedy(NamedTuple):
    """What would improve something, as a command where there is one."""

    gain: str
    words: str


@click.command(short_help="Tell what this machine can do, and what would improve it.", epilog=_EXAMPLES)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Run a probe in a box of each tier, look at what tournaments need, and name what would improve things most.

    Exit code 0: bots can be kept apart at tier A; 1: they cannot.
    """
    tiers = {tier: _why_not(tier) for tier in Tier}
    no_groups = _why_no_groups()
    for finding in (*_of_tiers(tiers), *_of_system(no_groups), *_of_room()):
        sign, colour = finding.state.value
        echo_line(f"{click.style(sign, fg=colour)} {finding.subject}: {finding.words}")
    remedy = _remedy(tiers, no_groups)
    if remedy is not None:
        click.echo(f"for {remedy.gain}: {remedy.words}")
    ctx.exit(0 if tiers[Tier.A] is None else 1)


def _why_not(tier: Tier) -> TierUnavailable | None:
    from referee.bots.sandbox.probing import prove

    try:
        prove(tier)
    except TierUnavailable as why:
        return why
    except SetupFault as fault:
        return TierUnavailable(f"{fault.reason}; the referee refuses to play until this is mended", fault.remedy)
    except InputError as error:
        return TierUnavailable(str(error), "see above")
    return None


def _of_tiers(tiers: dict[Tier, TierUnavailable | None]) -> Iterator[Finding]:
    for tier, why in tiers.items():
        if why is None:
            yield Finding(
                MachineState.FAIR if tier is Tier.D else MachineState.GOOD,
                f"tier {tier}",
                tier.words.partition(": ")[2],
            )
        else:
            yield Finding(MachineState.BAD, f"tier {tier}", why.reason)


def _of_system(no_groups: TierUnavailable | None) -> Iterator[Finding]:
    yield Finding(MachineState.GOOD, "system", f"{platform.system()} {platform.release()}, {platform.machine()}")
    for tool, use in (
        ("bwrap", "makes the boxes of tiers A and B"),
        ("prlimit", "sets limits in them"),
        ("setpriv", "ties bots to their worker, and lets root be another user in boxes"),
    ):
        place = system.find_tool(tool)
        if place is None:
            yield Finding(MachineState.BAD, tool, f"not found: it {use}")
        else:
            yield Finding(MachineState.GOOD, tool, _version(place))
    pidfd = system.open_pidfd(os.getpid())
    yield _either(pidfd is not None, "pidfd", "the end of a process is seen at once", "bots' ends are looked for")
    if pidfd is not None:
        os.close(pidfd)
    yield _either(_makes_namespaces(), "user namespaces", "this user can make them", "this user cannot make them")
    yield _either(_landlock() > 0, "Landlock", f"version {_landlock()}", "not in this kernel: no tier C")
    yield _cgroups(no_groups)


def _of_room() -> Iterator[Finding]:
    cores = system.usable_cores()
    pins = hasattr(os, "sched_setaffinity")
    count = f"{len(cores)} of {os.cpu_count()}"
    yield _either(pins, "processors", f"{count}, and bots are kept on theirs", f"{count}, and nothing is kept on one")
    steps = time.get_clock_info("monotonic").resolution * 1e9
    yield _either(steps <= _COARSE_CLOCK, "clock", f"steps of {steps:g} ns", f"steps of {steps:g} ns, which is coarse")
    for what, find in (("cache of bots", default_cache), ("temporary files", _temporary)):
        try:
            yield _disk(what, find())
        except InputError as error:
            yield Finding(MachineState.BAD, what, str(error))


def _temporary() -> Path:
    """Return the folder of temporary files. Raises InputError where there is none."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        raise InputError("there is no folder for them: set TMPDIR to one") from None


def _either(good: bool, subject: str, yes: str, no: str) -> Finding:
    return Finding(MachineState.GOOD, subject, yes) if good else Finding(MachineState.FAIR, subject, no)


def _version(place: str) -> str:
    try:
        told = subprocess.run([place, "--version"], capture_output=True, text=True, check=False, timeout=5).stdout
    except (OSError, subprocess.TimeoutExpired):
        return place
    return f"{place} ({told.strip().splitlines()[0]})" if told.strip() else place


def _makes_namespaces() -> bool:
    tool = system.find_tool("unshare")
    if tool is None:
        return False
    return subprocess.run([tool, "--user", "true"], capture_output=True, check=False).returncode == 0


def _landlock() -> int:
    """The version of Landlock in this kernel, 0 where there is none."""
    import ctypes

    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)))


def _why_no_groups() -> TierUnavailable | None:
    from referee.bots.sandbox.cgroups import home

    try:
        home()
    except TierUnavailable as why:
        return why
    return None


def _cgroups(why: TierUnavailable | None) -> Finding:
    if why is None:
        return Finding(MachineState.GOOD, "cgroups", "the memory of each box in tiers A and B is limited as a whole")
    return Finding(MachineState.FAIR, "cgroups", f"memory is limited for single processes only: {why.reason}")


def _disk(what: str, place: Path) -> Finding:
    there = next((one for one in (place, *place.parents) if one.exists()), place)
    free = shutil.disk_usage(there).free
    words = f"{place}, {free / _GIB:.1f} GiB free"
    if what == "cache of bots" and not is_executable(there):
        return Finding(MachineState.BAD, what, NOEXEC.format(place))
    if not os.access(there, os.W_OK):
        return Finding(MachineState.BAD, what, f"{words}, and this user may not write there")
    return Finding(MachineState.GOOD if free >= _LITTLE_DISK else MachineState.FAIR, what, words)


def _remedy(tiers: dict[Tier, TierUnavailable | None], no_groups: TierUnavailable | None) -> Remedy | None:
    """The one step that gains most: the best tier that is missing and has one."""
    why = tiers[Tier.A]
    if why is not None:
        return Remedy("tier A", why.remedy)
    if no_groups is not None and no_groups.remedy:
        return Remedy("limits of each box as a whole", no_groups.remedy)
    if system.find_tool("setpriv") is None:
        return Remedy("bots that end with their worker in tier D too", "apt-get install util-linux")
    return None
