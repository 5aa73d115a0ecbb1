"""A check of a program, with all that it needs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from seats import prepared

from referee.bots.process.launcher import PlainLauncher
from referee.bots.process.limits import Limits
from referee.bots.process.system import Reaper
from referee.checking.bot.harness import Harness
from referee.checking.report.report import CheckStep
from referee.checking.steps.run_check import check
from referee.checking.steps.steps import CheckRun
from referee.play import SystemClock
from referee.rules import DEFAULT_RULES

RARE = Path(__file__).parent / "programs" / "rare.py"


@pytest.fixture(scope="session")
def reaper() -> Reaper:
    """One for the whole process, as in a worker."""
    return Reaper()


@pytest.fixture
def harness(tmp_path: Path, reaper: Reaper) -> Callable[..., Harness]:
    """Make what is needed to try `rare.py MODE`; a busy machine is no reason for a time-out."""

    def make(mode: str = "", *, move_ms: int = 20_000) -> Harness:
        bot = prepared(sys.executable, str(RARE), mode, folder=RARE.parent)
        return Harness(bot, PlainLauncher(tmp_path, reaper), SystemClock(), Limits(30_000, move_ms, None))

    return make


@pytest.fixture
def found(harness: Callable[..., Harness]) -> Callable[..., list[CheckStep]]:
    """Check `rare.py MODE`, up to the first step for which `enough` is true."""

    def make(
        mode: str, *, enough: Callable[[CheckStep], bool] = lambda step: False, move_ms: int = 20_000
    ) -> list[CheckStep]:
        steps: list[CheckStep] = []
        for step in check(CheckRun(harness(mode, move_ms=move_ms)), DEFAULT_RULES, Random(1)):
            steps.append(step)
            if enough(step):
                break
        return steps

    return make
