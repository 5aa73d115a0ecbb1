"""The rules of Four Widows: who may do what, what a seat sees, how a game ends. Knows no process, clock, JSON or print.

The rules in words, with their source, are in `docs/rules.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from referee.actions import AFTER_QUEEN, DISCARD_ALL, DISCARD_ANY, KEEP, Action, Kind, lays
from referee.cards import BITS, QUEENS, SAME_RANK, cards_of, check_deck, set_of
from referee.errors import IllegalActionError, RulesError

MIN_PLAYERS = 2
MAX_PLAYERS = 6
WIDOWS = 4

_IS_QUEEN = tuple(bool(bit & QUEENS) for bit in BITS)


class OddCard(StrEnum):
    """Which heap is the talon: the first one dealt (all hands equal), or the last (seat 0 may have one more)."""

    TALON = "talon"
    FIRST = "first"


class Scoring(StrEnum):
    """How cards left become places."""

    PLACES = "places"
    WINNER = "winner"
    LOSER = "loser"


class DiscardRule(StrEnum):
    """Whether the player chooses which of the matching cards go, or sends all of them or none."""

    ANY = "any"
    ALL = "all"


class Phase(StrEnum):
    """What a seat is asked: which card to lay, or what becomes of the card just drawn."""

    LAY = "lay"
    DRAWN = "drawn"


class Result(StrEnum):
    """What became of a drawn card."""

    KEPT = "kept"
    DISCARDED = "discarded"
    WIDOW = "widow"


class Ending(StrEnum):
    """Why a game is over."""

    EMPTIED = "emptied"
    WIDOWS = "widows"
    STALLED = "stalled"
    FORFEIT = "forfeit"


@dataclass(frozen=True, slots=True)
class Rules:
    """The options that the source leaves open, with the defaults of this project."""

    odd_card: OddCard = OddCard.TALON
    scoring: Scoring = Scoring.PLACES
    discard: DiscardRule = DiscardRule.ANY
    stall_limit: int = 200

    def __post_init__(self) -> None:
        if self.stall_limit < 1:
            raise RulesError(f"stall_limit is a number of turns from 1 on, not {self.stall_limit}")


DEFAULT_RULES = Rules()


class Event(NamedTuple):
    """One completed turn. `laid` and `drew` are None for those who may not know them."""

    seat: int
    laid: int | None
    drew: int | None
    result: Result
    discarded: tuple[int, ...]
    recycled: bool

    def seen_by(self, seat: int) -> Event:
        """This turn as `seat` saw it."""
        if self.seat == seat:
            return self
        if self.result is Result.KEPT:
            return _KEPT_UNSEEN[self.recycled][self.seat]
        return self._replace(laid=None)


_KEPT_UNSEEN = [
    [Event(seat, None, None, Result.KEPT, (), recycled) for seat in range(MAX_PLAYERS)] for recycled in (False, True)
]


class Outcome(NamedTuple):
    """How a game ended. `places` count from 1, by seat; `forfeited` are the seats at fault, first fault first."""

    reason: Ending
    places: tuple[int, ...]
    hand_sizes: tuple[int, ...]
    forfeited: tuple[int, ...]


class Question(NamedTuple):
    """All that the seat to move may know; nothing else of a game reaches a player.

    `hand` is a set of cards without `drawn`; cards are those of `referee.cards`. A drawn card is counted in no
    size. `events` are the turns completed since this seat's last question, as it saw them.
    """

    seat: int
    rules: Rules
    hand: int
    drawn: int | None
    laid: int | None
    recycled: bool
    hand_sizes: tuple[int, ...]
    talon_size: int
    pile_size: int
    widows: tuple[int, ...]
    discards: tuple[int, ...]
    forfeited: tuple[int, ...]
    kept_in_a_row: int
    events: tuple[Event, ...]

    @property
    def phase(self) -> Phase:
        """What is asked."""
        return Phase.LAY if self.drawn is None else Phase.DRAWN

    @property
    def legal(self) -> tuple[Action, ...]:
        """The actions allowed, in the order of the wire contract."""
        return legal_actions(self.rules, self.hand, self.drawn)


def legal_actions(rules: Rules, hand: int, drawn: int | None) -> tuple[Action, ...]:
    """The actions allowed to one who holds `hand`, and has just drawn `drawn` or is to lay (None)."""
    if drawn is None:
        return lays(hand)
    if _IS_QUEEN[drawn]:
        return AFTER_QUEEN
    choices = DISCARD_ANY if rules.discard is DiscardRule.ANY else DISCARD_ALL
    return choices[hand & SAME_RANK[drawn]]


def deal(rules: Rules, players: int, deck: tuple[int, ...]) -> tuple[list[list[int]], list[int]]:
    """The hands by seat and the talon, each in the order dealt, so that the talon's last card is its top."""
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise RulesError(f"Four Widows is for {MIN_PLAYERS} to {MAX_PLAYERS} players, not {players}")
    check_deck(deck)
    heaps = [list(deck[first :: players + 1]) for first in range(players + 1)]
    talon = heaps.pop(0 if rules.odd_card is OddCard.TALON else players)
    return heaps, talon


class State:
    """One game in progress: a position that changes by `apply` and `forfeit` until `outcome` is there.

    `turn` is the seat to move; the house's turns for seats at fault are played at once and never waited for.
    `events` are all completed turns, unhidden; what a seat may know comes from `ask` and `untold` alone.
    """

    __slots__ = (
        "_forfeited",
        "_told",
        "discards",
        "drawn",
        "events",
        "hands",
        "kept_in_a_row",
        "laid",
        "outcome",
        "pile",
        "players",
        "recycled",
        "rules",
        "sizes",
        "talon",
        "turn",
        "widows",
    )

    def __init__(self, rules: Rules, players: int, deck: tuple[int, ...]) -> None:
        hands, talon = deal(rules, players, deck)
        self.rules = rules
        self.players = players
        self.hands = [set_of(hand) for hand in hands]
        self.sizes = [len(hand) for hand in hands]
        self.talon = talon
        self.pile: list[int] = []
        self.widows: tuple[int, ...] = ()
        self.discards: tuple[int, ...] = ()
        self.turn = 0
        self.laid: int | None = None
        self.drawn: int | None = None
        self.recycled = False
        self.kept_in_a_row = 0
        self.events: list[Event] = []
        self.outcome: Outcome | None = None
        self._forfeited: tuple[int, ...] = ()
        self._told = [0] * players

    @property
    def forfeited(self) -> tuple[int, ...]:
        """The seats at fault, which the house plays on, in the order in which they faulted."""
        return self._forfeited

    def legal(self) -> tuple[Action, ...]:
        """What the seat to move may do, in the order of the wire contract; nothing once the game is over."""
        if self.outcome is not None:
            return ()
        return legal_actions(self.rules, self.hands[self.turn], self.drawn)

    def ask(self) -> Question:
        """What the seat to move sees. Its events are told by this, and not again by a later question."""
        seat = self.turn
        drawn = self.drawn
        asked_lay = drawn is None
        return Question(
            seat,
            self.rules,
            self.hands[seat],
            drawn,
            None if asked_lay else self.laid,
            False if asked_lay else self.recycled,
            tuple(self.sizes),
            len(self.talon),
            len(self.pile),
            self.widows,
            self.discards,
            self._forfeited,
            self.kept_in_a_row,
            self.untold(seat),
        )

    def untold(self, seat: int) -> tuple[Event, ...]:
        """The turns that `seat` has not been told of, as it saw them; they count as told from now on."""
        told = self._told[seat]
        self._told[seat] = len(self.events)
        return tuple([event.seen_by(seat) for event in self.events[told:]])

    def apply(self, action: Action) -> None:
        """Play `action` for the seat to move. Raises IllegalActionError where it is not in `legal()`."""
        if self.outcome is not None:
            raise IllegalActionError("the game is over")
        drawn = self.drawn
        if drawn is None:
            if action.kind is not Kind.LAY or not action.cards & self.hands[self.turn]:
                raise IllegalActionError(f"{action} is not allowed: one of the cards in hand is to be laid")
            self._lay_and_draw(action.first)
        else:
            if action not in self.legal():
                raise IllegalActionError(f"{action} is not allowed with the card drawn and this hand")
            self._settle(drawn, action)

    def forfeit(self, *seats: int) -> None:
        """Put `seats` at fault, in this order: the seat to move at its question, or any before the first one."""
        self._forfeited += seats
        if self.players - len(self._forfeited) <= 1:
            self._end(Ending.FORFEIT)
            return
        if self.turn not in self._forfeited:
            return
        if self.drawn is not None:
            self._settle(self.drawn, KEEP)
        else:
            self._house_turn()

    def _house_turn(self) -> None:
        lowest = cards_of(self.hands[self.turn])[0]
        self._lay_and_draw(lowest, house=True)

    def _lay_and_draw(self, card: int, *, house: bool = False) -> None:
        seat = self.turn
        hand = self.hands[seat] ^ BITS[card]
        talon = self.talon
        self.pile.append(card)
        drawn = talon.pop()
        recycled = not talon
        if recycled:
            self.talon = self.pile
            self.pile = []
        if not house and (hand & SAME_RANK[drawn] or _IS_QUEEN[drawn]):
            self.hands[seat] = hand
            self.sizes[seat] -= 1
            self.laid = card
            self.drawn = drawn
            self.recycled = recycled
            return
        self.hands[seat] = hand | BITS[drawn]
        self.events.append(Event(seat, card, drawn, Result.KEPT, (), recycled))
        self._after_keeping()

    def _settle(self, drawn: int, action: Action) -> None:
        """Finish the turn in which `drawn` was drawn."""
        seat = self.turn
        self.drawn = None
        if action is KEEP:
            self.hands[seat] |= BITS[drawn]
            self.sizes[seat] += 1
            self.events.append(Event(seat, self.laid, drawn, Result.KEPT, (), self.recycled))
            self._after_keeping()
            return
        gone = cards_of(action.cards)
        self.hands[seat] ^= action.cards
        self.sizes[seat] -= len(gone)
        self.kept_in_a_row = 0
        if action.kind is Kind.WIDOW:
            self.widows += (drawn,)
            self.events.append(Event(seat, self.laid, drawn, Result.WIDOW, (), self.recycled))
        else:
            self.discards += (drawn, *gone)
            self.events.append(Event(seat, self.laid, drawn, Result.DISCARDED, gone, self.recycled))
        if not self.hands[seat]:
            self._end(Ending.EMPTIED)
        elif len(self.widows) == WIDOWS:
            self._end(Ending.WIDOWS)

    def _after_keeping(self) -> None:
        self.kept_in_a_row += 1
        if self.kept_in_a_row == self.rules.stall_limit:
            self._end(Ending.STALLED)
            return
        self.turn = (self.turn + 1) % self.players
        if self.turn in self._forfeited:
            self._house_turn()

    def _end(self, reason: Ending) -> None:
        sizes = tuple(self.sizes)
        places = places_of(self.rules.scoring, reason, sizes, self._forfeited)
        self.outcome = Outcome(reason, places, sizes, self._forfeited)


def places_of(
    scoring: Scoring, reason: Ending, hand_sizes: tuple[int, ...], forfeited: tuple[int, ...]
) -> tuple[int, ...]:
    """The places by seat, from 1: those at fault last, a later fault better; the others by cards left."""
    players = len(hand_sizes)
    sizes = [size for seat, size in enumerate(hand_sizes) if seat not in forfeited]
    if scoring is Scoring.LOSER and reason is Ending.EMPTIED:
        scoring = Scoring.WINNER
    return tuple(
        players - forfeited.index(seat) if seat in forfeited else _place(scoring, size, sizes)
        for seat, size in enumerate(hand_sizes)
    )


def _place(scoring: Scoring, size: int, sizes: list[int]) -> int:
    """The place among `sizes` of one who has `size` cards left."""
    if scoring is Scoring.PLACES:
        return 1 + sum(other < size for other in sizes)
    if scoring is Scoring.WINNER:
        return 1 if size == min(sizes) else 1 + sizes.count(min(sizes))
    return 1 if size < max(sizes) or size == min(sizes) else 1 + len(sizes) - sizes.count(size)
