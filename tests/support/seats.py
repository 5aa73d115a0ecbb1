"""Bots as real programs, at a table with a quiet neighbour who lives in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from referee.bots.cache.prepare import Prepared
from referee.bots.seat.player import BotPlayer
from referee.bots.source.manifest import BotSpec
from referee.cards import shuffled
from referee.play import DealtGame, GameEnd, GameStart, PlayedGame, Reply, SystemClock, play_game
from referee.record import Bot
from referee.rules import DEFAULT_RULES, Question, Rules

PROGRAMS = Path(__file__).parents[1] / "system" / "bots" / "programs"


class FirstLegal:
    """A player without a process: the first legal action, always."""

    def begin(self, start: GameStart) -> None: ...

    def ask(self, question: Question) -> Reply:
        return Reply(question.legal[0], 1)

    def end(self, end: GameEnd) -> None: ...


def prepared(*argv: str, folder: Path = PROGRAMS, name: str = "subject") -> Prepared:
    """A program as a bot that needs no building."""
    identity = Bot(name, "0" * 64)
    manifest = BotSpec(
        identity=identity,
        path=folder,
        command=argv,
        build=(),
        language=None,
        author=None,
        players=frozenset(range(2, 7)),
    )
    return Prepared(manifest=manifest, folder=folder, argv=argv)


@dataclass
class Seat:
    """One bot under test, which plays whole games at seat 0 against a neighbour in memory."""

    player: BotPlayer
    rules: Rules = DEFAULT_RULES
    games: int = field(default=0)

    def play(self) -> PlayedGame:
        self.games += 1
        game = DealtGame(f"game{self.games}", self.rules, shuffled(b"%d" % self.games), (5, 6))
        return play_game(game, [self.player, FirstLegal()], clock=SystemClock())
