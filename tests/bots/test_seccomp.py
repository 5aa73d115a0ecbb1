"""The filter of system calls, run instruction by instruction as the kernel does, and its numbers."""

from __future__ import annotations

import errno
import platform
import re
import shutil
import struct
import subprocess

import pytest

from referee.bots.sandbox import seccomp
from referee.bots.sandbox.seccomp import FORBIDDEN, IDLE, LISTED, MISSING, Numbers, Sockets, filter_for

ALLOW, KILL = 0x7FFF0000, 0x80000000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
READ = {"x86_64": 0, "aarch64": 63}


def verdict(machine: str, number: int, *arguments: int, sockets: Sockets = Sockets.USUAL, architecture: int = 0) -> int:
    """What the filter answers to a call: classic BPF over the kernel's `struct seccomp_data`."""
    data = struct.pack(
        "=iIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *arguments, *[0] * (6 - len(arguments))
    )
    program = filter_for(sockets, machine)
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


def fails(error: int) -> int:
    return 0x00050000 | error


MACHINES = pytest.mark.parametrize("machine", ARCHITECTURES)


def number_of(name: str, machine: str) -> int:
    number = getattr(LISTED[name], machine)
    assert isinstance(number, int)
    return number


@MACHINES
def test_every_call_of_the_table_gets_its_answer_and_another_one_is_allowed(machine: str) -> None:
    for table, error in ((FORBIDDEN, errno.EPERM), (MISSING, errno.ENOSYS), (IDLE, 0)):
        for name, numbers in table.items():
            number = getattr(numbers, machine)
            if number is not None:
                assert verdict(machine, number) == fails(error), name
    listed = {getattr(numbers, machine) for numbers in LISTED.values()}
    for number in range(500):
        if number not in listed:
            assert verdict(machine, number) == ALLOW, number


@MACHINES
def test_a_program_of_another_architecture_is_killed(machine: str) -> None:
    other = ARCHITECTURES["aarch64" if machine == "x86_64" else "x86_64"]
    assert verdict(machine, READ[machine], architecture=other) == KILL
    assert verdict(machine, READ[machine], architecture=0x40000003) == KILL


def test_calls_of_the_other_numbering_of_x86_64_are_not_there() -> None:
    assert verdict("x86_64", 0x40000000 | 101) == fails(errno.ENOSYS)


@MACHINES
@pytest.mark.parametrize(
    "flag", [0x00000080, 0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
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
    assert verdict(machine, prctl, 1, kill) == verdict(machine, prctl, 2, go_on) == ALLOW
    assert verdict(machine, prctl, 1, go_on) == fails(errno.EPERM)
    assert verdict(machine, fcntl, 3, 10, go_on) == fails(errno.EPERM)
    assert verdict(machine, number_of("timer_create", machine)) == fails(errno.ENOSYS)


@MACHINES
def test_only_memory_that_counts_can_be_mapped(machine: str) -> None:
    mmap = number_of("mmap", machine)
    private, shared, anonymous, grows = 0x02, 0x01, 0x20, 0x0100
    for allowed in (private, private | anonymous, shared, private | anonymous | 0x4000):
        assert verdict(machine, mmap, 0, 4096, 3, allowed) == ALLOW
    for refused in (shared | anonymous, 0x03 | anonymous, private | anonymous | grows, shared | anonymous | grows):
        assert verdict(machine, mmap, 0, 4096, 3, refused) == fails(errno.ENOMEM)


@MACHINES
def test_sockets_are_of_three_families_or_of_none(machine: str) -> None:
    socket = number_of("socket", machine)
    for family in range(64):
        expected = ALLOW if family in (1, 2, 10) else fails(errno.EAFNOSUPPORT)
        assert verdict(machine, socket, family, 1) == expected
        assert verdict(machine, socket, family, 1, sockets=Sockets.NONE) == fails(errno.EAFNOSUPPORT)


@MACHINES
def test_of_a_terminal_and_of_files_some_questions_are_refused(machine: str) -> None:
    ioctl, fcntl, personality = (number_of(name, machine) for name in ("ioctl", "fcntl", "personality"))
    assert verdict(machine, ioctl, 0, 0x5413) == ALLOW
    assert verdict(machine, ioctl, 0, 0x5412) == verdict(machine, ioctl, 0, 0x541C) == fails(errno.EPERM)
    assert [verdict(machine, fcntl, 3, command) == ALLOW for command in (0, 2, 4, 5, 6, 7, 10, 11, 36, 37, 1024, 1025, 1026, 1030)] == [
        True, True, True, False, True, True, False, True, False, True, False, True, False, True,
    ]  # fmt: skip
    assert verdict(machine, personality, 0xFFFFFFFF) == verdict(machine, personality, 0) == ALLOW
    assert verdict(machine, personality, 0x0040000) == fails(errno.EPERM)


@MACHINES
def test_the_upper_half_of_an_argument_hides_nothing(machine: str) -> None:
    assert verdict(machine, number_of("clone", machine), 1 << 32 | 0x10000000) == fails(errno.EPERM)
    assert verdict(machine, number_of("socket", machine), 1 << 32 | 40) == fails(errno.EAFNOSUPPORT)


def test_there_is_no_filter_for_other_architectures() -> None:
    assert filter_for(Sockets.USUAL, "riscv64") is None


def _numbers_of(header: str, *options: str) -> dict[str, int]:
    """The numbers that a header of the C library defines."""
    compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
    words = [compiler, "-E", "-dM", "-include", header, *options, "-x", "c", "/dev/null"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)$", said, re.MULTILINE))
    return {name: int(number) for name, number in found.items()}


GENERIC = ("-D__BITS_PER_LONG=64", "-D__ARCH_WANT_SYS_CLONE3", "-D__ARCH_WANT_MEMFD_SECRET")
HEADERS: list[tuple[str, str, tuple[str, ...]]] = [("aarch64", "asm-generic/unistd.h", GENERIC)]
if platform.machine() == "x86_64":  # elsewhere its header is not there
    HEADERS.append(("x86_64", "asm/unistd_64.h", ()))


@pytest.mark.parametrize(("machine", "header", "options"), HEADERS)
def test_numbers_are_those_of_the_c_librarys_headers(machine: str, header: str, options: tuple[str, ...]) -> None:
    ours = {name: getattr(numbers, machine) for name, numbers in LISTED.items()}
    theirs = _numbers_of(header, *options)
    known = {name: number for name, number in ours.items() if name in theirs}
    assert known == {name: theirs[name] for name in known}
    newer = {"open_tree_attr", "quotactl_fd", "set_mempolicy_home_node"}
    assert {name for name, number in ours.items() if number is not None} - known.keys() <= newer


def test_no_number_stands_in_the_table_twice() -> None:
    for machine in ARCHITECTURES:
        numbers = [number for one in LISTED.values() if (number := getattr(one, machine)) is not None]
        assert len(numbers) == len(set(numbers))
    assert all(isinstance(one, Numbers) for one in seccomp.LISTED.values())
