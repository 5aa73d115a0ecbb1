"""What the referee and its workers say to one another."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from referee.bots.cache.prepare import Prepared
from referee.record import Bot
from referee.store import Stored
from referee.tournament.engine.block import Parked, Void
from referee.tournament.engine.trials import Tried
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.derivation import Derivation
from referee.tournament.rounds.schedule import Block


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """All that a worker needs to know before its first block: of which round, under which secret, between whom.

    `cores` are where it runs; its bots share them, or get `bot_cores` where that is not None.
    """

    round: int
    secret: bytes
    bots: dict[Bot, Prepared]
    conditions: Conditions
    scratch: Path
    cores: frozenset[int] | None
    bot_cores: frozenset[int] | None
    derivation: Derivation = field(default_factory=Derivation)


class Sending(Enum):
    """When a worker sends the games that it has finished."""

    TOGETHER = auto()
    EACH = auto()


@dataclass(frozen=True, slots=True)
class BlockTask:
    """A block to play. After a lost worker each game is sent at once, so that the game that cost it is known.

    Each move is sent then too, so that it is known how far that game had come.
    """

    block: Block
    sending: Sending = Sending.TOGETHER


@dataclass(frozen=True, slots=True)
class Finished:
    """Some games of the block in hand, which took `ms`; `done` with the last of them, which a parked one always is.

    `voids` are attempts that came to nothing, `tried` is what a trial showed.
    """

    games: tuple[Stored, ...]
    parked: tuple[Parked, ...]
    done: bool
    voids: tuple[Void, ...] = ()
    tried: tuple[Tried, ...] = ()
    ms: int = 0

    def strike(self, missing: set[int]) -> None:
        """Take out of the deals of a block that are missing those that are not any more."""
        missing.difference_update(game.deal for game in self.games)
        missing.difference_update(parked.game.deal for parked in self.parked)
        if self.tried:
            missing.clear()


@dataclass(frozen=True, slots=True)
class Moved:
    """A seat made a move in the game in hand; without an action its game begins anew."""

    seat: int
    action: str | None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The worker lives: its first message, and one whenever it had nothing else to say for a while."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The worker's last message where it ends by an error of its own: what happened, and where."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Finish the game in hand and no other."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Finish the game in hand and no other of this block; another block may follow."""
