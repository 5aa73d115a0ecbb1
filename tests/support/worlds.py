"""Pairs of games that look alike to one seat and differ in what it cannot see.

A *world* is a game played to its end by dice. Its *twin*, for a seat and a moment, is another game, with another deck and
other choices of the other seats, in which all that the rules let the seat know up to that moment is the same: its own
cards, draws and lays; of the others, whose turn it was, what became of the card drawn, the cards discarded or put down,
the draws that emptied the talon, the faults. `facts` states this from the games' unhidden events and shares nothing with
`Event.seen_by` and `State.ask`, which a pair puts on trial: both games must show the seat the same.

A twin is found by renaming the cards that the seat has not seen by then: the deck and the others' choices are renamed
with them, each hand is dealt in another order, and what then comes otherwise is played out: a house seat lays its lowest card,
which may be another one now; a kept card may match now, or match no longer, so that a question is asked or not. Where
the seat would see a difference, the renaming is given up for a smaller one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from referee.actions import KEEP, LAYS, Action, Kind
from referee.cards import DECK_SIZE, set_of
from referee.rules import DiscardRule, DrawFate, Event, OddCard, Outcome, Question, Rules, Scoring, State

StateFactory = Callable[[Rules, int, tuple[int, ...]], State]
"""What makes the games on trial: `State`, or one that leaks."""


class Setting(NamedTuple):
    """What fixes a game but for the choices; `absent` are the seats at fault before the first question."""

    rules: Rules
    players: int
    deck: tuple[int, ...]
    absent: tuple[int, ...]

    def begin(self, make: StateFactory = State) -> State:
        """The game before its first question."""
        state = make(self.rules, self.players, self.deck)
        if self.absent:
            state.forfeit(*self.absent)
        return state


class Asked(NamedTuple):
    """A question's seat, how many turns were complete then, the card drawn, and the answer; None is a fault."""

    seat: int
    turns: int
    drawn: int | None
    action: Action | None


class World(NamedTuple):
    """A game as it was played, to its end."""

    setting: Setting
    asked: tuple[Asked, ...]
    state: State


class End(NamedTuple):
    """What a seat is told when the game is over."""

    outcome: Outcome
    events: tuple[Event, ...]


class Pair(NamedTuple):
    """Two worlds that are one to `seat` until its question number `cut`, or to the end where it has no more.

    `moved` is the number of cards that have changed places with others.
    """

    seat: int
    cut: int
    first: World
    second: World
    moved: int


Choose = Callable[[State], Action | None]
"""A choice for the seat to move; it may look at the whole game. None is a fault."""


def play(setting: Setting, choose: Choose) -> World:
    """Play to the end."""
    state = setting.begin()
    asked = []
    while state.outcome is None:
        one = Asked(state.turn, len(state.events), state.drawn, choose(state))
        asked.append(one)
        answer(state, one)
    return World(setting, tuple(asked), state)


def answer(state: State, asked: Asked) -> None:
    """Play what was answered."""
    if asked.action is None:
        state.forfeit(asked.seat)
    else:
        state.apply(asked.action)


def shown(world: World, seat: int, *, cut: int, make: StateFactory = State) -> Iterator[tuple[Question | End, State]]:
    """All that `seat` is shown in a world up to its question number `cut`, and the game at that moment."""
    state = world.setting.begin(make)
    for asked in world.asked:
        question = state.ask()
        if question.seat == seat:
            yield question, state
            if cut == 0:
                return
            cut -= 1
        answer(state, asked)
    assert state.outcome is not None
    yield End(state.outcome, state.untold(seat)), state


def leaks(pair: Pair, make: StateFactory = State) -> bool:
    """Whether games made by `make` show the seat a difference between the two worlds."""
    first, second = ([view for view, _ in shown(world, pair.seat, cut=pair.cut, make=make)] for world in pair[2:4])
    return first != second


# -- the first world


def some_setting(dice: Random, *, seat: int, players: int) -> Setting:
    """Any options, any deck; now and then seats that never came, but for `seat` and one more."""
    rules = Rules(
        odd_card=dice.choice(list(OddCard)),
        scoring=dice.choice(list(Scoring)),
        discard=dice.choice(list(DiscardRule)),
        stall_limit=dice.choice([5, 200]),
    )
    others = [other for other in range(players) if other != seat]
    absent = dice.sample(others, dice.randrange(len(others))) if dice.random() < 0.2 else []
    return Setting(rules, players, tuple(dice.sample(range(DECK_SIZE), DECK_SIZE)), tuple(sorted(absent)))


def by_dice(dice: Random, *, seat: int, faults: float) -> Choose:
    """Choices by dice; a match or a queen is kept now and then; other seats than `seat` may fault."""

    def choose(state: State) -> Action | None:
        if state.turn != seat and dice.random() < faults:
            return None
        return KEEP if state.drawn is not None and dice.random() < 0.3 else dice.choice(state.legal())

    return choose


# -- what a seat knows


def facts(world: World, seat: int, *, cut: int) -> list[object]:
    """What the rules let `seat` know at its question number `cut`, or at the end, from what really happened."""
    asked = moment(world, seat, cut=cut)
    turns = None if asked is None else asked.turns
    known: list[object] = [world.setting.absent, None if asked is None else asked.drawn]
    for event in world.state.events[:turns]:
        if event.seat == seat:
            known.append(event)
        else:
            drew = None if event.result is DrawFate.KEPT else event.drew
            known.append((event.seat, event.result, drew, event.discarded, event.recycled))
    faults = [(one.seat, one.turns) for one in world.asked if one.action is None and one is not asked]
    known += [fault for fault in faults if turns is None or fault[1] < turns]
    if turns is None:
        known.append([hand.bit_count() for hand in world.state.hands])
    return known


def seen_cards(world: World, seat: int, *, cut: int) -> int:
    """The set of the cards that `seat` has seen when its question number `cut` is put, or at the end."""
    asked = moment(world, seat, cut=cut)
    seen = world.setting.begin().hands[seat] if seat not in world.setting.absent else 0
    cards = {None if asked is None else asked.drawn}
    for event in world.state.events[: None if asked is None else asked.turns]:
        if event.seat == seat or event.result is not DrawFate.KEPT:
            cards |= {event.drew, *event.discarded}
    return seen | set_of(card for card in cards if card is not None)


def moment(world: World, seat: int, *, cut: int) -> Asked | None:
    """A seat's question number `cut`, or None where there is no such."""
    own = [asked for asked in world.asked if asked.seat == seat]
    return own[cut] if cut < len(own) else None


# -- the second world


class Different(Exception):
    """A would-be twin cannot follow its world."""


class Follower:
    """Plays a renamed world as the first one went, as far as that can be seen by `seat`."""

    def __init__(self, world: World, seat: int, renamed: list[int], dice: Random) -> None:
        self._events = world.state.events
        self._faults = {asked.turns: asked for asked in world.asked if asked.action is None}
        self._own = iter([asked.action for asked in world.asked if asked.seat == seat])
        self._seat = seat
        self._renamed = renamed
        self._dice = dice

    def __call__(self, state: State) -> Action | None:
        """The choice for the seat to move."""
        turn = len(state.events)
        if state.turn == self._seat:
            action = next(self._own, None)
            if action not in state.legal():
                raise Different
            return action
        fault = self._faults.get(turn)
        if fault is not None and (state.drawn is not None or fault.drawn is None):
            return None
        event = self._events[turn] if turn < len(self._events) else None
        if state.drawn is None:
            return self._lay(state, event)
        return self._settle(state, event)

    def _lay(self, state: State, event: Event | None) -> Action:
        wanted = None if event is None or event.laid is None else LAYS[self._renamed[event.laid]]
        legal = state.legal()
        return wanted if wanted in legal else self._dice.choice(legal)

    def _settle(self, state: State, event: Event | None) -> Action:
        if event is None or event.result is DrawFate.KEPT:
            return KEEP
        kind = Kind.WIDOW if event.result is DrawFate.WIDOW else Kind.DISCARD
        for action in state.legal():
            if action.kind is kind and action.taken == event.discarded and state.drawn == event.drew:
                return action
        raise Different


def twin(world: World, seat: int, *, cut: int, dice: Random) -> Pair | None:
    """Look for a twin, in several tries; None where none was found."""
    seen = seen_cards(world, seat, cut=cut)
    unseen = [card for card in range(DECK_SIZE) if not seen >> card & 1]
    known = facts(world, seat, cut=cut)
    for swaps in (99, 99, 99, 8, 4, 4, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1):
        renamed = renaming(unseen, swaps, dice)
        moved = sum(renamed[card] != card for card in unseen)
        other = _follow(world, seat, renamed, cut=cut, dice=dice) if moved else None
        if other is not None and facts(other, seat, cut=cut) == known:
            return Pair(seat, cut, world, other, moved)
    return None


def renaming(unseen: list[int], swaps: int, dice: Random) -> list[int]:
    """By card its new name: all unseen ones shuffled where `swaps` is that large, else so many swaps among them."""
    renamed = list(range(DECK_SIZE))
    if swaps > len(unseen):
        for card, name in zip(unseen, dice.sample(unseen, len(unseen)), strict=True):
            renamed[card] = name
    elif len(unseen) > 1:
        for _ in range(swaps):
            one, two = dice.sample(unseen, 2)
            renamed[one], renamed[two] = renamed[two], renamed[one]
    return renamed


def _follow(world: World, seat: int, renamed: list[int], *, cut: int, dice: Random) -> World | None:
    setting = world.setting._replace(deck=_redealt(world.setting, renamed, dice))
    state = setting.begin()
    follower = Follower(world, seat, renamed, dice)
    asked: list[Asked] = []
    while state.outcome is None:
        drawn, turns = state.drawn, len(state.events)
        try:
            action = follower(state)
        except Different:
            return None
        asked.append(Asked(state.turn, turns, drawn, action))
        if state.turn == seat:
            if cut == 0:
                break
            cut -= 1
        answer(state, asked[-1])
    return World(setting, tuple(asked), state)


def _redealt(setting: Setting, renamed: list[int], dice: Random) -> tuple[int, ...]:
    """The deck with its cards renamed and each hand, though not the talon, dealt in another order."""
    deck = [renamed[card] for card in setting.deck]
    heaps = setting.players + 1
    talon = 0 if setting.rules.odd_card is OddCard.TALON else setting.players
    for heap in range(heaps):
        if heap != talon:
            deck[heap::heaps] = dice.sample(deck[heap::heaps], len(deck[heap::heaps]))
    return tuple(deck)


def some_pair(dice: Random, *, players: int | None = None) -> Pair | None:
    """A world by dice, a seat, a moment, and a twin, or None where none was found."""
    players = players or dice.randint(2, 6)
    seat = dice.randrange(players)
    world = play(
        some_setting(dice, seat=seat, players=players), by_dice(dice, seat=seat, faults=dice.choice([0, 0, 0.01]))
    )
    questions = sum(asked.seat == seat for asked in world.asked)
    return twin(world, seat, cut=dice.randrange(questions + 1), dice=dice)
