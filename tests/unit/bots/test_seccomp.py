"""The filter of system calls, run instruction by instruction as the kernel does, and its numbers."""

from __future__ import annotations

import errno
import platform
import struct

import pytest

from referee.bots.sandbox.calls import ALLOWED, EXAMINED, IDLE, LISTED, MODES, SOCKETS, TIMES, Numbers
from referee.bots.sandbox.seccomp import Rights, filter_for

ALLOW, KILL = 0x7FFF0000, 0x80000000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
READ = {"x86_64": 0, "aarch64": 63}
NOTHING, EVERYTHING = Rights(), Rights(sockets=True, modes=True, times=True)


def verdict(machine: str, number: int, *arguments: int, rights: Rights = NOTHING, architecture: int = 0) -> int:
    """What the filter answers to a call: classic BPF over the kernel's `struct seccomp_data`."""
    data = struct.pack(
        "=iIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *arguments, *[0] * (6 - len(arguments))
    )
    program = filter_for(rights, machine)
    assert program is not None
    steps = list(struct.iter_unpack("=HBBI", program))
    held = at = 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        match code:
            case 0x20:
                (held,) = struct.unpack_from("=I", data, value)
            case 0x54:
                held &= value
            case 0x15:
                at += yes if held == value else no
            case 0x35:
                at += yes if held >= value else no
            case 0x45:
                at += yes if held & value else no
            case 0x06:
                return value


DONE_NOTHING = 0x00050000


def fails(error: int) -> int:
    return 0x00050000 | error


MACHINES = pytest.mark.parametrize("machine", ARCHITECTURES)


def number_of(name: str, machine: str) -> int:
    number = getattr(LISTED[name], machine)
    assert isinstance(number, int)
    return number


def answers(machine: str, calls: dict[str, Numbers], rights: Rights, *arguments: int) -> set[int]:
    numbers = [number for one in calls.values() if (number := getattr(one, machine)) is not None]
    return {verdict(machine, number, *arguments, rights=rights) for number in numbers}


@MACHINES
def test_what_is_listed_is_allowed_and_every_other_call_is_not_there(machine: str) -> None:
    listed = {getattr(numbers, machine) for numbers in LISTED.values()}
    for rights in (NOTHING, EVERYTHING):
        assert answers(machine, ALLOWED, rights) == {ALLOW}
        for number in (*range(-2, 1100), 2**31 - 1):
            if number not in listed:
                assert verdict(machine, number, rights=rights) == fails(errno.ENOSYS), number


@MACHINES
def test_what_only_builds_may_do(machine: str) -> None:
    pointer = 0x7FFF_0000_1000
    assert answers(machine, SOCKETS, NOTHING) == {fails(errno.ENOSYS)}
    assert answers(machine, MODES, NOTHING) == answers(machine, IDLE, EVERYTHING) == {DONE_NOTHING}
    assert answers(machine, TIMES, NOTHING, *[pointer] * 3) == {DONE_NOTHING}
    assert answers(machine, TIMES, NOTHING, pointer, 0, 0) == {fails(errno.EPERM)}
    for calls in (SOCKETS, MODES, TIMES):
        assert answers(machine, calls, EVERYTHING) == {ALLOW}


@MACHINES
def test_a_program_of_another_architecture_is_killed(machine: str) -> None:
    other = ARCHITECTURES["aarch64" if machine == "x86_64" else "x86_64"]
    assert verdict(machine, READ[machine], architecture=other) == KILL
    assert verdict(machine, READ[machine], architecture=0x40000003) == KILL


def test_calls_of_the_other_numbering_of_x86_64_are_not_there() -> None:
    assert verdict("x86_64", 0x40000000 | 101) == fails(errno.ENOSYS)


@MACHINES
@pytest.mark.parametrize(
    "flag", [0x00000080, 0x00001000, 0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
)
def test_clone_makes_threads_and_processes_and_no_namespaces(machine: str, flag: int) -> None:
    clone = number_of("clone", machine)
    assert verdict(machine, clone, 0x11) == ALLOW
    assert verdict(machine, clone, 0x3D0F00) == ALLOW
    assert verdict(machine, clone, 0x11 | flag) == fails(errno.EPERM)


@MACHINES
def test_no_event_of_the_kernels_lets_the_stopped_go_on(machine: str) -> None:
    clone, prctl, fcntl = (number_of(name, machine) for name in ("clone", "prctl", "fcntl"))
    child, go_on, kill = 17, 18, 9
    assert verdict(machine, clone, 0) == verdict(machine, clone, child) == ALLOW
    assert verdict(machine, clone, go_on) == verdict(machine, clone, 0x0100 | go_on) == fails(errno.EPERM)
    assert verdict(machine, prctl, 1, kill) == verdict(machine, prctl, 15, go_on) == ALLOW
    assert verdict(machine, prctl, 1, go_on) == fails(errno.EPERM)
    assert verdict(machine, fcntl, 3, 10, go_on) == fails(errno.EPERM)
    assert "timer_create" not in LISTED


@MACHINES
def test_only_memory_that_counts_can_be_mapped(machine: str) -> None:
    mmap = number_of("mmap", machine)
    private, shared, anonymous, grows = 0x02, 0x01, 0x20, 0x0100
    for allowed in (private, private | anonymous, shared, private | anonymous | 0x4000):
        assert verdict(machine, mmap, 0, 4096, 3, allowed) == ALLOW
    for refused in (
        shared | anonymous,
        0x03 | anonymous,
        private | anonymous | grows,
        shared | anonymous | grows,
        0x40022,
    ):
        assert verdict(machine, mmap, 0, 4096, 3, refused) == fails(errno.ENOMEM)


@MACHINES
def test_builds_have_sockets_of_three_families_and_bots_have_none(machine: str) -> None:
    socket = number_of("socket", machine)
    for family in range(64):
        expected = ALLOW if family in (1, 2, 10) else fails(errno.EAFNOSUPPORT)
        assert verdict(machine, socket, family, 1, rights=EVERYTHING) == expected
        assert verdict(machine, socket, family, 1) == fails(errno.EAFNOSUPPORT)


@MACHINES
def test_a_pair_of_sockets_is_connected(machine: str) -> None:
    pair = number_of("socketpair", machine)
    close_on_exec, stream, datagram, packet = 0o2000000, 1, 2, 5
    for kind in (stream, packet):
        assert verdict(machine, pair, 1, kind | close_on_exec) == ALLOW
        assert verdict(machine, pair, 2, kind) == fails(errno.EAFNOSUPPORT)
    assert verdict(machine, pair, 1, datagram | close_on_exec) == fails(errno.EAFNOSUPPORT)
    assert verdict(machine, pair, 1, datagram, rights=EVERYTHING) == ALLOW


@MACHINES
@pytest.mark.parametrize(
    ("call", "place", "allowed", "refused", "error"),
    [
        ("fcntl", 1, (0, 1, 2, 3, 4, 1030, 1032), (5, 8, 10, 36, 1024, 1026, 1031, 1035, 1036, 1038), errno.EPERM),
        ("ioctl", 1, (0x5401, 0x5413), (0x5412, 0x541C, 0x40049409, 0x80045200), errno.ENOTTY),
        ("madvise", 2, (0, 4, 8, 14, 16, 102), (9, 12, 20, 21, 22, 25, 100, 101), errno.EINVAL),
        ("prctl", 0, (2, 15, 38, 39), (4, 8, 22, 35, 36, 53, 62, 67, 0x59616D61), errno.EINVAL),
        ("membarrier", 0, (0, 8, 16, 64), (1, 2, 4, 1 << 31), errno.EINVAL),
        ("personality", 0, (0, 0xFFFFFFFF), (0x0040000, 8), errno.EPERM),
        ("prlimit64", 0, (0,), (1, 4242), errno.EPERM),
        ("getpriority", 0, (0,), (1, 2), errno.EPERM),
        ("getpriority", 1, (0,), (1, 4242), errno.EPERM),
        ("setpriority", 1, (0,), (1, 4242), errno.EPERM),
    ],
)
def test_some_values_of_an_argument_are_allowed(
    machine: str, call: str, place: int, allowed: tuple[int, ...], refused: tuple[int, ...], error: int
) -> None:
    number = number_of(call, machine)
    for rights in (NOTHING, EVERYTHING):
        for value in allowed:
            assert verdict(machine, number, *[0] * place, value, rights=rights) == ALLOW
        for value in refused:
            assert verdict(machine, number, *[0] * place, value, rights=rights) == fails(error)
            assert verdict(machine, number, *[0] * place, value | 1 << 32, rights=rights) == fails(error)


@MACHINES
def test_options_of_a_socket_are_those_that_count_nothing(machine: str) -> None:
    option = number_of("getsockopt", machine)
    for name, answer in ((3, ALLOW), (4, ALLOW), (57, fails(errno.ENOPROTOOPT)), (77, fails(errno.ENOPROTOOPT))):
        assert verdict(machine, option, 3, 1, name) == answer
        assert verdict(machine, option, 3, 6, name) == fails(errno.ENOPROTOOPT)
        assert verdict(machine, option, 3, 6, name, rights=EVERYTHING) == ALLOW


@MACHINES
def test_locks_are_said_to_be_taken(machine: str) -> None:
    for command in (6, 7, 37, 38):
        assert verdict(machine, number_of("fcntl", machine), 3, command) == DONE_NOTHING
    assert verdict(machine, number_of("flock", machine), 3, 2) == DONE_NOTHING


@MACHINES
def test_the_upper_half_of_an_argument_hides_nothing(machine: str) -> None:
    assert verdict(machine, number_of("clone", machine), 1 << 32 | 0x10000000) == fails(errno.EPERM)
    assert verdict(machine, number_of("socket", machine), 1 << 32 | 40) == fails(errno.EAFNOSUPPORT)


def test_there_is_no_filter_for_other_architectures() -> None:
    assert filter_for(Rights(), "riscv64") is None


GENERIC = (
    "-D__BITS_PER_LONG=64", "-D__ARCH_WANT_NEW_STAT", "-D__ARCH_WANT_RENAMEAT", "-D__ARCH_WANT_SET_GET_RLIMIT",
)  # fmt: skip
HEADERS: list[tuple[str, str, tuple[str, ...]]] = [("aarch64", "asm-generic/unistd.h", GENERIC)]
if platform.machine() == "x86_64":  # elsewhere its header is not there
    HEADERS.append(("x86_64", "asm/unistd_64.h", ()))


def test_no_call_and_no_number_is_listed_twice() -> None:
    assert len(LISTED) == sum(map(len, (ALLOWED, SOCKETS, MODES, TIMES, IDLE, EXAMINED)))
    for machine in ARCHITECTURES:
        numbers = [number for one in LISTED.values() if (number := getattr(one, machine)) is not None]
        assert len(numbers) == len(set(numbers))
    assert all(isinstance(one, Numbers) for one in LISTED.values())
