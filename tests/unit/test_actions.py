"""What can be chosen, how it is written, and in which order."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee import actions
from referee.actions import Action, Kind
from referee.cards import NAMES, QUEENS, card, cards_of, set_of


def texts(listed: tuple[Action, ...]) -> list[str]:
    return [action.text for action in listed]


def hand(text: str) -> int:
    return set_of(card(name) for name in text.split())


def test_there_are_150_actions_each_written_in_its_own_way() -> None:
    kinds = [action.kind for action in actions.ACTIONS]
    assert [kinds.count(kind) for kind in (Kind.LAY, Kind.DISCARD, Kind.KEEP, Kind.WIDOW)] == [36, 112, 1, 1]
    assert len(set(texts(actions.ACTIONS))) == 150


def test_every_action_is_found_by_its_text() -> None:
    assert all(actions.parse(action.text) is action for action in actions.ACTIONS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lay",
        "lay 10C",
        "lay 6C ",
        " lay 6C",
        "lay  6C",
        "LAY 6C",
        "lay 6c",
        "lay 6C 6D",
        "keep 6C",
        "widow QC",
        "discard",
        "discard QC",
        "discard 6D 6C",
        "discard 6C 6C",
        "discard 6C 7C",
        "discard 6C 6D 6H 6S",
        "discard 6C,6D",
        "kept",
    ],
)
def test_what_is_not_written_to_the_letter_is_no_action(text: str) -> None:
    assert actions.parse(text) is None


def test_an_action_says_what_it_takes_from_the_hand() -> None:
    action = actions.parse("discard 7C 7S")
    assert action is not None
    assert (action.kind, action.taken, action.cards) == (Kind.DISCARD, (4, 7), 0b1001 << 4)
    assert (actions.KEEP.taken, actions.KEEP.cards) == ((), 0)
    assert (actions.WIDOW.taken, actions.WIDOW.cards) == ((), 0)
    assert str(action) == "discard 7C 7S"


def test_no_discard_takes_a_queen() -> None:
    assert all(action.cards & QUEENS == 0 for action in actions.ACTIONS if action.kind is Kind.DISCARD)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda action: pickle.loads(pickle.dumps(action))])
def test_a_copy_of_an_action_is_the_action_itself(again: object) -> None:
    assert callable(again)
    assert all(again(action) is action for action in actions.ACTIONS)


@given(st.frozensets(st.integers(0, 35), max_size=36))
def test_lays_are_one_for_each_card_of_the_hand_in_canonical_order(cards: frozenset[int]) -> None:
    held = set_of(cards)
    assert texts(actions.lays(held)) == [f"lay {NAMES[one]}" for one in cards_of(held)]


def test_discards_are_listed_larger_choices_first_each_in_canonical_order_and_keep_last() -> None:
    assert texts(actions.DISCARD_ANY[hand("7C 7D 7S")]) == [
        "discard 7C 7D 7S",
        "discard 7C 7D",
        "discard 7C 7S",
        "discard 7D 7S",
        "discard 7C",
        "discard 7D",
        "discard 7S",
        "keep",
    ]


def test_discards_of_all_are_one_and_keep() -> None:
    assert texts(actions.DISCARD_ALL[hand("7C 7D 7S")]) == ["discard 7C 7D 7S", "keep"]


def test_every_match_of_one_to_three_cards_has_its_choices() -> None:
    assert len(actions.DISCARD_ANY) == len(actions.DISCARD_ALL) == 8 * 14
    assert {len(actions.DISCARD_ANY[match]) for match in actions.DISCARD_ANY if match.bit_count() == 1} == {2}
    assert {len(actions.DISCARD_ANY[match]) for match in actions.DISCARD_ANY if match.bit_count() == 2} == {4}
    assert {len(actions.DISCARD_ANY[match]) for match in actions.DISCARD_ANY if match.bit_count() == 3} == {8}


@pytest.mark.parametrize("table", [actions.AFTER_DRAW_ANY, actions.AFTER_DRAW_ALL])
def test_a_drawn_queen_may_become_a_widow_whatever_queens_are_in_hand(table: actions.AfterDraw) -> None:
    choices = table[card("QH")]
    held = ["", "QC", "QD", "QS", "QC QD", "QC QS", "QD QS", "QC QD QS"]
    assert choices == {hand(queens): actions.AFTER_QUEEN for queens in held}
    assert texts(actions.AFTER_QUEEN) == ["widow", "keep"]


def test_a_drawn_card_without_a_match_leaves_no_choice() -> None:
    assert actions.AFTER_DRAW_ANY[card("7H")][0] == actions.AFTER_DRAW_ALL[card("7H")][0] == ()


def test_a_drawn_card_offers_the_discards_of_its_match() -> None:
    assert texts(actions.AFTER_DRAW_ANY[card("7H")][hand("7C 7S")]) == [
        "discard 7C 7S",
        "discard 7C",
        "discard 7S",
        "keep",
    ]
    assert texts(actions.AFTER_DRAW_ALL[card("7H")][hand("7C 7S")]) == ["discard 7C 7S", "keep"]
