"""Tournament files: what the options of a command say, in TOML, below its flags and the environment."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from referee.bots.source.texts import parse_toml, text_of
from referee.cli.config_file.settings import ACTS, COMMON_VARIABLES, Setting, long_name, settings
from referee.cli.config_file.toml_types import toml
from referee.errors import InputError

MOST_BYTES = 256 << 10
"""So large may a file be."""

_MOST_LINES = 8
"""Lines that are looked at for the place of a mistake: for each, the file is read anew up to it."""

VARIABLES = "REFEREE_TOURNAMENT"
"""The names of the environment's variables begin so."""

_LOADED = f"{__name__}.loaded"


def tournament_file(command: click.Command) -> click.Command:
    """Give a command `--file`: all that its options and its argument can say may then come from a file.

    Flags that a file can set get a `--no-…` that says the opposite, and the argument gets a variable of the
    environment, so that both stand above the file.
    """
    for setting in settings(command.params).values():
        param = setting.param
        if isinstance(param, click.Argument):
            param.envvar = param.envvar or f"{VARIABLES}_{param.name}".upper()
        elif isinstance(param, click.Option) and param.is_bool_flag and not param.secondary_opts:
            param.secondary_opts = [f"--no-{long_name(param)}"]
    arguments = sum(isinstance(param, click.Argument) for param in command.params)
    command.params.insert(arguments, _file_option())
    return command


def loaded_file(ctx: click.Context) -> Path | None:
    """The file that `--file` named."""
    found = ctx.meta.get(_LOADED)
    assert found is None or isinstance(found, Path)
    return found


def _file_option() -> click.Option:
    return click.Option(
        ["--file"],
        type=click.Path(path_type=Path),
        is_eager=True,
        expose_value=False,
        callback=_load,
        metavar="FILE",
        help="A tournament file, in TOML, for what no option and no variable of the environment says.",
    )


def _load(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Put the file's values below the environment's and above the defaults."""
    del param
    if path is None or ctx.resilient_parsing:
        return
    ctx.meta[_LOADED] = path
    values = read_values(path, ctx)
    above = {name for name, variable in COMMON_VARIABLES.items() if os.environ.get(variable)}
    ctx.default_map = {**(ctx.default_map or {}), **{name: values[name] for name in values.keys() - above}}


def read_values(path: Path, ctx: click.Context) -> dict[str, Any]:
    """By parameter of the context's command: what a file sets, as the parameter's type takes it, and checked by it.

    Paths count from the file's folder. Raises InputError, naming file, line and key, where a key or a value is none.
    """
    file = File.read(path)
    known = settings(ctx.command.get_params(ctx))
    values: dict[str, Any] = {}
    for key, value in file.data.items():
        if key not in known:
            raise file.error([key], _unknown(key, known))
        values[str(known[key].param.name)] = _checked(file, known[key], value, ctx)
    return values


def _unknown(key: str, known: Mapping[str, Setting]) -> str:
    if key in ACTS:
        return f"{toml(key)} is nothing for a file: give it on the command line, as --{key}"
    near = difflib.get_close_matches(key.lower(), known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    return f"there is no setting {toml(key)}: {hint}"


def _checked(file: File, setting: Setting, value: Any, ctx: click.Context) -> Any:
    """The value as the parameter's type takes it; each entry of a table is checked first, for the sake of its line."""
    if isinstance(value, dict):
        for key, one in value.items():
            _converted(file, setting, {key: one}, ctx, [setting.key, key])
    return _converted(file, setting, value, ctx, [setting.key])


def _converted(file: File, setting: Setting, value: Any, ctx: click.Context, way: Sequence[str]) -> Any:
    try:
        words = setting.shape.from_toml(value, file.path.parent)
        setting.param.process_value(ctx, words)
    except click.UsageError as error:
        raise file.error(way, f"{setting.key}: {error.message}") from None
    except (ValueError, InputError) as error:
        raise file.error(way, f"{setting.key}: {error}") from None
    return words


@dataclass(frozen=True, slots=True)
class File:
    """A file that is TOML."""

    path: Path
    text: str
    data: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> File:
        """Raises InputError where it cannot be read or is not TOML."""
        try:
            with path.open("rb") as file:
                read = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise InputError(f"{path}: the tournament file cannot be read: {error.strerror}") from None
        if len(read) > MOST_BYTES:
            raise InputError(f"{path}: a tournament file has at most {MOST_BYTES >> 10} KiB")
        text = text_of(read, str(path))
        try:
            return cls(path, text, parse_toml(text))
        except RecursionError:
            raise InputError(f"{path}: this is nested too deeply for a tournament file") from None
        except ValueError as error:
            raise InputError(f"{path}{_place(str(error))}") from None

    def error(self, way: Sequence[str], text: str) -> InputError:
        """What is wrong with the value to which some keys lead."""
        line = self._line(way)
        return InputError(f"{self.path}{f', line {line}' if line else ''}: {text}")

    def _line(self, way: Sequence[str]) -> int | None:
        """Where the value is set, from 1 on; None where its key is written in an unusual way.

        It is the last line with such a key before which there are nothing but whole settings, this one not among them.
        """
        lines = self.text.split("\n")
        key = re.compile(rf"(?:^|[\s.{{,\[])[\"']?{re.escape(way[-1])}[\"']?\s*[\].=]")
        found = None
        for number in [number for number, line in enumerate(lines) if key.search(line)][:_MOST_LINES]:
            try:
                above = parse_toml("\n".join(lines[:number]))
            except (ValueError, RecursionError):
                continue
            if _leads_somewhere(way, above):
                break
            found = number + 1
        return found


def _leads_somewhere(way: Sequence[str], data: Any) -> bool:
    for key in way:
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return True


def _place(text: str) -> str:
    """`Invalid value (at line 3, column 8)` as `, line 3, column 8: this is not TOML: Invalid value`."""
    found = re.fullmatch(r"(.*?)(?: \(at (.*)\))?", text, re.DOTALL)
    assert found
    return f"{f', {found[2]}' if found[2] else ''}: this is not TOML: {found[1]}"
