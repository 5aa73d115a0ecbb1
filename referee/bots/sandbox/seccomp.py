"""The system calls that a box forbids, as a filter for the kernel: a table of names and numbers, and its assembler.

Everything is allowed but what is named here. Four kinds are named: what reaches out of a box or widens the kernel's
face (tracing, mounts, namespaces, keyrings, BPF, io_uring); what would let a bot leave the processor or the scheduling
that it was given, or go on though it is stopped; what would take memory that no limit counts (System V shared memory,
memfd, shared anonymous mappings, growing mappings); and what would let two bots signal each other through files that
both may read. The filter is classic BPF as in the kernel's seccomp documentation; the numbers are those of the kernel's
tables for x86-64 and AArch64, and tests hold them equal to the headers of the C library.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
"""Instructions: load a word, jump if equal, if not less, if bits are set, mask, return."""
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Where things stand in the kernel's `struct seccomp_data`, in bytes."""
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32 = 0x40000000

_NAMESPACES = 0x7E020080
"""The CLONE_NEW* flags: time, mount, cgroup, uts, ipc, user, pid, network."""
_MAP_SHARED_ANONYMOUS = 0x21
_MAP_GROWSDOWN = 0x0100
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_TELLING = (5, 36, 1024, 1026)
"""F_GETLK, F_OFD_GETLK, F_SETLEASE, F_NOTIFY: what others do to a file."""
_GO_ON, _EXIT_SIGNAL = 18, 0xFF
"""SIGCONT, and where among the flags of `clone` the signal of a child's end stands. No kernel's event is to be one: who
is stopped could go on by the end of a child (or a parent, PR_SET_PDEATHSIG), or by what comes late to a file."""
_SET_SIGNAL_OF_FILES = 10
"""F_SETSIG."""
_SET_SIGNAL_OF_DEATH = 1
"""PR_SET_PDEATHSIG."""
_FAMILIES = {"unix": 1, "inet": 2, "inet6": 10}
_PERSONALITY_QUERY = 0xFFFFFFFF


class Sockets(Enum):
    """Which sockets a bot may make: in a network of its own the usual ones, else none (pairs of them are not meant)."""

    USUAL = "usual"
    NONE = "none"


class Numbers(NamedTuple):
    """A call's number on x86-64 and AArch64, None where the architecture lacks it."""

    x86_64: int | None
    aarch64: int | None


FORBIDDEN: dict[str, Numbers] = {
    # Looking into other processes, or at them.
    "ptrace": Numbers(101, 117),
    "process_vm_readv": Numbers(310, 270),
    "process_vm_writev": Numbers(311, 271),
    "process_madvise": Numbers(440, 440),
    "pidfd_getfd": Numbers(438, 438),
    "kcmp": Numbers(312, 272),
    # Programs for the kernel, and the kernel's own.
    "bpf": Numbers(321, 280),
    "perf_event_open": Numbers(298, 241),
    "userfaultfd": Numbers(323, 282),
    "kexec_load": Numbers(246, 104),
    "kexec_file_load": Numbers(320, 294),
    "init_module": Numbers(175, 105),
    "finit_module": Numbers(313, 273),
    "delete_module": Numbers(176, 106),
    "reboot": Numbers(169, 142),
    "syslog": Numbers(103, 116),
    "acct": Numbers(163, 89),
    "swapon": Numbers(167, 224),
    "swapoff": Numbers(168, 225),
    "quotactl": Numbers(179, 60),
    "quotactl_fd": Numbers(443, 443),
    "settimeofday": Numbers(164, 170),
    "clock_settime": Numbers(227, 112),
    "clock_adjtime": Numbers(305, 266),
    "adjtimex": Numbers(159, 171),
    "iopl": Numbers(172, None),
    "ioperm": Numbers(173, None),
    "modify_ldt": Numbers(154, None),
    "vhangup": Numbers(153, 58),
    "fanotify_init": Numbers(300, 262),
    # Keyrings, which know no namespace.
    "add_key": Numbers(248, 217),
    "request_key": Numbers(249, 218),
    "keyctl": Numbers(250, 219),
    # Mounts, roots and namespaces.
    "mount": Numbers(165, 40),
    "umount2": Numbers(166, 39),
    "pivot_root": Numbers(155, 41),
    "chroot": Numbers(161, 51),
    "open_tree": Numbers(428, 428),
    "move_mount": Numbers(429, 429),
    "fsopen": Numbers(430, 430),
    "fsconfig": Numbers(431, 431),
    "fsmount": Numbers(432, 432),
    "fspick": Numbers(433, 433),
    "mount_setattr": Numbers(442, 442),
    "open_tree_attr": Numbers(467, 467),
    "unshare": Numbers(272, 97),
    "setns": Numbers(308, 268),
    "name_to_handle_at": Numbers(303, 264),
    "open_by_handle_at": Numbers(304, 265),
    # Leaving the processor, or the scheduling, that was given.
    "sched_setaffinity": Numbers(203, 122),
    "sched_setscheduler": Numbers(144, 119),
    "sched_setparam": Numbers(142, 118),
    "sched_setattr": Numbers(314, 274),
    "ioprio_set": Numbers(251, 30),
    "set_mempolicy": Numbers(238, 237),
    "set_mempolicy_home_node": Numbers(450, 450),
    "mbind": Numbers(237, 235),
    "migrate_pages": Numbers(256, 238),
    "move_pages": Numbers(279, 239),
}
"""Answered with EPERM."""

MISSING: dict[str, Numbers] = {
    # The flags of clone3 lie in memory where no filter sees them; the C library falls back on clone.
    "clone3": Numbers(435, 435),
    "io_uring_setup": Numbers(425, 425),
    "io_uring_enter": Numbers(426, 426),
    "io_uring_register": Numbers(427, 427),
    # Memory that counts for no process.
    "memfd_create": Numbers(319, 279),
    "memfd_secret": Numbers(447, 447),
    "shmget": Numbers(29, 194),
    "shmat": Numbers(30, 196),
    "msgget": Numbers(68, 186),
    "semget": Numbers(64, 190),
    "mq_open": Numbers(240, 180),
    # Files of the system, and of bots of one content, are the same in all boxes: who opens one could be seen.
    "inotify_init": Numbers(253, None),
    "inotify_init1": Numbers(294, 26),
    # A timer whose signal is SIGCONT lets a stopped process go on. Ruby up to 3.2 says on its stderr that it lacks it.
    "timer_create": Numbers(222, 107),
}
"""Answered with ENOSYS, as by a kernel that does not have them."""

IDLE: dict[str, Numbers] = {"flock": Numbers(73, 32)}
"""Answered with success, and not done: a lock on a file of the system would be seen from another box. Java says so on
its stdout where it cannot lock a file of its own."""

_LOOKED_INTO = {
    "clone": Numbers(56, 220),
    "mmap": Numbers(9, 222),
    "ioctl": Numbers(16, 29),
    "fcntl": Numbers(72, 25),
    "socket": Numbers(41, 198),
    "personality": Numbers(135, 92),
    "prctl": Numbers(157, 167),
}
"""Calls of which some arguments are forbidden."""

LISTED = FORBIDDEN | MISSING | IDLE | _LOOKED_INTO
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def filter_for(sockets: Sockets, machine: str | None = None) -> bytes | None:
    """The filter as an array of the kernel's `struct sock_filter`; None where there is none for this architecture."""
    machine = platform.machine() if machine is None else machine
    if machine not in _ARCHITECTURES:
        return None
    return b"".join(_program(machine, sockets))


def _program(machine: str, sockets: Sockets) -> Iterator[bytes]:
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUAL, _ARCHITECTURES[machine], yes=1)
    yield _step(_RETURN, _KILL)  # a 32-bit program counts its calls otherwise
    yield _step(_LOAD, _NUMBER)
    if machine == "x86_64":
        yield _step(_AT_LEAST, _X32, no=1)
        yield _fail(errno.ENOSYS)
    for table, error in ((FORBIDDEN, errno.EPERM), (MISSING, errno.ENOSYS), (IDLE, 0)):
        for numbers in table.values():
            number = getattr(numbers, machine)
            if number is not None:
                yield _step(_EQUAL, number, no=1)
                yield _fail(error)
    for name, body in _looked_into(sockets).items():
        yield _step(_EQUAL, getattr(_LOOKED_INTO[name], machine), no=len(body))
        yield from body
    yield _step(_RETURN, _ALLOW)


def _looked_into(sockets: Sockets) -> dict[str, list[bytes]]:
    """What is done where the call is this one; each ends with a return."""
    families = list(_FAMILIES.values()) if sockets is Sockets.USUAL else []
    refused = (*_TELLING, _SET_SIGNAL_OF_FILES)
    allow = _step(_RETURN, _ALLOW)
    return {
        "clone": [
            _argument(0),
            _step(_ANY_BIT, _NAMESPACES, yes=2),
            _step(_AND, _EXIT_SIGNAL),
            _step(_EQUAL, _GO_ON, no=1),
            _fail(errno.EPERM),
            allow,
        ],
        "prctl": [
            _argument(0),
            _step(_EQUAL, _SET_SIGNAL_OF_DEATH, no=3),
            _argument(1),
            _step(_EQUAL, _GO_ON, no=1),
            _fail(errno.EPERM),
            allow,
        ],
        "mmap": [
            _argument(3),
            _step(_ANY_BIT, _MAP_GROWSDOWN, no=1),
            _fail(errno.ENOMEM),
            _step(_AND, _MAP_SHARED_ANONYMOUS),
            _step(_EQUAL, _MAP_SHARED_ANONYMOUS, no=1),
            _fail(errno.ENOMEM),
            allow,
        ],
        "ioctl": [
            _argument(1),
            _step(_EQUAL, _TIOCSTI, yes=1),
            _step(_EQUAL, _TIOCLINUX, no=1),
            _fail(errno.EPERM),
            allow,
        ],
        "fcntl": [
            _argument(1),
            *(_step(_EQUAL, command, yes=len(refused) - place) for place, command in enumerate(refused)),
            allow,
            _fail(errno.EPERM),
        ],
        "socket": [
            _argument(0),
            *(_step(_EQUAL, family, yes=len(families) - place) for place, family in enumerate(families)),
            _fail(errno.EAFNOSUPPORT),
            allow,
        ],
        "personality": [
            _argument(0),
            _step(_EQUAL, 0, yes=2),
            _step(_EQUAL, _PERSONALITY_QUERY, yes=1),
            _fail(errno.EPERM),
            allow,
        ],
    }


def _argument(index: int) -> bytes:
    """Load the lower half of an argument: both architectures are little-endian, and the flags stand there."""
    return _step(_LOAD, _ARGUMENTS + 8 * index)


def _fail(error: int) -> bytes:
    return _step(_RETURN, _FAIL | error)


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """One instruction; `yes` and `no` are how many it jumps over where a comparison holds, and where not."""
    return struct.pack("=HBBI", code, yes, no, value)
