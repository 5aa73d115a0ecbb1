"""The mean score, its error and the counts, against numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.ratings import Row, Table, rate
from referee.record import Bot, GameResult
from referee.rules import Ending

ANNA, BERT, CARL = (Bot(name, name * 16) for name in ("anna", "bert", "carl"))


def game(
    seats: Sequence[Bot], places: Sequence[int], *, deal: int = 0, rotation: int = 0, forfeited: Sequence[int] = ()
) -> GameResult:
    return GameResult(tuple(seats), deal, rotation, Ending.EMPTIED, tuple(places), tuple(forfeited))


def only_table(*results: GameResult) -> Table:
    (table,) = rate(results).tables
    return table


def row_of(table: Table, bot: Bot) -> Row:
    (row,) = (row for row in table.rows if row.bot == bot)
    return row


def test_no_games_give_no_tables() -> None:
    assert rate([]).tables == ()


def test_one_game_scores_the_winner_and_has_too_little_data_for_an_error() -> None:
    table = only_table(game([ANNA, BERT], [2, 1]))
    first, second = table.rows
    assert (first.rank, first.bot, first.score, first.score_error) == (1, BERT, 1.0, None)
    assert (second.rank, second.bot, second.score, second.score_error) == (2, ANNA, 0.0, None)
    assert (first.games, first.deals, first.wins, first.places, first.faults) == (1, 1, 1, (1, 0), 0)
    assert (table.players, table.games, table.deals, table.unrated) == (2, 1, 1, 0)


def test_a_tie_counts_half_and_wins_nothing() -> None:
    table = only_table(game([ANNA, BERT, CARL], [1, 1, 3]))
    assert {(row.rank, row.bot.name, row.score, row.wins) for row in table.rows} == {
        (1, "anna", 0.75, 0),
        (1, "bert", 0.75, 0),
        (3, "carl", 0.0, 0),
    }


def test_equal_scores_share_the_better_rank_and_stand_by_rating() -> None:
    # All draw, carl once and the others oftener: the rating mu - 3 sigma is higher where more is known.
    results = [game([ANNA, BERT], [1, 1], deal=deal) for deal in range(3)] + [game([BERT, CARL], [1, 1])]
    table = only_table(*results)
    assert [(row.rank, row.bot.name) for row in table.rows] == [(1, "bert"), (1, "anna"), (1, "carl")]
    assert table.rows[0].rating > table.rows[1].rating > table.rows[2].rating


def test_rotations_of_one_deal_are_one_unit() -> None:
    # Anna takes 2, 1 and 1 of 2 points from deals of two games: residuals 2/3, -1/3, -1/3 over 6 games.
    results = [
        game([ANNA, BERT], [1, 2], deal=0, rotation=0),
        game([BERT, ANNA], [2, 1], deal=0, rotation=1),
        game([ANNA, BERT], [1, 2], deal=1, rotation=0),
        game([BERT, ANNA], [1, 2], deal=1, rotation=1),
        game([ANNA, BERT], [1, 1], deal=2, rotation=0),
        game([BERT, ANNA], [1, 1], deal=2, rotation=1),
    ]
    table = only_table(*results)
    anna = row_of(table, ANNA)
    assert anna.score == pytest.approx(2 / 3, abs=1e-6)
    assert anna.score_error == pytest.approx(math.sqrt(3 / 2 * (4 + 1 + 1) / 9) / 6, abs=1e-6)
    assert (table.games, table.deals, anna.deals) == (6, 3, 3)


def test_deals_of_unequal_size_weigh_by_their_games() -> None:
    # 2 of 2 points, then 0 of 1: score 2/3, residuals 2 - 4/3 and 0 - 2/3.
    results = [
        game([ANNA, BERT], [1, 2], deal=0, rotation=0),
        game([BERT, ANNA], [2, 1], deal=0, rotation=1),
        game([ANNA, BERT], [2, 1], deal=1),
    ]
    anna = row_of(only_table(*results), ANNA)
    assert anna.score == pytest.approx(2 / 3, abs=1e-6)
    assert anna.score_error == pytest.approx(math.sqrt(2 * (4 / 9 + 4 / 9)) / 3, abs=1e-6)


def test_the_same_deal_number_of_another_line_up_is_another_deal() -> None:
    table = only_table(game([ANNA, BERT], [1, 2]), game([ANNA, CARL], [2, 1]))
    assert (table.deals, row_of(table, ANNA).deals) == (2, 2)
    assert row_of(table, ANNA).score_error == pytest.approx(0.5)  # sqrt(2 * (1/4 + 1/4)) / 2
    assert row_of(table, BERT).score_error is None


def test_only_wins_and_only_draws_are_finite() -> None:
    won = only_table(*(game([ANNA, BERT], [1, 2], deal=deal) for deal in range(50)))
    assert [(row.score, row.score_error) for row in won.rows] == [(1.0, 0.0), (0.0, 0.0)]
    drawn = only_table(*(game([ANNA, BERT], [1, 1], deal=deal) for deal in range(50)))
    assert [(row.score, row.score_error, row.wins) for row in drawn.rows] == [(0.5, 0.0, 0), (0.5, 0.0, 0)]
    for row in (*won.rows, *drawn.rows):
        assert all(map(math.isfinite, (row.mu, row.sigma, row.rating)))


def test_one_table_for_each_number_of_players() -> None:
    tables = rate([game([ANNA, BERT, CARL], [1, 2, 3]), game([ANNA, BERT], [1, 2])]).tables
    assert [(table.players, len(table.rows), len(table.rows[0].places)) for table in tables] == [(2, 2, 2), (3, 3, 3)]


def test_a_bot_at_fault_in_every_game_is_last_and_counted() -> None:
    table = only_table(*(game([ANNA, BERT, CARL], [3, 1, 2], deal=deal, forfeited=[0]) for deal in range(4)))
    assert [(row.bot.name, row.faults, row.places) for row in table.rows] == [
        ("bert", 0, (4, 0, 0)),
        ("carl", 0, (0, 4, 0)),
        ("anna", 4, (0, 0, 4)),
    ]


def test_a_game_in_which_every_seat_was_at_fault_is_kept_but_rates_nobody() -> None:
    table = only_table(game([ANNA, BERT], [2, 1], forfeited=[0, 1]))
    assert (table.games, table.unrated, table.deals) == (1, 1, 1)
    for row in table.rows:
        assert (row.rank, row.score, row.score_error, row.games, row.unrated, row.faults) == (None, None, None, 0, 1, 1)
        assert (row.mu, row.sigma, row.rating, row.places) == (25.0, 8.333333, 0.0, (0, 0))


def test_bots_without_a_rated_game_stand_last_and_change_nobody_else() -> None:
    rated = [game([ANNA, BERT], [1, 2], deal=deal) for deal in range(3)]
    both_at_fault = [game([CARL, BERT], [2, 1], deal=deal, forfeited=[0, 1]) for deal in range(3)]
    alone, together = only_table(*rated), only_table(*rated, *both_at_fault)
    assert [(row.rank, row.bot.name) for row in together.rows] == [(1, "anna"), (2, "bert"), (None, "carl")]
    for before, after in zip(alone.rows, together.rows, strict=False):
        assert (before.score, before.score_error, before.mu, before.places) == (
            after.score,
            after.score_error,
            after.mu,
            after.places,
        )


def test_a_game_of_a_bot_against_itself_rates_nobody_and_still_shows_its_faults() -> None:
    (row,) = only_table(game([ANNA, ANNA], [1, 2], forfeited=[1])).rows
    assert (row.rank, row.games, row.unrated, row.faults, row.score) == (None, 0, 1, 1, None)
    (twice,) = only_table(game([ANNA, ANNA], [2, 1], forfeited=[0, 1])).rows
    assert (twice.unrated, twice.faults) == (1, 1)
    three = only_table(game([ANNA, ANNA, BERT], [1, 3, 2], forfeited=[1]))
    assert [(row.bot.name, row.games, row.unrated, row.faults) for row in three.rows] == [
        ("anna", 0, 1, 1),
        ("bert", 0, 1, 0),
    ]


def test_one_name_with_two_contents_is_two_bots() -> None:
    older, newer = Bot("anna", "0" * 64), Bot("anna", "1" * 64)
    table = only_table(game([older, newer], [2, 1]))
    assert [row.bot for row in table.rows] == [newer, older]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.permutations([1, 2, 3])), min_size=2, max_size=40))
def test_scores_average_to_one_half_and_places_add_up(entries: list[tuple[int, list[int]]]) -> None:
    results = [
        game([ANNA, BERT, CARL], places, deal=deal, rotation=number) for number, (deal, places) in enumerate(entries)
    ]
    table = only_table(*results)
    assert math.fsum(row.score or 0 for row in table.rows) == pytest.approx(1.5, abs=3e-6)
    for row in table.rows:
        assert sum(row.places) == row.games == len(entries)
        assert row.wins == row.places[0]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([(1, 2), (2, 1), (1, 1)])), min_size=2, max_size=30))
def test_the_error_is_the_textbook_formula(entries: list[tuple[int, tuple[int, int]]]) -> None:
    results = [game([ANNA, BERT], places, deal=deal, rotation=n) for n, (deal, places) in enumerate(entries)]
    anna = row_of(only_table(*results), ANNA)
    points = {deal: [(3 - a + b - 1) / 2 - 0.5 for d, (a, b) in entries if d == deal] for deal, _ in entries}
    deals = len(points)
    if deals < 2:
        assert anna.score_error is None
        return
    mean = math.fsum(map(math.fsum, points.values())) / len(entries)
    squares = math.fsum((math.fsum(won) - mean * len(won)) ** 2 for won in points.values())
    assert anna.score == pytest.approx(mean, abs=1e-6)
    assert anna.score_error == pytest.approx(math.sqrt(deals / (deals - 1) * squares) / len(entries), abs=1e-6)
