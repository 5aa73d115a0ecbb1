"""Games that the steps play: an ordinary one, in which nothing rare comes up, and how any is played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeVar

from referee.bots.cache.prepare import Prepared
from referee.checking.bot.bot_under_test import BotUnderTest
from referee.checking.games.catalogue import ArrangedGame
from referee.checking.games.dealing import Fate, Luck
from referee.checking.games.setting import GameSetup, deck_with
from referee.checking.games.sitting import ArrangedTable, CheckedGame
from referee.errors import VoidGame
from referee.rules import DEFAULT_RULES, State

TRIES = 3
"""How often a game is tried that is void through no fault of the bot."""
_OWN = "KC 7C 7D 8C 8D TC TD QC 7H 8H TH QD"
_OTHER = "6C 6D 6H JC JD JH 9C 9D 9H AC AD AH"
_TALON = "6S JS 9S KD AS KH KS 7S 8S TS QH QS"
_names = count(1)

Result = TypeVar("Result")


def ordinary(bot: Prepared, *, seat: int = 0, number: int = 0) -> ArrangedGame:
    """A short game at the smallest table: another gets rid of its cards, the bot has one card that matches."""
    players = min(bot.manifest.players)
    other = (seat + 1) % players
    deck = deck_with(DEFAULT_RULES, players, {seat: _OWN, other: _OTHER}, talon=_TALON, seed=number)
    return ArrangedGame(GameSetup(players=players, seat=seat, deck=deck), fate=_ordinary_fate(seat))


def _ordinary_fate(seat: int) -> Fate:
    def fate(state: State, turn: int) -> Luck:
        if turn != seat:
            return Luck.MATCHES
        return Luck.ONE_MATCH if sum(event.seat == seat for event in state.events) < 2 else Luck.NOTHING

    return fate


def played(
    subject: BotUnderTest, game: ArrangedGame, *, until: Callable[[CheckedGame], bool] | None = None
) -> CheckedGame:
    """Play a game, again in a new process if it is void. Raises VoidGame if it always is."""

    def play() -> CheckedGame:
        game_id = f"check{next(_names)}"
        return ArrangedTable(game.setting, subject, game_id=game_id, manner=game.manner, fate=game.fate).play(
            until=until
        )

    return retried(play, [subject])


def retried(play: Callable[[], Result], table: Sequence[BotUnderTest]) -> Result:
    """Return the result of a game that is played again, in new processes, while it is void.

    Raises VoidGame if it always is.
    """
    for _ in range(TRIES - 1):
        try:
            return play()
        except VoidGame:
            for subject in table:
                subject.kill()
    return play()
