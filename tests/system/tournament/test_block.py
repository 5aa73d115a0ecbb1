"""Blocks: processes that live for one block, games that are void through nobody's fault."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from seats import PROGRAMS, prepared

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Child, PlainLauncher
from referee.bots.process.limits import Limits
from referee.errors import VoidGame
from referee.play import SystemClock
from referee.record import Bot, GameRecord, replay
from referee.rules import DEFAULT_RULES
from referee.tournament.engine.block import BlockListener, Parked, Void, play_block
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.schedule import Block, games_of

BOT = prepared(sys.executable, str(PROGRAMS / "who.py"))
NAME = BOT.manifest.identity
OTHER = Bot("other", "1" * 64)
CONDITIONS = Conditions(DEFAULT_RULES, Limits())


@dataclass
class FailingLauncher:
    """Cannot make the first `failures` processes, as on a machine that is out of memory."""

    real: PlainLauncher
    failures: int
    made: list[int] = field(default_factory=list)

    def launch(self, bot: Prepared) -> Child:
        if self.failures:
            self.failures -= 1
            raise VoidGame("no process could be made: Cannot allocate memory")
        child = self.real.launch(bot)
        self.made.append(child.pid)
        return child


def play(launcher: FailingLauncher, deals: int = 3) -> list[GameRecord | Parked]:
    block = Block(tuple(sorted([NAME, OTHER])), 0, tuple(range(deals)))
    games = games_of(block, b"s" * 16)
    bots = {NAME: BOT, OTHER: BOT}
    return list(play_block(games, bots=bots, conditions=CONDITIONS, launcher=launcher, clock=SystemClock()))


def test_one_pair_of_processes_plays_a_whole_block_and_every_record_replays(tmp_path: Path) -> None:
    launcher = FailingLauncher(PlainLauncher(tmp_path), 0)
    records = play(launcher)
    assert len(launcher.made) == 2
    for deal, record in enumerate(records):
        assert isinstance(record, GameRecord)
        assert (record.deal, record.rotation, record.faults) == (deal, 0, ())
        assert len(list(replay(record))) == len(record.steps)
        assert {step.note for step in record.steps} == set(map(str, launcher.made))


@pytest.mark.parametrize("size", [3, 4, 6])
def test_in_every_deal_each_seat_is_played_by_the_bot_that_the_record_names(tmp_path: Path, size: int) -> None:
    names = ["anna", "bert", "carl", "dora", "emil", "fred"][:size]
    bots = {
        Bot(name, "0" * 64): prepared(sys.executable, str(PROGRAMS / "named.py"), name, name=name) for name in names
    }
    games = games_of(Block(tuple(sorted(bots)), 1, tuple(range(7))), b"s" * 16)
    launcher = PlainLauncher(tmp_path)
    seatings = set()
    for record in play_block(games, bots=bots, conditions=CONDITIONS, launcher=launcher, clock=SystemClock()):
        assert isinstance(record, GameRecord)
        seatings.add(record.seats)
        assert {(record.seats[step.seat].name, step.note) for step in record.steps} == {(name, name) for name in names}
    assert len(seatings) > 1


def test_a_void_game_is_played_again_and_nobody_is_charged(tmp_path: Path) -> None:
    undisturbed = play(FailingLauncher(PlainLauncher(tmp_path), 0))
    voided = play(FailingLauncher(PlainLauncher(tmp_path), 2))
    actions = [
        [[step.action for step in game.steps] for game in games if isinstance(game, GameRecord)]
        for games in (undisturbed, voided)
    ]
    assert actions[0] == actions[1]
    assert all(isinstance(game, GameRecord) and not game.faults for game in voided)


def test_void_attempts_are_told_but_for_those_that_are_somebodys_doing(tmp_path: Path) -> None:
    @dataclass
    class Blaming(FailingLauncher):
        """The first failure is the doing of the bot at seat 1."""

        def launch(self, bot: Prepared) -> Child:
            try:
                return super().launch(bot)
            except VoidGame as void:
                raise VoidGame(str(void), culprit=1 if self.failures == 1 else None) from None

    told: list[Void] = []
    (game,) = games_of(Block(tuple(sorted([NAME, OTHER])), 0, (0,)), b"s" * 16)
    launcher = Blaming(PlainLauncher(tmp_path), 2)
    (record,) = play_block(
        [game],
        bots={NAME: BOT, OTHER: BOT},
        conditions=CONDITIONS,
        launcher=launcher,
        clock=SystemClock(),
        ears=BlockListener(told.append),
    )
    assert isinstance(record, GameRecord)
    assert [fault.seat for fault in record.faults] == [1]
    assert told == [Void(game, "no process could be made: Cannot allocate memory")]


def test_a_game_that_is_void_three_times_is_parked_and_the_block_goes_on(tmp_path: Path) -> None:
    first, *others = play(FailingLauncher(PlainLauncher(tmp_path), 3))
    assert isinstance(first, Parked)
    assert (first.game.deal, first.reason) == (0, "no process could be made: Cannot allocate memory")
    assert [isinstance(game, GameRecord) for game in others] == [True, True]


def test_no_process_outlives_its_block(tmp_path: Path) -> None:
    launcher = FailingLauncher(PlainLauncher(tmp_path), 0)
    play(launcher)
    assert not any(Path(f"/proc/{pid}").exists() for pid in launcher.made)
    assert list(tmp_path.iterdir()) == []


def test_bots_that_ignore_quit_are_waited_for_together(tmp_path: Path) -> None:
    stubborn = prepared(sys.executable, str(PROGRAMS / "bad.py"), "ignores_quit")
    names = [Bot(f"bot{number}", str(number) * 64) for number in range(4)]
    games = games_of(Block(tuple(names), 0, (0,)), b"s" * 16)
    bots = dict.fromkeys(names, stubborn)
    playing = play_block(games, bots=bots, conditions=CONDITIONS, launcher=PlainLauncher(tmp_path), clock=SystemClock())
    assert isinstance(next(playing), GameRecord)
    began = time.monotonic()
    playing.close()
    assert 1 <= time.monotonic() - began < 2.5


@dataclass
class Naming:
    """A launcher at whose `times` first processes it turns out that a seat kept the processors from the referee."""

    real: PlainLauncher
    times: int
    seat: int
    made: list[int] = field(default_factory=list)

    def launch(self, bot: Prepared) -> Child:
        if self.times:
            self.times -= 1
            raise VoidGame("the referee could not run in time, while this bot used it all", culprit=self.seat)
        child = self.real.launch(bot)
        self.made.append(child.pid)
        return child


def test_whose_doing_a_void_attempt_was_is_charged_with_the_game_and_with_no_other(tmp_path: Path) -> None:
    first, *others = play(Naming(PlainLauncher(tmp_path), 1, 1))  # type: ignore[arg-type]
    assert isinstance(first, GameRecord)
    assert [(one.seat, one.step, one.detail) for one in first.faults] == [
        (1, None, "the referee could not run in time, while this bot used it all")
    ]
    assert (first.places, first.forfeited) == ((1, 2), (1,))
    assert len(list(replay(first))) == len(first.steps)
    assert [isinstance(game, GameRecord) and game.faults for game in others] == [(), ()]


def test_attempts_that_are_somebodys_doing_are_not_those_after_which_a_game_is_parked(tmp_path: Path) -> None:
    launcher = Naming(PlainLauncher(tmp_path), 3, 0)
    first, *_ = play(launcher)  # type: ignore[arg-type]
    assert isinstance(first, GameRecord)
    assert first.forfeited == (0,)
