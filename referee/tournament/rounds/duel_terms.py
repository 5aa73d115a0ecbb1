"""What a duel's round asks, frozen with it: a test whose question is chosen after the games proves nothing."""

from __future__ import annotations

import msgspec


class DuelTerms(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the bot number `challenger` of the round is better than the other, which has all other seats.

    `s0`, `s1`, `alpha` and `beta` are those of `referee.ratings.sequential.betting.DuelHypotheses`.
    """

    challenger: int
    s0: float
    s1: float
    alpha: float
    beta: float
