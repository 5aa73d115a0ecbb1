"""Trials: programs of ours that play wherever a bot does, stand-ins, and what a trial shows of a bot or of the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from workers import NO_LIMITS, job, line_up, plain

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Child, Launcher, PlainLauncher
from referee.bots.sandbox.probing import launcher_for
from referee.bots.tiers import Tier
from referee.errors import VoidGame
from referee.play import Player, SystemClock
from referee.record import GameRecord
from referee.rules import DEFAULT_RULES
from referee.tournament.engine.block import play_once, player_of, stop
from referee.tournament.engine.reference_bot import nobody
from referee.tournament.engine.table_players import Moving, ObservedPlayer, ScriptedPlayer
from referee.tournament.engine.trials import ATTEMPTS, Showing, Tried, hold
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


@dataclass
class Void:
    """A launcher whose boxes of one bot break once they have been made."""

    real: Launcher
    name: str

    def launch(self, bot: Prepared) -> Child:
        child = self.real.launch(bot)
        if bot.manifest.identity.name == self.name:
            child.close_stdin()

            def status() -> int | None:
                raise VoidGame("the sandbox failed, and not the bot in it")

            child.status = status  # type: ignore[method-assign]
        return child


def spec(*bots: Prepared) -> GameSpec:
    return game_of(b"s" * 16, line_up(*bots), 0, 0)


def record(*bots: Prepared, launcher: Launcher, told: Moving | None = None) -> GameRecord:
    """A game that nothing happens to."""
    game, clock = spec(*bots), SystemClock()
    known = {bot.manifest.identity: bot for bot in bots}
    real = [player_of(known[bot], CONDITIONS, launcher, clock) for bot in game.seats]
    table: list[Player] = [
        one if told is None else ObservedPlayer(one, seat, told.told) for seat, one in enumerate(real)
    ]
    played = play_once(game, table, CONDITIONS, clock)
    stop(real, clock)
    return played


def trial(launcher: Launcher, tried: Trial, *bots: Prepared, clock: SystemClock | None = None) -> Tried:
    known = job(Path(), *bots).bots
    return hold(tried, spec(*bots), bots=known, conditions=CONDITIONS, launcher=launcher, clock=clock or NoWaiting())


@pytest.mark.parametrize("tier", list(Tier))
@pytest.mark.parametrize("seats", [2, 6])
def test_programs_of_ours_play_whole_games_without_a_fault_on_every_tier(
    public_path: Path, tier: Tier, seats: int
) -> None:
    launcher, clock, ours = launcher_for(tier, scratch=public_path, box=CONDITIONS.box), SystemClock(), nobody()
    game = game_of(b"s" * 16, (ours.manifest.identity,) * seats, 0, 0)
    real = [player_of(ours, CONDITIONS, launcher, clock) for _ in range(seats)]
    played = play_once(game, real, CONDITIONS, clock)
    stop(real, clock)
    assert played.faults == ()
    assert {step.seat for step in played.steps} == set(range(seats))


def test_stand_ins_make_the_moves_that_were_heard_and_so_repeat_a_game(tmp_path: Path) -> None:
    launcher, heard = PlainLauncher(tmp_path), Moving()
    whole = record(FIRST, LAST, launcher=launcher, told=heard)
    moves = heard.moves()
    by_seat = [tuple(step.action for step in whole.steps if step.seat == seat) for seat in range(2)]
    assert list(moves) == by_seat
    again = play_once(spec(FIRST, LAST), [ScriptedPlayer(some) for some in moves], CONDITIONS, SystemClock())
    assert [step.action for step in again.steps] == [step.action for step in whole.steps]
    assert again.outcome == whole.outcome


def test_where_the_moves_end_or_cannot_be_made_a_stand_in_takes_the_first_legal_one(tmp_path: Path) -> None:
    usual = record(FIRST, plain("middle"), launcher=PlainLauncher(tmp_path))
    game = spec(FIRST, plain("middle"))
    ends = play_once(
        game, [ScriptedPlayer(), ScriptedPlayer(["nonsense", "keep all"] * 500)], CONDITIONS, SystemClock()
    )
    assert ends.faults == usual.faults == ()


def test_trouble_that_passes_ends_no_run(tmp_path: Path) -> None:
    once = iter([True])
    tried = trial(Failing(PlainLauncher(tmp_path), lambda _: next(once, False)), Trial(1), FIRST, LAST)
    assert (tried.showing, tried.attempts) == (Showing.PLAYED, 2)


@pytest.mark.parametrize("bot", [FIRST, LAST])
def test_a_bot_that_does_nothing_to_the_machine_is_played(tmp_path: Path, bot: Prepared) -> None:
    launcher = Failing(PlainLauncher(tmp_path), lambda _: False)
    tried = trial(launcher, Trial(1, bot.manifest.identity), FIRST, LAST)
    assert (tried.showing, tried.attempts) == (Showing.PLAYED, 1)
    assert launcher.asked == [bot.manifest.identity.name], "somebody else's program ran"


def test_where_ours_fail_too_nothing_is_said_of_the_bot(tmp_path: Path) -> None:
    ours = iter([False, False, True])
    launcher = Failing(
        Void(PlainLauncher(tmp_path), "last"),
        lambda bot: bot.manifest.identity.name == "(nobody)" and next(ours, False),
    )
    tried = trial(launcher, Trial(1, LAST.manifest.identity), FIRST, LAST)
    assert tried.showing is Showing.UNCLEAR
    assert tried.attempts == 2


def test_a_bot_that_makes_all_of_some_attempts_void_is_shown_to(tmp_path: Path) -> None:
    launcher = Failing(Void(PlainLauncher(tmp_path), "last"), lambda _: False)
    tried = trial(launcher, Trial(1, LAST.manifest.identity), FIRST, LAST)
    assert tried == Tried(tried.trial, Showing.VOID, ATTEMPTS, "the sandbox failed, and not the bot in it")
    assert launcher.asked.count("last") == ATTEMPTS
    assert launcher.asked.count("(nobody)") == 2 * ATTEMPTS
