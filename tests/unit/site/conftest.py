"""Standings and settings that the pages are tried on."""

from __future__ import annotations

import pytest

from referee.ratings import Standings, rate
from referee.record import Bot, GameResult
from referee.rules import Ending
from referee.site import About, Label, RoundNote, Withdrawn

HOSTILE = "<img src=x onerror=alert(1)>|`\u202e\u200b=1+1\x1b[31m"


@pytest.fixture
def bots() -> tuple[Bot, Bot, Bot]:
    return Bot("anna", "a1" * 32), Bot("bert", "b2" * 32), Bot("carl", "c3" * 32)


@pytest.fixture
def standings(bots: tuple[Bot, Bot, Bot]) -> Standings:
    """Two players: anna beats bert twice on two deals, carl never had a rated game. Three: one game."""
    anna, bert, carl = bots
    return rate(
        [
            GameResult((anna, bert), 0, 0, Ending.EMPTIED, (1, 2), ()),
            GameResult((bert, anna), 1, 0, Ending.FORFEIT, (2, 1), (0,)),
            GameResult((bert, carl), 0, 0, Ending.FORFEIT, (2, 1), (0, 1)),
            GameResult((anna, bert, carl), 0, 0, Ending.WIDOWS, (1, 2, 2), ()),
        ]
    )


@pytest.fixture
def about(bots: tuple[Bot, Bot, Bot]) -> About:
    anna, bert, carl = bots
    return About(
        limits={"move_ms": "1000"},
        tier="none: processes are not isolated",
        versions={"referee": "9.8.7"},
        labels={
            anna: Label(language="Rust", author="=cmd()"),
            bert: Label(language=HOSTILE, author="[x](//y.example)"),
        },
        season=3,
        rounds=(
            RoundNote(number=3, season=2, games=5, commitment="c3" * 32, sealed=True, secret="5d" * 16),
            RoundNote(number=4, season=3, games=1200, unplayed=900, commitment="c4" * 32, sealed=True),
            RoundNote(number=5, season=3, games=7, commitment="c5" * 32, sealed=False, secret="5e" * 16, seed="42"),
        ),
        withdrawn=(Withdrawn(bot=carl, round=4, faults=25),),
        notes=("left out: dora, its manifest is <b>empty</b>",),
    )
