"""The example game at the head of the rules' page is a game."""

from __future__ import annotations

import re
from pathlib import Path

from referee.actions import Kind
from referee.cards import NAMES, card, cards_of
from referee.rules import DEFAULT_RULES, Ending, State

PAGE = (Path(__file__).parents[2] / "docs" / "rules.md").read_text("utf-8")
DECK = "TD QS JD 8H 7S 6S 6H 8C 9S 9D 8S KD 6C KC 9H TH JC QC 7D AH QH JS TC AS KH 7C KS AC 6D TS QD 7H AD 8D 9C JH"
"""Of `referee match --deals 1 --seed 6`, first rotation."""


def test_the_example_game_goes_as_the_page_says() -> None:
    table = PAGE.partition("## An example game")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \d+ \| ([^|]+) \| (\w\w) \| (\w\w) \| ([^|]+) \|$", table, re.MULTILINE)
    state = State(DEFAULT_RULES, 2, tuple(map(card, DECK.split())))
    for hand, laid, drawn, _ in rows:
        assert (state.turn, " ".join(NAMES[one] for one in cards_of(state.hands[0]))) == (0, hand)
        state.apply(next(action for action in state.legal() if action.text == f"lay {laid}"))
        question = state.ask()
        assert question.drawn is not None
        assert NAMES[question.drawn] == drawn
        kinds = (Kind.DISCARD, Kind.WIDOW)
        state.apply(max((one for one in state.legal() if one.kind in kinds), key=lambda one: len(one.text)))
    assert len(rows) == 6
    assert state.outcome is not None
    assert (state.outcome.reason, state.outcome.hand_sizes) == (Ending.EMPTIED, (0, 12))
    for row, event in zip(rows, state.events, strict=True):
        assert all(NAMES[one] in row[3] for one in event.discarded)
