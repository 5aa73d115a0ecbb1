"""Withdrawal: a bot that is at fault too often plays no more, from a point that only the games decide.

Games are taken in the order of the schedule. A bot's point is the game in which it came to the round's `max_faults`;
every later game at its tables is set aside, and the faults in it count against nobody. So which of those games were
played, by however many workers and machines, makes no difference. Games before a point are played to the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from referee.record import Bot, LineUp
from referee.store import Faulted, Store
from referee.tournament.rounds.rounds import Round
from referee.tournament.rounds.schedule import Block, RotationTurn, Schedule, SchedulePlace

MAX_FAULTS = 25
"""Faults in one round that withdraw a bot, unless the user says otherwise."""


class Point(NamedTuple):
    """A game's place in its round: points compare as the schedule goes."""

    block: SchedulePlace
    turn: RotationTurn


class Withdrawals:
    """Who is withdrawn from a round, and after which game, as games come in, in any order.

    What is known of a part of the games may be undone by others: a bot's fault does not count where it turns out that
    an opponent had been withdrawn before. Once every game that is not set aside is known, nothing changes any more.
    """

    def __init__(self, schedule: Schedule, max_faults: int | None, faulted: Iterable[Faulted] = ()) -> None:
        self._schedule = schedule
        self.max_faults = max_faults
        self._games: dict[Point, tuple[LineUp, tuple[Bot, ...]]] = {}
        self._counted: Counter[Bot] = Counter()
        self.points: dict[Bot, Point] = {}
        """The last game of each withdrawn bot that counts."""
        for game in faulted:
            self._learn(game)
        self._take_all()

    def add(self, game: Faulted) -> bool:
        """Take in a game with faults, which may be known already; whether a point came up, moved or went."""
        point = self._learn(game)
        if point is None or self._is_set_aside(game.line_up, point):
            return False
        self._counted.update(game.bots)
        if all(bot not in self.points and not self._has_too_many(bot) for bot in game.bots):
            return False
        before = self.points
        self._take_all()
        return self.points != before

    def _learn(self, game: Faulted) -> Point | None:
        """Where a game stands; None where it is known already, or where nobody is ever withdrawn."""
        if self.max_faults is None:
            return None
        where = (game.line_up, game.deal, game.rotation)
        point = Point(self._schedule.place(*where), self._schedule.turn(*where))
        if point in self._games:
            return None
        self._games[point] = (game.line_up, game.bots)
        return point

    def _take_all(self) -> None:
        """Find all points anew, game after game in the order of the schedule."""
        self.points = {}
        self._counted = Counter()
        for point in sorted(self._games):
            line_up, bots = self._games[point]
            if self.points.keys().isdisjoint(line_up):
                self._counted.update(bots)
                self.points |= {bot: point for bot in bots if self._has_too_many(bot)}

    def _has_too_many(self, bot: Bot) -> bool:
        return self.max_faults is not None and self._counted[bot] >= self.max_faults

    def _is_set_aside(self, line_up: LineUp, point: Point) -> bool:
        return any(point > self.points[bot] for bot in line_up if bot in self.points)

    def sets_aside(self, block: Block) -> bool:
        """Whether no game of a block counts, since one of its bots was withdrawn before."""
        return self._is_after(block, min)

    def gives_up(self, block: Block) -> bool:
        """Whether the rest of a block that is being played, deal after deal, does not count."""
        return self._is_after(block, max)

    def _is_after(self, block: Block, which: Callable[[Iterable[RotationTurn]], RotationTurn]) -> bool:
        """True if a bot of a block was withdrawn before one of its deals, the first or the last to be played."""
        points = [self.points[bot] for bot in block.line_up if bot in self.points]
        if not points:
            return False
        place = self._schedule.place(block.line_up, block.deals[0], block.rotation)
        first = min(points)
        if place != first.block:
            return place > first.block
        return which(self._schedule.turn(block.line_up, deal, block.rotation) for deal in block.deals) > first.turn


def withdrawals_of(one: Round, store: Store) -> Withdrawals:
    """Who is withdrawn from a round, as far as its games tell. Raises DatabaseError."""
    return Withdrawals(one.schedule, one.manifest.max_faults, store.faulted(one.number))


def withdrawn(rounds: Iterable[Round], store: Store) -> dict[Bot, int]:
    """The bots that were withdrawn from some rounds, each with the first of them. Raises DatabaseError."""
    counts = store.fault_counts()
    found: dict[Bot, int] = {}
    for one in sorted(rounds, key=lambda one: one.number):
        limit = one.manifest.max_faults
        if limit is None or max(counts.get(one.number, {}).values(), default=0) < limit:
            continue
        for bot in withdrawals_of(one, store).points:
            found.setdefault(bot, one.number)
    return found
