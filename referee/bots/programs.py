"""Whether a program can be started on this machine, found out by reading it, with a sentence where it cannot."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from protocol.text import readable
from referee.bots.tree import open_regular
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


BOXED_PATH = "/usr/local/bin:/usr/bin:/bin"
"""PATH in a sandbox."""
_IN_EVERY_BOX = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


@dataclass(frozen=True, slots=True)
class View:
    """What of this machine a bot will see: `path` is where its programs are sought, None for the referee's own PATH.

    `allowed` are the folders beyond /usr that the organiser lets bots ask for, `folders` those that this one gets.
    """

    path: str | None = None
    allowed: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()

    @property
    def is_boxed(self) -> bool:
        """Whether it is less than what the referee sees."""
        return self.path is not None

    def runtime(self, wanted: Sequence[str]) -> tuple[Path, ...]:
        """The folders that a bot asks for, where it will see them. Raises InputError where one is not to be had."""
        return tuple(self._runtime(Path(one)) for one in wanted) if self.is_boxed else ()

    def _runtime(self, wanted: Path) -> Path:
        shown = readable(str(wanted), 120)
        real = Path(os.path.realpath(wanted))
        if not any(real.is_relative_to(os.path.realpath(one)) for one in self.allowed):
            raise InputError(f"it asks for the folder {shown}: --allow-runtime {shown} lets bots read it")
        if not real.is_dir():
            raise InputError(f"it asks for the folder {shown}, which is not there")
        if is_closed(real):
            raise InputError(
                f"{shown} is closed to others, and root's sandboxes are another user's: open it by chmod o+x"
            )
        return wanted

    def sees(self, path: Path) -> bool:
        """Whether a program at an absolute path is there for the bot."""
        if not self.is_boxed:
            return True
        places = (*map(Path, _IN_EVERY_BOX), *self.folders)
        return any(path.is_relative_to(place) for place in places)

    def with_runtime(self, folders: Sequence[Path]) -> View:
        """The view of a bot that sees these folders too: programs in them, or in their `bin`, come first."""
        if self.path is None or not folders:
            return self
        places = [place for folder in folders for place in (folder / "bin", folder) if place.is_dir()]
        return replace(self, path=":".join([*map(str, places), self.path]), folders=tuple(folders))


HOST = View()
"""All that the referee sees."""
BOXED = View(BOXED_PATH)
"""What is in every sandbox."""


def is_closed(folder: Path) -> bool:
    """Whether a sandbox could not read a folder, because we are root and others may not enter it or one above it."""
    places = (folder, *folder.parents)
    return os.geteuid() == 0 and not all(place.stat().st_mode & stat.S_IXOTH for place in places if place.exists())


def is_in_folder(program: str) -> bool:
    """Whether a command's first word names a file of the bot's folder: it has a slash. Others are found on PATH."""
    return "/" in program


PACKAGES = {
    "cc": "gcc",
    "gcc": "gcc",
    "c++": "g++",
    "g++": "g++",
    "make": "make",
    "go": "golang-go",
    "rustc": "rustc",
    "cargo": "cargo",
    "java": "default-jdk-headless",
    "javac": "default-jdk-headless",
    "mvn": "maven",
    "node": "nodejs",
    "npm": "npm",
    "npx": "npm",
    "python3": "python3",
    "ruby": "ruby",
    "lua": "lua5.4",
    "php": "php-cli",
    "perl": "perl",
    "jq": "jq",
}
"""By program: the package of Debian and Ubuntu that brings it."""


def _how_to_get(program: str) -> str:
    package = PACKAGES.get(program)
    if package is not None:
        return f"on Debian and Ubuntu the package {package} brings it"
    return "install it, or write ./ before the name of a file in the folder"


def homes_of(program: str) -> tuple[Path, ...]:
    """The folders to be allowed to a sandbox for a program on the referee's PATH; none where it is not there.

    rustup's programs are links to rustup, which finds the real ones in a folder of its own.
    """
    found = shutil.which(program)
    if found is None:
        return ()
    place, real = Path(found).absolute(), Path(os.path.realpath(found))
    if real.name == program:
        place = real
    home = place.parent.parent if place.parent.name == "bin" else place.parent
    if real.name == "rustup":
        return home, Path(os.environ.get("RUSTUP_HOME") or Path("~/.rustup").expanduser())
    return (home,)


def resolve(program: str, view: View = HOST, *, builds: str = "") -> str:
    """What a command's first word stands for: `./bin/bot` in the folder, or a program on PATH, absolute.

    A file of the folder is meant only where there is a slash, as in a shell: `bot` is sought on PATH, `./bot` is
    not. `builds` is the bot whose build the command is of, as the user wrote it, empty where the command plays.
    Raises InputError where a program is not on PATH, or a path is absolute or leads out of the folder.
    """
    if not is_in_folder(program):
        found = shutil.which(program, path=view.path)
        if found is None and view.is_boxed and (outside := shutil.which(program)) is not None:
            raise InputError(_only_outside(program, outside, view, builds))
        if found is None:
            raise InputError(f"`{readable(program, 80)}`: not found on PATH; {_how_to_get(program)}")
        return str(Path(found).absolute())
    path = PurePosixPath(program)
    if path.is_absolute():
        raise InputError(
            f"`{readable(program, 80)}` is an absolute path: write a name found on PATH, or ./ and a file of the folder"
        )
    if ".." in path.parts:
        raise InputError(f"`{readable(program, 80)}` leads out of the folder: name a file in it, such as ./bot")
    return f"./{path}"


def _only_outside(program: str, outside: str, view: View, builds: str) -> str:
    what = f"`{readable(program, 80)}` is {readable(outside, 120)}, which is not in the sandbox"
    homes = homes_of(program)
    if any(map(is_closed, homes)):
        return f"{what}, and closed to others, whose sandboxes are: {_how_to_get(program)} for all; or use --sandbox D"
    names = [readable(str(home), 120) for home in homes]
    allowed = " ".join(f"--allow-runtime {name}" for name in names)
    asked = ", ".join(f'"{name}"' for name in names)
    if builds:
        bot = readable(builds, 120)
        return f"{what}: `referee build {bot} {allowed}` builds with it, with --fetch too if the build fetches packages"
    python = shutil.which("python3", path=view.path)
    if python is not None and homes and (homes[0] / "pyvenv.cfg").is_file():
        return f"{what}, as it is of a virtual environment: write python3, which is {python} there"
    return f"{what}: take one of /usr/bin, or have runtime = [{asked}] in bot.toml and play with {allowed}"


def check_program(path: Path, view: View = HOST) -> None:
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
    """Whether a file is marked executable and begins as a program or with a shebang line."""
    with open_regular(path) as file:
        return bool(os.fstat(file.fileno()).st_mode & 0o111) and file.read(4).startswith((b"\x7fELF", b"#!", *_MACH_O))


def _check_format(name: str, file: BinaryIO, view: View) -> None:
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
        raise InputError(f"`{name}` has no shebang line, such as #!/usr/bin/env python3, and is no compiled program")


def _check_shebang(name: str, start: bytes, view: View) -> None:
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


def _check_env(name: str, words: list[str], view: View) -> None:
    if words[:1] == ["-S"]:
        words = words[1:]
    elif len(words) > 1 and sys.platform != "darwin":
        wanted = readable(" ".join(words), 80)
        raise InputError(f"`{name}` wants a program named `{wanted}`, in one word: write env -S {wanted}")
    programs = [word for word in words if "=" not in word and not word.startswith("-")]
    if programs and shutil.which(programs[0], path=view.path) is None:
        where = "in the sandbox" if view.is_boxed else "on PATH"
        raise InputError(f"`{name}` wants `{readable(programs[0], 80)}`: not found {where}")


def _check_interpreter(name: str, interpreter: str, view: View) -> None:
    if not interpreter.startswith("/"):
        raise InputError(f"`{name}` wants `{readable(interpreter, 80)}`: write the interpreter's absolute path")
    if not os.access(interpreter, os.X_OK):
        raise InputError(f"`{name}` wants the interpreter {readable(interpreter, 80)}, which is not on this machine")
    if not view.sees(Path(interpreter)):
        raise InputError(f"`{name}` wants the interpreter {readable(interpreter, 80)}, which is not in the sandbox")


def _check_elf(name: str, file: BinaryIO, start: bytes, view: View) -> None:
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
