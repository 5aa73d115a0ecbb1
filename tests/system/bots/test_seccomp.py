"""The filter of system calls, run instruction by instruction as the kernel does, and its numbers."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess

import pytest

from referee.bots.sandbox.calls import LISTED


def _numbers_of(header: str, *options: str) -> dict[str, int]:
    """The numbers that a header of the C library defines."""
    compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
    words = [compiler, "-E", "-dM", "-include", header, *options, "-x", "c", "/dev/null"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)$", said, re.MULTILINE))
    return {"newfstatat" if name == "fstatat" else name: int(number) for name, number in found.items()}


GENERIC = (
    "-D__BITS_PER_LONG=64", "-D__ARCH_WANT_NEW_STAT", "-D__ARCH_WANT_RENAMEAT", "-D__ARCH_WANT_SET_GET_RLIMIT",
)  # fmt: skip
HEADERS: list[tuple[str, str, tuple[str, ...]]] = [("aarch64", "asm-generic/unistd.h", GENERIC)]
if platform.machine() == "x86_64":  # elsewhere its header is not there
    HEADERS.append(("x86_64", "asm/unistd_64.h", ()))


@pytest.mark.parametrize(("machine", "header", "options"), HEADERS)
def test_numbers_are_those_of_the_c_librarys_headers(machine: str, header: str, options: tuple[str, ...]) -> None:
    ours = {name: getattr(numbers, machine) for name, numbers in LISTED.items()}
    theirs = _numbers_of(header, *options)
    known = {name: number for name, number in ours.items() if name in theirs}
    assert known == {name: theirs[name] for name in known}
    newer = {"fchmodat2", "map_shadow_stack"}
    assert {name for name, number in ours.items() if number is not None} - known.keys() <= newer
