"""SIGINT and SIGTERM: once to finish the games in hand, twice to stop at once; either way all is kept and tidy."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from processes import wait_until

from crashes.freezing import silence
from crashes.kills import Toll, Undisturbed
from crashes.league import League, wait_for_games

LIMITLESS = ("--move-time", "none", "--start-time", "none")
"""Bots that are stopped are waited for."""


@pytest.fixture(scope="module")
def limitless(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed.play(tmp_path_factory.mktemp("limitless"), more=LIMITLESS)


def tidy(run: subprocess.Popen[bytes], league: League, undisturbed: Undisturbed, said: bytes) -> None:
    """It ended by the signal, lost nothing, left nothing, says how to go on, and goes on."""
    assert run.returncode == 130, f"exit code {run.returncode}: {said!r}"
    assert b"Traceback" not in said, said
    assert not league.left_over(), f"{league.left_over()} were left"
    toll = Toll()
    undisturbed.look(league, toll)
    assert toll.damage == {}, f"it was interrupted: {toll}"
    assert set(league.stored()) == league.acknowledged(), "what was saved was not noted"
    kept = len(league.stored())
    assert 0 < kept < league.games, f"{kept} games were played"
    done = league.finish()
    assert f"{kept} were played before: {league.games - kept} to play" in done.stderr
    assert league.standings() == undisturbed.standings, "the standings differ"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_once_ends_a_run_when_the_games_in_hand_are_over(
    undisturbed: Undisturbed, tmp_path: Path, number: signal.Signals
) -> None:
    league = undisturbed.again(tmp_path / "league")
    run = league.begin()
    wait_for_games(run, league, 1)
    run.send_signal(number)
    _, said = run.communicate(timeout=60)
    assert b"To go on: REFEREE_TOURNAMENT_SANDBOX=D referee tournament" in said
    assert (league.folder / "leaderboards" / "standings.json").exists(), "the leaderboard was not written"
    tidy(run, league, undisturbed, said)


def test_a_signal_once_lets_a_game_in_hand_take_its_time(limitless: Undisturbed, tmp_path: Path) -> None:
    league = limitless.again(tmp_path / "league")
    run = league.begin()
    bots = silence(run, league, 1)
    run.send_signal(signal.SIGINT)
    assert run.stderr
    wait_until(lambda: b"once more to stop at once" in run.stderr.readline())
    before = len(league.stored())
    with pytest.raises(subprocess.TimeoutExpired):
        run.wait(timeout=0.5)
    bots.go_on()
    _, said = run.communicate(timeout=60)
    assert len(league.stored()) > before, "the games in hand were not finished"
    tidy(run, league, limitless, said)


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_a_run_at_once_whatever_its_bots_do(
    limitless: Undisturbed, tmp_path: Path, first: signal.Signals, second: signal.Signals
) -> None:
    league = limitless.again(tmp_path / "league")
    run = league.begin()
    silence(run, league, 1)
    run.send_signal(first)
    assert run.stderr
    wait_until(lambda: b"once more to stop at once" in run.stderr.readline())
    run.send_signal(second)
    _, said = run.communicate(timeout=30)
    tidy(run, league, limitless, said)
