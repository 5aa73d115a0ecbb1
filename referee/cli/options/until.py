"""Options of tournaments that stop by themselves: when they are settled, and after how many deals at the latest."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from referee.cli.options.common import Command, Real, with_options
from referee.tournament.rounds.until import MAX_DEALS, Stopping

if TYPE_CHECKING:
    PlacesBase = click.ParamType["int | str | None"]
else:  # click before 8.4 has no parameters here
    PlacesBase = click.ParamType

ALL, NONE = "all", "none"
MOST_PLACES = 1_000_000


class FirstPlaces(PlacesBase):
    """How many first places are to be settled: a whole number from 1 on, `all`, or `none`, which asks for nothing."""

    name = "places"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str | None:
        """The number, `all`, or None."""
        text = str(value).strip().lower()
        if text in (ALL, NONE):
            return ALL if text == ALL else None
        if not (text.isdecimal() and 1 <= int(text) <= MOST_PLACES):
            self.fail(
                f"{value!r} is no number of places: write one from 1 on, all, or none (and --until-settled=all, or "
                "other options, before a bot)",
                param,
                ctx,
            )
        return int(text)


_OPTIONS = (
    click.option(
        "--until-settled",
        type=FirstPlaces(),
        is_flag=False,
        flag_value=ALL,
        default=NONE,
        show_default=True,
        metavar="[TOP]",
        help="Play until the order of all bots is proven, or of the first TOP places; all, none: never.",
    ),
    click.option(
        "--max-deals",
        type=click.IntRange(min=1, max=1_000_000),
        default=MAX_DEALS,
        show_default=True,
        metavar="N",
        help="With --until-settled, in place of --deals: how many deals each line-up plays at most.",
    ),
    click.option(
        "--adaptive",
        is_flag=True,
        help="With --until-settled: line-ups without a bot that has to be told apart from another play no more.",
    ),
    click.option(
        "--alpha",
        type=Real(0, 0.5, min_open=True),
        default=0.05,
        show_default=True,
        metavar="P",
        help="With --until-settled: how often anything may be said wrongly of the order.",
    ),
    click.option(
        "--indifference",
        type=Real(0, 1, max_open=True),
        default=0.0,
        show_default=True,
        metavar="WIDTH",
        help="With --until-settled: bots whose scores are proven to differ by less than this need no order.",
    ),
)
_NEEDS = ("max_deals", "adaptive", "alpha", "indifference")


def until_options(command: Command) -> Command:
    """`until: Stopping | None` from all of these options; with it `deals` are those of --max-deals."""

    @wraps(command)
    def merged(
        *args: Any,
        until_settled: int | str | None,
        max_deals: int,
        adaptive: bool,
        alpha: float,
        indifference: float,
        deals: int,
        **kwargs: Any,
    ) -> Any:
        if until_settled is None:
            _refuse(_NEEDS, "says something of --until-settled only: give that too, or leave it out")
            return command(*args, until=None, deals=deals, **kwargs)
        _refuse(("deals",), "is for tournaments of a fixed length: with --until-settled give --max-deals")
        _refuse(("shard",), "cannot be given with --until-settled: a share cannot tell when to stop")
        top = None if until_settled == ALL else int(until_settled)
        stopping = Stopping(top=top, alpha=alpha, indifference=indifference, adaptive=adaptive)
        return command(*args, until=stopping, deals=max_deals, **kwargs)

    return with_options(merged, _OPTIONS)


def _refuse(names: tuple[str, ...], why: str) -> None:
    """Raise click.UsageError where one of these stands on the command line; in a file it may wait for its use."""
    ctx = click.get_current_context()
    for name in names:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} {why}")
