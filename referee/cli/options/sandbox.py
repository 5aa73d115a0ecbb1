"""Options of how bots are kept apart: which tier, what a box holds, and what beyond /usr may be seen in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.bots.process.amounts import SIZES, size_in_words
from referee.bots.process.limits import DEFAULT_BOX, Box
from referee.bots.tiers import Tier
from referee.cli.options.common import Command, with_options
from referee.contest.isolation import Isolation, Settled

if TYPE_CHECKING:
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


def settle(isolation: Isolation, begun: Tier | None = None) -> Settled:
    """Return the tier to use, and print why this machine has no better one. Raises InputError if none can be had."""
    settled = isolation.settle(begun)
    for better, why in settled.missed.items():
        click.echo(f"no isolation of tier {better} here: {why.reason}; {why.remedy}", err=True)
    return settled


def tell(tier: Tier) -> None:
    """Print at which tier bots are kept apart."""
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
    """`isolation: Isolation`, from all of these options."""

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
        wanted = Isolation(None if sandbox == AUTO else Tier(sandbox), box, allow_runtime)
        return command(*args, isolation=wanted, **kwargs)

    return with_options(merged, (sandbox_option, *_BOX, allow_option))
