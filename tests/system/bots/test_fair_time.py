"""Only a bot that had the processor is charged with a late answer: honest bots beside busy programs, and attackers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from bots.hostile.arena import TIERS, Enter, arenas, as_a_user
from bots.test_others_time import ONE_PROCESSOR, Sitting, sitting
from command_line import ROOT
from seats import FirstLegal

from referee.bots.process.limits import Limits
from referee.bots.process.process import KeptWaiting
from referee.bots.process.system import Reaper, pin_to
from referee.bots.seat.player import BotPlayer
from referee.bots.tiers import Tier
from referee.cards import shuffled
from referee.errors import Verdict, VoidGame
from referee.play import DealtGame, GameEnd, GameStart, Player, Reply, play_game
from referee.rules import DEFAULT_RULES, Question

PLAYED = [tier for tier in TIERS if tier in (Tier.A, Tier.D)]
MS = 1_000_000
LIMIT_MS = 200
LIMITS = Limits(start_ms=60_000, move_ms=LIMIT_MS)
THINK_MS = "50"
PROGRAMS_BESIDE = 6


@pytest.fixture(scope="module")
def enter(reaper: Reaper) -> Iterator[Enter]:
    """The arena of a tier, one at a time, without neighbours."""
    with arenas(reaper, neighbours=False) as enter:
        yield enter


@contextmanager
def busy_processor() -> Iterator[None]:
    """Other programs keep the table's only processor busy; each of them ends by itself at the latest."""
    spin = (
        "import time\nuntil = time.monotonic() + 120\nprint('here', flush=True)\nwhile time.monotonic() < until: pass"
    )
    beside = [
        subprocess.Popen([sys.executable, "-S", "-c", spin], stdout=subprocess.PIPE, start_new_session=True)
        for _ in range(PROGRAMS_BESIDE)
    ]
    try:
        for one in beside:
            assert one.stdout is not None
            one.stdout.readline()
            pin_to(ONE_PROCESSOR, one.pid)
        yield
    finally:
        for one in beside:
            one.kill()
            one.communicate()


@dataclass
class Timed:
    """A bot's player for its first questions, with the time of each by the clock on the wall and by the referee."""

    player: BotPlayer
    questions: int
    wall_ms: list[float] = field(default_factory=list)
    own_ms: list[float] = field(default_factory=list)
    last: Reply | None = None

    def begin(self, start: GameStart) -> None:
        self.player.begin(start)

    def ask(self, question: Question) -> Reply:
        if len(self.wall_ms) == self.questions:
            return Reply(question.legal[0], 0)
        began = time.monotonic()
        reply = self.player.ask(question)
        self.wall_ms.append(1000 * (time.monotonic() - began))
        self.own_ms.append(reply.us / 1000)
        return reply

    def end(self, end: GameEnd) -> None:
        self.player.end(end)


@pytest.mark.parametrize("clock", [(), ("clock",)], ids=["processor", "clock"])
@pytest.mark.parametrize("tier", PLAYED, ids="tier_{}".format)
def test_an_honest_bot_on_a_busy_processor_is_not_charged_and_its_own_time_is_within_the_limit(
    enter: Enter, tier: Tier, clock: tuple[str, ...]
) -> None:
    with sitting(enter(tier), ("thinks.py", THINK_MS, *clock), limits=LIMITS) as table:
        thinker = Timed(table.players[0], questions=8)
        table.players[0].start()
        with busy_processor():
            played = play(table, thinker)
    assert played == []
    assert len(thinker.own_ms) == 8
    assert max(thinker.own_ms) <= LIMIT_MS + 250
    if not clock:
        assert max(thinker.wall_ms) > LIMIT_MS, "it did not have to wait, so that this proves nothing"


def play(table: Sitting, player: Player) -> list[tuple[int, Verdict]]:
    """The faults of a game of one player, and another one in memory."""
    game = DealtGame("fair", DEFAULT_RULES, shuffled(b"fair"), (1, 2))
    played = play_game(game, [player, FirstLegal()], clock=table.monitor.clock)
    return [(fault.seat, fault.verdict) for fault in played.faults]


HOGS = ["sleeps", "works", "works_in_threads", "works_in_children", "wakes_all_at_once", "works_in_a_chain"]


@pytest.mark.parametrize("way", HOGS)
@pytest.mark.parametrize("tier", PLAYED, ids="tier_{}".format)
def test_a_bot_cannot_make_time_for_itself(enter: Enter, tier: Tier, way: str) -> None:
    with sitting(enter(tier), ("hogs.py", way), limits=LIMITS) as table:
        table.players[0].start()
        child = table.launcher.made["bot0"]
        before = child.cpu_ns()
        try:
            assert play(table, table.players[0]) == [(0, Verdict.TIMEOUT)]
            assert child.last_cpu_ns - before < 2 * LIMIT_MS * MS
        except KeptWaiting:  # by others, on a busy machine
            assert child.last_cpu_ns - before < LIMIT_MS * MS
            assert way != "sleeps"
            assert way != "works_in_a_chain" or child.counts_all, "it made the game void by itself"


@pytest.mark.parametrize("tier", PLAYED, ids="tier_{}".format)
def test_a_bot_that_sleeps_gains_nothing_by_a_busy_processor(enter: Enter, tier: Tier) -> None:
    with sitting(enter(tier), ("hogs.py", "sleeps"), limits=LIMITS) as table:
        table.players[0].start()
        with busy_processor():
            assert play(table, table.players[0]) == [(0, Verdict.TIMEOUT)]


UNSTOPPABLE = ["long_call", "large_maps"]
UNCOUNTED = ["short_lives", "short_siblings"]


@pytest.mark.parametrize("way", [*UNSTOPPABLE, *UNCOUNTED])
@pytest.mark.parametrize("tier", PLAYED, ids="tier_{}".format)
def test_whoever_is_kept_from_the_processor_by_another_bot_is_neither_charged_nor_suspended(
    enter: Enter, tier: Tier, way: str
) -> None:
    with sitting(enter(tier), ("idlers.py", way), ("thinks.py", "33"), limits=LIMITS) as table:
        caught = way == "long_call"  # a filter may refuse the call
        for game in range(10):
            attack(table)
            attacker, victim = table.pondering()
            assert not victim.suspended
            caught = caught or attacker.suspended
            if caught and game:
                return
        raise AssertionError("the attacker was never caught")


def attack(table: Sitting) -> None:
    """A game in which nobody but the bot at seat 0 is charged with anything, a void game included."""
    try:
        faults = table.play().faults
    except VoidGame as void:
        assert void.culprit in (0, None), void  # None: the machine is too busy to tell
        for player in table.players:
            player.kill()
    else:
        assert [fault.detail for fault in faults if fault.seat != 0] == []


def test_all_this_holds_for_a_user_without_groups_of_processes() -> None:
    if os.geteuid() != 0:
        return  # all the others have shown it
    only = ("-q", "-p", "no:cacheprovider", "-k", "short_ or chain", __file__)
    done = subprocess.run([*as_a_user(), "-m", "pytest", *only], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
