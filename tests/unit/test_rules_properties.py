"""What holds in every game: cards are conserved, every listed action applies, every other is refused, games end."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.actions import ACTIONS
from referee.cards import cards_of, shuffled
from referee.errors import IllegalActionError
from referee.rules import DiscardRule, DrawFate, Ending, OddCard, Rules, Scoring, State, legal_actions

RULES = st.builds(
    Rules,
    odd_card=st.sampled_from(OddCard),
    scoring=st.sampled_from(Scoring),
    discard=st.sampled_from(DiscardRule),
    stall_limit=st.sampled_from([1, 3, 20, 200]),
)

unhurried = settings(deadline=None, max_examples=60)


class Plan(NamedTuple):
    """A game to be: `dice` chooses, and puts the seat to move at fault with probability `faults`."""

    rules: Rules
    players: int
    key: bytes
    dice: int
    faults: float
    absent: tuple[int, ...]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    players = draw(st.integers(2, 6))
    absent = draw(st.lists(st.integers(0, players - 1), unique=True, max_size=players) | st.just([]))
    faults = draw(st.sampled_from([0, 0, 0.01, 0.2]))
    return Plan(
        draw(RULES), players, draw(st.binary(max_size=4)), draw(st.integers(0, 2**16)), faults, tuple(sorted(absent))
    )


def moments(plan: Plan) -> Iterator[State]:
    """The running game at every question and at its end."""
    state = State(plan.rules, plan.players, shuffled(plan.key))
    dice = Random(plan.dice)
    if plan.absent:
        state.forfeit(*plan.absent)
    while state.outcome is None:
        yield state
        if dice.random() < plan.faults:
            state.forfeit(state.turn)
        else:
            state.apply(dice.choice(state.legal()))
    yield state


def cards_somewhere(state: State) -> list[int]:
    hands = [card for hand in state.hands for card in cards_of(hand)]
    drawn = [] if state.drawn is None else [state.drawn]
    return sorted([*hands, *state.talon, *state.pile, *state.widows, *state.discards, *drawn])


def snapshot(state: State) -> dict[str, object]:
    return {name: copy.copy(getattr(state, name)) for name in State.__slots__}


# -- Cards and sizes


@unhurried
@given(plans())
def test_all_36_cards_are_somewhere_at_every_moment_and_nowhere_twice(plan: Plan) -> None:
    for state in moments(plan):
        assert cards_somewhere(state) == list(range(36))


@unhurried
@given(plans())
def test_sizes_are_those_of_the_hands(plan: Plan) -> None:
    for state in moments(plan):
        assert state.sizes == [hand.bit_count() for hand in state.hands]


@unhurried
@given(plans())
def test_a_question_accounts_for_every_card_but_a_drawn_one(plan: Plan) -> None:
    for state in moments(plan):
        if state.outcome is None:
            question = state.ask()
            counted = sum(question.hand_sizes) + question.talon_size + question.pile_size
            assert counted + len(question.widows) + len(question.discards) == 36 - (question.drawn is not None)


@unhurried
@given(plans())
def test_the_talon_is_never_empty_when_a_card_is_to_be_drawn(plan: Plan) -> None:
    for state in moments(plan):
        assert state.outcome is not None or state.talon


# -- Actions


@unhurried
@given(plans(), st.integers(0, 400))
def test_every_listed_action_applies(plan: Plan, number: int) -> None:
    for moment, state in enumerate(moments(plan)):
        if moment == number % 40:
            for action in state.legal():
                tried = copy.deepcopy(state)
                tried.apply(action)
                assert snapshot(tried) != snapshot(state)
                assert cards_somewhere(tried) == list(range(36))


@unhurried
@given(plans(), st.integers(0, 400))
def test_every_other_of_the_150_is_refused_and_changes_nothing(plan: Plan, number: int) -> None:
    for moment, state in enumerate(moments(plan)):
        if moment == number % 40 or state.outcome is not None:
            before = snapshot(state)
            for action in set(ACTIONS) - set(state.legal()):
                with pytest.raises(IllegalActionError):
                    state.apply(action)
            assert snapshot(state) == before


@unhurried
@given(plans())
def test_state_question_and_function_list_the_same_actions(plan: Plan) -> None:
    for state in moments(plan):
        if state.outcome is None:
            question = state.ask()
            expected = legal_actions(plan.rules, question.hand, question.drawn)
            assert state.legal() == question.legal == expected
            assert len(expected) >= (1 if question.drawn is None else 2)


@unhurried
@given(plans())
def test_nothing_is_allowed_after_the_end_whatever_ended_the_game(plan: Plan) -> None:
    *_, state = moments(plan)
    assert state.legal() == ()
    for action in ACTIONS:
        with pytest.raises(IllegalActionError, match="the game is over"):
            state.apply(action)


# -- The end


@unhurried
@given(plans())
def test_games_end_within_the_turns_that_the_limit_allows(plan: Plan) -> None:
    *_, state = moments(plan)
    put_down = sum(event.result is not DrawFate.KEPT for event in state.events)
    assert put_down <= len(state.widows) + len(state.discards) / 2
    assert len(state.events) <= put_down + (put_down + 1) * plan.rules.stall_limit


@unhurried
@given(plans())
def test_a_game_ends_for_the_reason_that_it_gives(plan: Plan) -> None:
    *_, state = moments(plan)
    outcome = state.outcome
    assert outcome is not None
    at_fault = len(outcome.forfeited)
    assert {
        Ending.EMPTIED: 0 in state.sizes,
        Ending.WIDOWS: len(state.widows) == 4,
        Ending.STALLED: state.kept_in_a_row == plan.rules.stall_limit,
        Ending.FORFEIT: plan.players - at_fault <= 1,
    }[outcome.reason]
    assert outcome.hand_sizes == tuple(state.sizes)


@unhurried
@given(plans())
def test_seats_at_fault_have_the_last_places_each_its_own(plan: Plan) -> None:
    *_, state = moments(plan)
    outcome = state.outcome
    assert outcome is not None
    assert [outcome.places[seat] for seat in outcome.forfeited] == [
        plan.players - index for index in range(len(outcome.forfeited))
    ]
    others = [place for seat, place in enumerate(outcome.places) if seat not in outcome.forfeited]
    assert not others or min(others) == 1
    assert all(place <= len(others) for place in others)
