"""The assembler of the filter of system calls that every box installs.

The filter is a list of what is allowed: a call that is not on it, such as one of a future kernel, fails with ENOSYS.
`calls` has the list; this module examines the arguments of the calls that are allowed in part. The filter is classic
BPF as in the kernel's documentation of seccomp. The kernel keeps a bitmap of the calls that are always allowed and runs
no filter for them, so their order does not matter.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from referee.bots.sandbox.calls import ALLOWED, IDLE, LISTED, MODES, SOCKETS, Numbers

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
"""Instructions: load a word, jump if equal, if not less, if bits are set, mask, return."""
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in the kernel's `struct seccomp_data`, in bytes."""
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_SUCCEED = _FAIL
"""Success without doing anything: a failure with error number 0."""
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_CLONE_REFUSED = 0x7E020080 | 0x1000
"""The CLONE_NEW* flags, and CLONE_PIDFD: the inode number of a pidfd counts the processes of the whole machine."""
_GO_ON, _EXIT_SIGNAL = 18, 0xFF
"""SIGCONT, and the bits of `clone` that hold the signal of a child's end. The kernel must not send SIGCONT for a bot:
the end of a child or a parent would let a stopped process go on."""
_MAP_REFUSED, _MAP_SHARED_ANONYMOUS = 0x40000 | 0x0100, 0x21
"""MAP_HUGETLB takes from a pool of the whole machine; MAP_GROWSDOWN and shared anonymous memory escape the limits."""
_ADVICE = (0, 1, 2, 3, 4, 8, 10, 11, 14, 15, 16, 17, 18, 19, 23, 102, 103)
"""MADV_NORMAL to DONTNEED, FREE, DONTFORK, DOFORK, HUGEPAGE to KEEPONFORK, POPULATE_WRITE, GUARD_INSTALL and _REMOVE.
Refused among others: PAGEOUT and COLD, which act on pages that other boxes use too, and MERGEABLE."""
_FCNTL = (0, 1, 2, 3, 4, 1030, 1032)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ."""
_LOCKS = (6, 7, 37, 38)
"""F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW."""
_IOCTL = (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)
"""TCGETS, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, TCGETS2."""
_FAMILIES = (1, 2, 10)
"""AF_UNIX, AF_INET, AF_INET6."""
_AF_UNIX, _SOCK_STREAM, _SOCK_SEQPACKET, _KIND_OF_SOCKET = 1, 1, 5, 0xF
_SOL_SOCKET = 1
_SOCKET_OPTIONS = (3, 4, 7, 8, 17, 30, 38, 39)
"""SO_TYPE, SO_ERROR, SO_SNDBUF, SO_RCVBUF, SO_PEERCRED, SO_ACCEPTCONN, SO_PROTOCOL, SO_DOMAIN. Refused among others are
SO_PEERPIDFD and SO_COOKIE, whose numbers count for the whole machine."""
_PRCTL = (2, 3, 15, 16, 21, 23, 27, 29, 30, 37, 38, 39, 41, 42, 50, 51, 54, 55, 56, 63, 64)
"""PR_GET_PDEATHSIG, GET_DUMPABLE, SET_NAME, GET_NAME, GET_SECCOMP, CAPBSET_READ, GET_SECUREBITS, SET_TIMERSLACK,
GET_TIMERSLACK, GET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS, GET_NO_NEW_PRIVS, SET_THP_DISABLE, GET_THP_DISABLE; from 50 on
vectors, pointer authentication and memory tags of AArch64."""
_SET_SIGNAL_OF_DEATH = 1
"""PR_SET_PDEATHSIG."""
_PERSONALITIES = (0, 0xFFFFFFFF)
"""Linux itself, and the question which one it is."""
_BARRIERS = 8 | 16 | 32 | 64 | 128 | 256
"""The commands of `membarrier` that interrupt the processors of the calling process alone."""

_TIMES = {"utime": 1, "utimes": 1, "futimesat": 2, "utimensat": 2}
"""The calls that change times of files, and which of their arguments points to the new times."""


class Rights(NamedTuple):
    """What the filter allows beyond what every bot may do."""

    sockets: bool = False
    """Sockets of the usual families."""
    modes: bool = False
    """Changing modes, owners and attributes of files."""
    times: bool = False
    """Changing times of files."""


def filter_for(rights: Rights, machine: str | None = None) -> bytes | None:
    """Return the filter as an array of the kernel's `struct sock_filter`, None if the architecture has none."""
    machine = platform.machine() if machine is None else machine
    if machine not in _ARCHITECTURES:
        return None
    return b"".join(_program(machine, rights))


def _program(machine: str, rights: Rights) -> Iterator[bytes]:
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUAL, _ARCHITECTURES[machine], yes=1)
    yield _answer(_KILL)  # a 32-bit program, which has other numbers
    yield _step(_LOAD, _NUMBER)
    for name, body in _examined(rights).items():
        number = getattr(LISTED[name], machine)
        if number is not None:
            yield _step(_EQUAL, number, no=len(body))
            yield from body
    for answer, calls in _answers(rights):
        for first, last in _runs(_numbers(calls, machine)):
            yield _step(_AT_LEAST, first, no=2)
            yield _step(_AT_LEAST, last + 1, yes=1)
            yield _answer(answer)
    yield _fail(errno.ENOSYS)


def _answers(rights: Rights) -> Iterator[tuple[int, Iterable[Numbers]]]:
    """Yield the answers that do not depend on arguments, each with its calls."""
    yield _ALLOW, ALLOWED.values()
    if rights.sockets:
        yield _ALLOW, SOCKETS.values()
    yield _ALLOW if rights.modes else _SUCCEED, MODES.values()
    yield _SUCCEED, IDLE.values()


def _numbers(calls: Iterable[Numbers], machine: str) -> list[int]:
    return sorted(number for one in calls if (number := getattr(one, machine)) is not None)


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Join numbers that follow each other: the first and the last of each run."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _examined(rights: Rights) -> dict[str, list[bytes]]:
    """Return what is done for each call with arguments to examine; each body ends with a return."""
    own_only = [*_unless_zero(0), *_unless_zero(1), _answer(_ALLOW)]
    return {
        "mmap": [
            _argument(3),
            _step(_ANY_BIT, _MAP_REFUSED, no=1),
            _fail(errno.ENOMEM),
            _step(_AND, _MAP_SHARED_ANONYMOUS),
            _step(_EQUAL, _MAP_SHARED_ANONYMOUS, no=1),
            _fail(errno.ENOMEM),
            _answer(_ALLOW),
        ],
        "madvise": _only(2, _ADVICE, errno.EINVAL),
        "fcntl": _only(1, _FCNTL, errno.EPERM, succeed=_LOCKS),
        "ioctl": _only(1, _IOCTL, errno.ENOTTY),
        "clone": [
            _argument(0),
            _step(_ANY_BIT, _CLONE_REFUSED, yes=2),
            _step(_AND, _EXIT_SIGNAL),
            _step(_EQUAL, _GO_ON, no=1),
            _fail(errno.EPERM),
            _answer(_ALLOW),
        ],
        "prctl": [
            _argument(0),
            _step(_EQUAL, _SET_SIGNAL_OF_DEATH, no=4),
            _argument(1),
            _step(_EQUAL, _GO_ON, no=1),
            _fail(errno.EPERM),
            _answer(_ALLOW),
            *_only(0, _PRCTL, errno.EINVAL),
        ],
        "socket": _only(0, _FAMILIES if rights.sockets else (), errno.EAFNOSUPPORT),
        "socketpair": [_answer(_ALLOW)] if rights.sockets else _connected_pair(),
        "getsockopt": [_answer(_ALLOW)] if rights.sockets else _option_of_socket(),
        "prlimit64": [*_unless_zero(0), _answer(_ALLOW)],
        "getpriority": own_only,
        "setpriority": own_only,
        "personality": _only(0, _PERSONALITIES, errno.EPERM),
        "membarrier": [
            _argument(0),
            _step(_ANY_BIT, 0xFFFFFFFF & ~_BARRIERS, no=1),
            _fail(errno.EINVAL),
            _answer(_ALLOW),
        ],
        **{name: [_answer(_ALLOW)] if rights.times else _unchanged(place) for name, place in _TIMES.items()},
    }


def _unchanged(index: int) -> list[bytes]:
    """Fail if the argument is NULL, else succeed without doing anything.

    NULL asks for the present time. A program that gets an error then opens the file, which creates it; one that copies
    a file with its times expects no error.
    """
    return [_argument(index), _step(_EQUAL, 0, no=1), _fail(errno.EPERM), _answer(_SUCCEED)]


def _option_of_socket() -> list[bytes]:
    return [
        _argument(1),
        _step(_EQUAL, _SOL_SOCKET, yes=1),
        _fail(errno.ENOPROTOOPT),
        *_only(2, _SOCKET_OPTIONS, errno.ENOPROTOOPT),
    ]


def _connected_pair() -> list[bytes]:
    """Allow a pair whose ends are connected: a datagram socket would reach any socket whose path is known."""
    return [
        _argument(0),
        _step(_EQUAL, _AF_UNIX, no=5),
        _argument(1),
        _step(_AND, _KIND_OF_SOCKET),
        _step(_EQUAL, _SOCK_STREAM, yes=1),
        _step(_EQUAL, _SOCK_SEQPACKET, no=1),
        _answer(_ALLOW),
        _fail(errno.EAFNOSUPPORT),
    ]


def _only(index: int, allowed: Iterable[int], error: int, *, succeed: Iterable[int] = ()) -> list[bytes]:
    """Allow some values of an argument, succeed without doing anything for others, and fail for the rest."""
    steps = [_argument(index)]
    for answer, values in ((_ALLOW, allowed), (_SUCCEED, succeed)):
        for value in values:
            steps += [_step(_EQUAL, value, no=1), _answer(answer)]
    return [*steps, _fail(error)]


def _unless_zero(index: int) -> list[bytes]:
    """Fail unless an argument is 0, which stands for the calling process and for the kind `process`."""
    return [_argument(index), _step(_EQUAL, 0, yes=1), _fail(errno.EPERM)]


def _argument(index: int) -> bytes:
    """Load the lower half of an argument: both architectures are little-endian, and the flags are there."""
    return _step(_LOAD, _ARGUMENTS + 8 * index)


def _fail(error: int) -> bytes:
    return _answer(_FAIL | error)


def _answer(answer: int) -> bytes:
    return _step(_RETURN, answer)


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """One instruction; `yes` and `no` are how many to skip if a comparison holds, and if it does not."""
    return struct.pack("=HBBI", code, yes, no, value)
