"""Bots of tier C keep out of each other's way on older kernels too: by their users, where there are no scopes."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from bots.hostile.arena import as_a_user
from bots.test_sandbox import folder
from command_line import ROOT
from seats import prepared

from referee.bots.process.launcher import Child
from referee.bots.process.process import BotProcess
from referee.bots.sandbox import probing
from referee.bots.sandbox.confining import ConfiningLauncher
from referee.bots.tiers import TierUnavailable
from referee.play import SystemClock

__all__ = ["folder"]
SECONDS = 1_000_000_000
NO_SCOPES, SCOPES = 5, 6
"""Versions of Landlock: Linux 6.10, and 6.12."""


def words_of(child: Child) -> list[str]:
    """What a bot prints until it ends."""
    process = BotProcess(child, SystemClock())
    process.settle(60 * SECONDS)
    child.end()
    return process.inbox.decode().split()


@pytest.mark.parametrize("version", [1, 2, 3, 4, NO_SCOPES, SCOPES])
def test_bots_cannot_signal_each_other(version: int, folder: Path) -> None:
    if os.geteuid() != 0 and version < SCOPES:
        return  # refused by the probe; see below
    launcher = ConfiningLauncher(folder.parent / "scratch", landlock=version)
    other = launcher.launch(prepared("/bin/cat", folder=folder))
    try:
        BotProcess(other, SystemClock()).exchange(b"begun\n", time.monotonic_ns() + 60 * SECONDS)
        script = f"kill -0 {other.pid} && echo asked; kill -KILL {other.pid} && echo killed; kill -0 $$ && echo itself"
        child = launcher.launch(prepared("/bin/sh", "-c", script, folder=folder))
        assert words_of(child) == ["itself"]
        assert other.status() is None
    finally:
        other.end()


def test_without_scopes_only_root_is_offered_tier_c(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def older(_tier: object, *, scratch: Path) -> ConfiningLauncher:
        return ConfiningLauncher(scratch, landlock=NO_SCOPES)

    monkeypatch.setattr(probing, "launcher_for", older)
    probing.prove.cache_clear()
    try:
        if os.geteuid() == 0:
            probing.prove(probing.Tier.C, folder.parent / "cache")
        else:
            with pytest.raises(TierUnavailable, match="signals"):
                probing.prove(probing.Tier.C, folder.parent / "cache")
    finally:
        probing.prove.cache_clear()


def test_the_same_for_who_is_not_root() -> None:
    if os.geteuid() != 0:
        return  # that was tested above
    only = ("-k", "not for_who_is_not_root", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", __file__)
    done = subprocess.run([*as_a_user(), "-m", "pytest", *only], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
