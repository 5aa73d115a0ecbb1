"""The rules, clause by clause, in the order of `docs/rules.md`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.actions import KEEP, WIDOW, Action, Kind, parse
from referee.cards import ALL_CARDS, NAMES, QUEENS, SAME_RANK, card, cards_of, names, set_of, shuffled
from referee.errors import IllegalActionError, RulesError
from referee.rules import (
    DEFAULT_RULES,
    DiscardRule,
    DrawFate,
    Ending,
    Event,
    OddCard,
    Outcome,
    Phase,
    Rules,
    Scoring,
    State,
    deal,
    legal_actions,
)

IN_ORDER = tuple(range(36))
ALL = Rules(discard=DiscardRule.ALL)
RULES_PAGE = Path(__file__).parents[2] / "docs" / "rules.md"


def cards(text: str) -> tuple[int, ...]:
    return tuple(card(name) for name in text.split())


def held(state: State, seat: int) -> str:
    return " ".join(names(cards_of(state.hands[seat])))


def table(
    *hands: str, talon: str = "8D 9D TD JD KD AD", pile: str = "", widows: str = "", rules: Rules = DEFAULT_RULES
) -> State:
    """A game in its middle, seat 0 to lay; `talon` and `pile` are written from the top down."""
    state = State(rules, len(hands), IN_ORDER)
    state.hands = [set_of(cards(hand)) for hand in hands]
    state.sizes = [len(hand.split()) for hand in hands]
    state.talon = list(reversed(cards(talon)))
    state.pile = list(reversed(cards(pile)))
    state.widows = cards(widows)
    return state


def play(state: State, *texts: str) -> State:
    for text in texts:
        action = parse(text)
        assert action is not None
        state.apply(action)
    return state


def legal(state: State) -> list[str]:
    return [action.text for action in state.legal()]


def last(state: State) -> Event:
    return state.events[-1]


# -- Cards


def test_there_are_36_cards_nine_ranks_in_four_suits() -> None:
    assert (len(NAMES), len({name[0] for name in NAMES}), len({name[1] for name in NAMES})) == (36, 9, 4)


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_two_to_six_can_play(players: int) -> None:
    assert len(State(DEFAULT_RULES, players, IN_ORDER).hands) == players


@pytest.mark.parametrize("players", [-1, 0, 1, 7, 36])
def test_any_other_number_of_players_is_refused(players: int) -> None:
    with pytest.raises(RulesError, match=f"Four Widows is for 2 to 6 players, not {players}"):
        State(DEFAULT_RULES, players, IN_ORDER)


@pytest.mark.parametrize("drawn", [one for one in range(36) if not QUEENS >> one & 1])
def test_suits_never_matter_for_a_match(drawn: int) -> None:
    for other in cards_of(SAME_RANK[drawn] ^ 1 << drawn):
        assert [action.text for action in legal_actions(DEFAULT_RULES, 1 << other, drawn)] == [
            f"discard {NAMES[other]}",
            "keep",
        ]


def test_no_card_of_another_rank_matches() -> None:
    assert legal_actions(DEFAULT_RULES, ALL_CARDS ^ SAME_RANK[card("8H")], card("8H")) == ()


# -- The deal


def test_cards_are_dealt_one_by_one_round_and_round_position_0_first() -> None:
    state = State(DEFAULT_RULES, 3, IN_ORDER)
    assert names(state.talon) == ["6C", "7C", "8C", "9C", "TC", "JC", "QC", "KC", "AC"]
    assert held(state, 0) == "6D 7D 8D 9D TD JD QD KD AD"
    assert held(state, 1) == "6H 7H 8H 9H TH JH QH KH AH"
    assert held(state, 2) == "6S 7S 8S 9S TS JS QS KS AS"


def test_talon_is_the_first_heap_by_default_and_the_last_where_the_odd_card_goes_to_the_first_seat() -> None:
    state = State(Rules(odd_card=OddCard.FIRST), 3, IN_ORDER)
    assert held(state, 0) == "6C 7C 8C 9C TC JC QC KC AC"
    assert held(state, 2) == "6H 7H 8H 9H TH JH QH KH AH"
    assert names(state.talon) == ["6S", "7S", "8S", "9S", "TS", "JS", "QS", "KS", "AS"]


SIZES = {2: (12, 12), 3: (9, 9), 4: (7, 8), 5: (6, 6), 6: (5, 6)}


@pytest.mark.parametrize("players", SIZES)
def test_hands_are_equal_and_the_talon_has_a_card_that_is_over(players: int) -> None:
    hand, talon = SIZES[players]
    state = State(DEFAULT_RULES, players, shuffled(b"sizes"))
    assert state.sizes == [hand] * players
    assert [one.bit_count() for one in state.hands] == [hand] * players
    assert len(state.talon) == talon


@pytest.mark.parametrize(("players", "sizes", "talon"), [(4, [8, 7, 7, 7], 7), (6, [6, 5, 5, 5, 5, 5], 5)])
def test_seat_0_has_the_card_that_is_over_where_the_talon_is_the_last_heap(
    players: int, sizes: list[int], talon: int
) -> None:
    state = State(Rules(odd_card=OddCard.FIRST), players, shuffled(b"sizes"))
    assert (state.sizes, len(state.talon)) == (sizes, talon)


@pytest.mark.parametrize("players", [2, 3, 5])
def test_no_card_is_over_with_2_3_and_5_players(players: int) -> None:
    first, talon = (State(Rules(odd_card=odd), players, IN_ORDER) for odd in (OddCard.FIRST, OddCard.TALON))
    assert (first.sizes, len(first.talon)) == (talon.sizes, len(talon.talon))


def test_rules_page_has_these_sizes() -> None:
    page = RULES_PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| (\d+) \| (\d+) \|", page, re.MULTILINE)
    assert {int(players): (int(hand), int(talon)) for players, hand, talon in rows} == SIZES


def test_a_deck_that_is_not_each_card_once_is_not_dealt() -> None:
    for deck in (IN_ORDER[:-1], (*IN_ORDER, 0), (*IN_ORDER[:-1], 0), (*IN_ORDER[:-1], 36)):
        with pytest.raises(RulesError, match="a deck is each of the 36 cards once"):
            State(DEFAULT_RULES, 3, deck)


def test_seat_0_begins() -> None:
    assert State(DEFAULT_RULES, 4, IN_ORDER).ask().seat == 0


def test_card_dealt_to_the_talon_last_is_drawn_first() -> None:
    state = play(State(DEFAULT_RULES, 3, IN_ORDER), "lay 6D")
    assert state.drawn == card("AC")


def test_rules_page_deals_its_deck_so() -> None:
    page = RULES_PAGE.read_text(encoding="utf-8")
    hands, talon = deal(DEFAULT_RULES, 2, shuffled(bytes(16)))
    for hand in hands:
        assert f"`{' '.join(names(sorted(hand)))}`" in page.replace("\n", " ")
    assert f"first card drawn is {NAMES[talon[-1]]}," in page


# -- A turn: laying and drawing


def test_laying_is_compulsory() -> None:
    state = table("6C QD", "7C")
    assert legal(state) == ["lay 6C", "lay QD"]
    for refused in (KEEP, WIDOW):
        with pytest.raises(IllegalActionError, match=f"{refused} is not allowed: one of the cards in hand is to be"):
            state.apply(refused)


def test_any_card_of_the_hand_can_be_laid_queens_included() -> None:
    assert legal(table("6C 9S QD AS", "7C")) == ["lay 6C", "lay 9S", "lay QD", "lay AS"]
    assert names(play(table("6C QD", "7C"), "lay QD").pile) == ["QD"]


def test_a_card_that_is_not_in_hand_cannot_be_laid() -> None:
    with pytest.raises(IllegalActionError, match="lay 7C is not allowed: one of the cards in hand is to be laid"):
        play(table("6C QD", "7C"), "lay 7C")


def test_the_laid_card_leaves_the_hand_and_goes_on_top_of_the_pile() -> None:
    state = play(table("6C QD", "7C", talon="8D 9D TD", pile="KS AS"), "lay 6C")
    assert names(state.pile) == ["AS", "KS", "6C"]
    assert held(state, 0) == "8D QD"


def test_the_talons_top_card_is_drawn_after_laying() -> None:
    state = play(table("6C QD", "7C", talon="8D 9D TD"), "lay 6C")
    assert last(state).drew == card("8D")
    assert names(state.talon) == ["TD", "9D"]


def test_the_card_just_laid_cannot_be_drawn_while_the_talon_has_another() -> None:
    state = play(table("6C 6D", "7C", talon="6H 9D"), "lay 6C")
    assert (state.drawn, held(state, 0), legal(state)) == (card("6H"), "6D", ["discard 6D", "keep"])


# -- A turn: the pile becomes the talon


def test_the_pile_becomes_the_talon_at_once_when_its_last_card_is_drawn() -> None:
    state = play(table("6C QD", "7C", talon="8D", pile="KS AS"), "lay 6C")
    assert (names(reversed(state.talon)), state.pile) == (["6C", "KS", "AS"], [])
    assert last(state).recycled


def test_the_new_talon_is_not_turned_over_so_that_the_card_laid_last_is_drawn_first() -> None:
    state = play(table("6C QD", "7C TC", talon="8D", pile="KS AS"), "lay 6C", "lay 7C")
    assert (last(state).drew, last(state).recycled) == (card("6C"), False)
    assert names(state.pile) == ["7C"]


def test_the_pile_is_the_talon_already_when_the_question_about_the_last_card_is_put() -> None:
    state = play(table("6C 8C", "7C", talon="8D", pile="KS AS"), "lay 6C")
    question = state.ask()
    assert (question.recycled, question.talon_size, question.pile_size) == (True, 3, 0)


def test_recycling_is_told_of_the_turn_in_which_it_happened_only() -> None:
    state = play(table("6C 8C", "7C", talon="8D", pile="KS AS"), "lay 6C", "discard 8C")
    assert last(state).recycled
    state = play(table("6C 8C TC", "7C", talon="8D", pile="KS AS"), "lay 6C", "discard 8C", "lay TC")
    assert [event.recycled for event in state.events] == [True, False]
    assert not state.ask().recycled


def test_a_talon_of_one_card_is_recycled_every_turn() -> None:
    state = play(table("6C", "7C", talon="8D"), "lay 6C", "lay 7C", "lay 8D")
    assert [(event.drew, event.recycled) for event in state.events] == [
        (card("8D"), True),
        (card("6C"), True),
        (card("7C"), True),
    ]


def test_talon_and_pile_together_keep_the_size_of_the_talon_as_dealt() -> None:
    state = State(DEFAULT_RULES, 4, shuffled(b"constant"))
    while state.outcome is None:
        assert len(state.talon) + len(state.pile) == 8
        assert state.talon
        state.apply(state.legal()[0])


# -- A turn: discarding


@pytest.mark.parametrize(
    ("hand", "choices"),
    [
        ("8C", ["discard 8C", "keep"]),
        ("8C 8S", ["discard 8C 8S", "discard 8C", "discard 8S", "keep"]),
        (
            "8C 8H 8S",
            [
                "discard 8C 8H 8S",
                "discard 8C 8H",
                "discard 8C 8S",
                "discard 8H 8S",
                "discard 8C",
                "discard 8H",
                "discard 8S",
                "keep",
            ],
        ),
    ],
)
def test_a_drawn_card_may_be_discarded_with_one_or_more_of_its_rank(hand: str, choices: list[str]) -> None:
    assert legal(play(table(f"6C {hand} KS", "7C", talon="8D 9D"), "lay 6C")) == choices


@pytest.mark.parametrize(
    ("hand", "choices"),
    [
        ("8C", ["discard 8C", "keep"]),
        ("8C 8S", ["discard 8C 8S", "keep"]),
        ("8C 8H 8S", ["discard 8C 8H 8S", "keep"]),
    ],
)
def test_all_of_them_or_none_go_where_the_rules_say_all(hand: str, choices: list[str]) -> None:
    state = play(table(f"6C {hand} KS", "7C", talon="8D 9D", rules=ALL), "lay 6C")
    assert legal(state) == choices


def test_some_of_them_may_not_go_where_the_rules_say_all() -> None:
    state = play(table("6C 8C 8S KS", "7C", talon="8D 9D", rules=ALL), "lay 6C")
    with pytest.raises(IllegalActionError, match=r"discard 8C is not allowed .* only: discard 8C 8S, keep"):
        play(state, "discard 8C")


def test_discarded_cards_leave_the_hand_and_lie_open_the_drawn_one_first() -> None:
    state = play(table("6C 8C 8H 8S KS", "7C", talon="8D 9D"), "lay 6C", "discard 8C 8S")
    assert held(state, 0) == "8H KS"
    assert names(state.discards) == ["8D", "8C", "8S"]
    assert last(state) == Event(0, card("6C"), card("8D"), DrawFate.DISCARDED, cards("8C 8S"), False)


def test_new_discards_lie_behind_the_older_ones() -> None:
    state = play(table("6C 8C TC TS KS", "7C", talon="8D TD 9D"), "lay 6C", "discard 8C", "lay TS", "discard TC")
    assert names(state.discards) == ["8D", "8C", "TD", "TC"]


def test_a_card_that_does_not_match_cannot_be_discarded() -> None:
    state = play(table("6C 8C KS KH", "7C", talon="8D 9D"), "lay 6C")
    with pytest.raises(IllegalActionError, match="discard KH KS is not allowed with the card drawn"):
        play(state, "discard KH KS")


def test_pairs_that_merely_sit_in_hand_are_never_discarded() -> None:
    state = play(table("6C KH KS", "7C", talon="8D 9D"), "lay 6C")
    assert (last(state).result, held(state, 0)) == (DrawFate.KEPT, "8D KH KS")
    assert {action.kind for action in table("KC KH KS", "7C").legal()} == {Kind.LAY}


def test_the_card_laid_in_this_turn_does_not_count_as_a_match() -> None:
    state = play(table("8C KS", "7C", talon="8D 9D"), "lay 8C")
    assert (last(state).result, held(state, 0)) == (DrawFate.KEPT, "8D KS")


# -- A turn: widows


@pytest.mark.parametrize("queens", ["", "QC", "QC QH", "QC QH QS"])
def test_a_drawn_queen_may_become_a_widow_whatever_else_is_in_hand(queens: str) -> None:
    assert legal(play(table(f"6C {queens} KS", "7C", talon="QD 9D"), "lay 6C")) == ["widow", "keep"]


def test_a_widow_goes_down_alone_and_no_card_of_the_hand_with_it() -> None:
    state = play(table("6C QC KS", "7C", talon="QD 9D", widows="QH"), "lay 6C", "widow")
    assert names(state.widows) == ["QH", "QD"]
    assert (held(state, 0), state.discards) == ("QC KS", ())
    assert last(state) == Event(0, card("6C"), card("QD"), DrawFate.WIDOW, (), False)


def test_queens_are_never_discarded_with_queens() -> None:
    for queen in cards_of(QUEENS):
        others = QUEENS ^ 1 << queen
        assert legal_actions(DEFAULT_RULES, others, queen) == (WIDOW, KEEP)
        assert legal_actions(ALL, others, queen) == (WIDOW, KEEP)


def test_only_a_queen_becomes_a_widow() -> None:
    state = play(table("6C 8C KS", "7C", talon="8D 9D"), "lay 6C")
    with pytest.raises(IllegalActionError, match="widow is not allowed"):
        state.apply(WIDOW)


def test_a_queen_in_hand_reaches_the_table_only_by_being_laid_and_drawn_again() -> None:
    state = table("QC KS", "7C TC", talon="8D")
    play(state, "lay QC", "lay 7C")
    assert (state.turn, state.drawn, legal(state)) == (1, card("QC"), ["widow", "keep"])
    play(state, "widow")
    assert names(state.widows) == ["QC"]


# -- A turn: keeping, and who is next


def test_a_card_that_matches_nothing_is_kept_at_once_without_a_question() -> None:
    state = play(table("6C KS", "7C", talon="8D 9D"), "lay 6C")
    assert last(state) == Event(0, card("6C"), card("8D"), DrawFate.KEPT, (), False)
    assert (held(state, 0), state.drawn, state.turn) == ("8D KS", None, 1)


def test_a_match_may_be_kept() -> None:
    state = play(table("6C 8C KS", "7C", talon="8D 9D"), "lay 6C", "keep")
    assert (held(state, 0), state.sizes[0]) == ("8C 8D KS", 3)
    assert last(state) == Event(0, card("6C"), card("8D"), DrawFate.KEPT, (), False)
    assert state.discards == ()


def test_a_queen_may_be_kept() -> None:
    state = play(table("6C KS", "7C", talon="QD 9D"), "lay 6C", "keep")
    assert (held(state, 0), state.widows, last(state).result) == ("QD KS", (), DrawFate.KEPT)


def test_another_card_cannot_be_laid_before_the_drawn_one_is_decided_on() -> None:
    state = play(table("6C 8C KS", "7C", talon="8D 9D"), "lay 6C")
    with pytest.raises(IllegalActionError, match="lay KS is not allowed with the card drawn"):
        play(state, "lay KS")


def test_after_a_discard_the_same_player_has_another_turn() -> None:
    state = play(table("6C 8C KS", "7C", talon="8D 9D"), "lay 6C", "discard 8C")
    assert (state.turn, legal(state)) == (0, ["lay KS"])


def test_after_a_widow_the_same_player_has_another_turn() -> None:
    state = play(table("6C 8C KS", "7C", talon="QD 9D"), "lay 6C", "widow")
    assert (state.turn, legal(state)) == (0, ["lay 8C", "lay KS"])


def test_after_a_kept_card_the_next_seat_has_the_turn_and_after_the_last_seat_the_first() -> None:
    state = table("6C", "7C", "TC", talon="8D 9D JD KD")
    turns = []
    for text in ("lay 6C", "lay 7C", "lay TC", "lay 8D"):
        turns.append(state.turn)
        play(state, text)
    assert turns == [0, 1, 2, 0]


def test_a_lay_is_asked_even_with_one_card_in_hand() -> None:
    assert legal(table("6C", "7C")) == ["lay 6C"]


# -- What is seen


def turns_seen_by(seat: int) -> tuple[Event, ...]:
    state = table("6C 8C KS", "7C KH", "AC JH", talon="8D TD QD KD AD")
    play(state, "lay 6C", "discard 8C", "lay KS", "lay 7C", "widow", "lay KH", "lay JH")
    assert [event.seat for event in state.events] == [0, 0, 1, 1]
    return state.untold(seat)


KEPT_BY_0 = Event(0, None, None, DrawFate.KEPT, (), False)


def test_of_the_others_turns_a_player_sees_neither_the_card_laid_nor_the_one_kept() -> None:
    seen = turns_seen_by(2)
    assert seen[1] == KEPT_BY_0
    assert [event.laid for event in seen if event.seat != 2] == [None] * 4


def test_of_its_own_turns_a_player_sees_all() -> None:
    assert turns_seen_by(0)[:2] == (
        Event(0, card("6C"), card("8D"), DrawFate.DISCARDED, cards("8C"), False),
        Event(0, card("KS"), card("TD"), DrawFate.KEPT, (), False),
    )


def test_a_discard_shows_the_card_drawn_and_those_that_went_with_it() -> None:
    assert turns_seen_by(1)[0] == Event(0, None, card("8D"), DrawFate.DISCARDED, cards("8C"), False)


def test_a_widow_shows_the_queen() -> None:
    assert turns_seen_by(0)[2] == Event(1, None, card("QD"), DrawFate.WIDOW, (), False)


def test_everyone_sees_when_a_draw_emptied_the_talon() -> None:
    state = play(table("6C KS", "7C", talon="8D", pile="KD"), "lay 6C")
    assert state.untold(1) == (Event(0, None, None, DrawFate.KEPT, (), True),)
    assert state.untold(0) == (Event(0, card("6C"), card("8D"), DrawFate.KEPT, (), True),)


def test_nobody_sees_whether_a_kept_card_matched() -> None:
    matching = play(table("6C 8C KS", "7C", talon="8D 9D"), "lay 6C", "keep")
    other = play(table("6C 9C KS", "7C", talon="8D 9D"), "lay 6C")
    assert matching.ask() == other.ask()


def test_a_question_shows_the_sizes_of_all_hands_of_talon_and_pile() -> None:
    question = play(table("6C KS AS", "7C", "TC JC", talon="8D 9D JD", pile="KD"), "lay 6C").ask()
    assert (question.hand_sizes, question.talon_size, question.pile_size) == ((3, 1, 2), 2, 2)


def test_a_drawn_card_is_counted_in_no_size() -> None:
    state = State(DEFAULT_RULES, 2, shuffled(b"sizes"))
    while state.drawn is None:
        state.apply(state.legal()[0])
    question = state.ask()
    assert sum(question.hand_sizes) + question.talon_size + question.pile_size == 35
    assert question.hand.bit_count() == question.hand_sizes[question.seat]
    assert not question.hand >> state.drawn & 1


def test_a_question_shows_widows_and_discards_in_the_order_in_which_they_came() -> None:
    state = table("6C 8C TC JS KS", "7C", talon="QS 8D QC KD", widows="QH")
    question = play(state, "lay 6C", "widow", "lay TC", "discard 8C", "lay JS").ask()
    assert (names(question.widows), names(question.discards)) == (["QH", "QS"], ["8D", "8C"])


def test_a_question_to_lay_has_no_drawn_and_no_laid_card() -> None:
    question = table("6C 8C", "7C").ask()
    assert (question.phase, question.drawn, question.laid, question.recycled) == (Phase.LAY, None, None, False)
    assert [action.text for action in question.legal] == ["lay 6C", "lay 8C"]


def test_a_question_about_a_drawn_card_shows_it_and_the_card_laid() -> None:
    question = play(table("6C 8C", "7C", talon="8D 9D"), "lay 6C").ask()
    assert (question.phase, question.drawn, question.laid) == (Phase.DRAWN, card("8D"), card("6C"))
    assert question.hand == set_of(cards("8C"))
    assert [action.text for action in question.legal] == ["discard 8C", "keep"]


def test_a_question_tells_the_turns_since_this_seats_last_one_and_its_own() -> None:
    state = play(table("6C KS", "7C KH", talon="8D 9D TD"), "lay 6C")
    assert state.ask().events == (KEPT_BY_0,)
    play(state, "lay 7C")
    assert state.ask().events == (
        Event(0, card("6C"), card("8D"), DrawFate.KEPT, (), False),
        Event(1, None, None, DrawFate.KEPT, (), False),
    )


def test_a_turn_is_told_once() -> None:
    state = play(table("6C KS", "7C 9C", talon="8D 9D TD"), "lay 6C")
    assert state.ask().events == (KEPT_BY_0,)
    play(state, "lay 7C")
    assert (state.turn, state.drawn, state.ask().events) == (1, card("9D"), ())


def test_turns_that_no_question_told_are_told_at_the_end() -> None:
    state = play(table("6C", "7C KH", talon="8D QD 9D", widows="QC QH QS"), "lay 6C")
    state.ask()
    play(state, "lay 7C", "widow")
    assert state.untold(1) == (Event(1, card("7C"), card("QD"), DrawFate.WIDOW, (), False),)
    assert state.untold(0) == (
        Event(0, card("6C"), card("8D"), DrawFate.KEPT, (), False),
        Event(1, None, card("QD"), DrawFate.WIDOW, (), False),
    )
    assert state.untold(0) == ()


def test_a_question_names_the_seats_at_fault_in_the_order_of_their_faults() -> None:
    state = table("6C", "7C", "TC", "JC")
    state.forfeit(3, 1)
    assert state.ask().forfeited == (3, 1)


def test_a_question_tells_the_turns_since_the_last_discard_or_widow() -> None:
    state = table("6C 8C KS", "7C KH", talon="9D TD 8D JD", rules=Rules(stall_limit=9))
    assert state.ask().kept_in_a_row == 0
    play(state, "lay 6C", "lay 7C")
    assert state.ask().kept_in_a_row == 2
    play(state, "lay KS", "discard 8C")
    assert state.ask().kept_in_a_row == 0


# -- The end


def outcome(state: State) -> Outcome:
    assert state.outcome is not None
    return state.outcome


def test_who_discards_the_last_card_wins_early() -> None:
    state = play(table("6C 8C", "7C KH", talon="8D 9D"), "lay 6C", "discard 8C")
    assert state.outcome == Outcome(Ending.EMPTIED, (1, 2), (0, 2), ())


def test_who_has_no_card_left_after_a_widow_wins_early() -> None:
    state = play(table("6C", "7C KH", talon="QD 9D"), "lay 6C", "widow")
    assert state.outcome == Outcome(Ending.EMPTIED, (1, 2), (0, 2), ())


def test_an_empty_hand_between_laying_and_drawing_is_not_the_end() -> None:
    state = play(table("6C", "7C KH", talon="QD 9D"), "lay 6C")
    assert (state.sizes[0], state.drawn, state.outcome) == (0, card("QD"), None)
    play(state, "keep")
    assert (held(state, 0), state.outcome) == ("QD", None)


def test_who_has_one_card_can_only_get_rid_of_it_by_a_queen() -> None:
    for drawn in set(range(36)) - set(cards_of(QUEENS)) - {card("6C"), card("7C")}:
        state = play(table("6C", "7C", talon=f"{NAMES[drawn]} 9D"), "lay 6C")
        assert (state.sizes[0], last(state).result, state.outcome) == (1, DrawFate.KEPT, None)


def test_the_fourth_widow_ends_the_game() -> None:
    state = play(table("6C KS AS", "7C KH", talon="QD 9D", widows="QC QH QS"), "lay 6C", "widow")
    assert state.outcome == Outcome(Ending.WIDOWS, (1, 1), (2, 2), ())


def test_the_third_widow_does_not() -> None:
    assert play(table("6C KS AS", "7C KH", talon="QD 9D", widows="QC QH"), "lay 6C", "widow").outcome is None


def test_a_last_card_gone_counts_before_the_fourth_widow() -> None:
    state = play(table("6C", "7C KH", talon="QD 9D", widows="QC QH QS"), "lay 6C", "widow")
    assert outcome(state).reason is Ending.EMPTIED


def test_as_many_kept_cards_in_a_row_as_the_limit_says_end_the_game() -> None:
    state = table("6C KS", "7C KH AH", talon="8D 9D TD JD", rules=Rules(stall_limit=3))
    play(state, "lay 6C", "lay 7C")
    assert state.outcome is None
    play(state, "lay 8D")
    assert state.outcome == Outcome(Ending.STALLED, (1, 2), (2, 3), ())


@pytest.mark.parametrize(("talon", "choice"), [("8D 9D TD KD 8S JD", "discard KS"), ("8D 9D TD QD 8S JD", "widow")])
def test_a_discard_or_a_widow_begins_the_count_anew(talon: str, choice: str) -> None:
    state = table("6C KS 6S", "7C AS JH", "6D 6H AH", talon=talon, rules=Rules(stall_limit=4))
    play(state, "lay 6C", "lay 7C", "lay 6D", "lay 8D", choice)
    assert state.kept_in_a_row == 0
    play(state, "lay 6S")
    assert (state.kept_in_a_row, state.outcome) == (1, None)


def test_a_match_and_a_queen_that_are_kept_count_too() -> None:
    state = table("6C 8C KS", "7C KH AH", talon="8D QD TD JD", rules=Rules(stall_limit=2))
    play(state, "lay 6C", "keep", "lay 7C", "keep")
    assert outcome(state).reason is Ending.STALLED


def test_the_houses_turns_count_too() -> None:
    state = table("6C KS", "7C KH", "9C AH", talon="8D TD JD", rules=Rules(stall_limit=3))
    state.forfeit(1)
    play(state, "lay 6C")
    assert (state.kept_in_a_row, state.turn) == (2, 2)
    play(state, "lay 9C")
    assert outcome(state).reason is Ending.STALLED


def test_a_limit_of_one_ends_the_game_at_the_first_kept_card() -> None:
    state = play(table("6C KS", "7C KH", talon="8D 9D", rules=Rules(stall_limit=1)), "lay 6C")
    assert outcome(state).reason is Ending.STALLED


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_under_one_is_refused(limit: int) -> None:
    with pytest.raises(RulesError, match=f"stall_limit is a number of turns from 1 on, not {limit}"):
        Rules(stall_limit=limit)


def test_the_limit_is_200_where_nothing_is_said() -> None:
    assert Rules(OddCard.TALON, Scoring.PLACES, DiscardRule.ANY, 200) == DEFAULT_RULES


@pytest.mark.parametrize("action", [KEEP, WIDOW, parse("lay 7C"), parse("lay KS")])
def test_after_the_end_nothing_is_allowed(action: Action) -> None:
    state = play(table("6C", "7C KH", talon="QD 9D"), "lay 6C", "widow")
    assert state.legal() == ()
    with pytest.raises(IllegalActionError, match=f"{action} is not allowed: the game is over"):
        state.apply(action)
    with pytest.raises(IllegalActionError, match="cannot be put at fault: the game is over"):
        state.forfeit(0)


# -- Places (see also test_places.py)


def test_the_games_own_end_is_scored_by_its_rules() -> None:
    rules = Rules(scoring=Scoring.LOSER)
    state = play(table("6C KS", "7C KH AH", "9C TS", talon="QD 9D", widows="QC QH QS", rules=rules), "lay 6C", "widow")
    assert state.outcome == Outcome(Ending.WIDOWS, (1, 3, 1), (1, 3, 2), ())


# -- Faults, and the house


def test_with_two_players_a_fault_ends_the_game() -> None:
    state = table("6C KS", "7C KH")
    state.forfeit(0)
    assert state.outcome == Outcome(Ending.FORFEIT, (2, 1), (2, 2), (0,))


def test_a_winner_who_was_at_fault_is_still_last() -> None:
    state = table("KC KS", "7C", "TC JC", talon="8D QD 9D TD")
    state.forfeit(0)
    play(state, "lay 7C", "widow")
    assert state.outcome == Outcome(Ending.EMPTIED, (3, 1, 2), (2, 0, 2), (0,))


def test_with_three_players_the_house_plays_on_and_lays_the_first_card_in_canonical_order() -> None:
    state = table("KS 9C 6H", "7C KH", "TC AH", talon="8D JD")
    state.forfeit(0)
    assert (state.turn, names(state.pile), held(state, 0)) == (1, ["6H"], "8D 9C KS")
    assert last(state) == Event(0, card("6H"), card("8D"), DrawFate.KEPT, (), False)


def test_the_house_keeps_whatever_it_draws() -> None:
    for drawn in ("KD", "QD"):
        state = table("6C KS", "7C KH", "TC AH", talon=f"{drawn} JD")
        state.forfeit(0)
        assert (state.turn, last(state).result, state.widows, state.discards) == (1, DrawFate.KEPT, (), ())


def test_the_house_is_never_asked() -> None:
    state = table("6C KS", "7C KH", "TC AH", talon="8D 9D JD TS TH")
    state.forfeit(0)
    play(state, "lay 7C", "lay TC")
    assert (state.turn, [event.seat for event in state.events]) == (1, [0, 1, 2, 0])


def test_the_house_plays_several_seats_in_a_row() -> None:
    state = table("6C KS", "7C KH", "TC AH", "AC 9S", talon="8D 9D JD TS TH")
    state.forfeit(1, 2)
    play(state, "lay 6C")
    assert (state.turn, [event.seat for event in state.events]) == (3, [0, 1, 2])


def test_a_seat_at_fault_over_a_drawn_card_keeps_it() -> None:
    state = play(table("6C 8C KS", "7C KH", "TC AH", talon="8D JD"), "lay 6C")
    state.forfeit(0)
    assert (held(state, 0), state.turn, state.outcome) == ("8C 8D KS", 1, None)
    assert last(state) == Event(0, card("6C"), card("8D"), DrawFate.KEPT, (), False)


def test_the_house_can_empty_the_talon() -> None:
    state = table("6C KS", "7C KH", "TC AH", talon="8D", pile="JD")
    state.forfeit(0)
    assert (last(state).recycled, names(reversed(state.talon))) == (True, ["6C", "JD"])


def test_seats_that_never_started_are_at_fault_before_the_first_question() -> None:
    state = table("6C KS", "7C KH", "TC AH", "JC 9S", talon="8D 9D JD")
    state.forfeit(0, 1)
    assert (state.forfeited, state.ask().seat) == ((0, 1), 2)
    assert [event.seat for event in state.events] == [0, 1]


def test_a_game_in_which_nobody_started_ends_with_the_first_seat_last() -> None:
    state = table("6C KS", "7C KH", "TC AH", talon="8D 9D JD")
    state.forfeit(0, 1, 2)
    assert state.outcome == Outcome(Ending.FORFEIT, (3, 2, 1), (2, 2, 2), (0, 1, 2))
    assert state.events == []


def test_the_game_ends_as_soon_as_one_seat_is_left_that_is_not_at_fault() -> None:
    state = table("6C KS", "7C KH", "TC AH", talon="8D 9D JD")
    state.forfeit(0)
    state.forfeit(1)
    assert state.outcome == Outcome(Ending.FORFEIT, (3, 2, 1), (2, 2, 2), (0, 1))


def test_a_turn_cut_off_by_the_end_makes_no_event_and_its_drawn_card_is_counted_nowhere() -> None:
    state = play(table("6C 8C KS", "7C KH", talon="8D JD"), "lay 6C")
    state.forfeit(0)
    assert state.outcome == Outcome(Ending.FORFEIT, (2, 1), (2, 2), (0,))
    assert (state.events, names(state.pile), names(state.talon), held(state, 0)) == ([], ["6C"], ["JD"], "8C KS")


def test_a_turn_cut_off_by_the_end_may_have_emptied_the_talon() -> None:
    state = play(table("6C 8C KS", "7C KH", talon="8D", pile="JD"), "lay 6C")
    state.forfeit(0)
    assert (state.untold(1), names(state.talon), state.pile) == ((), ["JD", "6C"], [])


def test_only_the_seat_to_move_can_be_put_at_fault_once_the_game_has_begun() -> None:
    state = play(table("6C KS", "7C KH", "TC AH", talon="8D 9D JD"), "lay 6C")
    for seats in ((0,), (2,), (1, 2), (3,), (-1,)):
        with pytest.raises(IllegalActionError, match=re.escape(f"seats {seats} cannot be put at fault now")):
            state.forfeit(*seats)
    assert state.forfeited == ()


@pytest.mark.parametrize("seats", [(0, 0), (3,), (-1,), (1, 2, 1)])
def test_before_the_first_question_a_seat_is_put_at_fault_once_and_must_exist(seats: tuple[int, ...]) -> None:
    with pytest.raises(IllegalActionError, match=r"only each of \[0, 1, 2\] once"):
        table("6C KS", "7C KH", "TC AH").forfeit(*seats)


def test_a_seat_at_fault_cannot_be_put_at_fault_again() -> None:
    state = table("6C KS", "7C KH", "TC AH")
    state.forfeit(2)
    with pytest.raises(IllegalActionError, match=r"only each of \[0, 1\] once"):
        state.forfeit(2)
