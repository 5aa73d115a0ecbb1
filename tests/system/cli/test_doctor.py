"""What the doctor says of a machine, and of one that lacks things."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from command_line import referee_command

TOOLS = ("setpriv", "prlimit", "unshare", "sh", "true")


def test_this_machine_can_do_tier_a_and_nothing_is_missing() -> None:
    done = referee_command("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        "✓ tier A: each bot in a sandbox with its own files, processes and network",
        "✓ tier B: each bot in a sandbox with its own files, processes and network, without /proc",
        "✓ tier C: bots can reach few files and no network, but share the machine's processes",
        "! tier D: none: bots run with the rights of whoever runs the referee",
    ]
    subjects = [line[2:].partition(":")[0] for line in lines]
    assert subjects[4:] == [
        "system", "bwrap", "prlimit", "setpriv", "pidfd", "user namespaces", "Landlock", "cgroups", "processors",
        "clock", "cache of bots", "temporary files",
    ]  # fmt: skip


@pytest.fixture
def broken(public_path: Path) -> Path:
    """A folder with a bubblewrap that fails as it does where namespaces may not be made."""
    program = public_path / "bwrap"
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in --help) echo --size --json-status-fd --args --die-with-parent; exit;; --version) exit;; esac\n'
        'echo "bwrap: No permissions to create new namespace" >&2\nexit 1\n'
    )
    program.chmod(0o755)
    return public_path


def test_without_namespaces_the_reason_and_one_step_are_named(broken: Path) -> None:
    done = referee_command("doctor", env={"PATH": f"{broken}:{os.environ['PATH']}"})
    assert done.returncode == 1
    assert "✗ tier A: the sandbox could not start: bwrap: No permissions to create new namespace" in (done.stdout)
    assert done.stdout.splitlines()[-1].startswith("for tier A: ")


def test_what_is_asked_for_and_cannot_be_had_is_refused_in_one_sentence(broken: Path) -> None:
    bot = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain" / "first.py"
    done = referee_command(
        "check", str(bot), env={"PATH": f"{broken}:{os.environ['PATH']}", "REFEREE_CHECK_SANDBOX": "A"}
    )
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(
        "referee: this machine cannot keep bots apart as tier A does: the sandbox could not start: bwrap: No permissions"
    )
    assert "or ask for less with --sandbox" in line


def test_what_auto_could_not_have_is_told(broken: Path) -> None:
    bot = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain" / "first.py"
    done = referee_command(
        "check", str(bot), env={"PATH": f"{broken}:{os.environ['PATH']}", "REFEREE_CHECK_SANDBOX": "auto"}
    )
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()
    assert [line[:40] for line in told[:2]] == [
        "no isolation of tier A here: the sandbox",
        "no isolation of tier B here: the sandbox",
    ]
    assert told[2:] == ["isolation C: bots can reach few files and no network, but share the machine's processes"]


def test_tools_of_these_tests_are_there() -> None:
    assert all(shutil.which(tool) for tool in TOOLS)
    assert shutil.which("bwrap"), "apt-get install bubblewrap"
