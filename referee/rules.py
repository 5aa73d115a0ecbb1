"""The rules of Four Widows: who may do what, what a seat sees, how a game ends. Knows no process, clock, JSON or print.

The rules in words, with their source, are in `docs/rules.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from referee.actions import AFTER_DRAW_ALL, AFTER_DRAW_ANY, KEEP, WIDOW, Action, AfterDraw, Kind, lays
from referee.cards import BITS, DECK_SIZE, SAME_RANK, check_deck, set_of
from referee.errors import IllegalActionError, RulesError
from referee.places import Ending as Ending
from referee.places import Scoring as Scoring
from referee.places import places_of as places_of

MIN_PLAYERS = 2
MAX_PLAYERS = 6
WIDOWS = 4


class OddCard(StrEnum):
    """Which heap is the talon: the first one dealt (all hands equal), or the last (seat 0 may have one more)."""

    TALON = "talon"
    FIRST = "first"


class DiscardRule(StrEnum):
    """Whether the player chooses which of the matching cards go, or sends all of them or none."""

    ANY = "any"
    ALL = "all"


class Phase(StrEnum):
    """What a seat is asked: which card to lay, or what becomes of the card just drawn."""

    LAY = "lay"
    DRAWN = "drawn"


class DrawFate(StrEnum):
    """What became of a drawn card."""

    KEPT = "kept"
    DISCARDED = "discarded"
    WIDOW = "widow"


_LAY = Kind.LAY  # a member through its enum costs as much as four attributes
_KEPT = DrawFate.KEPT


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
    result: DrawFate
    discarded: tuple[int, ...]
    recycled: bool

    def seen_by(self, seat: int) -> Event:
        """This turn as `seat` saw it."""
        if self.seat == seat:
            return self
        if self.result is _KEPT:
            return _KEPT_UNSEEN[self.recycled][self.seat]
        return self._replace(laid=None)


# Most turns are of one of these kinds; making such an event anew for each would be a tenth of a game's time.
_KEPT_TURNS = [
    [[Event(seat, laid, drew, _KEPT, (), False) for drew in range(DECK_SIZE)] for laid in range(DECK_SIZE)]
    for seat in range(MAX_PLAYERS)
]
_KEPT_UNSEEN = [
    [Event(seat, None, None, _KEPT, (), recycled) for seat in range(MAX_PLAYERS)] for recycled in (False, True)
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
    """The actions allowed to one who holds `hand`, and has just drawn `drawn` or is to lay (None).

    None at all where `drawn` leaves nothing to choose: it is kept at once.
    """
    if drawn is None:
        return lays(hand)
    return _after_draw(rules)[drawn][hand & SAME_RANK[drawn]]


def _after_draw(rules: Rules) -> AfterDraw:
    return AFTER_DRAW_ANY if rules.discard is DiscardRule.ANY else AFTER_DRAW_ALL


def deal(rules: Rules, players: int, deck: tuple[int, ...]) -> tuple[list[list[int]], list[int]]:
    """The hands by seat and the talon, each in the order dealt, so that the talon's last card is its top."""
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise RulesError(f"Four Widows is for {MIN_PLAYERS} to {MAX_PLAYERS} players, not {players}")
    check_deck(deck)
    heaps = [list(deck[first :: players + 1]) for first in range(players + 1)]
    talon = heaps.pop(0 if rules.odd_card is OddCard.TALON else players)
    return heaps, talon


_new = tuple.__new__
"""Makes a named tuple in half the time that its constructor takes."""


class State:
    """One game in progress: a position that changes by `apply` and `forfeit` until `outcome` is there.

    `turn` is the seat to move; the house's turns for seats at fault are played at once and never waited for.
    `events` are all completed turns, unhidden; what a seat may know comes from `ask` and `untold` alone.
    """

    __slots__ = (
        "_after_draw",
        "_choices",
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
        self._after_draw = _after_draw(rules)
        self._choices: tuple[Action, ...] | None = None
        """What may become of the card drawn; None while a lay is asked, nothing once the game is over."""
        self._forfeited: tuple[int, ...] = ()
        self._told = [0] * players

    @property
    def forfeited(self) -> tuple[int, ...]:
        """The seats at fault, which the house plays on, in the order in which they faulted."""
        return self._forfeited

    def legal(self) -> tuple[Action, ...]:
        """What the seat to move may do, in the order of the wire contract; nothing once the game is over."""
        choices = self._choices
        return lays(self.hands[self.turn]) if choices is None else choices

    def ask(self) -> Question:
        """What the seat to move sees. Its events are told by this, and not again by a later question."""
        seat = self.turn
        return _new(
            Question,
            (
                seat,
                self.rules,
                self.hands[seat],
                self.drawn,
                self.laid,
                self.recycled,
                tuple(self.sizes),
                len(self.talon),
                len(self.pile),
                self.widows,
                self.discards,
                self._forfeited,
                self.kept_in_a_row,
                self.untold(seat),
            ),
        )

    def untold(self, seat: int) -> tuple[Event, ...]:
        """The turns that `seat` has not been told of, as it saw them; they count as told from now on."""
        events = self.events
        told = self._told[seat]
        if told == len(events):
            return ()
        self._told[seat] = len(events)
        return tuple([event if event.seat == seat else event.seen_by(seat) for event in events[told:]])

    def apply(self, action: Action) -> None:
        """Play `action` for the seat to move. Raises IllegalActionError where it is not in `legal()`.

        This is one piece, since a tournament's time in the rules is spent in it.
        """
        seat = self.turn
        choices = self._choices
        if choices is None:
            hand = self.hands[seat]
            rest = hand ^ action.cards
            if action.kind is not _LAY or rest > hand:  # a set grows by a card that was not in it
                raise self._refusal(action)
            laid = action.taken[0]
            talon = self.talon
            self.pile.append(laid)
            drawn = talon.pop()
            recycled = not talon
            if recycled:
                self.talon = self.pile
                self.pile = []
            choices = self._after_draw[drawn][rest & SAME_RANK[drawn]]
            if choices:
                self.hands[seat] = rest
                self.sizes[seat] -= 1
                self.laid = laid
                self.drawn = drawn
                self.recycled = recycled
                self._choices = choices
                return
            self.hands[seat] = rest ^ BITS[drawn]
            self.events.append(
                Event(seat, laid, drawn, _KEPT, (), True) if recycled else _KEPT_TURNS[seat][laid][drawn]
            )
        elif action not in choices:
            raise self._refusal(action)
        elif self._settle(action) is not _KEPT:
            return
        kept = self.kept_in_a_row + 1
        self.kept_in_a_row = kept
        if kept == self.rules.stall_limit:
            self._end(Ending.STALLED)
            return
        self.turn = seat = (seat + 1) % self.players
        if seat in self._forfeited:
            self._house_turn()

    def forfeit(self, *seats: int) -> None:
        """Put `seats` at fault, in this order: the seat to move at its question, or any before the first one.

        Raises IllegalActionError for any others.
        """
        if self.outcome is not None:
            raise IllegalActionError(f"seats {seats} cannot be put at fault: the game is over")
        begun = self.pile or self.events
        able = {self.turn} if begun else set(range(self.players)) - set(self._forfeited)
        if len(set(seats)) < len(seats) or not able.issuperset(seats):
            raise IllegalActionError(f"seats {seats} cannot be put at fault now, only each of {sorted(able)} once")
        self._forfeited += seats
        if self.players - len(self._forfeited) <= 1:
            self._end(Ending.FORFEIT)
        elif self.turn in self._forfeited:
            self._house_turn()

    def _house_turn(self) -> None:
        """Lay the lowest card, or go on from the question at which the seat faulted, and keep what is drawn."""
        if self._choices is None:
            self.apply(lays(self.hands[self.turn])[0])
        if self._choices:
            self.apply(KEEP)

    def _settle(self, action: Action) -> DrawFate:
        """Close the question about the drawn card, and with it the turn; say what became of the card."""
        seat, laid, drawn, recycled = self.turn, self.laid, self.drawn, self.recycled
        assert drawn is not None
        self.laid = self.drawn = self._choices = None
        self.recycled = False
        taken = action.taken
        if action is KEEP:
            result = _KEPT
            self.hands[seat] ^= BITS[drawn]
            self.sizes[seat] += 1
        else:
            self.hands[seat] ^= action.cards
            self.sizes[seat] -= len(taken)
            self.kept_in_a_row = 0
            if action is WIDOW:
                result = DrawFate.WIDOW
                self.widows += (drawn,)
            else:
                result = DrawFate.DISCARDED
                self.discards += (drawn, *taken)
        self.events.append(Event(seat, laid, drawn, result, taken, recycled))
        if not self.sizes[seat]:
            self._end(Ending.EMPTIED)
        elif len(self.widows) == WIDOWS:
            self._end(Ending.WIDOWS)
        return result

    def _refusal(self, action: Action) -> IllegalActionError:
        if self.outcome is not None:
            return IllegalActionError(f"{action} is not allowed: the game is over")
        if self._choices is None:
            return IllegalActionError(f"{action} is not allowed: one of the cards in hand is to be laid")
        allowed = ", ".join(choice.text for choice in self._choices)
        return IllegalActionError(f"{action} is not allowed with the card drawn and this hand, only: {allowed}")

    def _end(self, reason: Ending) -> None:
        sizes = tuple(self.sizes)
        places = places_of(self.rules.scoring, reason, sizes, self._forfeited)
        self.outcome = Outcome(reason, places, sizes, self._forfeited)
        self._choices = ()
