"""Which tiers this machine can have, found out by running a real box with a program in it that tries to get out."""

from __future__ import annotations

import os
import select
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

from referee.bots.cache.prepare import (
    MAKING,
    NOEXEC,
    NOEXEC_REMEDY,
    Prepared,
    default_cache,
    is_executable,
    locked,
    make_cache,
    open_modes,
)
from referee.bots.cache.removal import remove_tree
from referee.bots.process import system
from referee.bots.process.launcher import Child, Launcher, PlainLauncher
from referee.bots.process.limits import DEFAULT_BOX, Box
from referee.bots.process.process_limits import crowded, shortfall
from referee.bots.process.stderr_summary import last_words
from referee.bots.process.workbench import Workbench
from referee.bots.sandbox.cgroup_leavings import sweep_everywhere
from referee.bots.sandbox.cgroups import home_or_none
from referee.bots.sandbox.confining import ConfiningLauncher
from referee.bots.sandbox.launching import SandboxLauncher, reachable
from referee.bots.source.manifest import BotSpec
from referee.bots.tiers import SetupFault, Tier, TierUnavailable
from referee.errors import InputError, VoidGame
from referee.record import Bot

_PROBE = """#!/bin/sh
exec 2>/dev/null
cat "$1" && echo "reads files of the referee"
(: > "$1.written") && echo "writes beside files of the referee"
(: > ./written) && echo "writes into its own folder"
kill -0 "$2" && echo "signals the referee"
cat "/proc/$2/cmdline" && echo "sees the referee's processes"
[ "$(grep -c : /proc/net/dev)" -gt 1 ] && echo "has a network"
mount -t tmpfs none /tmp && echo "mounts"
unshare -r true && echo "makes namespaces"
taskset -pc 0 $$ > /dev/null && echo "leaves its processor"
kill -0 "$3" && echo "signals other bots"
prlimit --pid "$3" --core=0 && echo "changes limits of other bots"
renice -n 19 -p "$3" > /dev/null && echo "slows other bots down"
chmod 666 "$1"; [ "$(stat -c %a "$1")" = 666 ] && echo "changes modes of the referee's files"
touch -cd @1 "$1"; [ "$(stat -c %Y "$1")" = 1 ] && echo "changes times of the referee's files"
touch -c /dev/full && echo "leaves times at devices"
echo done
"""
"""Prints what it could do, one line each, and `done`. Its arguments: a secret file, the referee, another bot."""
_HIDDEN = "read by a probe\n"
_SECONDS = 10.0
_PROBING = "probe"
_TOGETHER, _ALONE = "for all of its processes together", "for each process, not for all together (no cgroup)"
_LONGEST_WORD = 65536
_BUSY = "try again when this machine is less busy, or choose a lower tier yourself with --sandbox"
_ASK = "report it to the project, or choose a lower tier yourself with --sandbox"
_NEWER = "use Linux 6.12 or newer, or run as root"


def launcher_for(
    tier: Tier,
    *,
    scratch: Path,
    box: Box = DEFAULT_BOX,
    reaper: system.Reaper | None = None,
    cores: frozenset[int] | None = None,
    bench: Workbench | None = None,
) -> Launcher:
    """What makes bots' processes at a tier; see `PlainLauncher` for the rest. Raises Unproven."""
    match tier:
        case Tier.A | Tier.B:
            return SandboxLauncher(tier, box, reaper, cores, bench)
        case Tier.C:
            return ConfiningLauncher(scratch, reaper, cores, box, bench)
        case Tier.D:
            return PlainLauncher(scratch, reaper, cores, box, bench)


@cache
def prove(tier: Tier, cache: Path | None = None) -> None:
    """Run a box, and in it what tries to get out. Raises Unproven where there is none or it does not hold.

    `cache` is where the copies of bots lie. Raises SetupFault where the referee's own files or settings are to blame,
    which the machine does not lack and which is easily mended.
    """
    if tier is Tier.D:
        return
    if not sys.platform.startswith("linux"):
        raise TierUnavailable("sandboxes need Linux", "run the referee on Linux, or in a virtual machine with it")
    cache = default_cache() if cache is None else cache
    require_limits(DEFAULT_BOX)
    if tier.has_namespaces:
        sweep_everywhere()
    try:
        with _probe_folder(cache) as folder:
            said = _tried(launcher_for(tier, scratch=folder / "scratch"), folder)
    except OSError as error:  # of processes that do not belong to a bot
        raise _no_process(f"the referee can start no process: {error.strerror}") from None
    escapes = [line for line in said if line != "done"]
    if escapes:
        raise TierUnavailable(f"a bot in it {', '.join(escapes)}", _NEWER)
    if "done" not in said:
        raise SetupFault(f"a probe in a box of tier {tier} did not end in {_SECONDS:g} s", _BUSY)


def require_limits(box: Box) -> None:
    """Raise SetupFault where the referee's own limits are lower than those that a bot gets."""
    why = shortfall(box)
    if why is not None:
        raise SetupFault(why, "raise it, or start the referee from a shell without it")


def as_recorded(tier: Tier) -> str:
    """Return what records of this process say about isolation: the tier, and whether with cgroups."""
    return f"{tier.value} with cgroups" if _has_groups(tier) else tier.value


def in_words(tier: Tier) -> str:
    """Return what isolation bots of this process get, in words for the person who starts a run."""
    if not tier.has_namespaces:
        return tier.words
    return f"{tier.words}; memory is limited {_TOGETHER if _has_groups(tier) else _ALONE}"


def _has_groups(tier: Tier) -> bool:
    return tier.has_namespaces and home_or_none() is not None


@cache
def best() -> tuple[Tier, dict[Tier, TierUnavailable]]:
    """The best tier that this machine proves, and why it cannot have those above. Raises SetupFault as `prove`."""
    reasons: dict[Tier, TierUnavailable] = {}
    for tier in Tier:
        try:
            prove(tier)
        except TierUnavailable as why:
            reasons[tier] = why
        else:
            return tier, reasons
    raise AssertionError("the tier D can be had anywhere")


def require(tier: Tier) -> None:
    """Raise InputError, in one sentence, where this machine does not prove a tier."""
    try:
        prove(tier)
    except TierUnavailable as why:
        raise InputError(
            f"this machine cannot keep bots apart as tier {tier} does: {why.reason}; {why.remedy}, or ask for less "
            "with --sandbox"
        ) from None


@contextmanager
def _probe_folder(cache: Path) -> Iterator[Path]:
    """A folder in the cache, where the copies of bots lie too; what a killed run leaves of it is swept as theirs is."""
    with ExitStack() as stack:
        try:
            make_cache(cache)
            stack.enter_context(locked(cache, _PROBING))
            folder = Path(tempfile.mkdtemp(prefix=f"{_PROBING}.", suffix=MAKING, dir=cache))
            stack.callback(remove_tree, folder)
            _fill(folder)
        except OSError as error:
            reason = f"no files can be made in {cache}: {error.strerror}"
            raise SetupFault(reason, "name another folder with XDG_CACHE_HOME") from None
        if not reachable(cache):
            raise SetupFault(
                f"{cache} cannot be entered by the user that makes sandboxes",
                "let others enter it (chmod o+x), or name another folder with XDG_CACHE_HOME",
            )
        if not is_executable(cache):
            raise SetupFault(NOEXEC.format(cache), NOEXEC_REMEDY)
        yield folder


def _fill(folder: Path) -> None:
    """Make what the probe needs: itself as a bot, a folder for temporary files, a file that it must not read."""
    with open_modes():
        folder.chmod(0o755)
        for name in ("bot", "scratch"):
            (folder / name).mkdir()
        (folder / "secret").write_text(_HIDDEN)
        (folder / "secret").chmod(0o600)
        program = folder / "bot" / "probe"
        program.write_text(_PROBE)
        program.chmod(0o755)


def _tried(launcher: Launcher, folder: Path) -> list[str]:
    """Return what the probe says that it could do. Raises Unproven if no box could be made."""
    log = b""
    try:
        with _running(launcher, folder, "/bin/sh", "-c", "echo; read line") as other:
            select.select([other.stdout], [], [], _SECONDS)  # from then on it is confined
            words = ("./probe", str(folder / "secret"), str(os.getpid()), str(other.pid))
            with _running(launcher, folder, *words) as probe:
                try:
                    said = _read_to_end(probe)
                    status = probe.status()
                finally:
                    log = _read(probe.stderr)
    except VoidGame as void:
        raise _failed(void, log) from None
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line != _HIDDEN.strip()]
    if not lines and status:
        why = last_words(log.decode("utf-8", "replace")) or f"it ended with status {status}"
        raise SetupFault(f"a box came into being, but no program can be executed in it ({why})", _ASK)
    return lines


@contextmanager
def _running(launcher: Launcher, folder: Path, *argv: str) -> Iterator[Child]:
    nobody = BotSpec(Bot("probe", ""), folder / "bot", argv, (), None, None, frozenset())
    child = launcher.launch(Prepared(nobody, folder / "bot", argv))
    try:
        yield child
    finally:
        child.end()


def _no_process(reason: str) -> SetupFault:
    return SetupFault(crowded(DEFAULT_BOX) or reason, "end some processes, or raise the limit")


def _failed(void: VoidGame, log: bytes = b"") -> TierUnavailable | SetupFault:
    """Return why no box came into being: for want of processes that the referee may have, or as bubblewrap said."""
    if crowded(DEFAULT_BOX) is not None:
        return _no_process("")
    said = str(void).removeprefix("no process could be made for probe: ")
    last = last_words(log.decode("utf-8", "replace"))
    said = f"{said} ({last})" if last else said
    return TierUnavailable(said, _remedy(said))


def _read_to_end(child: Child) -> bytes:
    """What a child says until it ends, or for some seconds."""
    said = b""
    until = time.monotonic() + _SECONDS
    poll = select.poll()
    poll.register(child.stdout, select.POLLIN)
    if child.pidfd is not None:
        poll.register(child.pidfd, select.POLLIN)
    while (left := until - time.monotonic()) > 0 and child.status() is None:
        poll.poll(left * 1000)
        said += _read(child.stdout)
    return said + _read(child.stdout)


def _read(descriptor: int) -> bytes:
    with suppress(OSError):
        return os.read(descriptor, _LONGEST_WORD)
    return b""


_SWITCHES = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("user/max_user_namespaces", "0", "10000"),
)
"""Settings of Linux that keep users from making namespaces: where, the value that does, and one that does not."""


def _remedy(said: str) -> str:
    """What would let a box come into being, by what bubblewrap said."""
    for name, off, on in _SWITCHES:
        with suppress(OSError):
            if Path(f"/proc/sys/{name}").read_text().strip() == off:
                return f"sysctl {name.replace('/', '.')}={on} allows it"
    if "mount proc" in said:
        return "run the referee outside of the container, or the container with --security-opt systempaths=unconfined"
    return "run the referee outside of the container, or the container with --security-opt seccomp=unconfined"
