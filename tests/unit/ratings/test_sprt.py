"""The generalised SPRT, against cases that can be worked out and a second way of computing it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.ratings.sequential.betting import DuelHypotheses

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from sprt import bounds, log_likelihood_ratio

COUNTS = st.lists(st.integers(0, 500), min_size=5, max_size=5)


def slow(counts: Sequence[float], question: DuelHypotheses) -> float:
    """By the dual: the greatest likelihood with mean s is the least, over t, of that of the tilted distributions."""
    seen = [max(count, 1e-3) for count in counts]
    scores = [at / (len(seen) - 1) for at in range(len(seen))]

    def loss(mean: float) -> float:
        """How much of the log-likelihood is lost by having this mean: a concave function's greatest value."""

        def dual(t: float) -> float:
            return sum(count * math.log1p(t * (score - mean)) for count, score in zip(seen, scores, strict=True))

        low, high = -1 / (1 - mean) + 1e-15, 1 / mean - 1e-15
        for _ in range(300):
            third = (high - low) / 3
            if dual(low + third) < dual(high - third):
                low += third
            else:
                high -= third
        return dual((low + high) / 2)

    return loss(question.s0) - loss(question.s1)


def test_with_two_outcomes_it_is_the_ordinary_sprt() -> None:
    question = DuelHypotheses(0.4, 0.7)
    expected = 30 * math.log(0.7 / 0.4) + 20 * math.log(0.3 / 0.6)
    assert log_likelihood_ratio([20, 30], question) == pytest.approx(expected, rel=1e-12)


@given(counts=COUNTS)
@settings(deadline=None)
def test_it_is_the_ratio_of_the_likeliest_distributions(counts: list[int]) -> None:
    question = DuelHypotheses(0.45, 0.6)
    assert log_likelihood_ratio(counts, question) == pytest.approx(slow(counts, question), rel=1e-6, abs=1e-6)


@given(counts=COUNTS)
@settings(deadline=None)
def test_seen_from_the_other_side_it_changes_its_sign(counts: list[int]) -> None:
    there = log_likelihood_ratio(counts[::-1], DuelHypotheses(0.48, 0.5))
    assert log_likelihood_ratio(counts, DuelHypotheses(0.5, 0.52)) == pytest.approx(-there, rel=1e-9, abs=1e-9)


def test_many_are_computed_as_one_by_one() -> None:
    counts = np.random.default_rng(1).integers(0, 40, (7, 13))
    together = log_likelihood_ratio(counts, DuelHypotheses())
    assert together.shape == (7,)
    assert together == pytest.approx([float(log_likelihood_ratio(row, DuelHypotheses())) for row in counts], rel=1e-9)


def test_without_deals_it_says_nothing() -> None:
    assert abs(float(log_likelihood_ratio([0] * 61, DuelHypotheses()))) < 1e-3


def test_bounds_are_walds() -> None:
    assert bounds(DuelHypotheses()) == pytest.approx((-math.log(19), math.log(19)))
    assert bounds(DuelHypotheses(alpha=0.01, beta=0.2)) == pytest.approx((math.log(0.2 / 0.99), math.log(80)))
