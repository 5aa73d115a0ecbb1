"""Whole games of the bot against copies of itself, at every number of players that it can play with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from random import Random

from referee.cards import DECK_SIZE
from referee.checking.bot.bot_under_test import BotUnderTest
from referee.checking.bot.traffic_log import BotHistory
from referee.checking.games.games import retried
from referee.checking.report import patience
from referee.checking.report.clauses import MANY_GAMES
from referee.checking.report.patience import EnoughError
from referee.checking.report.report import CheckStep, Mark
from referee.checking.steps.steps import CheckRun
from referee.errors import BotFault
from referee.play import DealtGame, PlayedGame, play_game
from referee.rules import Rules

GAMES = 5
"""How many games are played at each number of players."""


def selfplay(run: CheckRun, rules: Rules, dice: Random) -> Iterator[CheckStep]:
    """A step for each number of players."""
    waiting = run.harness.history.waiting
    for players in sorted(run.harness.bot.manifest.players):
        if waiting.is_over:
            yield run.step(*_named(players), Mark.NOT_TRIED, patience.why_not(waiting))
            continue
        with ExitStack() as stack:
            table = [stack.enter_context(run.harness.subject(forgiving=True)) for _ in range(players)]
            yield _Table(run, rules, dice, table).play()


def _named(players: int) -> tuple[str, str]:
    """What a step is called."""
    return f"selfplay_{players}", f"plays {GAMES} games against copies of itself, {players} at a table"


class _Table:
    """Copies of the bot at one table."""

    def __init__(self, run: CheckRun, rules: Rules, dice: Random, table: list[BotUnderTest]) -> None:
        self._run = run
        self._rules = rules
        self._dice = dice
        self._table = table
        self._name, self._title = _named(len(table))

    def play(self) -> CheckStep:
        """The games, up to the first fault, or as many as there is time for."""
        waiting = self._run.harness.history.waiting
        waiting.most = waiting.seconds + patience.STEP
        try:
            return self._games()
        finally:
            waiting.most = None

    def _games(self) -> CheckStep:
        early: list[int] = []
        questions = 0
        for number in range(1, GAMES + 1):
            try:
                played = self._game(number)
            except EnoughError:
                return self._told(number - 1, questions)
            questions += len(played.steps)
            if played.faults:
                first = played.faults[0]
                fault = BotFault(first.verdict, first.detail, first.evidence)
                where = f"game {number}, seat {first.seat}"
                return self._run.failed(self._name, self._title, fault, self._table[first.seat], where=where)
            held = [subject.memory().now for subject in self._table]
            early = early or held
            _note(self._run.harness.history, early, held)
        return self._told(GAMES, questions)

    def _game(self, number: int) -> PlayedGame:
        deck = list(range(DECK_SIZE))
        self._dice.shuffle(deck)
        seeds = tuple(self._dice.randrange(2**31) for _ in self._table)
        game = DealtGame(f"self{len(self._table)}{number}", self._rules, tuple(deck), seeds)
        return retried(lambda: play_game(game, self._table, clock=self._run.harness.clock), self._table)

    def _told(self, games: int, questions: int) -> CheckStep:
        more = sum(subject.launched for subject in self._table) - len(self._table)
        figures: dict[str, float] = {"games": games, "questions": questions, "replaced": more}
        if more <= 0:
            cut = f"{games} whole games and a part of another: then {patience.STEP:.0f} s were over"
            detail = "" if games == GAMES else cut
            return self._run.step(self._name, self._title, detail=detail, clause=MANY_GAMES, figures=figures)
        detail = (
            f"{more} processes had to be replaced between games: it ends, crashes or speaks after a game's end. That "
            "is not a fault, but each one costs its start again"
        )
        return self._run.step(self._name, self._title, Mark.WARNING, detail, clause=MANY_GAMES, figures=figures)


def _note(history: BotHistory, early: list[int], held: list[int]) -> None:
    grown = [now - before for before, now in zip(early, held, strict=True)]
    history.grown = max(history.grown, *grown)
