"""How long a check waits for its bot in all: one that is slow and right passes, in bounded time.

What counts is the time for which the bot was waited for: starting, and deciding.
"""

from __future__ import annotations

GAME = 30.0
"""A game is brought to its end after this many seconds."""
STEP = 60.0
"""A step tries no further games after this many seconds."""
CHECK = 900.0
"""A check tries no more positions and self-play after this many seconds."""


class EnoughError(Exception):
    """The bot was waited for as long as its games may take. Not a fault; caught where the limit was set."""


class Patience:
    """Seconds for which a bot was waited for so far, and `most`, after which `asking` raises EnoughError."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.most: float | None = None

    def add(self, ns: int) -> None:
        """Add ns of waiting."""
        self.seconds += ns / 1e9

    def asking(self) -> None:
        """Raise EnoughError if the bot may not be waited for any longer."""
        if self.most is not None and self.seconds > self.most:
            raise EnoughError

    @property
    def is_over(self) -> bool:
        """True if the whole check has waited long enough."""
        return self.seconds > CHECK


def why_not(waiting: Patience) -> str:
    """Why a step is not tried any more."""
    return f"{waiting.seconds:.0f} s went by waiting for it in the steps before: a shorter --move-time tries all steps"
