"""A suspended referee: nobody is charged for time in which nobody ran."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from crashes.freezing import Frozen, freeze_everything, freeze_referee, freeze_workers
from crashes.kills import Toll, Undisturbed
from crashes.league import wait_for_games
from referee.tournament.engine.pool import SILENCE

LIMITS = ("--move-time", "500ms", "--start-time", "2s")
LONGER_THAN_ANY_LIMIT = 3.0
"""Seconds; the longest of the limits, and what the referee allows itself."""
TIMES = 3
"""How often a run is suspended."""


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed.play(tmp_path_factory.mktemp("limited"), deals=80, more=LIMITS)


@pytest.mark.parametrize("freeze", [freeze_referee, freeze_workers, freeze_everything])
def test_a_run_that_is_suspended_for_longer_than_its_limits_ends_as_if_undisturbed(
    limited: Undisturbed, tmp_path: Path, freeze: Callable[[int], Frozen]
) -> None:
    league = limited.again(tmp_path / "league")
    run = league.begin()
    for time in range(TIMES):
        wait_for_games(run, league, 1 + time * league.games // (TIMES + 1))
        suspend(run, freeze, LONGER_THAN_ANY_LIMIT)
    _, said = run.communicate(timeout=120)
    assert run.returncode == 0, f"exit code {run.returncode}: {said!r}"
    rows = json.loads(league.standings())["tables"][0]["rows"]
    assert {row["name"]: row["faults"] for row in rows} == dict.fromkeys(("one", "three", "two"), 0), "who was charged?"
    toll = Toll()
    limited.conclude(league, toll)
    assert toll.damage == {}, f"it was suspended: {toll}"


def test_a_referee_that_is_suspended_for_longer_than_its_workers_may_be_silent_loses_none_of_them(
    limited: Undisturbed, tmp_path: Path
) -> None:
    league = limited.again(tmp_path / "league")
    run = league.begin()
    wait_for_games(run, league, 1)
    suspend(run, freeze_everything, SILENCE + 1)
    _, said = run.communicate(timeout=120)
    assert run.returncode == 0, f"exit code {run.returncode}: {said!r}"
    assert b"lost" not in said
    assert league.standings() == limited.standings, "the standings differ"


def suspend(run: subprocess.Popen[bytes], freeze: Callable[[int], Frozen], seconds: float) -> None:
    """Stop for so long what `freeze` stops; it must not be over before."""
    frozen = freeze(run.pid)
    assert frozen.pids, "there was nothing to be stopped"
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(timeout=seconds)
    finally:
        frozen.go_on()
