"""Playing what a tournament still owes: blocks to the pool, finished games to the store, news to whoever watches."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from referee.errors import DatabaseError
from referee.record import Bot
from referee.store import Store, Stored
from referee.tournament.block import Parked
from referee.tournament.engine import Engine
from referee.tournament.orders import Finished
from referee.tournament.pool import MAX_LOSSES, Arrival, LostGame, Notice
from referee.tournament.schedule import Block
from referee.tournament.withdrawal import Withdrawals

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

    def withdrawn(self, bot: Bot, faults: int) -> None:
        """A bot was at fault too often and plays no more."""

    def tick(self) -> None:
        """Time has passed."""


@dataclass(slots=True)
class Tally:
    """How a run went: games played and committed, games that stay owed for the machine's own reasons.

    `by_bot` counts the latter for each bot that was at their tables: where one of them ends workers or stalls the
    machine, its count stands out. `notices` are sentences for whoever runs the tournament.
    """

    played: int = 0
    unplayed: int = 0
    stopped: bool = False
    by_bot: Counter[Bot] = field(default_factory=Counter)
    notices: list[str] = field(default_factory=list)

    def count_unplayed(self, table: Iterable[Bot]) -> None:
        """A game of these bots stays owed."""
        self.unplayed += 1
        self.by_bot.update(set(table))

    def add(self, other: Tally) -> None:
        """Count another run as well."""
        self.played += other.played
        self.unplayed += other.unplayed
        self.stopped |= other.stopped
        self.by_bot.update(other.by_bot)
        self.notices += other.notices


def unplayed_in_words(unplayed: Parked | LostGame) -> str:
    """One line about a game that stays owed: which, whose, why."""
    if isinstance(unplayed, LostGame):
        deal, rotation, bots = unplayed.deal, unplayed.rotation, unplayed.line_up
        what = f"cost {MAX_LOSSES} workers"
    else:
        game = unplayed.game
        deal, rotation, bots = game.deal, game.rotation, tuple(sorted(game.seats))
        what = "was void each time"
    names = ", ".join(bot.name for bot in bots)
    return f"deal {deal}, rotation {rotation} of {names} {what} and stays owed: {unplayed.reason}"


def run(
    blocks: Iterator[Block],
    *,
    pool: Engine,
    store: Store,
    withdrawals: Withdrawals,
    watcher: Watcher,
    stop_wanted: Callable[[], bool],
) -> Tally:
    """Play `blocks` to the end, or until `stop_wanted()`: then the games in hand are finished and no others begun.

    `blocks` are to leave out what `withdrawals`, which hears of every fault, sets aside.

    Everything that came in is committed, also where this function is left by an exception. Raises DatabaseError
    where the store fails: nothing that was reported as played is lost then. Raises RefereeError as `Pool.run` does.
    """
    tally = Tally()
    batch = _Batch(store, watcher, tally)
    try:
        for arrival in pool.run(blocks, batch.wait):
            _take(arrival, batch, watcher, tally)
            if isinstance(arrival, Finished):
                _withdraw(arrival.games, withdrawals, pool, watcher)
            batch.commit_when_due()
            watcher.tick()
            if stop_wanted() and not tally.stopped:
                tally.stopped = True
                pool.stop()
    except DatabaseError:
        raise
    except BaseException:
        for arrival in pool.arrived():
            if isinstance(arrival, Finished):
                batch.add(arrival.games)
        batch.commit()
        raise
    batch.commit()
    return tally


def _take(arrival: Arrival | None, batch: _Batch, watcher: Watcher, tally: Tally) -> None:
    if isinstance(arrival, Finished):
        batch.add(arrival.games)
        for parked in arrival.parked:
            tally.count_unplayed(parked.game.seats)
            watcher.parked(parked)
    elif isinstance(arrival, LostGame):
        tally.count_unplayed(arrival.line_up)
        watcher.lost(arrival)
    elif isinstance(arrival, Notice):
        tally.notices.append(arrival.text)


def _withdraw(games: Sequence[Stored], withdrawals: Withdrawals, pool: Engine, watcher: Watcher) -> None:
    """Withdraw whom these games bring to too many faults, and give up the blocks in hand that do not count then."""
    before = set(withdrawals.points)
    moved = [withdrawals.add(faulted) for game in games if (faulted := game.faulted) is not None]
    if any(moved):
        pool.drop(withdrawals.gives_up)
        for bot in sorted(withdrawals.points.keys() - before):
            watcher.withdrawn(bot, withdrawals.faults(bot))


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
        """Save what is there; it is let go of only when it is saved, so that an interrupted commit can be repeated."""
        if self._games:
            self._store.add(self._games)
            games, self._games = self._games, []
            self._tally.played += len(games)
            self._watcher.played(games)
