"""The catalogue: its games are real ones, and lead where they are to, whatever the bot plays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from referee.checking.games.catalogue import ArrangedGame, Position
from referee.checking.games.manners import AtRandom, Manner, keeps, takes
from referee.checking.games.rare_positions import EVERY
from referee.checking.games.sitting import ArrangedTable, CheckedGame
from referee.play import GameEnd, GameStart, Reply
from referee.rules import Question

MANNERS: dict[str, Callable[[], Manner]] = {
    "takes": lambda: takes,
    "keeps": lambda: keeps,
    "random": lambda: AtRandom(3),
    "smallest": lambda: lambda question: question.legal[0 if question.drawn is None else -2],
}
NEVER = {"keeps": {"one_card", "empty_hand", "last_discard"}, "smallest": {"empty_hand"}}
"""Where no play of that kind leads."""


class Mind:
    """A bot without a process."""

    def __init__(self, manner: Manner) -> None:
        self.manner = manner
        self.ended = 0

    def begin(self, start: GameStart) -> None: ...

    def ask(self, question: Question) -> Reply:
        return Reply(self.manner(question), 1)

    def end(self, end: GameEnd) -> None:
        self.ended += 1


def play(game: ArrangedGame, mind: Mind, until: Callable[[CheckedGame], bool] | None = None) -> CheckedGame:
    sitting = ArrangedTable(game.setting, mind, game_id="x", manner=game.manner, fate=game.fate)  # type: ignore[arg-type]
    return sitting.play(until=until)


@pytest.mark.parametrize("position", EVERY, ids=lambda position: position.name)
@pytest.mark.parametrize("manner", MANNERS)
def test_a_position_is_come_to_whatever_the_bot_plays(position: Position, manner: str) -> None:
    courses = [
        play(position.games(players, attempt), Mind(MANNERS[manner]()), position.shown)
        for players in position.players[:2]
        for attempt in range(position.tries)
    ]
    assert any(position.shown(course) for course in courses) == (position.name not in NEVER.get(manner, ()))


@pytest.mark.parametrize("position", EVERY, ids=lambda position: position.name)
def test_a_game_is_one_of_the_deck_that_is_told_in_the_end(position: Position) -> None:
    for players in position.players:
        game, mind = position.games(players, 0), Mind(takes)
        course = play(game, mind)
        again = play(ArrangedGame(course.setting, game.manner), Mind(takes))
        assert again.outcome == course.outcome is not None and mind.ended == 1
        assert again.questions == course.questions


def test_when_a_position_was_shown_the_game_ends_within_a_round() -> None:
    for position in EVERY:
        course = play(position.games(position.players[0], 0), Mind(takes), position.shown)
        shown = next(
            (number for number in range(len(course.replies) + 1) if position.shown(_up_to(course, number))), None
        )
        if shown is not None:
            assert len(course.replies) - shown <= 12, position.name


def _up_to(course: CheckedGame, replies: int) -> CheckedGame:
    return CheckedGame(course.setting, course.questions[:replies], course.replies[:replies], course.outcome)


def test_names_are_different_and_every_rule_is_among_the_positions() -> None:
    assert len({position.name for position in EVERY}) == len(EVERY)
    rules = [position.games(position.players[0], 0).setting.rules for position in EVERY]
    for option in ("odd_card", "scoring", "discard"):
        values = {getattr(one, option) for one in rules}
        assert values == set(type(next(iter(values))))
    assert {1, 5, 200} <= {one.stall_limit for one in rules}
