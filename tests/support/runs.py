"""Runs to test with: a store that is claimed, and a watcher that writes down what it hears."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from referee.record import Bot
from referee.store import Store, Stored, open_store
from referee.tournament.engine.inquiry import Unplayed


@dataclass
class Notes:
    """A watcher that writes down what it hears."""

    games: list[Stored] = field(default_factory=list)
    owed: list[Unplayed] = field(default_factory=list)
    found: list[tuple[str, str]] = field(default_factory=list)
    out: list[tuple[str, int]] = field(default_factory=list)

    def played(self, games: Sequence[Stored]) -> None:
        self.games += games

    def unplayed(self, unplayed: Unplayed) -> None:
        self.owed.append(unplayed)

    def charged(self, bot: Bot, why: str) -> None:
        self.found.append((bot.name, why))

    def withdrawn(self, bot: Bot, faults: int) -> None:
        self.out.append((bot.name, faults))

    def reinstated(self, bot: Bot) -> None:
        self.out.append((bot.name, 0))

    def tick(self) -> None: ...


@contextmanager
def claimed(path: Path) -> Iterator[Store]:
    """A new store, or one that is there, in which to play."""
    with closing(open_store(path, create=True)) as store:
        store.claim()
        yield store


def never() -> bool:
    """Nobody wants a run to stop."""
    return False
