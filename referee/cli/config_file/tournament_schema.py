"""What a tournament file may hold, for editors as a JSON Schema and for people as an example; both from the options."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import click

from referee.cli.config_file.settings import Setting, settings
from referee.cli.config_file.toml_types import Schema, Several, Text, Time, TomlPlace, TomlTable, WholeNumber, toml

SCHEMA_FILE = Path(__file__).with_name("tournament.schema.json")
"""The schema as it is shipped: `referee config schema`, kept."""

_BOTS = "The bots: paths, with * and ? for several at once."
_PATH = "A relative path counts from the folder of the file."


def schema(command: click.Command) -> Schema:
    """The JSON Schema, of draft 2020-12, of the files that `--file` of a command takes."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:four-widows:referee:tournament-file",
        "title": "Tournament file",
        "description": "What is played, and how: the options of `referee tournament` by their names.",
        "type": "object",
        "properties": {key: _property(setting) for key, setting in settings(command.params).items()},
        "additionalProperties": False,
    }


def schema_text(command: click.Command) -> str:
    """The same as the text of a file."""
    return json.dumps(schema(command), indent=2) + "\n"


def example_text(command: click.Command) -> str:
    """A file that sets the bots and shows, as comments, all else with its default."""
    head = "#:schema ./tournament.schema.json\n"
    return "\n".join([head, *(_entry(setting) for setting in settings(command.params).values())])


def _entry(setting: Setting) -> str:
    words = "\n".join(textwrap.wrap(describe(setting), 116, initial_indent="# ", subsequent_indent="# "))
    if setting.param.required:
        return f'{words}\n{setting.key} = ["bots/*"]\n'
    found = default_of(setting)
    value = toml(_sample(setting)) if found is None else toml(found)
    return f"{words}\n# {setting.key} = {value}\n"


def _sample(setting: Setting) -> Any:
    """Some value of an option that has no default."""
    if setting.key == "cluster":
        return "local:4"
    match setting.shape:
        case TomlTable():
            return dict(setting.shape.defaults)
        case Time():
            return "1s"
        case TomlPlace():
            return "league.db"
        case Text(choices=[first, *_]):
            return first
        case WholeNumber():
            return max(1, setting.shape.least or 1)
        case Several():
            return []
    return "practice"


def describe(setting: Setting) -> str:
    """What the command's help says of the option, and what holds where it is not set."""
    param = setting.param
    if not isinstance(param, click.Option):
        return f"{_BOTS} {_PATH}"
    parts = [(param.help or "").replace("\b", "").strip()]
    if isinstance(param.show_default, str):
        parts.append(f"Without it: {param.show_default}.")
    if isinstance(setting.shape, TomlPlace):
        parts.append(_PATH)
    return " ".join(part for part in parts if part)


def default_of(setting: Setting) -> Any:
    """What holds where the option is not set, in TOML; None where there is no such value or it is made on the way."""
    param = setting.param
    with click.Context(click.Command("none")) as ctx:
        default = param.get_default(ctx, call=False)
        is_choice = isinstance(param.type, click.Choice) and default in param.type.choices
        if not is_choice and not isinstance(default, str | int | float | Path):
            return None
        return setting.shape.to_toml(param.type_cast_value(ctx, default))


def _property(setting: Setting) -> Schema:
    default = default_of(setting)
    said = {} if default is None else {"default": default}
    return {"description": describe(setting), **setting.shape.schema(), **said}
