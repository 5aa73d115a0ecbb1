"""True if a file can be started on this machine, found out by reading it, with a sentence where it cannot."""

from __future__ import annotations

import os
import platform
import shutil
import struct
import sys
from pathlib import Path
from typing import BinaryIO

from protocol.text import readable
from referee.bots.source.programs import HOST, HostView
from referee.bots.source.tree import open_regular
from referee.errors import InputError

_LONGEST_SHEBANG = 256
"""Bytes of a first line that Linux reads."""

_ELF_MACHINES = {3: "x86", 40: "ARM", 62: "x86-64", 183: "AArch64", 243: "RISC-V"}
_RUNS_HERE = {
    "x86_64": {62, 3},
    "i386": {3},
    "i686": {3},
    "aarch64": {183, 40},
    "armv7l": {40},
    "armv6l": {40},
    "riscv64": {243},
}
_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_PT_INTERP = 3
_HEADER, _WIDE_HEADER = 32, 56
"""Bytes of a program header, of 32 and of 64 bits."""


def check_program(path: Path, view: HostView = HOST) -> None:
    """Raise InputError, with the reason, where `path` cannot be started as a program here."""
    name = readable(path.name, 80)
    try:
        file = open_regular(Path(os.path.realpath(path)))
    except FileNotFoundError:
        raise InputError(f"`{name}` is not there: name an existing file, or a build that makes it") from None
    with file:
        if not os.fstat(file.fileno()).st_mode & 0o111:
            raise InputError(f"`{name}` is not executable: chmod +x it")
        if not os.access(path, os.X_OK):
            raise InputError(f"`{name}` may not be executed by this user")
        _check_format(name, file, view)


def looks_runnable(path: Path) -> bool:
    """True if a file is marked executable and begins as a program or with a shebang line."""
    with open_regular(path) as file:
        return bool(os.fstat(file.fileno()).st_mode & 0o111) and file.read(4).startswith((b"\x7fELF", b"#!", *_MACH_O))


def _check_format(name: str, file: BinaryIO, view: HostView) -> None:
    start = file.read(_LONGEST_SHEBANG)
    if start.startswith(b"#!"):
        _check_shebang(name, start, view)
    elif start.startswith(b"\x7fELF"):
        _check_elf(name, file, start, view)
    elif start.startswith(_MACH_O):
        if sys.platform != "darwin":
            raise InputError(f"`{name}` is a program for macOS: build it here")
    elif start.startswith(b"MZ"):
        raise InputError(f"`{name}` is a program for Windows: build it here")
    elif start.startswith(b"\xef\xbb\xbf#!"):
        raise InputError(f"`{name}` has a byte order mark before its shebang line: save it as UTF-8 without BOM")
    elif not start:
        raise InputError(f"`{name}` is empty")
    else:
        raise InputError(f"`{name}` has no shebang line, such as #!/usr/bin/env python3, and is not a compiled program")


def _check_shebang(name: str, start: bytes, view: HostView) -> None:
    line, end, _ = start.partition(b"\n")
    if line.endswith(b"\r"):
        raise InputError(f"`{name}` has CRLF after its shebang line: save it with LF line ends (sed -i 's/\\r$//')")
    if not end and len(start) == _LONGEST_SHEBANG:
        raise InputError(f"`{name}` has a shebang line of {_LONGEST_SHEBANG} bytes or more, which the system cuts")
    words = os.fsdecode(line[2:]).split()
    if not words:
        raise InputError(f"`{name}` has an empty shebang line: write one such as #!/usr/bin/env python3")
    _check_interpreter(name, words[0], view)
    if Path(words[0]).name == "env":
        _check_env(name, words[1:], view)


def _check_env(name: str, words: list[str], view: HostView) -> None:
    if words[:1] == ["-S"]:
        words = words[1:]
    elif len(words) > 1 and sys.platform != "darwin":
        wanted = readable(" ".join(words), 80)
        raise InputError(f"`{name}` wants a program named `{wanted}`, in one word: write env -S {wanted}")
    programs = [word for word in words if "=" not in word and not word.startswith("-")]
    if programs and shutil.which(programs[0], path=view.path) is None:
        where = "in the sandbox" if view.is_boxed else "on PATH"
        raise InputError(f"`{name}` wants `{readable(programs[0], 80)}`: not found {where}")


def _check_interpreter(name: str, interpreter: str, view: HostView) -> None:
    if not interpreter.startswith("/"):
        raise InputError(f"`{name}` wants `{readable(interpreter, 80)}`: write the interpreter's absolute path")
    if not os.access(interpreter, os.X_OK):
        raise InputError(f"`{name}` wants the interpreter {readable(interpreter, 80)}, which is not on this machine")
    if not view.sees(Path(interpreter)):
        raise InputError(f"`{name}` wants the interpreter {readable(interpreter, 80)}, which is not in the sandbox")


def _check_elf(name: str, file: BinaryIO, start: bytes, view: HostView) -> None:
    if sys.platform == "darwin":
        raise InputError(f"`{name}` is a program for Linux: build it here")
    try:
        order = {1: "<", 2: ">"}[start[5]]
        (machine,) = struct.unpack_from(order + "H", start, 18)
        interpreter = _elf_interpreter(file, start, order)
    except (KeyError, IndexError, struct.error, OverflowError, ValueError):
        raise InputError(f"`{name}` begins as a program and is damaged: build it again") from None
    here = platform.machine()
    if machine not in _RUNS_HERE.get(here, {machine}):
        other = _ELF_MACHINES.get(machine, f"machine number {machine}")
        raise InputError(f"`{name}` is a program for {other}, and this machine is {here}: build it here")
    if interpreter:
        _check_interpreter(name, interpreter, view)


def _elf_interpreter(file: BinaryIO, start: bytes, order: str) -> str | None:
    """The loader that a program asks for (PT_INTERP of the System V ABI); None where it is linked statically."""
    wide = start[4] == 2
    (table,) = struct.unpack_from(order + ("Q" if wide else "I"), start, 32 if wide else 28)
    size, count = struct.unpack_from(order + "HH", start, 54 if wide else 42)
    if count and size != (_WIDE_HEADER if wide else _HEADER):
        raise ValueError("its program headers have another size")
    for number in range(count):
        file.seek(table + number * size)
        header = file.read(size)
        (kind,) = struct.unpack_from(order + "I", header)
        if kind == _PT_INTERP:
            (offset,) = struct.unpack_from(order + ("Q" if wide else "I"), header, 8 if wide else 4)
            (length,) = struct.unpack_from(order + ("Q" if wide else "I"), header, 32 if wide else 16)
            file.seek(offset)
            return os.fsdecode(file.read(min(length, 4096)).rstrip(b"\0"))
    return None
