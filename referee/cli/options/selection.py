"""Options that choose which games count: those of some rounds, and those among some bots."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from referee.contest.selection import Spans, joined

if TYPE_CHECKING:
    SpansType = click.ParamType[tuple[tuple[int, int], ...]]
else:  # click before 8.4 has no parameters here
    SpansType = click.ParamType

_SPAN = re.compile(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?")


class RoundsType(SpansType):
    """Rounds such as `1-3,5`, as spans."""

    name = "rounds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Spans:
        """The spans, those that touch joined."""
        if isinstance(value, tuple):
            return value
        spans: list[tuple[int, int]] = []
        for part in str(value).split(","):
            found = _SPAN.fullmatch(part.strip())
            first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
            if first > last:
                self.fail(f"{part.strip()!r} is no round and no span of them: write 5, 1-3 or 1-3,5", param, ctx)
            spans.append((first, last))
        return joined(spans)


def selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`include` and `exclude`, tuples of texts, and `rounds`, spans or None."""
    include = click.option(
        "--include",
        multiple=True,
        metavar="BOT[,BOT…]",
        help="Only games among these bots count: names or patterns such as 'mine-*'; may be repeated.",
    )
    exclude = click.option(
        "--exclude",
        multiple=True,
        metavar="BOT[,BOT…]",
        help="Games with one of these bots do not count: names or patterns; may be repeated.",
    )
    rounds = click.option("--rounds", type=RoundsType(), metavar="N[-M][,…]", help="Only games of these rounds count.")
    return include(exclude(rounds(command)))
