"""The command that remakes the acceptance table goes on where it was stopped, and says what does not hold."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from figures import NO, NOISE, YES, Figure, Seen, at_least, at_most, judged, noticed


@pytest.mark.parametrize(("excess", "verdict"), [(-0.1, YES), (0.0, YES), (0.019, NOISE), (0.021, NO)])
def test_a_bound_that_is_missed_by_two_errors_is_missed(excess: float, verdict: str) -> None:
    assert judged(excess, 0.01) == verdict
    assert at_most("it", Seen(0.5 + excess, 0.01), 0.5).holds == verdict
    assert at_least("it", Seen(0.5 - excess, 0.01), 0.5).holds == verdict


def test_a_spoilt_method_must_be_out_by_more_than_two_errors() -> None:
    assert [noticed("it", Seen(value, 0.01), 0.5, above=True).holds for value in (0.51, 0.53)] == [NO, YES]
    assert [noticed("it", Seen(value, 0.01), 0.5, above=False).holds for value in (0.49, 0.47)] == [NO, YES]


def test_only_what_is_not_met_is_red() -> None:
    assert [Figure("it", "1", holds=holds).good for holds in (YES, NOISE, "", NO)] == [True, True, True, False]
