"""`referee config`: the settings of a tournament as they would be used, their JSON Schema, and a file to begin with."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from referee.cli.config_file.settings import COMMON_VARIABLES, Setting, is_setting, long_name, settings
from referee.cli.config_file.toml_types import toml
from referee.cli.config_file.tournament_file import VARIABLES, loaded_file
from referee.cli.config_file.tournament_schema import default_of
from referee.errors import InputError

_EXAMPLES = """\b
Examples:
  referee config example > league.toml
  referee config show --file league.toml
  referee config show --file league.toml --deals 500 --json
  referee config schema > tournament.schema.json
"""

_SOURCES = {
    ParameterSource.COMMANDLINE: "flag",
    ParameterSource.ENVIRONMENT: "environment",
    ParameterSource.DEFAULT_MAP: "file",
}
"""Names of where a value can come from; all else is a default."""

_WIDTH = 100
"""A list that makes a longer line has a line for each of its values."""


def _tournament() -> click.Command:
    from referee.cli.main import cli  # here, because it imports this module when it is asked for it

    found = cli.get_command(click.Context(cli), "tournament")
    assert found is not None
    return found


@click.group(
    short_help="Show a tournament's settings and where they come from.", epilog=_EXAMPLES, invoke_without_command=True
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show what a tournament would be played with, and help to write a tournament file. Nothing is played."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


class ShowCommand(click.Command):
    """A command that takes `--file` and all that `referee tournament` takes from a file, and keeps it as it is read."""

    _taken: tuple[click.Parameter, ...] = ()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The tournament's parameters, none of them required, and our own."""
        if not self._taken:
            self._taken = tuple(_taken(_tournament().params))
        return [*self._taken, *super().get_params(ctx)]


def _taken(params: list[click.Parameter]) -> Iterator[click.Parameter]:
    for param in params:
        ours = copy.copy(param)
        if is_setting(param):
            ours.required = False
            ours.callback = _checking(param.callback)
            yield ours
        elif long_name(param) == "file":
            yield ours


def _checking(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    """Have a value checked as it always is, and keep what it was before that."""

    def check(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if callback is not None:
            callback(ctx, param, value)
        return value

    return check


@command.command(cls=ShowCommand, context_settings={"auto_envvar_prefix": VARIABLES}, epilog=_EXAMPLES)
@click.option("--json", "as_json", is_flag=True, allow_from_autoenv=False, help="Print JSON instead of TOML.")
@click.pass_context
def show(ctx: click.Context, /, as_json: bool, **_: Any) -> None:
    """Print the settings with which `referee tournament` would play.

    Each has a comment that says where it comes from: a flag, the environment, the file or a default. What is printed
    is a tournament file itself, and means the same wherever it lies.
    """
    shown = list(_shown(ctx))
    if as_json:
        document = {one.key: {"value": one.value, "source": one.source, "where": one.where} for one in shown}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo("# The settings of `referee tournament`, as it would use them here.")
        for one in shown:
            click.echo(one.line())


@command.command()
def schema() -> None:
    """Print the JSON Schema of tournament files, for editors."""
    from referee.cli.config_file.tournament_schema import schema_text

    click.echo(schema_text(_tournament()), nl=False)


@command.command()
def example() -> None:
    """Print a tournament file with every setting, explained."""
    from referee.cli.config_file.tournament_schema import example_text

    click.echo(example_text(_tournament()), nl=False)


@dataclass(frozen=True, slots=True)
class Shown:
    """A setting as it would be used: `value` in TOML's terms, None where nothing is set; `where` explains `source`."""

    key: str
    value: Any
    source: str
    where: str | None

    def line(self) -> str:
        """As TOML, with a comment."""
        colon = ":" if self.source == "default" else ""
        comment = _printable(f"{self.source}{colon} {self.where}" if self.where else self.source)
        if self.value is None:
            return f"# {self.key} is not set ({comment})"
        text = toml(self.value)
        if isinstance(self.value, list) and len(text) > _WIDTH:
            return "\n".join([f"{self.key} = [  # {comment}", *(f"  {toml(one)}," for one in self.value), "]"])
        return f"{self.key} = {text}  # {comment}"


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)


def _shown(ctx: click.Context) -> Iterator[Shown]:
    for setting in settings(ctx.command.get_params(ctx)).values():
        source, where = _source(ctx, setting.param)
        value = _value(ctx, setting, source)
        yield Shown(setting.key, value, source, where)


def _source(ctx: click.Context, param: click.Parameter) -> tuple[str, str | None]:
    name = str(param.name)
    source = _SOURCES.get(ctx.get_parameter_source(name) or ParameterSource.DEFAULT, "default")
    if source == "flag":
        return source, _flag(param, ctx.params[name])
    if source == "environment":
        return source, _variable(param)
    if source == "file":
        return source, str(loaded_file(ctx))
    if os.environ.get(COMMON_VARIABLES.get(name, "")):
        return "environment", COMMON_VARIABLES[name]
    words = param.show_default if isinstance(param, click.Option) else None
    return source, words if isinstance(words, str) else None


def _flag(param: click.Parameter, value: Any) -> str:
    if isinstance(param, click.Option):
        return param.secondary_opts[0] if value is False else f"--{long_name(param)}"
    return param.metavar or str(param.name).upper()


def _variable(param: click.Parameter) -> str:
    names = [param.envvar] if isinstance(param.envvar, str) else list(param.envvar or ())
    return next((name for name in names if os.environ.get(name)), f"{VARIABLES}_{param.name}".upper())


def _value(ctx: click.Context, setting: Setting, source: str) -> Any:
    """The value as it would stand in a file that may lie anywhere; None where nothing is set."""
    value = ctx.params[str(setting.param.name)]
    if source == "default" and (value == () or (value is None and default_of(setting) is None)):
        return None
    found = setting.shape.to_toml(_absolute(value))
    try:
        toml(found).encode()
    except UnicodeEncodeError:
        raise InputError(f"{setting.key} is not text in UTF-8, and cannot stand in a tournament file") from None
    return found


def _absolute(value: Any) -> Any:
    if isinstance(value, Path):
        return value.absolute()
    return tuple(map(_absolute, value)) if isinstance(value, tuple) else value
