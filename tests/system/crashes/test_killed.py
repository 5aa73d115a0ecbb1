"""SIGKILL at every commit and rename and at two hundred random moments: no game is lost and nothing is left."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from crashes.kills import WHOM, Undisturbed, at_every, at_random

LEAST = {"before": 6, "after": 6, "closing": 1, "renaming": 8}
"""How many such moments there are at least; where there are fewer, the hook hooks nothing."""
PARTS = 2
KILLS = 200 // len(WHOM) // PARTS


@pytest.mark.parametrize("moment", LEAST)
def test_killed_at_every_moment_of_a_kind_and_begun_again_a_tournament_ends_as_if_undisturbed(
    short: Undisturbed, tmp_path: Path, moment: str
) -> None:
    toll = at_every(moment, short, tmp_path)
    assert toll.damage == {}, f"killed {moment}: {toll}"
    assert toll.kills >= LEAST[moment], "there were too few such moments"


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("whom", WHOM)
def test_killed_at_random_moments_and_begun_again_a_tournament_ends_as_if_undisturbed(
    undisturbed: Undisturbed, tmp_path: Path, whom: str, part: int
) -> None:
    toll = at_random(whom, KILLS, undisturbed, tmp_path, random.Random(f"{whom} {part}"))
    assert toll.damage == {}, f"{whom} killed: {toll}"
    assert toll.kills >= KILLS
