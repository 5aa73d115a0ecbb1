"""Options that several commands share: how their words become values, and what is said where they cannot."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from referee.bots.process.amounts import TIMES
from referee.bots.process.limits import Reuse
from referee.errors import RulesError
from referee.rules import DEFAULT_RULES, MAX_PLAYERS, MIN_PLAYERS, Rules

if TYPE_CHECKING:
    DurationType = click.ParamType[int | None]
    PlayersType = click.ParamType[tuple[int, ...]]
else:  # click before 8.4 has no parameters here
    DurationType = PlayersType = click.ParamType

Command = Callable[..., Any]

DEFAULT_DB = "referee.db"
DEFAULT_OUT = "leaderboards"

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m|h)")


class Duration(DurationType):
    """A time such as `10s`, `500ms`, `1.5s`, `2m`, `1h`, as whole milliseconds; with `unlimited`, `none` is None."""

    name = "duration"

    def __init__(self, *, unlimited: bool = True) -> None:
        self.unlimited = unlimited

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """Milliseconds, or None for no limit."""
        if isinstance(value, int):
            return value
        text = str(value).strip().lower()
        if text == "none" and self.unlimited:
            return None
        found = _DURATION.fullmatch(text)
        if not found:
            or_none = ", or none for no limit" if self.unlimited else ""
            self.fail(f"{value!r} is no time: write it with its unit, such as 500ms, 1.5s or 2m{or_none}", param, ctx)
        ms = Fraction(found[1]) * TIMES[found[2]]
        if ms.denominator != 1 or ms < 1:
            self.fail(f"{value!r} is not a whole number of milliseconds, from 1 on", param, ctx)
        return int(ms)


class Players(PlayersType):
    """Numbers of players such as `2` or `2,3,4`, as an ascending tuple."""

    name = "players"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """The numbers, each once, smallest first."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        allowed = {str(number) for number in range(MIN_PLAYERS, MAX_PLAYERS + 1)}
        for part in parts:
            if part not in allowed:
                self.fail(
                    f"{part!r} is no number of players: they are {MIN_PLAYERS} to {MAX_PLAYERS}, such as 2 or 2,3,4",
                    param,
                    ctx,
                )
        if len(set(parts)) < len(parts):
            self.fail(f"{value!r} names a number of players twice", param, ctx)
        return tuple(sorted(map(int, parts)))


class Real(click.FloatRange):
    """A number between bounds; what is no number is between none, which click does not see."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            raise click.UsageError(f"{param.opts[0] if param else 'it'} is a number, not nan", ctx)
        return number


def parse_rules(settings: tuple[str, ...]) -> Rules:
    """The rules that some `key=value` texts ask for, the defaults elsewhere. Raises RulesError naming what there is."""
    chosen: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise RulesError(f"{setting!r} is no rule: write key=value, such as scoring=winner")
        if key in chosen:
            raise RulesError(f"the rule {key!r} is given twice")
        chosen[key] = _rule_value(key, value)
    return Rules(**chosen)


def _rule_value(key: str, value: str) -> Enum | int:
    if key not in {field.name for field in fields(Rules)}:
        raise RulesError(f"there is no rule {key!r}: the rules are {', '.join(field.name for field in fields(Rules))}")
    default = getattr(DEFAULT_RULES, key)
    if isinstance(default, Enum):
        values = [one.value for one in type(default)]
        if value not in values:
            raise RulesError(f"{key} is {' or '.join(values)}, not {value!r}")
        return type(default)(value)
    if not re.fullmatch("[0-9]{1,9}", value):
        raise RulesError(f"{key} is a whole number from 1 on, not {value!r}")
    return int(value)


def _rules_callback(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> Rules:
    try:
        return parse_rules(value)
    except RulesError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def _seed_callback(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value == "":
        raise click.BadParameter("a seed is at least one character long", ctx, param)
    if value is not None and any(0xD800 <= ord(character) <= 0xDFFF for character in value):
        raise click.BadParameter("a seed is text in UTF-8", ctx, param)
    return value


def _fresh_callback(_ctx: click.Context, _param: click.Parameter, value: bool) -> Reuse:
    return Reuse.FRESH if value else Reuse.MANY_GAMES


def default_db() -> str:
    """The database where no option names one: `REFEREE_DB` of the environment, or `referee.db` here."""
    return os.environ.get("REFEREE_DB") or DEFAULT_DB


db_option = click.option(
    "--db",
    type=click.Path(path_type=Path, readable=False),  # what cannot be read is told by the store
    default=default_db,
    show_default=f"$REFEREE_DB or {DEFAULT_DB}",
    metavar="FILE",
    help="The database of the games.",
)
"""`db: Path`"""

players_option = click.option(
    "--players",
    type=Players(),
    default="2",
    show_default=True,
    metavar="N[,N…]",
    help=f"How many sit at a table, {MIN_PLAYERS} to {MAX_PLAYERS}; several numbers are several contests.",
)
"""`players: tuple[int, ...]`, ascending"""

rules_option = click.option(
    "--rule",
    "rules",
    multiple=True,
    callback=_rules_callback,
    metavar="KEY=VALUE",
    help="An option of the rules, such as scoring=winner; may be repeated.",
)
"""`rules: Rules`"""

seed_option = click.option(
    "--seed",
    callback=_seed_callback,
    metavar="TEXT",
    help="For practice: the same text deals the same cards again. Without it the decks come from secret random bits.",
)
"""`seed: str | None`"""

jobs_option = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    show_default="the number of processors",
    metavar="N",
    help="How many games are played at once.",
)
"""`jobs: int | None`; None: as many as the processors allow"""

start_option = click.option(
    "--start-time",
    "start_ms",
    type=Duration(),
    default="10s",
    show_default=True,
    metavar="TIME",
    help="How long a bot may take to say that it is ready; none: no limit.",
)
"""`start_ms: int | None`"""

move_option = click.option(
    "--move-time",
    "move_ms",
    type=Duration(),
    default="1s",
    show_default=True,
    metavar="TIME",
    help="How long one decision may take; none: no limit.",
)
"""`move_ms: int | None`"""

game_option = click.option(
    "--game-time",
    "game_ms",
    type=Duration(),
    default="none",
    show_default=True,
    metavar="TIME",
    help="How long all decisions of one seat in a game may take together; none: no limit.",
)
"""`game_ms: int | None`"""

pace_option = click.option(
    "--pace",
    "pace_ms",
    type=Duration(),
    default="none",
    show_default=True,
    metavar="TIME",
    help="Let every turn take this long at least, so that nobody learns from the time it took.",
)
"""`pace_ms: int | None`"""

fresh_option = click.option(
    "--fresh",
    is_flag=True,
    callback=_fresh_callback,
    help="Start a new process for every game, instead of one for many games.",
)
"""`fresh: Reuse`"""

out_option = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_OUT,
    show_default=True,
    metavar="DIR",
    help="The folder that the leaderboard is written to.",
)
"""`out: Path`"""

output_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Write to this file, whole or not at all, instead of standard output.",
)
"""`output: Path | None`; None and `-` are standard output"""


force_option = click.option(
    "--force",
    is_flag=True,
    allow_from_autoenv=False,  # nothing is replaced that was not asked for this time
    help="Replace FILE if it exists; never a file that the command reads, or a bot's.",
)
"""`force: bool`"""


def with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """The command with all of these options, which its help lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def limits_options(command: Command) -> Command:
    """`start_ms`, `move_ms` and `game_ms` at once."""
    return with_options(command, (start_option, move_option, game_option))


def reads_db(command: Command) -> Command:
    """`db: Path`, given as the argument DB or as `--db`, for commands that read a database."""

    @wraps(command)
    def merged(*args: Any, database: Path | None, db: Path, **kwargs: Any) -> Any:
        return command(*args, db=one_db(database, db), **kwargs)

    anything = click.Path(path_type=Path, readable=False)
    argument = click.argument("database", required=False, type=anything, metavar="[DB]")
    return argument(db_option(merged))


def one_db(argument: Path | None, option: Path) -> Path:
    """The database that was meant. Raises click.UsageError where it was named in both ways."""
    if argument is None:
        return option
    if click.get_current_context().get_parameter_source("db") is ParameterSource.COMMANDLINE:
        raise click.UsageError("the database is named twice: give it as DB or as --db")
    return argument
