"""What a run needs of whoever plays its blocks: the pool of this machine, or a cluster of several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from referee.tournament.engine.pool import Arrival
from referee.tournament.rounds.schedule import Block


class Engine(Protocol):
    """Plays blocks side by side. What it yields does not depend on which engine it is, but for times and order.

    Two blocks of one line-up with a deal in common are never played at the same time: see `Block.bars`.
    """

    @property
    def workers(self) -> int:
        """How many blocks it can play at the same time, as far as is known."""

    def run(self, blocks: Iterator[Block], wait: Callable[[], float | None]) -> Iterator[Arrival | None]:
        """Play `blocks`, yielding what comes in, and None where nothing did for `wait()` seconds, or less.

        No game comes in twice. Ends when all blocks are done or, after `stop`, when the games in hand are.
        Raises RefereeError where there is something to play and nobody who could.
        """

    def arrived(self) -> Iterator[Arrival]:
        """What came in and was not yielded yet: there may be some where `run` was left in the middle."""

    def urge(self, block: Block) -> None:
        """Play this block before others; to be called while what `run` yielded is heard. Not after `stop`."""

    def revise(self, change: Callable[[Block], Block]) -> None:
        """Play what is left of the blocks in hand as `change` makes them, which leaves their games as they are."""

    def stop(self) -> None:
        """Finish the games in hand and start no other."""

    def drop(self, unwanted: Callable[[Block], bool]) -> None:
        """Forget blocks in hand: games of those that are unwanted are neither awaited nor handed out again."""

    def close(self) -> None:
        """End all that was started, bots included; harmless a second time."""
