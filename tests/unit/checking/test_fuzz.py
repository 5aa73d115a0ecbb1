"""Random games: they are real ones with rare positions, find what no other step does, and are repeatable."""

from __future__ import annotations

from collections import Counter
from random import Random

from referee.checking.games.catalogue import ArrangedGame
from referee.checking.games.features import rare_in
from referee.checking.games.manners import takes
from referee.checking.games.sitting import ArrangedTable
from referee.checking.games.walks import walk
from referee.play import GameEnd, GameStart, Reply
from referee.rules import Question

TABLES = (2, 3, 4, 5, 6)


class Mind:
    """A bot without a process, which counts the rare positions that it meets."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def begin(self, start: GameStart) -> None:
        """Nothing is to be prepared."""

    def ask(self, question: Question) -> Reply:
        self.seen.update(rare_in(question))
        return Reply(takes(question), 1)

    def end(self, end: GameEnd) -> None:
        """Nothing is to be learnt."""


def play(game: ArrangedGame, mind: Mind) -> None:
    ArrangedTable(game.setting, mind, game_id="x", manner=game.manner, fate=game.fate).play()  # type: ignore[arg-type]


def test_rare_positions_are_common() -> None:
    mind, dice = Mind(), Random(1)
    for _ in range(500):
        play(walk(dice, TABLES), mind)
    for rare in (
        "one card in hand", "three queens in hand", "four queens in hand", "two matches",
        "three matches", "three widows", "recycled", "one at fault", "two at fault", "one turn before the stall",
        "6 events", "discard all", "odd_card first", "scoring winner", "scoring loser", "stall_limit 1",
    ):  # fmt: skip
        assert mind.seen[rare] >= 5, rare


def test_the_same_seed_gives_the_same_games() -> None:
    one, other = Random(5), Random(5)
    assert [walk(one, TABLES) for _ in range(50)] == [walk(other, TABLES) for _ in range(50)]


def test_games_are_at_the_tables_that_the_bot_plays_at() -> None:
    dice = Random(2)
    assert {walk(dice, (3, 5)).setting.players for _ in range(60)} == {3, 5}
