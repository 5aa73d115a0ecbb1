"""What a bot is: a folder with `bot.toml`, an executable file, or a source file of a known kind.

Reading one never hangs, follows no link out of it, and starts nothing: what can be known to be wrong is said before
anything runs.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from pathlib import Path

from protocol.text import readable
from referee.bots.source.botfile import BotFile, Command, parse_botfile
from referee.bots.source.executables import check_program, looks_runnable
from referee.bots.source.ignoring import is_left_behind
from referee.bots.source.kinds import SUFFIXES, recipe_for
from referee.bots.source.programs import HOST, HostView, is_in_folder, resolve
from referee.bots.source.tree import read_small, scan
from referee.errors import InputError
from referee.record import Bot

BOT_FILE = "bot.toml"
_LONGEST_BOT_FILE = 1 << 16
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}").fullmatch

_DOCUMENTS = re.compile(
    r"(readme|licen[cs]e|copying|notice|authors|changelog|makefile)(\..*)?"
    r"|.*\.(md|txt|rst|adoc|html|pdf|json|jsonl|toml|yaml|yml|ini|cfg|csv|log|db|h|hpp|o|pyc|png|svg)",
    re.IGNORECASE | re.DOTALL,
).fullmatch
_BACKUP = re.compile(r".*\.(bak|orig|old|rej|tmp)", re.IGNORECASE | re.DOTALL).fullmatch
_ARCHIVE = re.compile(
    r".*\.(zip|tar|tgz|tbz2?|txz|tar\.[a-z0-9]{1,4}|gz|bz2|xz|zst|7z|rar)", re.IGNORECASE | re.DOTALL
).fullmatch
_LOOKED_AT = 1000
"""How many entries of a folder without bot.toml are looked at for bots in it."""


@dataclass(frozen=True, slots=True)
class BotSpec:
    """A bot as it was found: who it is, where it lies, how it is built and started.

    `identity` is its name and the hash of its tree (`referee.bots.source.tree`). A folder's name is the bot's, a source
    file's is its name without the ending, an executable file's its whole name. `build` are commands run once in
    a copy of the folder, `command` the one that starts it; `players` the numbers of players it can play with;
    `runtime` the folders beyond /usr that it asks for. `left_out` are the first paths in its folder that do not
    belong to it though its author did not say so.
    """

    identity: Bot
    path: Path
    command: Command
    build: tuple[Command, ...]
    language: str | None
    author: str | None
    players: frozenset[int]
    runtime: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What some paths hold: bots, in the order given, and for every other path the reason why it is none.

    `passed_over` are documents and hidden files beside bots, which `bots/*` names too; `refused` are bots that
    cannot play, or may not. A path given twice gives its bot twice.
    """

    bots: tuple[BotSpec, ...]
    passed_over: Mapping[Path, str]
    refused: Mapping[Path, str]


def find_bots(paths: Sequence[Path], view: HostView = HOST) -> Found:
    """Read the bots at `paths`, each a folder or file. Raises nothing for a bot that is wrong: see `Found`.

    `view` is what of this machine they will see.
    """
    bots: list[BotSpec] = []
    passed_over: dict[Path, str] = {}
    refused: dict[Path, str] = {}
    for path in paths:
        if (aside := _why_aside(path)) is not None:
            passed_over[path] = aside
            continue
        try:
            bots.append(read_bot(path, view))
        except InputError as error:
            refused[path] = str(error)
    refused.update(_namesakes(bots))
    return Found(tuple(bot for bot in bots if bot.path not in refused), passed_over, refused)


def read_bot(path: Path, view: HostView = HOST) -> BotSpec:
    """The bot at one path. Raises InputError, in one sentence, where it cannot play."""
    try:
        return _read(path, view)
    except FileNotFoundError:
        raise InputError("there is no such file or folder") from None
    except OSError as error:
        where = f" ({readable(str(error.filename), 120)})" if error.filename else ""
        raise InputError(f"it cannot be read: {error.strerror}{where}") from None


def _read(path: Path, view: HostView) -> BotSpec:
    match _shape(path):
        case _Shape.FOLDER:
            name, said = _own_name(path), _read_folder(path)
        case _Shape.FILE:
            name, said = _file_name(path), _read_file(path)
    check_name(name)
    tree = scan(path)
    _check_commands(tree.base, said, view)
    return BotSpec(
        identity=Bot(name, tree.hash()),
        path=path,
        command=said.command,
        build=said.build,
        language=said.language,
        author=said.author,
        players=said.players,
        runtime=said.runtime,
        left_out=tree.left_out,
    )


class _Shape(Enum):
    FOLDER = auto()
    FILE = auto()


def _shape(path: Path) -> _Shape:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        raise InputError("it is a symbolic link: give the folder or file that it leads to")
    if stat.S_ISDIR(mode):
        return _Shape.FOLDER
    if stat.S_ISREG(mode):
        return _Shape.FILE
    raise InputError("it is neither a file nor a folder: a bot is a folder with bot.toml, a program or a source file")


def _own_name(path: Path) -> str:
    return Path(os.path.abspath(path)).name  # noqa: PTH100 - a `..` is dropped as written, no link is followed


def _file_name(path: Path) -> str:
    name = _own_name(path)
    return name if recipe_for(name) is None else name.rpartition(".")[0]


def check_name(name: str) -> None:
    """Raise InputError, with the reason, where a bot cannot be called so."""
    if _NAME(name):
        return
    if len(name) > 32:
        wrong = f"has {len(name)} characters"
    else:
        wrong = "has other characters, or begins with another" if name else "is empty"
    raise InputError(
        f"its name `{readable(name, 40)}` {wrong}: a bot's name is 1 to 32 of the letters A-Z and a-z, digits, and"
        " . _ -, and begins with a letter or digit; rename it"
    )


def _read_file(path: Path) -> BotFile:
    """An executable file that begins as a program or with a shebang is run as it is; any other by its ending."""
    if path.name == BOT_FILE:
        raise InputError(f"it describes a bot and is none: give its folder, `{path.parent}`")
    if _ARCHIVE(path.name):
        raise InputError("it is an archive: unpack it, and give the folder or file that was in it")
    recipe = recipe_for(path.name)
    if recipe is not None and not looks_runnable(path):
        return BotFile(command=recipe.command, build=recipe.build, language=recipe.language)
    try:
        check_program(path)
    except InputError as error:
        raise InputError(f"{error} (source files that are bots end with {' '.join(SUFFIXES)})") from None
    return BotFile(command=(f"./{path.name}",))


def _read_folder(path: Path) -> BotFile:
    try:
        data = read_small(path / BOT_FILE, _LONGEST_BOT_FILE)
    except FileNotFoundError:
        inside = next(_folders_with_bots(path), None)
        if inside is not None:
            raise InputError(f"it is not a bot but contains some, such as {inside.name}: use `{path}/*`") from None
        raise InputError(f'it has no {BOT_FILE}: write one with command = ["python3", "bot.py"] or the like') from None
    return parse_botfile(data)


def _folders_with_bots(path: Path) -> Iterator[Path]:
    with os.scandir(path) as inside:
        for found in islice(inside, _LOOKED_AT):
            folder = path / found.name
            if found.is_dir(follow_symlinks=False) and (folder / BOT_FILE).is_file():
                yield folder


def _check_commands(folder: Path, said: BotFile, view: HostView) -> None:
    """Raise InputError where a program that is needed is not there, as far as that can be known before the build."""
    view = view.with_runtime(view.runtime(said.runtime))
    for step in said.build:
        _check_step(step[0], view)
    program = resolve(said.command[0], view)
    if is_in_folder(said.command[0]) and not said.build:
        check_program(folder / program, view)
    elif said.build and is_in_folder(said.build[0][0]):
        check_program(folder / resolve(said.build[0][0]))


def _check_step(program: str, view: HostView) -> None:
    """Raise InputError where a program that builds is nowhere; whether the build sees it is known when it is built."""
    try:
        resolve(program, view)
    except InputError:
        resolve(program)


def _why_aside(path: Path) -> str | None:
    """Return why something beside bots is neither a bot nor a mistake; None if it must be read as a bot."""
    name = _own_name(path)
    if name.startswith("."):
        return "hidden"
    if name == "__pycache__":
        return "Python's cache"
    if name == BOT_FILE:
        return None
    if is_left_behind(name):
        return "left there by a system or an editor"
    try:
        is_file = not stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return None
    if is_file and _BACKUP(name):
        return "a backup copy"
    return "a document" if is_file and _DOCUMENTS(name) else None


def _namesakes(bots: Sequence[BotSpec]) -> dict[Path, str]:
    """The bots of different places whose names differ in nothing or in capitals, with the reason to refuse them.

    Names are ASCII by now, so that folding cases is all the normalisation there is to do.
    """
    places: dict[str, dict[str, Path]] = {}
    for bot in bots:
        places.setdefault(bot.identity.name.casefold(), {}).setdefault(os.path.realpath(bot.path), bot.path)
    refused = {}
    for bot in bots:
        namesakes = places[bot.identity.name.casefold()]
        others = [path for place, path in namesakes.items() if place != os.path.realpath(bot.path)]
        if others:
            refused[bot.path] = f"`{others[0]}` has the same name, or one that differs in capitals only: rename one"
    return refused
