"""Whole games of the bot against copies of itself, at every number of players that it can play with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from random import Random

from referee.cards import DECK_SIZE
from referee.checking.clauses import MANY_GAMES
from referee.checking.heard import Diary
from referee.checking.report import Mark, Step
from referee.checking.steps import Run
from referee.checking.subject import Subject
from referee.errors import BotFault, VoidGame
from referee.play import Game, Played, play_game
from referee.rules import Rules

GAMES = 5
"""How many games are played at each number of players."""
_TRIES = 3


def selfplay(run: Run, rules: Rules, dice: Random) -> Iterator[Step]:
    """A step for each number of players."""
    for players in sorted(run.trying.bot.manifest.players):
        with ExitStack() as stack:
            table = [stack.enter_context(run.trying.subject(forgiving=True)) for _ in range(players)]
            yield _Table(run, rules, dice, table).play()


class _Table:
    """Copies of the bot at one table."""

    def __init__(self, run: Run, rules: Rules, dice: Random, table: list[Subject]) -> None:
        self._run = run
        self._rules = rules
        self._dice = dice
        self._table = table
        self._name = f"selfplay_{len(table)}"
        self._title = f"plays {GAMES} games against copies of itself, {len(table)} at a table"

    def play(self) -> Step:
        """The games, up to the first fault."""
        early: list[int] = []
        questions = 0
        for number in range(1, GAMES + 1):
            played = self._game(number)
            questions += len(played.steps)
            if played.faults:
                first = played.faults[0]
                fault = BotFault(first.verdict, first.detail, first.evidence)
                where = f"game {number}, seat {first.seat}"
                return self._run.cross(self._name, self._title, fault, self._table[first.seat], where=where)
            held = [subject.memory().now for subject in self._table]
            early = early or held
            _note(self._run.trying.diary, early, held)
        return self._told(questions)

    def _game(self, number: int) -> Played:
        deck = list(range(DECK_SIZE))
        self._dice.shuffle(deck)
        seeds = tuple(self._dice.randrange(2**31) for _ in self._table)
        game = Game(f"self{len(self._table)}{number}", self._rules, tuple(deck), seeds)
        for attempt in range(1, _TRIES + 1):
            try:
                return play_game(game, self._table, clock=self._run.trying.clock)
            except VoidGame:
                for subject in self._table:
                    subject.kill()
                if attempt == _TRIES:
                    raise
        raise AssertionError("unreachable")

    def _told(self, questions: int) -> Step:
        more = sum(subject.launched for subject in self._table) - len(self._table)
        figures: dict[str, float] = {"games": GAMES, "questions": questions, "replaced": more}
        if more <= 0:
            return self._run.step(self._name, self._title, clause=MANY_GAMES, figures=figures)
        detail = (
            f"{more} processes had to be replaced between games: it ends, crashes or speaks after a game's end. That "
            "is no fault, but each one costs its start again"
        )
        return self._run.step(self._name, self._title, Mark.WARNING, detail, clause=MANY_GAMES, figures=figures)


def _note(diary: Diary, early: list[int], held: list[int]) -> None:
    grown = [now - before for before, now in zip(early, held, strict=True)]
    diary.grown = max(diary.grown, *grown)
