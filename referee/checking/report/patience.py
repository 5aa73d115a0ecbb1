"""How long a check waits for its bot in all: one that is slow and right passes, in bounded time.

What counts is the time for which the bot was waited for: starting, and deciding.
"""

from __future__ import annotations

GAME = 30.0
"""After so many seconds a game is brought to its end."""
STEP = 60.0
"""After so many a step tries no further games."""
CHECK = 900.0
"""After so many no more positions are tried, and no games against copies."""


class EnoughError(Exception):
    """A bot was waited for as long as its games were to take; no fault of anybody, and caught where it was set."""


class Patience:
    """Seconds for which a bot was waited for so far, and `most`, after which `asking` raises EnoughError."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.most: float | None = None

    def add(self, ns: int) -> None:
        """So much more."""
        self.seconds += ns / 1e9

    def asking(self) -> None:
        """The bot is to be asked something. Raises EnoughError."""
        if self.most is not None and self.seconds > self.most:
            raise EnoughError

    @property
    def is_over(self) -> bool:
        """Whether the whole check took long enough."""
        return self.seconds > CHECK


def why_not(waiting: Patience) -> str:
    """Why a step is not tried any more."""
    return f"{waiting.seconds:.0f} s went by waiting for it in the steps before: a shorter --move-time tries all steps"
