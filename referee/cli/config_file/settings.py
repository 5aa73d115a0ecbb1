"""What of a command can be set in a file: its options as keys, each with the shape of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

import click

from referee.cli.config_file.toml_types import (
    Amount,
    AnyWord,
    Count,
    Flag,
    Number,
    Places,
    Seats,
    Several,
    Shape,
    Text,
    Time,
    TomlPlace,
    TomlTable,
    WholeNumber,
)
from referee.cli.options.common import Duration, Players
from referee.cli.options.league import CountOrNone
from referee.cli.options.sandbox import Size
from referee.cli.options.until import ALL, MOST_PLACES, NONE, FirstPlaces
from referee.rules import DEFAULT_RULES, Rules

ACTS = frozenset({
    "close-round", "drop-missing", "file", "force", "help", "json", "new-season", "plan", "quiet",
    "round", "shard", "verbose", "version",
})  # fmt: skip
"""Long names of the options that no file sets: they ask for something once, or concern one run or its words alone."""

COMMON_VARIABLES = {"db": "REFEREE_DB"}
"""By parameter: a variable of the environment that an option's default reads, so that it is above a file."""


_MOST = 10**9 - 1
"""A rule's number has nine digits at most."""


def rules_table() -> TomlTable:
    """The table of the rules, each with the values that it can have."""
    shapes: dict[str, Shape] = {}
    defaults: dict[str, Any] = {}
    for field in fields(Rules):
        default = getattr(DEFAULT_RULES, field.name)
        if isinstance(default, Enum):
            shapes[field.name], defaults[field.name] = Text(tuple(one.value for one in type(default))), default.value
        else:
            shapes[field.name], defaults[field.name] = WholeNumber(1, _MOST), default
    return TomlTable(shapes, defaults)


@dataclass(frozen=True, slots=True)
class Setting:
    """An option, or the argument of bots, as a key of a file."""

    key: str
    param: click.Parameter
    shape: Shape


def settings(params: Sequence[click.Parameter]) -> dict[str, Setting]:
    """By key: all that a file can set, in the order of the command's help.

    A key is the option's long name without its dashes, in the plural where the option may be repeated.
    """
    found = (Setting(_key_of(param), param, _shape_of(param)) for param in params if is_setting(param))
    return {setting.key: setting for setting in found}


def long_name(param: click.Parameter) -> str:
    """`move-time` for `--move-time`; the name of an argument."""
    return max(param.opts, key=len).lstrip("-")


def is_setting(param: click.Parameter) -> bool:
    """Whether it belongs in a file."""
    return long_name(param) not in ACTS


def _key_of(param: click.Parameter) -> str:
    name = long_name(param)
    return name + "s" if param.multiple and not name.endswith("s") else name


def _shape_of(param: click.Parameter) -> Shape:
    kind = param.type
    if param.nargs == -1:
        return Places() if isinstance(kind, click.Path) else Several(_shape_of_one(kind))
    if isinstance(param, click.Option) and param.is_flag and isinstance(kind, click.types.BoolParamType):
        return Flag()
    if param.multiple:
        is_table = "=" in (param.metavar or "")
        return (rules_table() if param.name == "rules" else TomlTable()) if is_table else Several(_shape_of_one(kind))
    return _shape_of_one(kind)


def _shape_of_one(kind: click.types.ParamType[Any]) -> Shape:
    match kind:
        case click.IntRange():
            return WholeNumber(
                _inside(kind.min, 1 if kind.min_open else 0), _inside(kind.max, -1 if kind.max_open else 0)
            )
        case click.FloatRange() if kind.min is not None and kind.max is not None:
            return Number(kind.min, kind.max, kind.min_open, kind.max_open)
        case click.types.IntParamType():
            return WholeNumber()
        case click.Choice():
            return Text(tuple(_choice(one) for one in kind.choices))
        case Size():
            return Amount()
        case Duration():
            return Time(kind.unlimited)
        case Players():
            return Seats()
        case CountOrNone():
            return Count()
        case FirstPlaces():
            return Count(MOST_PLACES, (ALL, NONE))
        case click.Path():
            return TomlPlace()
        case click.types.StringParamType():
            return Text()
    return AnyWord()


def _inside(bound: float | None, step: int) -> int | None:
    return None if bound is None else int(bound) + step


def _choice(one: Any) -> str:
    return one.name if isinstance(one, Enum) else str(one)
