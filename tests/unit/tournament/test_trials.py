"""Trials: programs of ours that play wherever a bot does, stand-ins, and what a trial shows of a bot or of the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from workers import NO_LIMITS, job, line_up, plain

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Child, Launcher, PlainLauncher
from referee.errors import VoidGame
from referee.play import SystemClock
from referee.rules import DEFAULT_RULES
from referee.tournament.engine.reference_bot import nobody
from referee.tournament.engine.trials import PAUSES, Showing, Tried, hold
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.schedule import GameSpec, Trial, game_of

FIRST, LAST = plain("first"), plain("last")
CONDITIONS = Conditions(DEFAULT_RULES, NO_LIMITS)


class NoWaiting(SystemClock):
    """The machine's clock, which passes over pauses and notes how long they would have been."""

    def __init__(self) -> None:
        self.pauses: list[int] = []

    def sleep_until(self, when: int) -> None:
        self.pauses.append(round((when - self.now()) / 1e9))


@dataclass
class Failing:
    """A launcher that fails for some programs: for whom, and how often."""

    real: Launcher
    fails: Callable[[Prepared], bool]
    asked: list[str] = field(default_factory=list)

    def launch(self, bot: Prepared) -> Child:
        self.asked.append(bot.manifest.identity.name)
        if self.fails(bot):
            raise VoidGame(f"no process could be made for {bot.manifest.identity.name}: Cannot allocate memory")
        return self.real.launch(bot)


def spec(*bots: Prepared) -> GameSpec:
    return game_of(b"s" * 16, line_up(*bots), 0, 0)


def trial(launcher: Launcher, tried: Trial, *bots: Prepared, clock: SystemClock | None = None) -> Tried:
    known = job(Path(), *bots).bots
    return hold(tried, spec(*bots), bots=known, conditions=CONDITIONS, launcher=launcher, clock=clock or NoWaiting())


def test_the_name_of_our_program_is_none_that_an_entry_can_have() -> None:
    assert not nobody().manifest.identity.name.replace("-", "").replace(".", "").replace("_", "").isalnum()


def test_a_machine_on_which_nothing_can_be_started_is_tried_three_times_with_pauses(tmp_path: Path) -> None:
    clock = NoWaiting()
    tried = trial(Failing(PlainLauncher(tmp_path), lambda _: True), Trial(1), FIRST, LAST, clock=clock)
    assert (tried.showing, tried.attempts) == (Showing.VOID, 3)
    assert tried.reason == "no process could be made for (nobody): Cannot allocate memory"
    assert clock.pauses == [pause // 1_000_000_000 for pause in PAUSES[1:]]


def test_a_bot_whose_process_cannot_be_made_has_done_nothing(tmp_path: Path) -> None:
    launcher = Failing(PlainLauncher(tmp_path), lambda bot: bot is LAST)
    tried = trial(launcher, Trial(1, LAST.manifest.identity), FIRST, LAST)
    assert (tried.showing, tried.attempts) == (Showing.UNCLEAR, 1)


def test_a_bot_whose_copy_others_took_away_has_done_nothing(tmp_path: Path) -> None:
    gone = replace(LAST, folder=tmp_path / "gone", argv=("./last",))
    tried = trial(PlainLauncher(tmp_path), Trial(1, LAST.manifest.identity), FIRST, gone)
    assert tried.showing is Showing.UNCLEAR
