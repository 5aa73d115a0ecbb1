"""The page of the statistics has the constants of the program."""

from __future__ import annotations

import math

import trueskill
from command_line import ROOT

from referee.ratings.maths import intervals
from referee.ratings.published import in_elo
from referee.ratings.sequential import settling
from referee.ratings.sequential.betting import deal_variance
from referee.ratings.strength import ranks

PAGE = " ".join((ROOT / "docs" / "statistics.md").read_text("utf-8").split())


def test_errors_are_averaged_as_the_page_says() -> None:
    worth, least, known = intervals.WORTH, intervals.LEAST, intervals.KNOWN
    assert f"max( (d V + {worth:.0f} M) / (d + {worth:.0f}), {least**2:.2f} M )" in PAGE
    assert f"(d + {worth:.0f})² / (d + {worth**2:.0f} / ({known:.0f} (n - 1)))" in PAGE


def test_draws_bets_and_scales_are_those_of_the_page() -> None:
    assert f"of {ranks.DRAWS:,} draws" in PAGE
    bets = ", ".join(f"{bet:g}".removeprefix("0") for bet in settling.BETS)
    assert f"over *l* = {bets} of" in PAGE
    assert f"400 / ln 10, {in_elo(1.0):.1f}." in PAGE
    assert (trueskill.MU, trueskill.SIGMA, trueskill.BETA) == (25, 25 / 3, 25 / 6)
    assert "mu 25, sigma 25/3, beta 25/6" in PAGE


def test_the_variance_of_a_deal_is_that_of_the_page() -> None:
    assert deal_variance(2) == 0.125
    assert "*σ²* is .125 for two players, three quarters of *(n + 1) / (12 n (n - 1))* for more" in PAGE
    assert all(math.isclose(deal_variance(n), 0.75 * (n + 1) / (12 * n * (n - 1))) for n in range(3, 7))
