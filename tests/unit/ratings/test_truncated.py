"""The moments of a truncated normal variable, against the plain formulas and the limits of both tails."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from referee.ratings.maths import truncated

NORMAL = NormalDist()


def win(gap: float, margin: float) -> tuple[float, float]:
    """How far the mean moves, and the variance that is left."""
    shift, left = truncated.win(np.array([gap]), np.array([margin]))
    return float(shift[0]), float(left[0])


def draw(gap: float, margin: float) -> tuple[float, float]:
    shift, left = truncated.draw(np.array([gap]), np.array([margin]))
    return float(shift[0]), float(left[0])


def below(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


@settings(max_examples=100, deadline=None)
@given(st.floats(-5, 12), st.floats(0, 3))
def test_a_win_is_the_plain_quotient_wherever_that_holds(gap: float, margin: float) -> None:
    x = gap - margin
    shift, left = win(gap, margin)
    v = NORMAL.pdf(x) / below(x)
    assert shift == pytest.approx(v, rel=1e-9, abs=1e-16)
    assert left == pytest.approx(1 - v * (v + x), rel=1e-8)


def test_a_hopeless_win_lifts_the_mean_to_the_margin_and_fixes_it_there() -> None:
    # Far out the tail is exponential with rate t: mean t + 1/t, variance 1/t^2, both up to 1/t^3.
    shift, left = win(-1000.0, 0.0)
    assert shift == pytest.approx(1000.001, abs=1e-8)
    assert left == pytest.approx(1e-6, rel=1e-5)


def test_nothing_jumps_where_one_formula_takes_over_from_another() -> None:
    for edge in (-12.0, 12.0):
        (before, left), (after, kept) = win(-edge - 1e-9, 0.0), win(-edge + 1e-9, 0.0)
        assert before == pytest.approx(after, rel=1e-8, abs=1e-9)
        assert left == pytest.approx(kept, rel=1e-8)
    for low, high in (((2.0, 0.02 - 1e-12), (2.0, 0.02 + 1e-12)), ((9.0, 3 - 1e-9), (9.0, 3 + 1e-9))):
        assert draw(*low)[0] == pytest.approx(draw(*high)[0], rel=1e-8)
        assert draw(*low)[1] == pytest.approx(draw(*high)[1], rel=1e-8)


def test_a_win_never_in_doubt_changes_nothing() -> None:
    assert win(60.0, 1.0) == (pytest.approx(0.0, abs=1e-30), 1.0)


@settings(max_examples=100, deadline=None)
@given(st.floats(-3, 3), st.floats(0.1, 8))
def test_a_draw_is_the_plain_quotient_wherever_that_holds(gap: float, margin: float) -> None:
    low, high = -margin - gap, margin - gap
    mass = below(high) - below(low)
    assume(mass > 1e-2)
    shift, left = draw(gap, margin)
    v = (NORMAL.pdf(low) - NORMAL.pdf(high)) / mass
    assert shift == pytest.approx(v, rel=1e-9, abs=1e-12)
    assert left == pytest.approx(1 + (low * NORMAL.pdf(low) - high * NORMAL.pdf(high)) / mass - v * v, rel=1e-9)


def test_a_narrow_draw_is_uniform() -> None:
    # On +-m the density hardly changes: variance m^2 / 3.
    assert draw(0.0, 1e-3)[1] == pytest.approx(1e-6 / 3, rel=1e-6)
    assert draw(2.0, 1e-3)[0] == pytest.approx(-2.0, abs=1e-6)


def test_a_draw_across_a_great_gap_moves_the_mean_to_its_edge() -> None:
    assert draw(500.0, 1.0)[0] == pytest.approx(-499 - 1 / 499, abs=1e-7)
    assert draw(-500.0, 1.0)[0] == pytest.approx(499 + 1 / 499, abs=1e-7)
    assert draw(500.0, 1.0)[1] == pytest.approx(1 / 499**2, rel=1e-4)


@settings(max_examples=100, deadline=None)
@given(st.floats(-1000, 1000), st.floats(1e-9, 12))
def test_what_is_left_of_the_variance_is_positive(gap: float, margin: float) -> None:
    for shift, left in (win(gap, margin), draw(gap, margin)):
        assert math.isfinite(shift)
        assert 0 < left <= 1 + 1e-12
    assert win(gap, margin)[0] >= 0
    # A draw puts the mean within the margin.
    assert abs(gap + draw(gap, margin)[0]) <= margin + 1e-9


def test_rows_do_not_see_one_another() -> None:
    dice = np.random.default_rng(4)
    gaps, margins = dice.normal(0, 5, 500), dice.exponential(0.5, 500)
    for one, all_at_once in ((win, truncated.win), (draw, truncated.draw)):
        shifts, lefts = all_at_once(gaps, margins)
        for row in range(0, 500, 5):
            alone = one(float(gaps[row]), float(margins[row]))
            assert (float(shifts[row]), float(lefts[row])) == pytest.approx(alone, rel=1e-12)
