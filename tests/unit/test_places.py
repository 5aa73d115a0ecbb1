"""How cards left become places."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.places import Ending, Scoring, places_of

RULES_PAGE = Path(__file__).parents[2] / "docs" / "rules.md"

PLACES = [
    (Scoring.PLACES, (2, 5, 5, 7), (1, 2, 2, 4)),
    (Scoring.PLACES, (3, 3, 6, 6), (1, 1, 3, 3)),
    (Scoring.PLACES, (7, 5, 5, 2), (4, 2, 2, 1)),
    (Scoring.PLACES, (4, 4, 4), (1, 1, 1)),
    (Scoring.PLACES, (5, 3), (2, 1)),
    (Scoring.WINNER, (2, 5, 5, 7), (1, 2, 2, 2)),
    (Scoring.WINNER, (3, 3, 6, 6), (1, 1, 3, 3)),
    (Scoring.WINNER, (9, 3, 6, 3), (3, 1, 3, 1)),
    (Scoring.WINNER, (4, 4, 4), (1, 1, 1)),
    (Scoring.LOSER, (2, 5, 5, 7), (1, 1, 1, 4)),
    (Scoring.LOSER, (3, 3, 6, 6), (1, 1, 3, 3)),
    (Scoring.LOSER, (7, 5, 7, 2), (3, 1, 3, 1)),
    (Scoring.LOSER, (4, 4, 4), (1, 1, 1)),
]


@pytest.mark.parametrize(("scoring", "sizes", "places"), PLACES)
def test_cards_left_become_places(scoring: Scoring, sizes: tuple[int, ...], places: tuple[int, ...]) -> None:
    for reason in (Ending.WIDOWS, Ending.STALLED):
        assert places_of(scoring, reason, sizes, ()) == places


def test_rules_page_has_these_places() -> None:
    page = RULES_PAGE.read_text(encoding="utf-8")
    for scoring in Scoring:
        row = re.search(rf"^\| `{scoring.value}` \| [^|]* \| ([\d, ]+) \| ([\d, ]+) \|", page, re.MULTILINE)
        assert row is not None
        expected = [places_of(scoring, Ending.WIDOWS, sizes, ()) for sizes in ((2, 5, 5, 7), (3, 3, 6, 6))]
        assert [tuple(map(int, cell.split(","))) for cell in row.groups()] == expected


def test_a_game_that_somebody_emptied_is_scored_by_its_winner_where_else_the_loser_counts() -> None:
    assert places_of(Scoring.LOSER, Ending.EMPTIED, (5, 0, 3, 3), ()) == (2, 1, 2, 2)
    assert places_of(Scoring.WINNER, Ending.EMPTIED, (5, 0, 3, 3), ()) == (2, 1, 2, 2)
    assert places_of(Scoring.PLACES, Ending.EMPTIED, (5, 0, 3, 3), ()) == (4, 1, 2, 2)


def test_the_seat_at_fault_is_last_and_the_others_are_placed_among_themselves() -> None:
    assert places_of(Scoring.PLACES, Ending.WIDOWS, (1, 5, 3, 5), (0,)) == (4, 2, 1, 2)
    assert places_of(Scoring.WINNER, Ending.WIDOWS, (1, 5, 3, 5), (0,)) == (4, 2, 1, 2)
    assert places_of(Scoring.LOSER, Ending.WIDOWS, (9, 5, 3, 5), (0,)) == (4, 2, 1, 2)


def test_of_several_faults_the_later_one_is_placed_better() -> None:
    assert places_of(Scoring.PLACES, Ending.WIDOWS, (1, 5, 3, 2), (2, 0)) == (3, 2, 4, 1)


def test_a_fault_does_not_move_the_others_together() -> None:
    assert places_of(Scoring.LOSER, Ending.EMPTIED, (9, 0, 4, 4), (0,)) == (4, 1, 2, 2)


def test_who_alone_is_not_at_fault_is_first_however_many_cards_are_left() -> None:
    for scoring in Scoring:
        assert places_of(scoring, Ending.FORFEIT, (1, 12, 2), (2, 0)) == (2, 1, 3)
