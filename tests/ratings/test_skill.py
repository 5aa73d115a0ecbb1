"""TrueSkill: equal to the package where it gives an answer, and finite where it raises."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.ratings import rate
from referee.ratings.skill import environment
from referee.record import Bot, Result
from referee.rules import Ending

BOTS = tuple(Bot(f"bot-{number}", f"{number}" * 64) for number in range(6))


def game(places: tuple[int, ...], deal: int = 0) -> Result:
    return Result(BOTS[: len(places)], deal, 0, Ending.WIDOWS, places, ())


def placings(players: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Places as the rules give them: equal counts share the better one."""
    counts = st.tuples(*[st.integers(0, 3)] * players)
    return counts.map(lambda left: tuple(1 + sum(other < mine for other in left) for mine in left))


@settings(deadline=None)
@given(st.integers(2, 6).flatmap(placings))
def test_a_single_game_is_rated_as_the_package_rates_it(places: tuple[int, ...]) -> None:
    table = rate([game(places)]).tables[0]
    ties = len(places) - len(set(places))
    assert table.draw_probability == pytest.approx((ties + 0.5) / len(places), abs=1e-9)
    package = trueskill.TrueSkill(tau=0.0, draw_probability=(ties + 0.5) / len(places))
    expected = package.rate([(package.create_rating(),) for _ in places], ranks=places)
    found = {row.bot: row for row in table.rows}
    for bot, (rating,) in zip(BOTS, expected, strict=False):
        assert found[bot].mu == pytest.approx(rating.mu, abs=1e-5)
        assert found[bot].sigma == pytest.approx(rating.sigma, abs=1e-5)
        assert found[bot].rating == pytest.approx(found[bot].mu - 3 * found[bot].sigma, abs=3e-6)


def test_games_are_folded_in_schedule_order() -> None:
    results = [game((1, 2), deal=0), game((1, 2), deal=1), game((2, 1), deal=2)]
    package = trueskill.TrueSkill(tau=0.0, draw_probability=0.5 / 4)
    first, second = package.create_rating(), package.create_rating()
    for result in results:
        (first,), (second,) = package.rate([(first,), (second,)], ranks=result.places)
    rows = rate(reversed(results)).tables[0].rows
    assert [row.mu for row in rows] == pytest.approx([first.mu, second.mu], abs=1e-5)
    assert [row.sigma for row in rows] == pytest.approx([first.sigma, second.sigma], abs=1e-5)


def test_the_draw_probability_counts_tied_neighbours_and_is_never_0_or_1() -> None:
    def found(*placings: tuple[int, ...]) -> float:
        return rate([game(places, deal) for deal, places in enumerate(placings)]).tables[0].draw_probability

    assert found((1, 2, 2), (1, 1, 1), (1, 2, 3)) == pytest.approx(3.5 / 7, abs=1e-9)
    assert found(*[(1, 2)] * 99) == pytest.approx(0.005)
    assert found(*[(1, 1)] * 99) == pytest.approx(0.995)


def test_a_great_upset_after_many_wins_is_rated() -> None:
    results = [game((1, 2), deal) for deal in range(2000)] + [game((2, 1), 2000), game((1, 1), 2001)]
    rows = rate(results).tables[0].rows
    assert all(math.isfinite(row.mu) and 0 < row.sigma < 25 / 3 for row in rows)


def test_an_upset_that_the_package_refuses_is_rated() -> None:
    package = trueskill.TrueSkill(tau=0.0, draw_probability=1e-7)
    high, low = package.create_rating(400, 1), package.create_rating(-400, 1)
    with pytest.raises(FloatingPointError):
        package.rate([(low,), (high,)])
    after_low, after_high = environment(1e-7).rate([(low,), (high,)])
    assert after_low[0].mu > low.mu
    assert after_high[0].mu < high.mu


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(-200, 250), st.floats(0.01, 25 / 3)), min_size=6, max_size=6),
    st.integers(2, 6).flatmap(placings),
    st.one_of(st.floats(1e-8, 1 - 1e-8), st.sampled_from([1e-8, 1e-6, 1e-3, 1 - 1e-6])),
)
def test_no_game_breaks_the_rating_or_makes_it_less_sure(
    priors: list[tuple[float, float]], places: tuple[int, ...], probability: float
) -> None:
    chosen = environment(probability)
    before = [chosen.create_rating(mu, sigma) for mu, sigma in priors[: len(places)]]
    after = chosen.rate([(rating,) for rating in before], ranks=places)
    for old, (new,) in zip(before, after, strict=True):
        assert math.isfinite(new.mu)
        assert 0 < new.sigma <= old.sigma * (1 + 1e-9)


def test_importing_the_ratings_does_not_load_the_package() -> None:
    program = "import referee.ratings, sys; sys.exit('trueskill' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
