"""Playing what a tournament still owes: blocks to the pool, finished games to the store, news to whoever watches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from referee.store import Store, Stored
from referee.tournament.block import Parked
from referee.tournament.orders import Finished
from referee.tournament.pool import LostGame, Pool
from referee.tournament.schedule import Block

COMMIT_EVERY = 0.1
"""Finished games are committed together at most this many seconds after the first of them came in."""


class Watcher(Protocol):
    """Hears how a run goes. What it is told of as played is on disk."""

    def played(self, games: Sequence[Stored]) -> None:
        """These games are in the store."""

    def parked(self, parked: Parked) -> None:
        """A game could not be played for the machine's own reasons; it stays owed."""

    def lost(self, lost: LostGame) -> None:
        """A game was given up after it had cost several workers; it stays owed."""

    def tick(self) -> None:
        """Time has passed."""


@dataclass(slots=True)
class Tally:
    """How a run went: games played and committed, games that stay owed for the machine's own reasons."""

    played: int = 0
    unplayed: int = 0
    stopped: bool = False


def run(
    blocks: Iterator[Block], *, pool: Pool, store: Store, watcher: Watcher, stop_wanted: Callable[[], bool]
) -> Tally:
    """Play `blocks` to the end, or until `stop_wanted()`: then the games in hand are finished and no others begun.

    Everything that came in is committed, also where this function is left by an exception.
    """
    tally = Tally()
    batch = _Batch(store, watcher, tally)
    try:
        for arrival in pool.run(blocks, batch.wait):
            if isinstance(arrival, LostGame):
                tally.unplayed += 1
                watcher.lost(arrival)
            elif isinstance(arrival, Finished):
                batch.add(arrival.games)
                for parked in arrival.parked:
                    tally.unplayed += 1
                    watcher.parked(parked)
            batch.commit_when_due()
            watcher.tick()
            if stop_wanted() and not tally.stopped:
                tally.stopped = True
                pool.stop()
    finally:
        batch.commit()
    return tally


class _Batch:
    """Games that came in and are not committed yet."""

    def __init__(self, store: Store, watcher: Watcher, tally: Tally) -> None:
        self._store = store
        self._watcher = watcher
        self._tally = tally
        self._games: list[Stored] = []
        self._due = 0.0

    def wait(self) -> float:
        """How long the run may wait for news, in seconds."""
        return max(0.0, self._due - time.monotonic()) if self._games else COMMIT_EVERY

    def add(self, games: Sequence[Stored]) -> None:
        if games and not self._games:
            self._due = time.monotonic() + COMMIT_EVERY
        self._games.extend(games)

    def commit_when_due(self) -> None:
        if self._games and time.monotonic() >= self._due:
            self.commit()

    def commit(self) -> None:
        games, self._games = self._games, []
        if games:
            self._store.add(games)
            self._tally.played += len(games)
            self._watcher.played(games)
