"""Checking one bot: does it keep to the protocol?"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from random import SystemRandom

from referee.bots.cache.prepare import Prepared
from referee.bots.cache.scratch import run_folder
from referee.bots.process import system
from referee.bots.process.limits import Limits
from referee.bots.sandbox.probing import launcher_for
from referee.bots.seat.transcript import Transcript
from referee.checking.bot.harness import Harness
from referee.checking.report.report import CheckReport, CheckStep
from referee.checking.steps.run_check import Fuzz
from referee.checking.steps.run_check import check as steps_of_check
from referee.checking.steps.steps import CheckRun
from referee.checking.steps.transcripts import compared
from referee.contest.cores import share_a_core
from referee.contest.loading import Programs
from referee.errors import InputError
from referee.play import SystemClock
from referee.rules import DEFAULT_RULES, Rules


def check_steps(
    bot: Programs,
    *,
    rules: Rules = DEFAULT_RULES,
    limits: Limits | None = None,
    fuzz: Fuzz | None = None,
    transcripts: Sequence[tuple[Path, Sequence[Transcript]]] = (),
) -> Generator[CheckStep, None, None]:
    """Yield the steps of a check of one bot, each as it is done.

    With `fuzz` random games follow; with `transcripts` nothing is done but to play these to the bot again and to
    compare its answers. Raises InputError if `bot` is not one bot.
    """
    one = only(bot)
    share_a_core()
    with run_folder() as scratch:
        launcher = launcher_for(bot.tier, scratch=scratch, box=bot.box, reaper=system.Reaper())
        harness = Harness(one, launcher, SystemClock(), limits or Limits())
        if transcripts:
            yield from compared(transcripts, harness)
        else:
            yield from steps_of_check(CheckRun(harness), rules, SystemRandom(), fuzz)


def check(bot: Programs, *, rules: Rules = DEFAULT_RULES, limits: Limits | None = None) -> CheckReport:
    """Check one bot step by step: each part of the protocol, every kind of position, whole games against itself.

    Return the report; `report.passed` is True if no step failed. Raises InputError if `bot` is not one bot.
    """
    one = only(bot).manifest.identity
    return CheckReport(
        bot=one.name, hash=one.hash, steps=tuple(check_steps(bot, rules=rules, limits=limits)), seed=None
    )


def only(bot: Programs) -> Prepared:
    """Return the one bot that was loaded. Raises InputError if there is not exactly one."""
    if len(bot.bots) != 1:
        raise InputError(f"a check is of one bot, and {len(bot.bots)} were given")
    return bot.bots[0]
