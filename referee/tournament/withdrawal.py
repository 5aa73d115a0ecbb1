"""Withdrawal: a bot that is at fault too often plays no more, from a point that only the games decide.

A bot's point is the block in which, all of its games up to there taken in the order of the schedule, it came to the
round's `max_faults`. From that block on its games are set aside: which of them were played, depends on how many
were played at once. Those before are played to the end, so that the point is the same for any number of workers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from referee.record import Bot, LineUp
from referee.store import Faulted
from referee.tournament.schedule import Block, Place, Schedule

MAX_FAULTS = 25
"""Faults in one round that withdraw a bot, unless the user says otherwise."""


class Withdrawals:
    """Who is withdrawn from a round, and from which block on, as games come in, in any order."""

    def __init__(self, schedule: Schedule, max_faults: int | None, faulted: Iterable[Faulted] = ()) -> None:
        self._schedule = schedule
        self._max_faults = max_faults
        self._games: set[tuple[Bot, LineUp, int, int]] = set()
        self._faults: defaultdict[Bot, Counter[Place]] = defaultdict(Counter)
        self.points: dict[Bot, Place] = {}
        """The first block of each withdrawn bot that does not count."""
        for game in faulted:
            self.add(game)

    def add(self, game: Faulted) -> bool:
        """Take in a game with faults, which may be known already; whether a point came up or moved."""
        moved = False
        for bot in game.bots:
            key = (bot, game.line_up, game.deal, game.rotation)
            if self._max_faults is None or key in self._games:
                continue
            self._games.add(key)
            self._faults[bot][self._schedule.place(game.line_up, game.deal, game.rotation)] += 1
            moved |= self._set_point(bot, self._max_faults)
        return moved

    def _set_point(self, bot: Bot, max_faults: int) -> bool:
        total = 0
        for place, faults in sorted(self._faults[bot].items()):
            total += faults
            if total >= max_faults:
                moved = self.points.get(bot) != place
                self.points[bot] = place
                return moved
        return False

    def faults(self, bot: Bot) -> int:
        """How many of its faults are known."""
        return self._faults[bot].total()

    def sets_aside(self, block: Block) -> bool:
        """Whether the games of a block do not count, since one of its bots was withdrawn before."""
        if not self.points:
            return False
        place = self._schedule.place(block.line_up, block.deals[0], block.rotation)
        return any(place >= self.points[bot] for bot in block.line_up if bot in self.points)


def withdrawn(limits: Mapping[int, int | None], faults: Mapping[int, Mapping[Bot, int]]) -> dict[Bot, int]:
    """The bots that were withdrawn, each with the round in which it first was.

    `limits` are the rounds' `max_faults`, `faults` the games of each round in which a bot was at fault. Whether a bot
    is withdrawn does not depend on the order of games: it is where it has that many faults in any of them.
    """
    found: dict[Bot, int] = {}
    for number, limit in sorted(limits.items()):
        for bot, count in faults.get(number, {}).items():
            if limit is not None and count >= limit:
                found.setdefault(bot, number)
    return found
