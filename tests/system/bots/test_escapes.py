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

from referee.bots.tiers import Tier

__all__ = ["folder"]

EVERYWHERE = {
    # Other processes, the first one of the box among them.
    "trace_first": "ENOSYS",
    "read_first": "ENOSYS",
    "steal_descriptor": "ENOSYS",
    "enter_namespaces": "ENOSYS",
    # Other roots and mounts.
    "unmount": "ENOSYS",
    "pivot_root": "ENOSYS",
    "open_filesystem": "ENOSYS",
    "open_tree": "ENOSYS",
    "handle": "ENOSYS",
    "chroot": "ENOSYS",
    "device_node": "EPERM",
    # The machine's own.
    "clock": "ENOSYS",
    "host_name": "ENOSYS",
    "kernel_log": "ENOSYS",
    "load_module": "ENOSYS",
    "reboot": "ENOSYS",
    "personality": "EPERM",
    "typed": "ENOTTY",
    # What knows no box: keyrings, and what only an IPC namespace keeps apart.
    "add_key": "ENOSYS",
    "request_key": "ENOSYS",
    "msgget": "ENOSYS",
    "semget": "ENOSYS",
    "mq_open": "ENOSYS",
    # Sockets that look at others' packets, or widen the kernel's face.
    "packets": "EAFNOSUPPORT",
    "kernel_crypto": "EAFNOSUPPORT",
    # What is kept of a file for all that have it open, and what is known of its pages in memory.
    "ask_for_locks": "EPERM",
    "lease": "EPERM",
    "notices": "EPERM",
    "write_hint": "EPERM",
    "write_hint_of_file": "EPERM",
    "read_hint": "EPERM",
    "signal_of_file": "EPERM",
    "owner_of_file": "EPERM",
    "pages_in_memory": "ENOSYS",
    "pages_counted": "ENOSYS",
    "read_without_waiting": "ENOTSUP",
    "read_ahead": "ENOSYS",
    "name_in_memory": "ENOSYS",
    "page_out": "EINVAL",
    "cool_pages": "EINVAL",
    "merge_pages": "EINVAL",
    "flags_of_file": "ENOTTY",
    "random_count": "ENOTTY",
    "touched": "EPERM",
    # Counters and pools of the whole machine, or of all processes of a user.
    "asynchronous": "ENOSYS",
    "huge_pages": "ENOMEM",
    "larger_pipe": "EPERM",
    "descriptor_in_flight": "ENOSYS",
    "process_descriptor": "ENOSYS",
    "process_descriptor_by_socket": "ENOPROTOOPT",
    "number_of_socket": "ENOPROTOOPT",
    "process_descriptor_by_clone": "EPERM",
    "barrier_for_all": "EINVAL",
    # Processes of others, where they can be named.
    "limits_of_parent": "EPERM",
    "priority_of_parent": "EPERM",
    "priority_of_user": "EPERM",
    "slow_parent": "EPERM",
    "robust_list": "ENOSYS",
    "release_memory": "ENOSYS",
    # Becoming harder to count, to see or to stop.
    "subreaper": "EINVAL",
    "not_dumpable": "EINVAL",
    "own_filter": "EINVAL",
    "own_landlock": "ENOSYS",
    "future": "ENOSYS",
}
IN_A_BOX = {"linked": "EXDEV", "be_root": "EINVAL", "control_group": "ENOENT", "kernel_messages": "ENOENT"}
BY_TIER = {
    Tier.A: {**IN_A_BOX, "core_pattern": "ENOENT", "spared": "EROFS"},
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


def test_counters_of_the_machine_are_covered_in_proc(folder: Path) -> None:
    assert told(Tier.A, folder, "counters")["counters"] == []


def test_a_program_that_makes_root_of_others_makes_nothing_of_a_bot(folder: Path) -> None:
    assert told(Tier.A, folder, "privileges")["privileges"] == {"capabilities": 0, "no_new": "1", "seccomp": "2"}


def test_every_way_out_is_closed_for_who_is_not_root_too() -> None:
    if os.geteuid() != 0:
        return  # all of the above was tried by such a one
    only = ("-k", "not for_who_is_not_root", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", __file__)
    done = subprocess.run([*as_a_user(), "-m", "pytest", *only], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 passed" in done.stdout
