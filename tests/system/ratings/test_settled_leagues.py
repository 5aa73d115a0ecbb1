"""Leagues that stop by themselves are right as often as they say, under the real rules; repeated looks are not.

Short versions, with fixed seeds, of the row `settling` of `benchmarks/acceptance.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from bank import EQUAL, GRADED
from duel import of_score
from figures import YES
from settling import equal_line, ladder_lines, looked_line, shares


def test_equal_bots_are_seldom_told_apart_and_by_repeated_looks_they_are() -> None:
    even = of_score(shares("tests", EQUAL, 2_400, folder=None, jobs=1)[0], 0.5)
    ours = equal_line(even, rounds=1_000, every=25, runs=150)
    assert ours.holds == YES, ours
    spoilt = looked_line(even, rounds=1_000, every=25, runs=150)
    assert spoilt.holds == YES, spoilt
    assert float(spoilt.seen) > 0.2


def test_racing_is_shorter_than_a_fixed_length_that_proves_the_same_and_than_stopping_alone() -> None:
    known = shares("tests", GRADED, 6_000, folder=None, jobs=1)
    racing, _, stopping, _ = ladder_lines(known, step=0.02, runs=16, tries=1_000)
    assert racing.holds == YES, racing
    assert float(racing.seen.split()[0]) < float(stopping.seen.split()[0])
    assert all("1.000 settled, 0.000 wrong" in line.seen for line in (racing, stopping))
