"""A bot that tries to get out, told by itself from the inside: each attempt, with the error that it ends in.

On every tier that promises anything, as whoever runs the tests and as somebody who is not root.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from bots.hostile.arena import as_a_user
from bots.test_sandbox import folder, told
from command_line import ROOT

from referee.bots.sandbox.tiers import Tier

__all__ = ["folder"]

EVERYWHERE = {
    # Other processes, the first one of the box among them.
    "trace_first": "EPERM",
    "read_first": "EPERM",
    "steal_descriptor": "EPERM",
    "enter_namespaces": "EPERM",
    # Other roots and mounts.
    "unmount": "EPERM",
    "pivot_root": "EPERM",
    "open_filesystem": "EPERM",
    "open_tree": "EPERM",
    "handle": "EPERM",
    "chroot": "EPERM",
    "device_node": "EPERM",
    # The machine's own.
    "clock": "EPERM",
    "host_name": "EPERM",
    "kernel_log": "EPERM",
    "load_module": "EPERM",
    "reboot": "EPERM",
    "personality": "EPERM",
    "typed": "EPERM",
    # What knows no box: keyrings, and what only an IPC namespace keeps apart.
    "add_key": "EPERM",
    "request_key": "EPERM",
    "msgget": "ENOSYS",
    "semget": "ENOSYS",
    "mq_open": "ENOSYS",
    # Sockets that look at others' packets, or widen the kernel's face.
    "packets": "EAFNOSUPPORT",
    "kernel_crypto": "EAFNOSUPPORT",
}
IN_A_BOX = {"linked": "EXDEV", "be_root": "EINVAL", "control_group": "ENOENT", "kernel_messages": "ENOENT"}
BY_TIER = {
    Tier.A: {**IN_A_BOX, "core_pattern": "EACCES", "spared": "EROFS"},
    Tier.B: {**IN_A_BOX, "core_pattern": "ENOENT", "spared": "ENOENT"},
    Tier.C: {
        **{"linked": "EPERM", "be_root": "EPERM", "control_group": "EACCES", "kernel_messages": "EACCES"},
        **{"core_pattern": "EACCES", "spared": "EACCES"},
    },
}
NOT_THERE = {"ENOENT", "EACCES"}


@pytest.mark.parametrize("tier", [Tier.A, Tier.B, Tier.C])
def test_every_way_out_that_is_tried_is_closed(tier: Tier, folder: Path) -> None:
    expected = EVERYWHERE | BY_TIER[tier]
    assert told(tier, folder, *expected) == expected


@pytest.mark.parametrize("tier", [Tier.A, Tier.B, Tier.C])
def test_devices_and_switches_of_the_kernel_are_not_there(tier: Tier, folder: Path) -> None:
    found = told(tier, folder, "memory_device", "system_request")
    assert set(found.values()) <= NOT_THERE


def test_a_program_that_makes_root_of_others_makes_nothing_of_a_bot(folder: Path) -> None:
    assert told(Tier.A, folder, "privileges")["privileges"] == {"capabilities": 0, "no_new": "1", "seccomp": "2"}


def test_every_way_out_is_closed_for_who_is_not_root_too() -> None:
    if os.geteuid() != 0:
        return  # all of the above was tried by such a one
    only = ("-k", "not for_who_is_not_root", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", __file__)
    done = subprocess.run([*as_a_user(), "-m", "pytest", *only], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout
