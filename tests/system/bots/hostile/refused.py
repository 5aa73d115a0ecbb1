"""Bots that are refused before anything runs: how each is made, and the words that tell its author why."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

GOOD = 'command = ["python3", "bot.py"]\n'
_PROGRAM = b"#!/bin/sh\n"
_MACHINE_AT, _ITANIUM = 18, 50
"""Where an ELF file says for which processor it is, and one that is none of ours."""


def folder(path: Path, manifest: str = GOOD) -> Path:
    """A bot that could play."""
    path.mkdir(parents=True)
    (path / "bot.toml").write_text(manifest)
    (path / "bot.py").write_text("import this\n")
    return path


def _symlinked_folder(place: Path) -> Path:
    folder(place / "real")
    (place / "link").symlink_to("real")
    return place / "link"


def _link_out(place: Path) -> Path:
    bot = folder(place / "bot")
    (bot / "passwords").symlink_to("/etc/passwd")
    return bot


def _manifest(make: Callable[[Path], object]) -> Callable[[Path], Path]:
    def at(place: Path) -> Path:
        bot = folder(place / "bot")
        (bot / "bot.toml").unlink()
        make(bot / "bot.toml")
        return bot

    return at


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


def _program(content: bytes, mode: int = 0o755) -> Callable[[Path], Path]:
    def at(place: Path) -> Path:
        place.mkdir(parents=True)
        (place / "program").write_bytes(content)
        (place / "program").chmod(mode)
        return place / "program"

    return at


def _for_another_machine(place: Path) -> Path:
    """The ls of this machine, said to be for another."""
    program = bytearray(Path("/bin/ls").resolve().read_bytes())
    struct.pack_into("<H", program, _MACHINE_AT, _ITANIUM)
    return _program(bytes(program))(place)


def _named(name: str) -> Callable[[Path], Path]:
    return lambda place: folder(place / name)


_NAME = "a bot's name is 1 to 32 of the letters"

REFUSED: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a symlinked folder": (_symlinked_folder, "it is a symbolic link"),
    "a link out of the folder": (_link_out, "the link `passwords` leads out of the folder"),
    "a FIFO as manifest": (_manifest(os.mkfifo), "`bot.toml` is a FIFO"),
    "a device as manifest": (_manifest(lambda path: path.symlink_to("/dev/zero")), "`bot.toml` is a link"),
    "a folder as manifest": (_manifest(Path.mkdir), "`bot.toml` is a folder"),
    "a huge manifest": (_manifest(_huge), "`bot.toml` has more than 65,536 bytes"),
    "not executable": (_program(_PROGRAM, 0o644), "is not executable"),
    "a missing interpreter": (_program(b"#!/no/such/interpreter\n"), "the interpreter /no/such/interpreter"),
    "CRLF after the shebang": (_program(b"#!/bin/sh\r\nexit\r\n"), "has CRLF after its shebang line"),
    "another architecture": (_for_another_machine, "is a program for machine number 50"),
    "no shebang": (_program(b"exit\n"), "has no shebang line"),
    "an empty file": (_program(b""), "is empty"),
    "a name of a space": (_named(" "), _NAME),
    "a name that is too long": (_named("x" * 33), _NAME),
    "a name with an escape": (_named("\x1b[31mred"), _NAME),
    "a name with markup": (_named("[bold]red"), _NAME),
    "a name from right to left": (_named("abc\u202edef"), _NAME),
    "a name with nothing in it that shows": (_named("abc\u200bdef"), _NAME),
    "a name in other letters": (_named("\u212aelvin"), _NAME),
    "a name with a backslash": (_named("a\\b"), _NAME),
    "a name that looks like an option": (_named("-v"), _NAME),
    "a name": (_named("same"), "has the same name, or one that differs in capitals only"),
    "the same name in capitals": (_named("SAME"), "has the same name, or one that differs in capitals only"),
}
"""From the catalogue's words to what makes such a bot in a folder, returning its path; and to what its author is told."""
