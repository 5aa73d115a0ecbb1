"""What fixes a game but for the choices made in it: seats, rules, cards, and who is at fault when."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import msgspec

from referee.cards import DECK_SIZE, card, check_deck
from referee.rules import DEFAULT_RULES, OddCard, Rules


class GameSetup(msgspec.Struct, frozen=True, kw_only=True):
    """A game of the checked bot at `seat`, the others being played in memory.

    `absent` are at fault before the first question, in this order; `leaving` are (seat, number of its question, from 1)
    at which others are at fault. `seed` is that of the bot's own numbers.
    """

    players: int
    seat: int
    deck: tuple[int, ...]
    rules: Rules = DEFAULT_RULES
    absent: tuple[int, ...] = ()
    leaving: tuple[tuple[int, int], ...] = ()
    seed: int = 1


def heap_of_talon(rules: Rules, players: int) -> int:
    """Which heap of the deal is the talon."""
    return 0 if rules.odd_card is OddCard.TALON else players


def heap_of(rules: Rules, seat: int) -> int:
    """Which heap of the deal is the hand of a seat."""
    return seat + 1 if rules.odd_card is OddCard.TALON else seat


def room_in(heap: int, players: int) -> int:
    """How many cards a heap of the deal has."""
    return len(range(heap, DECK_SIZE, players + 1))


def deck_with(
    rules: Rules, players: int, hands: Mapping[int, str], *, talon: str = "", seed: int = 0
) -> tuple[int, ...]:
    """A deck that deals `hands` by seat, and the cards of `talon` among those of the talon; the rest is shuffled.

    Of more cards than there is room for the first are dealt. Raises RulesError where a card is dealt twice.
    """
    named = {heap_of(rules, seat): hand for seat, hand in hands.items()} | {heap_of_talon(rules, players): talon}
    wanted = {heap: cards.split()[: room_in(heap, players)] for heap, cards in named.items()}
    given = [card(name) for names in wanted.values() for name in names]
    rest = [one for one in range(DECK_SIZE) if one not in given]
    Random(seed).shuffle(rest)  # noqa: S311 - nobody is to be kept from guessing
    deck = [0] * DECK_SIZE
    for heap in range(players + 1):
        names = wanted.get(heap, [])
        for number, place in enumerate(range(heap, DECK_SIZE, players + 1)):
            deck[place] = card(names[number]) if number < len(names) else rest.pop()
    check_deck(tuple(deck))
    return tuple(deck)
