"""The soak of `benchmarks/soak.py`, short: what the referee holds, and what it leaves, after hundreds of hostile games."""

from __future__ import annotations

from pathlib import Path

from bots.hostile.catalogue import CATALOGUE
from bots.hostile.soaking import clear, soak

KINDS = CATALOGUE[::5]
"""Some of every clause, so that each comes often in few games."""


def test_the_referee_holds_no_more_after_hundreds_of_hostile_games_and_leaves_nothing(public_path: Path) -> None:
    try:
        soaked = soak(public_path, KINDS, early=60, games=180)
    finally:
        clear(public_path)
    assert soaked.broken() == []
    assert {"crash", "protocol_error", "timeout", "start_failed", "illegal_action"} <= soaked.faults.keys()
