"""What a seat may be asked to choose: laying a card, and what becomes of a drawn one.

There are 36 + 112 + 2 actions, made once; each is written in one way only, which is its text on the wire.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from referee.cards import BITS, DECK_SIZE, NAMES, QUEENS, RANKS, SAME_RANK, cards_of, set_of


class Kind(StrEnum):
    """The four things that one can do; an action's text begins with its kind."""

    LAY = "lay"
    DISCARD = "discard"
    KEEP = "keep"
    WIDOW = "widow"


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """A choice: `cards` is the set of cards of the hand that it takes, `taken` the same in canonical order.

    Actions are compared by identity: get them from `LAYS`, `after_draw`, `KEEP`, `WIDOW` or `parse`.
    """

    kind: Kind
    cards: int
    taken: tuple[int, ...]
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.text}>"

    def __reduce__(self) -> tuple[Callable[[str], Action | None], tuple[str]]:
        """A copy, also one in another process, is the action itself."""
        return parse, (self.text,)


def _action(kind: Kind, cards: tuple[int, ...] = ()) -> Action:
    text = " ".join([kind.value, *(NAMES[card] for card in cards)])
    return Action(kind, set_of(cards), cards, text)


KEEP = _action(Kind.KEEP)
WIDOW = _action(Kind.WIDOW)
LAYS: tuple[Action, ...] = tuple(_action(Kind.LAY, (card,)) for card in range(DECK_SIZE))
"""By card: laying it."""

AFTER_QUEEN = (WIDOW, KEEP)


def _larger_first(matching: int) -> tuple[Action, ...]:
    cards = cards_of(matching)
    sizes = range(len(cards), 0, -1)
    return tuple(_action(Kind.DISCARD, chosen) for size in sizes for chosen in combinations(cards, size))


def _matching_sets() -> list[int]:
    """Every set of one to three cards of one rank, queens apart, smaller sets first."""
    ranks = [rank for rank in range(len(RANKS)) if not QUEENS >> 4 * rank & 1]
    sets = [nibble << 4 * rank for rank in ranks for nibble in range(1, 15)]
    return sorted(sets, key=int.bit_count)


_DISCARD = {matching: _larger_first(matching)[0] for matching in _matching_sets()}
DISCARD_ANY: dict[int, tuple[Action, ...]] = {
    matching: (*(_DISCARD[action.cards] for action in _larger_first(matching)), KEEP) for matching in _DISCARD
}
"""By the hand's cards of the drawn card's rank: the legal actions where the player chooses which of them go."""
DISCARD_ALL: dict[int, tuple[Action, ...]] = {matching: (action, KEEP) for matching, action in _DISCARD.items()}
"""The same where all of them go or none."""

AfterDraw = tuple[dict[int, tuple[Action, ...]], ...]
"""By the drawn card, then by the hand's cards of its rank: the legal actions, none where there is nothing to choose."""


def _after_draw(discards: dict[int, tuple[Action, ...]]) -> AfterDraw:
    queen_or_none = {True: AFTER_QUEEN, False: ()}
    return tuple(
        {matching: discards.get(matching, queen_or_none[bool(BITS[drawn] & QUEENS)]) for matching in _matching(drawn)}
        for drawn in range(DECK_SIZE)
    )


def _matching(drawn: int) -> list[int]:
    """Every set of the three other cards of its rank."""
    others = cards_of(SAME_RANK[drawn] ^ BITS[drawn])
    return [set_of(chosen) for size in range(4) for chosen in combinations(others, size)]


AFTER_DRAW_ANY = _after_draw(DISCARD_ANY)
AFTER_DRAW_ALL = _after_draw(DISCARD_ALL)

ACTIONS: tuple[Action, ...] = (*LAYS, *_DISCARD.values(), KEEP, WIDOW)
"""All there are."""

_BY_TEXT = {action.text: action for action in ACTIONS}

_BY_BYTES = {action.text.encode(): action for action in ACTIONS}

_CHUNK = 12
_CHUNK_MASK = (1 << _CHUNK) - 1


def _lay_table(lowest: int) -> list[tuple[Action, ...]]:
    """By a set of the 12 cards from `lowest` on: laying each of them, in canonical order."""
    table: list[tuple[Action, ...]] = [()]
    for bits in range(1, 1 << _CHUNK):
        highest = bits.bit_length() - 1
        table.append((*table[bits ^ BITS[highest]], LAYS[lowest + highest]))
    return table


_LOW, _MIDDLE, _HIGH = (_lay_table(lowest) for lowest in range(0, DECK_SIZE, _CHUNK))


def lays(hand: int) -> tuple[Action, ...]:
    """Laying each card of a hand, in canonical order."""
    return _LOW[hand & _CHUNK_MASK] + _MIDDLE[hand >> _CHUNK & _CHUNK_MASK] + _HIGH[hand >> 2 * _CHUNK]


def parse(text: str) -> Action | None:
    """The action written `text`, to the letter, or None where nothing is written so."""
    return _BY_TEXT.get(text)


def parse_bytes(text: bytes) -> Action | None:
    """The same from ASCII bytes, which saves every decision its decoding."""
    return _BY_BYTES.get(text)
