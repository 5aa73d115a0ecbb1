"""`bot.toml`: what it may say, read strictly, so that a slip of the pen is found before a game is lost to it."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from protocol.text import readable
from referee.bots.source.texts import parse_toml, text_of
from referee.errors import InputError
from referee.rules import MAX_PLAYERS, MIN_PLAYERS

Command = tuple[str, ...]
"""A program and its arguments."""

ANY_PLAYERS = frozenset(range(MIN_PLAYERS, MAX_PLAYERS + 1))
_KNOWN = ("command", "build", "language", "author", "players", "runtime")
_MOST_FOLDERS = 16
_OF_THE_BOX = ("bot", "proc", "dev", "etc", "sys", "bin", "sbin", "lib", "lib64")
_LONGEST_LABEL = 80
_LONGEST_COMMAND = 4096
_MOST_STEPS = 64
_STRANGE = re.compile(r"(?:Illegal|Found invalid) character .* \(at line ([0-9]+), column [0-9]+\)")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]{1,40})\s*=")


@dataclass(frozen=True, slots=True, kw_only=True)
class BotFile:
    """What a `bot.toml` says.

    `build` are commands run once, one after the other, in a copy of the folder; `players` the numbers of players
    at whose tables the bot can sit; `runtime` are absolute folders beyond /usr that it needs, read-only, in a sandbox.
    """

    command: Command
    build: tuple[Command, ...] = ()
    language: str | None = None
    author: str | None = None
    players: frozenset[int] = ANY_PLAYERS
    runtime: tuple[str, ...] = ()


def parse_botfile(data: bytes) -> BotFile:
    """What the content of a `bot.toml` says. Raises InputError: what is wrong, where, and what would do."""
    table = _table(data)
    for key in table:
        if key not in _KNOWN:
            raise InputError(f"bot.toml has `{readable(key, 40)}`, {_nearest(key)}")
    if "command" not in table:
        raise InputError('bot.toml has no `command`: add a line such as command = ["python3", "bot.py"]')
    return BotFile(
        command=_command("command", table["command"]),
        build=_build(table["build"]) if "build" in table else (),
        language=_label(table, "language"),
        author=_label(table, "author"),
        players=_players(table["players"]) if "players" in table else ANY_PLAYERS,
        runtime=_runtime(table["runtime"]) if "runtime" in table else (),
    )


def _table(data: bytes) -> dict[str, Any]:
    text = text_of(data, "bot.toml")
    try:
        return parse_toml(text)
    except RecursionError:
        raise InputError("bot.toml is nested too deep to be read") from None
    except ValueError as error:  # tomllib's own, with line and column, or a number of thousands of digits
        said = readable(str(error), 120)
        raise InputError(f"bot.toml is not valid TOML: {said}{_near_key(text, said)}") from None


def _near_key(text: str, said: str) -> str:
    """Of a wrong character, which cannot be seen, the key in whose line or lines it stands, by tomllib's words."""
    found = _STRANGE.fullmatch(said)
    if not found:
        return ""
    lines = text.split("\n")[: int(found[1])]
    keys = [key[1] for line in lines if (key := _KEY.match(line)) and not lines[-1].lstrip().startswith("#")]
    return f", at `{keys[-1]}`: no control characters may stand there" if keys else ""


def _nearest(key: str) -> str:
    near = difflib.get_close_matches(key, _KNOWN, n=1)
    return f"did you mean `{near[0]}`?" if near else f"which nothing reads: it may have {', '.join(_KNOWN)}"


def _command(key: str, value: object) -> Command:
    if isinstance(value, str):
        raise InputError(f"`{key}` in bot.toml is one string: write it as a list, {key} = {_as_list(value)}")
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        raise InputError(f'`{key}` in bot.toml is not a list of strings, such as ["python3", "bot.py"]')
    if not value[0] or any("\0" in word for word in value):
        raise InputError(f"`{key}` in bot.toml has an empty program name or a NUL character")
    if sum(map(len, value)) > _LONGEST_COMMAND:
        raise InputError(f"`{key}` in bot.toml has more than {_LONGEST_COMMAND:,} characters: put them into a script")
    return tuple(value)


def _as_list(text: str) -> str:
    try:
        words: Sequence[str] = shlex.split(text)
    except ValueError:
        words = text.split()
    return readable("[" + ", ".join(f'"{word}"' for word in words) + "]", 120)


def _build(value: object) -> tuple[Command, ...]:
    """One command as a list of strings, or several as a list of such lists."""
    if isinstance(value, list) and value and all(isinstance(step, list) for step in value):
        if len(value) > _MOST_STEPS:
            raise InputError(f"`build` in bot.toml has more than {_MOST_STEPS} commands: put them into a script")
        return tuple(_command("build", step) for step in value)
    if isinstance(value, list) and not value:
        return ()
    return (_command("build", value),)


def _label(table: dict[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not 1 <= len(value) <= _LONGEST_LABEL or not value.isprintable():
        raise InputError(f"`{key}` in bot.toml is not a text of 1 to {_LONGEST_LABEL} visible characters on one line")
    return value


def _players(value: object) -> frozenset[int]:
    if isinstance(value, list) and value and all(type(number) is int and number in ANY_PLAYERS for number in value):
        return frozenset(value)
    raise InputError(
        f"`players` in bot.toml is not a list of numbers from {MIN_PLAYERS} to {MAX_PLAYERS}, such as [2, 3]"
    )


def _runtime(value: object) -> tuple[str, ...]:
    """Folders that stand for themselves inside and outside a sandbox, so that none hides a part of it."""
    if not isinstance(value, list) or len(value) > _MOST_FOLDERS or not all(map(_is_runtime, value)):
        raise InputError(
            '`runtime` in bot.toml is not a list of absolute folders, without `..`, such as ["/opt/venv"]: '
            "/usr is there anyway, and /bot, /tmp, /proc, /dev and /etc are the sandbox's own"
        )
    return tuple(value)


def _is_runtime(one: object) -> bool:
    if not isinstance(one, str) or not one.isprintable() or ":" in one:
        return False
    parts = PurePosixPath(one).parts
    is_absolute = parts[:1] == ("/",) and len(parts) > 1 and ".." not in parts
    return is_absolute and parts[1] not in _OF_THE_BOX and parts != ("/", "tmp")
