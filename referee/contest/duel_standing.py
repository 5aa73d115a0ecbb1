"""How a duel stands: its test, as the games of its deals come in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from referee.ratings.scores.scores import half_points
from referee.ratings.sequential.betting import BettingTest, DuelHypotheses, DuelVerdict
from referee.record import Bot, GameResult
from referee.tournament.planning.duel import Duel, Prefix


@dataclass(slots=True)
class DuelFaults:
    """In how many games NEW was at fault, and how often one of the others."""

    new: int = 0
    old: int = 0


class DuelStanding:
    """A function of the set of games that came in, whatever their order.

    Deals count one after the other in the order of the schedule, up to the one that decides, or the last.
    """

    def __init__(self, duel: Duel) -> None:
        self.duel = duel
        terms = duel.terms
        self.test = BettingTest(DuelHypotheses(terms.s0, terms.s1, terms.alpha, terms.beta), duel.players)
        self.verdict: DuelVerdict | None = None
        self.faults = DuelFaults()
        self._prefix = Prefix(duel.players)

    @property
    def is_over(self) -> bool:
        """True if no further deal counts."""
        return self.verdict is not None or self.test.deals == self.duel.max_deals

    @property
    def names(self) -> tuple[str, str]:
        """What NEW and OLD are called: their names, with their hashes or their parts if the names are the same."""
        new, old = self.duel.pair
        if new == old:
            return f"{new.name} (new)", f"{old.name} (old)"
        if new.name == old.name:
            return f"{new.name} ({new.hash[:8]})", f"{old.name} ({old.hash[:8]})"
        return new.name, old.name

    def faults_of_both(self) -> Counter[Bot]:
        """Return in how many games of the deals that count each bot was at fault; together if they are the same."""
        new, old = self.duel.pair
        return Counter({new: self.faults.new}) + Counter({old: self.faults.old})

    def add(self, games: Iterable[GameResult]) -> None:
        """Take in games, each once."""
        for game in games:
            for deal in self._prefix.add(self.duel.number(game), game):
                if not self.is_over:
                    self._count(deal)

    def _count(self, deal: list[GameResult]) -> None:
        points = 0
        for game in deal:
            seat = self.duel.seat(game)
            points += half_points(game.places)[seat]
            self.faults.new += seat in game.forfeited
            self.faults.old += len(game.forfeited) - (seat in game.forfeited)
        self.verdict = self.test.add(points)
