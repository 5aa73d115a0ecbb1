"""Options of how bots are kept apart: which tier, what a box holds, and what beyond /usr may be seen in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.bots.process import system
from referee.bots.process.amounts import SIZES, size_in_words
from referee.bots.process.limits import DEFAULT_BOX, Box
from referee.bots.process.workbench import DEFAULT_BUILD, BuildLimits
from referee.bots.source.programs import BOXED_PATH, HOST, View
from referee.bots.tiers import Tier, Unproven
from referee.cli.options.common import Command, with_options

if TYPE_CHECKING:
    from referee.bots.cache.build import Builder
    from referee.tournament.rounds.rounds import Round

    SizeBase = click.ParamType[int]
else:  # click before 8.4 has no parameters here
    SizeBase = click.ParamType

AUTO = "auto"
_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(B|[KMG](?:i?B)?)", re.IGNORECASE)
_LEAST_OPEN = 1 << 12


class Size(SizeBase):
    """An amount of memory or disk such as `512M`, `1.5G`, `64K`, as bytes; a K is 1,024 bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes."""
        if isinstance(value, int):
            return value
        found = _SIZE.fullmatch(str(value).strip())
        if not found:
            self.fail(f"{value!r} is no size: write it with its unit, such as 512M, 1.5G or 64K", param, ctx)
        size = Fraction(found[1]) * SIZES[found[2][0].upper()]
        if size.denominator != 1 or size < _LEAST_OPEN:
            self.fail(f"{value!r} is not a whole number of bytes, from 4K on", param, ctx)
        return int(size)


@dataclass(frozen=True, slots=True)
class Wish:
    """How the organiser wants bots kept apart; `tier` None is the best that this machine proves."""

    tier: Tier | None
    box: Box
    allowed: tuple[Path, ...]

    def settle(self, begun: Tier | None = None) -> Tier:
        """The tier that is used; where it is less than the best, why is told. Raises InputError where none can be had.

        `begun` is that of the season, which holds where none was asked for.
        """
        from referee.bots.sandbox.probing import best, require, require_limits

        wanted = self.tier or begun
        system.raise_open_files()
        if wanted is not Tier.D:
            require_limits(self.box)
        missed: dict[Tier, Unproven] = {}
        if wanted is not None:
            require(wanted)
            tier = wanted
        else:
            tier, missed = best()
        for better, why in missed.items():
            click.echo(f"no isolation of tier {better} here: {why.reason}; {why.remedy}", err=True)
        return tier

    def builder(self, tier: Tier) -> Builder:
        """What builds bots for that tier, in a box of it and without network; see `workshop`."""
        return workshop(tier)

    def view(self, tier: Tier) -> View:
        """What bots of that tier see of this machine."""
        return View(BOXED_PATH, self.allowed) if tier.is_boxed else HOST


def workshop(tier: Tier, limits: BuildLimits = DEFAULT_BUILD, *, fetch: bool = False) -> Builder:
    """What builds bots at a tier; where daemons could get out of it, this process becomes the one that ends them."""
    from referee.bots.building.workshop import Workshop

    return Workshop(tier, limits, fetch, system.Reaper() if tier in (Tier.C, Tier.D) else None)


def tell(tier: Tier) -> None:
    """Say at which tier bots are kept apart."""
    from referee.bots.sandbox.probing import in_words

    click.echo(f"isolation {in_words(tier)}", err=True)


sandbox_option = click.option(
    "--sandbox",
    type=click.Choice([AUTO, *(tier.value for tier in Tier)]),
    default=AUTO,
    show_default=True,
    help="How bots are kept apart: A is best, D not at all; auto: the best that this machine can do.",
)
allow_option = click.option(
    "--allow-runtime",
    multiple=True,
    type=click.Path(path_type=Path, resolve_path=True),
    metavar="DIR",
    help="Let bots that ask for it read this folder, such as a virtual environment; may be repeated.",
)


def size_option(name: str, default: int, text: str) -> Callable[[Command], Command]:
    """An option that takes a `Size`."""
    return click.option(name, type=Size(), default=size_in_words(default), show_default=True, metavar="SIZE", help=text)


def processes_option(default: int, text: str) -> Callable[[Command], Command]:
    """`processes: int`"""
    count = click.IntRange(min=8, max=100_000)
    return click.option("--processes", type=count, default=default, show_default=True, metavar="N", help=text)


_BOX = (
    size_option("--memory", DEFAULT_BOX.memory, "How much memory a process of a bot may allocate."),
    processes_option(DEFAULT_BOX.processes, "How many processes and threads a bot may have at once."),
    size_option("--file-size", DEFAULT_BOX.file_size, "How large a file of a bot may be."),
    size_option("--tmp-size", DEFAULT_BOX.tmp_size, "How much a bot may keep in /tmp."),
    size_option(
        "--stderr", DEFAULT_BOX.stderr, "How much of a bot's stderr is kept, from its beginning and from its end."
    ),
)


def sandbox_options(command: Command) -> Command:
    """`isolation: Wish`, from all of these options."""

    @wraps(command)
    def merged(
        *args: Any,
        sandbox: str,
        memory: int,
        processes: int,
        file_size: int,
        tmp_size: int,
        stderr: int,
        allow_runtime: tuple[Path, ...],
        **kwargs: Any,
    ) -> Any:
        box = Box(memory=memory, processes=processes, file_size=file_size, tmp_size=tmp_size, stderr=stderr)
        wish = Wish(None if sandbox == AUTO else Tier(sandbox), box, allow_runtime)
        return command(*args, isolation=wish, **kwargs)

    return with_options(merged, (sandbox_option, *_BOX, allow_option))


def begun_tier(db: Path, carried: Round | None = None) -> Tier | None:
    """The tier of the season that is being played in a database, or of the round that is `carried` there."""
    from referee.store import is_begun, open_store
    from referee.tournament.planning.league import League

    if carried is not None:
        return carried.manifest.conditions.isolation
    if not is_begun(db):
        return None
    with open_store(db) as store:
        season = League(store).of_season()
        return season[0].manifest.conditions.isolation if season else None
