"""How a duel stands: its test, as the games of its deals come in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from referee.ratings.scores.scores import half_points
from referee.ratings.sequential.betting import BettingTest, Question, Verdict
from referee.record import Result
from referee.tournament.planning.duel import Duel, Prefix


@dataclass(slots=True)
class Faults:
    """In how many games NEW was at fault, and how often one of the others."""

    new: int = 0
    old: int = 0


class Course:
    """A function of the set of games that came in, whatever their order.

    Deals count one after the other, as the schedule goes, up to the one with which there is a verdict, or the last.
    """

    def __init__(self, duel: Duel) -> None:
        self.duel = duel
        terms = duel.terms
        self.test = BettingTest(Question(terms.s0, terms.s1, terms.alpha, terms.beta), duel.players)
        self.verdict: Verdict | None = None
        self.faults = Faults()
        self._prefix = Prefix(duel.players)

    @property
    def is_over(self) -> bool:
        """Whether no deal will count any more."""
        return self.verdict is not None or self.test.deals == self.duel.max_deals

    def add(self, games: Iterable[Result]) -> None:
        """Take in games, each once."""
        for game in games:
            for deal in self._prefix.add(self.duel.number(game), game):
                if not self.is_over:
                    self._count(deal)

    def _count(self, deal: list[Result]) -> None:
        points = 0
        for game in deal:
            seat = self.duel.seat(game)
            points += half_points(game.places)[seat]
            self.faults.new += seat in game.forfeited
            self.faults.old += len(game.forfeited) - (seat in game.forfeited)
        self.verdict = self.test.add(points)
