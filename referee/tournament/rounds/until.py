"""When a round stops by itself, frozen with it: a rule that is chosen after the games proves nothing."""

from __future__ import annotations

from typing import Annotated

import msgspec

MAX_DEALS = 2_000
"""Deals of each line-up at most, unless the user says otherwise."""
_LOOKS = 64
"""A round is looked at about so many times until its last deal, of few deals less often."""
_LEAST = 10
"""Deals between two looks at least: every look waits for the slowest game, and every block starts its bots anew."""
_MOST = 100
_BLOCKS = 32
"""Blocks between two looks, about, where there are games enough: so that no worker is idle for long."""


class Stopping(msgspec.Struct, frozen=True, kw_only=True):
    """When tables are settled; see `SettlingRule` for `top`, `alpha` and `indifference`.

    With `adaptive` a line-up plays on only while one of its bots has to be told apart from another.
    """

    top: Annotated[int, msgspec.Meta(ge=1)] | None
    alpha: Annotated[float, msgspec.Meta(gt=0, le=0.5)]
    indifference: Annotated[float, msgspec.Meta(ge=0, lt=1)]
    adaptive: bool


class Until(Stopping, frozen=True, kw_only=True):
    """And a table is looked at after every `every` deals of its line-ups."""

    every: Annotated[int, msgspec.Meta(ge=1)]

    def is_as(self, stopping: Stopping) -> bool:
        """Whether it asks the same."""
        return all(getattr(self, name) == getattr(stopping, name) for name in Stopping.__struct_fields__)


def looks(deals: int, games: int) -> tuple[int, int]:
    """For so many deals at most, `games` in one deal of all line-ups: deals between looks, and deals of a block.

    The second divides the first.
    """
    every = max(_LEAST, min(_MOST, deals // _LOOKS))
    block = max(_LEAST, min(every, every * games // _BLOCKS))
    return every // block * block, block
