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
from referee.tournament.engine.engine import Engine
from referee.tournament.engine.inquiry import Charged, Inquiry, Play, StaysOwed, Unplayed
from referee.tournament.engine.losses import LostGame
from referee.tournament.engine.pool import Arrival, Notice
from referee.tournament.engine.worker_messages import Finished
from referee.tournament.progress.withdrawal import Withdrawals
from referee.tournament.rounds.schedule import Block

COMMIT_EVERY = 0.1
"""Finished games are committed together at most this many seconds after the first of them came in."""


class Watcher(Protocol):
    """Hears how a run goes. What it is told of as played is on disk."""

    def played(self, games: Sequence[Stored]) -> None:
        """These games are in the store."""

    def unplayed(self, unplayed: Unplayed) -> None:
        """A game came to nothing each time, or cost several workers, and no bot is known to blame; it stays owed."""

    def charged(self, bot: Bot, why: str) -> None:
        """A bot was found to make games come to nothing, and is charged with those from now on."""

    def withdrawn(self, bot: Bot, faults: int) -> None:
        """A bot came to `faults` faults, the most that the round allows, and plays no more."""

    def reinstated(self, bot: Bot) -> None:
        """A bot that was reported as withdrawn plays on: some of its faults turned out not to count."""

    def tick(self) -> None:
        """Time has passed."""


@dataclass(slots=True)
class RunTally:
    """How a run went: games played and committed, games that stay owed for the machine's own reasons.

    `by_bot` counts the latter for each bot that was at their tables: where one of them ends workers or stalls the
    machine, its count stands out. `void` are the attempts that came to nothing, whatever became of their games, and
    `void_by_bot` counts them likewise. `charged` are the bots that were found to be to blame. `notices` are sentences
    for whoever runs the tournament.
    """

    played: int = 0
    unplayed: int = 0
    stopped: bool = False
    by_bot: Counter[Bot] = field(default_factory=Counter)
    void: int = 0
    void_by_bot: Counter[Bot] = field(default_factory=Counter)
    charged: set[Bot] = field(default_factory=set)
    notices: list[str] = field(default_factory=list)

    def count_unplayed(self, table: Iterable[Bot]) -> None:
        """A game of these bots stays owed."""
        self.unplayed += 1
        self.by_bot.update(set(table))

    def add(self, other: RunTally) -> None:
        """Count another run as well."""
        self.played += other.played
        self.unplayed += other.unplayed
        self.stopped |= other.stopped
        self.by_bot.update(other.by_bot)
        self.void += other.void
        self.void_by_bot.update(other.void_by_bot)
        self.charged |= other.charged
        self.notices += other.notices


def unplayed_in_words(unplayed: Unplayed) -> str:
    """One line about a game that stays owed: which, whose, why."""
    if isinstance(unplayed, LostGame):
        deal, rotation, bots = unplayed.deal, unplayed.rotation, unplayed.line_up
        what = "cost 1 worker" if unplayed.workers == 1 else f"cost {unplayed.workers} workers"
    else:
        game = unplayed.game
        deal, rotation, bots = game.deal, game.rotation, tuple(sorted(game.seats))
        what = "was void each time"
    names = ", ".join(bot.name for bot in bots)
    return f"deal {deal}, rotation {rotation} of {names} {what} and stays owed: {unplayed.reason}"


def worst_in_words(counts: Counter[Bot]) -> str:
    """The three bots with the highest counts, equal ones in the order of their names."""
    worst = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
    return ", ".join(f"{count} with {bot.name}" for bot, count in worst)


def void_in_words(tally: RunTally) -> str:
    """One line about the attempts that came to nothing: how many, and with whom most of them."""
    most = worst_in_words(tally.void_by_bot)
    attempts = "1 attempt at a game" if tally.void == 1 else f"{tally.void} attempts at games"
    return f"{attempts} came to nothing and did not count: {most}"


def run(
    blocks: Iterator[Block],
    *,
    pool: Engine,
    store: Store,
    withdrawals: Withdrawals,
    watcher: Watcher,
    stop_wanted: Callable[[], bool],
    inquiry: Inquiry | None = None,
) -> RunTally:
    """Play `blocks` to the end, or until `stop_wanted()`: then the games in hand are finished and no others begun.

    `blocks` are to leave out what `withdrawals`, which hears of every fault, sets aside. `inquiry` knows what earlier
    runs of the same command have shown of void games.

    Everything that came in is committed, also where this function is left by an exception. Raises DatabaseError
    where the store fails: nothing that was reported as played is lost then. Raises RefereeError as `Engine.run` does,
    and where the machine cannot play.
    """
    tally = RunTally()
    batch = _Batch(store, watcher, tally)
    bench = _Bench(inquiry or Inquiry(), pool, withdrawals, watcher, tally)
    ledger = bench.inquiry.ledger
    void_before, by_bot_before = ledger.all_void, ledger.void_by_bot.copy()
    try:
        for arrival in pool.run(map(bench.inquiry.mark, blocks), batch.wait):
            if isinstance(arrival, Finished):
                batch.add(arrival.games)
                _withdraw(arrival.games, withdrawals, pool, watcher)
            if isinstance(arrival, Notice):
                tally.notices.append(arrival.text)
            elif arrival is not None:
                bench.hear(arrival)
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
    bench.close()
    tally.void = ledger.all_void - void_before
    tally.void_by_bot = ledger.void_by_bot - by_bot_before
    return tally


@dataclass(frozen=True, slots=True)
class _Bench:
    """Carries out what an inquiry rules."""

    inquiry: Inquiry
    pool: Engine
    withdrawals: Withdrawals
    watcher: Watcher
    tally: RunTally

    def hear(self, arrival: Arrival) -> None:
        for ruling in self.inquiry.hear(arrival):
            match ruling:
                case Play(block):
                    self._play(block)
                case StaysOwed(unplayed):
                    self._stays_owed(unplayed)
                case Charged(bot, why):
                    self.tally.charged.add(bot)
                    self.pool.revise(self.inquiry.mark)
                    self.watcher.charged(bot, why)

    def close(self) -> None:
        """No trial is held any more: what is not decided stays owed."""
        for unplayed in self.inquiry.give_up():
            self._stays_owed(unplayed)

    def _play(self, block: Block) -> None:
        if not self.tally.stopped and (block.trial is not None or not self.withdrawals.sets_aside(block)):
            self.pool.urge(block)

    def _stays_owed(self, unplayed: Unplayed) -> None:
        self.tally.count_unplayed(unplayed.line_up if isinstance(unplayed, LostGame) else unplayed.game.seats)
        self.watcher.unplayed(unplayed)


def _withdraw(games: Sequence[Stored], withdrawals: Withdrawals, pool: Engine, watcher: Watcher) -> None:
    """Withdraw the bots that these games bring to too many faults, and give up the blocks that do not count then.

    A fault does not count if an opponent turns out to have been withdrawn before that game, so a withdrawal that was
    reported may be undone.
    """
    before = set(withdrawals.points)
    moved = [withdrawals.add(faulted) for game in games if (faulted := game.faulted) is not None]
    if any(moved):
        pool.drop(lambda block: block.trial is None and withdrawals.gives_up(block))
        for bot in sorted(before - withdrawals.points.keys()):
            watcher.reinstated(bot)
        for bot in sorted(withdrawals.points.keys() - before):
            watcher.withdrawn(bot, withdrawals.max_faults or 0)


class _Batch:
    """Games that came in and are not committed yet."""

    def __init__(self, store: Store, watcher: Watcher, tally: RunTally) -> None:
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
