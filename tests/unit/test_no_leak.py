"""What a seat cannot see does not reach it: not in a question, not in a byte, not in the words of an error.

The pairs of games come from `worlds`. That the test can fail is shown by leaks planted on purpose, each of which it finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count
from random import Random
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import End, Pair, StateFactory, World, facts, leaks, shown, some_pair

from referee import play
from referee.actions import ACTIONS, KEEP, Action
from referee.bots.seat.wire import QuestionWriter, end_line, start_line
from referee.errors import IllegalActionError
from referee.rules import MAX_PLAYERS, MIN_PLAYERS, DrawFate, Event, Question, Rules, State

unhurried = settings(deadline=None)
SEEDS = st.integers(0, 2**32)
PLAYERS = range(MIN_PLAYERS, MAX_PLAYERS + 1)


@cache
def pairs(players: int) -> list[Pair | None]:
    """The same pairs in every run, for what is counted."""
    return [some_pair(Random(f"{players} {number}"), players=players) for number in range(60)]


@cache
def all_pairs() -> list[Pair]:
    return [pair for players in PLAYERS for pair in pairs(players) if pair is not None]


# -- The pairs themselves


@pytest.mark.parametrize("players", PLAYERS)
def test_nearly_every_world_has_a_twin_in_which_many_cards_lie_elsewhere(players: int) -> None:
    found = [pair for pair in pairs(players) if pair is not None]
    assert len(found) >= 50
    assert median(pair.moved for pair in found) >= 15


def test_a_twin_differs_and_what_the_seat_may_know_is_the_same() -> None:
    for pair in all_pairs():
        assert pair.first.setting.deck != pair.second.setting.deck
        assert facts(pair.first, pair.seat, cut=pair.cut) == facts(pair.second, pair.seat, cut=pair.cut)


def others_questions(world: World, pair: Pair) -> list[tuple[int, bool]]:
    """Who but the seat was asked what, up to the moment where the pair's second world ends."""
    turns = len(pair.second.state.events)
    return [(one.seat, one.drawn is None) for one in world.asked if one.seat != pair.seat and one.turns < turns]


def test_twins_cover_what_can_differ_unseen() -> None:
    everything = all_pairs()
    asked_otherwise = [
        pair for pair in everything if others_questions(pair.first, pair) != others_questions(pair.second, pair)
    ]
    with_house = [pair for pair in everything if pair.second.state.forfeited]
    to_the_end = [pair for pair in everything if pair.second.state.outcome is not None]
    over_a_drawn_card = [pair for pair in everything if pair.second.asked and pair.second.asked[-1].drawn is not None]
    assert min(map(len, (asked_otherwise, with_house, to_the_end, over_a_drawn_card))) >= 40


# -- Questions


@unhurried
@given(SEEDS)
def test_what_a_seat_cannot_see_changes_nothing_that_it_is_asked_or_told(seed: int) -> None:
    pair = some_pair(Random(seed))
    if pair is not None:
        assert list(views(pair.first, pair)) == list(views(pair.second, pair))


def views(world: World, pair: Pair) -> Iterator[Question | End]:
    return (view for view, _ in shown(world, pair.seat, cut=pair.cut))


def refusals(world: World, pair: Pair) -> list[str]:
    """What `State.apply` says to every action that is not allowed at the last question shown."""
    *_, (question, state) = shown(world, pair.seat, cut=pair.cut)
    said = []
    for action in ACTIONS:
        if isinstance(question, End) or action not in question.legal:
            with pytest.raises(IllegalActionError) as refused:
                state.apply(action)
            said.append(str(refused.value))
    return said


@unhurried
@given(SEEDS)
def test_what_a_seat_cannot_see_changes_no_word_of_a_refusal(seed: int) -> None:
    pair = some_pair(Random(seed))
    if pair is not None:
        assert refusals(pair.first, pair) == refusals(pair.second, pair)


# -- Bytes


def lines(world: World, pair: Pair, make: StateFactory = State) -> list[bytes]:
    """All that the seat's bot is sent; ids and times are not the game's and are the same here."""
    state = world.setting.begin(make)
    fresh = make(world.setting.rules, world.setting.players, world.setting.deck)
    start = play.GameStart(
        "a1b2", pair.seat, state.players, fresh.hands[pair.seat], tuple(fresh.sizes), len(fresh.talon), state.rules, 7
    )
    writer = QuestionWriter(start)
    ids = count(1)
    sent = [start_line(start)]
    for view, _ in shown(world, pair.seat, cut=pair.cut, make=make):
        if isinstance(view, End):
            sent.append(end_line(play.GameEnd("a1b2", view.outcome, view.events)))
        else:
            sent.append(writer.line(view, next(ids), 1000, 60_000))
    return sent


@unhurried
@given(SEEDS)
def test_what_a_seat_cannot_see_changes_no_byte_that_its_bot_is_sent(seed: int) -> None:
    pair = some_pair(Random(seed))
    if pair is not None:
        assert lines(pair.first, pair) == lines(pair.second, pair)


# -- Leaks planted on purpose


class ShowsKeptCards(State):
    """Tells the others which card was kept."""

    def untold(self, seat: int) -> tuple[Event, ...]:
        told = self._told[seat]
        super().untold(seat)
        return tuple(event if event.seat == seat else event._replace(laid=None) for event in self.events[told:])


class ShowsLaidCards(State):
    """Tells the others which card was laid where the drawn one did not stay secret."""

    def untold(self, seat: int) -> tuple[Event, ...]:
        told = self._told[seat]
        super().untold(seat)
        return tuple(
            event if event.result is not DrawFate.KEPT else event.seen_by(seat) for event in self.events[told:]
        )


class ShowsAllAtTheEnd(State):
    """Tells the others all, in the last message only."""

    def untold(self, seat: int) -> tuple[Event, ...]:
        told = self._told[seat]
        seen = super().untold(seat)
        return seen if self.outcome is None else tuple(self.events[told:])


class ShowsTheHousesCards(State):
    """Tells the others what the house laid and kept, since nobody is hurt."""

    def untold(self, seat: int) -> tuple[Event, ...]:
        told = self._told[seat]
        super().untold(seat)
        return tuple(event if event.seat in self.forfeited else event.seen_by(seat) for event in self.events[told:])


class OrdersHands(State):
    """Lists the sizes of the hands with the strongest hand first."""

    def ask(self) -> Question:
        order = sorted(range(self.players), key=lambda seat: -self.hands[seat])
        return super().ask()._replace(hand_sizes=tuple(self.sizes[seat] for seat in order))


class CountsTheDrawnQueen(State):
    """Counts the talon one short where its top is a queen."""

    def ask(self) -> Question:
        question = super().ask()
        return question._replace(talon_size=question.talon_size - (self.talon[-1] // 4 == 6))


class TellsWhoDeclined(State):
    """Does not count a card as kept in a row where it could have been discarded or put down."""

    def __init__(self, rules: Rules, players: int, deck: tuple[int, ...]) -> None:
        super().__init__(rules, players, deck)
        self.declined = 0

    def apply(self, action: Action) -> None:
        super().apply(action)
        self.declined += action is KEEP

    def ask(self) -> Question:
        question = super().ask()
        return question._replace(kept_in_a_row=question.kept_in_a_row - self.declined)


class SortsTheDiscards(State):
    """Begins the discards with a card that says what lies under them: the pile's lowest."""

    def ask(self) -> Question:
        question = super().ask()
        return question._replace(discards=(*sorted(question.discards), *self.pile[:1]))


LEAKS = [
    ShowsKeptCards,
    ShowsLaidCards,
    ShowsAllAtTheEnd,
    ShowsTheHousesCards,
    OrdersHands,
    CountsTheDrawnQueen,
    TellsWhoDeclined,
    SortsTheDiscards,
]


def test_no_pair_of_these_shows_a_difference() -> None:
    assert not any(leaks(pair) for pair in all_pairs())
    assert not any(lines(pair.first, pair) != lines(pair.second, pair) for pair in all_pairs())


@pytest.mark.parametrize("leak", LEAKS)
def test_a_planted_leak_is_found_in_the_questions(leak: StateFactory) -> None:
    assert any(leaks(pair, leak) for pair in all_pairs())


@pytest.mark.parametrize("leak", LEAKS)
def test_a_planted_leak_is_found_in_the_bytes(leak: StateFactory) -> None:
    assert any(lines(pair.first, pair, leak) != lines(pair.second, pair, leak) for pair in all_pairs())
