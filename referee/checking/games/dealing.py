"""Arranging draws: the order of the unknown talon is chosen while a game goes on.

A game so dealt is a game of the deck that `Dealer.deck` tells: until the talon is used up for the first time nobody
knows anything of its order, so that any order agrees with all that was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from referee.actions import Action
from referee.cards import BITS, DECK_SIZE, QUEENS, SAME_RANK
from referee.checking.games.setting import GameSetup, heap_of_talon
from referee.rules import State


class Luck(Enum):
    """What a seat draws, as far as the talon has it."""

    NOTHING = auto()
    """Nothing to choose: no queen, and no card that matches."""
    ONE_MATCH = auto()
    """What matches one card."""
    MATCHES = auto()
    """What matches the most cards."""
    ONE_LEFT = auto()
    """What leaves one card, or is a step to it."""
    QUEEN = auto()


Fate = Callable[[State, int], Luck]
"""What a seat is to draw now."""


class Dealer:
    """Arranges the talon of one game before each card is drawn."""

    def __init__(self, setting: GameSetup, state: State, fate: Fate | None) -> None:
        self._setting = setting
        self._fate = fate
        self._talon = state.talon
        self._as_dealt = list(state.talon)

    def arrange(self, state: State, action: Action, *, over: bool = False) -> None:
        """Put on top what the seat to move is to draw after it has laid as `action` says; nothing when it is over."""
        if state.talon is not self._talon or (self._fate is None and not over):
            return
        rest = state.hands[state.turn] & ~action.cards
        luck = Luck.NOTHING if over or self._fate is None else self._fate(state, state.turn)
        top = len(state.talon) - 1
        best = max(range(top + 1), key=lambda place: (_worth(state.talon[place], rest, luck), place))
        for cards in (state.talon, self._as_dealt):
            cards[top], cards[best] = cards[best], cards[top]

    def deck(self) -> tuple[int, ...]:
        """The deck from which all went as it did."""
        deck = list(self._setting.deck)
        players = self._setting.players
        deck[heap_of_talon(self._setting.rules, players) : DECK_SIZE : players + 1] = self._as_dealt
        return tuple(deck)


def _worth(card: int, rest: int, luck: Luck) -> int:
    """How welcome a card is to one who holds `rest`."""
    is_queen = bool(BITS[card] & QUEENS)
    matches = 0 if is_queen else (rest & SAME_RANK[card]).bit_count()
    if luck is Luck.QUEEN:
        return 9 if is_queen else -matches
    if luck is Luck.ONE_MATCH:
        return 1 if matches == 1 else -5 if is_queen else -matches
    if luck is Luck.MATCHES:
        return matches
    if luck is Luck.ONE_LEFT:
        return _towards_one(rest.bit_count(), matches, is_queen=is_queen)
    return -5 if is_queen else -matches


def _towards_one(held: int, matches: int, *, is_queen: bool) -> int:
    left = held - matches
    if is_queen:
        return 9 if held <= 1 else 0
    if left == 1 and matches:
        return 8
    return matches if left > 1 else -1
