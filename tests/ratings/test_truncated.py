"""The moments of a truncated normal variable, against the plain formulas and the limits of both tails."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from referee.ratings.truncated import cdf, pdf, v_draw, v_win, w_draw, w_win


@settings(deadline=None)
@given(st.floats(-25, 25), st.floats(0, 5))
def test_a_win_is_the_plain_quotient_wherever_that_holds(diff: float, margin: float) -> None:
    x = diff - margin
    v = pdf(x) / cdf(x)
    assert v_win(diff, margin) == pytest.approx(v, rel=1e-12)
    assert w_win(diff, margin) == pytest.approx(v * (v + x), rel=1e-7, abs=1e-15)


def test_a_hopeless_win_lifts_the_mean_to_the_margin_and_fixes_it_there() -> None:
    # Far out the tail is exponential with rate t: mean t + 1/t, variance 1/t^2, both up to 1/t^3.
    assert v_win(-1000.0, 0.0) == pytest.approx(1000.001, abs=1e-8)
    assert 1 - w_win(-1000.0, 0.0) == pytest.approx(1e-6, rel=1e-5)


def test_a_win_never_in_doubt_changes_nothing() -> None:
    assert (v_win(60.0, 1.0), w_win(60.0, 1.0)) == (0.0, 0.0)


@settings(deadline=None)
@given(st.floats(-3, 3), st.floats(0.3, 5))
def test_a_draw_is_the_plain_quotient_wherever_that_holds(diff: float, margin: float) -> None:
    low, high = -margin - diff, margin - diff
    mass = cdf(high) - cdf(low)
    assume(mass > 1e-3)
    v = (pdf(low) - pdf(high)) / mass
    assert v_draw(diff, margin) == pytest.approx(v, rel=1e-9, abs=1e-12)
    w = v * v + (high * pdf(high) - low * pdf(low)) / mass
    assert w_draw(diff, margin) == pytest.approx(w, abs=1e-9)


def test_a_narrow_draw_is_uniform() -> None:
    # On +-m the density hardly changes: variance m^2 / 3.
    assert 1 - w_draw(0.0, 1e-3) == pytest.approx(1e-6 / 3, rel=1e-6)
    assert v_draw(2.0, 1e-3) == pytest.approx(-2.0, abs=1e-6)


def test_a_draw_across_a_great_gap_moves_the_mean_to_its_edge() -> None:
    assert v_draw(500.0, 1.0) == pytest.approx(-499 - 1 / 499, abs=1e-7)
    assert v_draw(-500.0, 1.0) == pytest.approx(499 + 1 / 499, abs=1e-7)
    assert 1 - w_draw(500.0, 1.0) == pytest.approx(1 / 499**2, rel=1e-4)


@settings(deadline=None)
@given(st.floats(-1000, 1000), st.floats(1e-9, 6))
def test_what_is_left_of_the_variance_is_positive(diff: float, margin: float) -> None:
    for shrink in (w_win(diff, margin), w_draw(diff, margin)):
        assert 0 <= shrink < 1
    assert math.isfinite(v_win(diff, margin))
    # A draw puts the mean within the margin.
    assert abs(diff + v_draw(diff, margin)) <= margin + 1e-9
