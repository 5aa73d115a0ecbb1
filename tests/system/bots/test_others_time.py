"""Nobody thinks in others' time: real programs that try, in every way we know of, and what they get of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from bots.hostile.arena import TIERS, Arena, Enter, arenas
from processes import states, wait_until
from seats import FirstLegal

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Child, Launcher
from referee.bots.process.limits import Limits
from referee.bots.process.pondering import Pondering, PonderingMonitor
from referee.bots.process.system import Reaper, usable_cores
from referee.bots.seat.player import BotPlayer
from referee.bots.tiers import Tier
from referee.cards import shuffled
from referee.errors import Verdict, VoidGame
from referee.play import Clock, DealtGame, GameEnd, GameStart, PlayedGame, Player, Reply, SystemClock, play_game
from referee.record import GameRecord
from referee.rules import DEFAULT_RULES, Question
from referee.tournament.engine.block import play_block
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.schedule import Block, games_of

MS = 1_000_000
PLAYED = [tier for tier in TIERS if tier in (Tier.A, Tier.D)]
LIMITS = Limits(start_ms=20_000, move_ms=20_000)
THINK_MS = 10
ONE_PROCESSOR = frozenset(usable_cores()[:1])
"""One processor for a whole table, where it hurts most."""


@pytest.fixture(scope="module")
def enter(reaper: Reaper) -> Iterator[Enter]:
    """The arena of a tier, one at a time, without neighbours."""
    with arenas(reaper, neighbours=False) as enter:
        yield enter


@dataclass
class Remembering:
    """A launcher that remembers what it has made, by the bot's name."""

    real: Launcher
    made: dict[str, Child] = field(default_factory=dict)

    def launch(self, bot: Prepared) -> Child:
        child = self.made[bot.manifest.identity.name] = self.real.launch(bot)
        return child


@dataclass
class Sitting:
    """Bots at a table, by seat, with what they are watched by."""

    monitor: PonderingMonitor
    launcher: Remembering
    players: list[BotPlayer]
    games: int = 0

    def play(self, *others: Player) -> PlayedGame:
        """One game of the bots, and of players in memory behind them."""
        self.games += 1
        table = [*self.players, *others]
        game = DealtGame(f"game{self.games}", DEFAULT_RULES, shuffled(b"%d" % self.games), tuple(range(len(table))))
        return play_game(game, table, clock=self.monitor.clock)

    def pondering(self) -> list[Pondering]:
        return [player.take_pondering() for player in self.players]

    def states(self, name: str) -> set[str]:
        """Of a bot's processes that are not dead."""
        return states(self.launcher.made[name].processes())


@contextmanager
def sitting(
    arena: Arena, *programs: tuple[str, ...], watched: bool = True, clock: Clock | None = None, limits: Limits = LIMITS
) -> Iterator[Sitting]:
    clock = clock or SystemClock()
    monitor, launcher = PonderingMonitor(clock), Remembering(arena.launcher(ONE_PROCESSOR))
    bots = [arena.bot(f"bot{seat}", *program) for seat, program in enumerate(programs)]
    players = [
        BotPlayer(bot, launcher=launcher, clock=clock, limits=limits, monitor=monitor if watched else None)
        for bot in bots
    ]
    try:
        yield Sitting(monitor, launcher, players)
    finally:
        for player in players:
            player.kill()


@dataclass
class Inspector(FirstLegal):
    """A player in memory that looks, when it is asked, what the processes of a bot are doing."""

    table: Sitting
    seen: list[set[str]] = field(default_factory=list)

    def ask(self, question: Question) -> Reply:
        until = time.monotonic() + 5
        while not (states := self.table.states("bot0")) <= {"T"} and time.monotonic() < until:
            time.sleep(0.001)  # on one processor they need it to come to their stop
        self.seen.append(states)
        return super().ask(question)


FORBIDDEN_WAYS = ["deaths", "timers"]
"""The ways that the filter of system calls closes, which D lacks: there the kernel wakes whoever was stopped."""
WAYS = ["itself", "threads", "children", "daemon", "a_child_a_time", "wakers", *FORBIDDEN_WAYS]


@pytest.mark.parametrize(
    ("tier", "way"),
    [(tier, way) for tier in PLAYED for way in WAYS if tier.is_boxed or way not in FORBIDDEN_WAYS],
)
def test_whoever_works_while_others_are_asked_is_found_and_stopped_and_plays_on(
    enter: Enter, tier: Tier, way: str
) -> None:
    with sitting(enter(tier), ("idlers.py", way), ("thinks.py", str(THINK_MS))) as table:
        while not table.monitor.known_ponderers:
            assert table.play().faults == ()
            found = table.pondering()
            assert (found[0].suspended, found[1].suspended) == (False, False)
            assert table.games < 5, "it is never found"
        assert found[0].cpu_ms > 0
        assert table.play().faults == ()
        found = table.pondering()
        assert found[0].suspended
        assert not found[1].suspended
        assert len(table.monitor.known_ponderers) == 1
        inspector = Inspector(table)
        played = table.play(inspector)
        assert played.faults == ()
        assert {step.seat for step in played.steps} == {0, 1, 2}
        assert inspector.seen
        assert all(states <= {"T"} for states in inspector.seen), inspector.seen


@dataclass
class Beside:
    """The player of a bot, and how much of a processor another bot uses while it is asked."""

    player: BotPlayer
    other: Callable[[], Child]
    used: int = 0

    def begin(self, start: GameStart) -> None:
        self.player.begin(start)

    def ask(self, question: Question) -> Reply:
        before = self.other().cpu_ns()
        try:
            return self.player.ask(question)
        finally:
            self.used += self.other().cpu_ns() - before

    def end(self, end: GameEnd) -> None:
        self.player.end(end)


@pytest.mark.parametrize("way", ["children", "itself", "daemon"])
@pytest.mark.parametrize("tier", PLAYED, ids="tier_{}".format)
def test_stopped_it_uses_less_than_a_twentieth_of_what_the_other_thinks(enter: Enter, tier: Tier, way: str) -> None:
    shares = []
    for watched in (False, True):
        with sitting(enter(tier), ("idlers.py", way), ("thinks.py", str(THINK_MS)), watched=watched) as table:
            while watched and not table.monitor.known_ponderers:
                table.play()
                table.pondering()
            thinker = Beside(table.players[1], lambda table=table: table.launcher.made["bot0"])
            played = play_game(
                DealtGame("beside", DEFAULT_RULES, shuffled(b"0"), (1, 2)),
                [table.players[0], thinker],
                clock=table.monitor.clock,
            )
            assert played.faults == ()
            thought = THINK_MS * MS * sum(step.seat == 1 for step in played.steps)
            shares.append(thinker.used / thought)
    assert shares[0] > 0.2, "unwatched it takes a good deal, or the test proves nothing"
    assert shares[1] < 0.05


@pytest.mark.parametrize("tier", PLAYED, ids="tier_{}".format)
def test_good_bots_are_not_stopped_and_their_records_say_so(enter: Enter, tier: Tier) -> None:
    arena = enter(tier)
    records = list(arena.play(arena.bot("one", "good.py"), arena.bot("other", "thinks.py", "2"), LIMITS, deals=3))
    assert all(isinstance(record, GameRecord) for record in records)
    assert [(len(one.idle_cpu_ms), one.held) for one in records if isinstance(one, GameRecord)] == [(2, ())] * 3


def test_a_record_says_who_was_stopped_and_the_next_process_of_that_bot_begins_so(enter: Enter) -> None:
    arena, known = enter(PLAYED[0]), set[str]()
    bots = [arena.bot("idler", "idlers.py", "children"), arena.bot("thinker", "thinks.py", str(THINK_MS))]
    line_up = tuple(bot.manifest.identity for bot in bots)

    def records(rotation: int) -> list[GameRecord]:
        playing = play_block(
            games_of(Block(line_up, rotation, (0, 1)), b"s" * 16),
            bots=dict(zip(line_up, bots, strict=True)),
            conditions=Conditions(DEFAULT_RULES, LIMITS),
            launcher=arena.launcher(ONE_PROCESSOR),
            clock=SystemClock(),
            known_ponderers=known,
        )
        found = [record for record in playing if isinstance(record, GameRecord)]
        assert len(found) == 2
        return found

    first = records(0)
    assert [one.seats[seat].name for one in first for seat in one.held] in (["idler", "idler"], ["idler"])
    assert known == {line_up[0].hash}
    for record in records(1):
        assert [record.seats[seat].name for seat in record.held] == ["idler"]
        assert record.faults == ()


# -- void is no weapon


class LateClock(SystemClock):
    """A clock that stands still, once armed, at its `calls`-th call until `happened`, and then leaps by `leap` ns."""

    def __init__(self) -> None:
        self.ahead = self.calls = self.leap = 0
        self.happened: Callable[[], bool] = lambda: True

    def arm(self, calls: int, leap: int, happened: Callable[[], bool]) -> None:
        self.calls, self.leap, self.happened = calls, leap, happened

    def now(self) -> int:
        self.calls -= 1
        if self.calls == 0:
            began = time.monotonic_ns()
            wait_until(self.happened)
            self.ahead += self.leap - (time.monotonic_ns() - began)
        return time.monotonic_ns() + self.ahead


BURNED = 1300 * MS
LATE = 1700 * MS
SHORT = Limits(start_ms=20_000, move_ms=1_000)


@dataclass
class Late:
    """A bot's player; the clock is armed as soon as `now` says so, in the midst of its next question."""

    player: BotPlayer
    arm: Callable[[], bool]
    armed: bool = False

    def begin(self, start: GameStart) -> None:
        self.player.begin(start)

    def ask(self, question: Question) -> Reply:
        self.armed = self.armed or self.arm()
        return self.player.ask(question)

    def end(self, end: GameEnd) -> None:
        self.player.end(end)


def played_late(arena: Arena, way: str, culprit: int) -> PlayedGame:
    """A game in which the referee cannot run for a while, in which a bot uses `BURNED` ns, unless its way is nothing.

    That is while the bot at seat 0 is asked: at its first question where it is the culprit, else at the first one
    after the culprit has been asked. Raises VoidGame.
    """
    clock = LateClock()
    programs = [("good.py",), ("good.py",)]
    programs[culprit] = ("idlers.py", way)
    with sitting(arena, *programs, clock=clock, limits=SHORT) as table:
        for player in table.players:
            player.start()
        child = table.launcher.made[f"bot{culprit}"]
        answered: list[bool] = [culprit == 0]

        def arm() -> bool:
            if answered[0]:
                before = child.cpu_ns()
                clock.arm(3, LATE, lambda: way == "nothing" or child.cpu_ns() > before + BURNED)
            return answered[0]

        def note() -> bool:
            answered[0] = True
            return True

        game = DealtGame("late", DEFAULT_RULES, shuffled(b"late"), (1, 2))
        return play_game(game, [Late(table.players[0], arm), Late(table.players[1], note)], clock=clock)


@pytest.mark.parametrize("way", ["load_and_stay_away", "load_and_answer"])
@pytest.mark.parametrize("tier", PLAYED, ids="tier_{}".format)
def test_whoever_keeps_the_referee_from_running_while_it_is_asked_is_charged_with_figures(
    enter: Enter, tier: Tier, way: str
) -> None:
    played = played_late(enter(tier), way, 0)
    (fault,) = played.faults
    assert (fault.seat, fault.verdict) == (0, Verdict.TIMEOUT)
    figures = re.search(r"this bot's own processes used (\d+) of the (\d+) ms of processor time", fault.detail)
    assert figures is not None, fault.detail
    assert int(figures[1]) * MS >= BURNED - 100 * MS
    assert int(figures[2]) * MS <= LATE + 200 * MS


@pytest.mark.parametrize("tier", PLAYED, ids="tier_{}".format)
def test_whoever_keeps_it_from_running_while_another_is_asked_is_named(enter: Enter, tier: Tier) -> None:
    with pytest.raises(VoidGame, match=r"this bot, which was not asked, used \d+ of the") as caught:
        played_late(enter(tier), "load", 1)
    assert caught.value.culprit == 1


@pytest.mark.parametrize("tier", PLAYED, ids="tier_{}".format)
def test_nobody_is_charged_where_the_referee_was_late_by_itself(enter: Enter, tier: Tier) -> None:
    with pytest.raises(VoidGame, match="ms late") as caught:
        played_late(enter(tier), "nothing", 1)
    assert caught.value.culprit is None
