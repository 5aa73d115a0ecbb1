"""One deadline for every limit: what is there when it is looked at counts, and a referee that looks late charges none."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from processes import wait_until
from seats import PROGRAMS, Seat, prepared

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Child, PlainLauncher
from referee.bots.process.limits import Limits
from referee.bots.process.process import BotProcess, NoLine, NoReply
from referee.bots.seat.player import BotPlayer
from referee.bots.seat.process_state import unread
from referee.errors import VoidGame
from referee.play import SystemClock

Make = Callable[..., Seat]
WHO = prepared(sys.executable, str(PROGRAMS / "who.py"))


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Fail where something waits for ever."""

    def fail(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"nothing happened within {seconds} s")

    old = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


class LeapingClock(SystemClock):
    """Leaps ahead by `leap` ns at its `calls`-th call from now, as when the machine was suspended, once `happened`."""

    def __init__(self) -> None:
        self.ahead = self.calls = self.leap = 0
        self.happened: Callable[[], bool] = lambda: True

    def leap_at(self, calls: int, leap: int, happened: Callable[[], bool] = lambda: True) -> None:
        self.calls, self.leap, self.happened = calls, leap, happened

    def now(self) -> int:
        self.calls -= 1
        if self.calls == 0:
            wait_until(self.happened)
            self.ahead += self.leap
        return time.monotonic_ns() + self.ahead


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[BotProcess]:
    child = PlainLauncher(tmp_path).launch(prepared(sys.executable, str(PROGRAMS / "bad.py"), "never_ready"))
    yield BotProcess(child, SystemClock())
    child.end()


def test_a_deadline_that_has_passed_ends_the_wait_at_once(silent: BotProcess) -> None:
    with no_longer_than(5), pytest.raises(NoLine) as caught:
        silent.exchange(b"{}\n", time.monotonic_ns() - 1)
    assert caught.value.why is NoReply.DEADLINE


class StalePoll:
    """Says once that there is an answer, which the bot has taken back by the time it is read."""

    def __init__(self, process: BotProcess) -> None:
        self.real = process._poll
        self.said = [process._only_an_answer]

    def poll(self, timeout: float | None) -> list[tuple[int, int]]:
        return self.said.pop() if self.said else self.real.poll(timeout)


def test_an_answer_that_was_taken_back_before_it_was_read_is_none(
    silent: BotProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silent, "_poll", StalePoll(silent))
    with no_longer_than(5), pytest.raises(NoLine) as caught:
        silent.exchange(b"{}\n", time.monotonic_ns() + 50_000_000)
    assert caught.value.why is NoReply.DEADLINE


def test_a_game_whose_time_is_used_up_ends_in_a_timeout(seat: Make) -> None:
    table = seat("never_answers", limits=Limits(move_ms=None, game_ms=50))
    with no_longer_than(10):
        assert [fault.verdict for fault in table.play().faults] == ["timeout"]


SECOND = 1_000_000_000


def answered(table: Seat) -> Callable[[], bool]:
    """Whether an answer is there that nobody has read; the clock is asked a second time when the question is sent."""
    process = table.player.conversation.process
    assert process is not None
    return lambda: bool(unread(process.child.stdout))


@pytest.mark.parametrize("limits", [Limits(move_ms=600), Limits(move_ms=None, game_ms=600)])
def test_a_referee_that_looks_too_late_at_an_answer_voids_the_game_under_every_limit(
    seat: Make, limits: Limits
) -> None:
    clock = LeapingClock()
    table = seat(argv=WHO.argv, limits=limits, clock=clock)
    table.player.start()
    clock.leap_at(2, SECOND, answered(table))
    with pytest.raises(VoidGame, match="ms late"):
        table.play()


def test_a_referee_that_looks_a_little_late_takes_the_answer(seat: Make) -> None:
    clock = LeapingClock()
    table = seat(argv=WHO.argv, limits=Limits(move_ms=600), clock=clock)
    table.player.start()
    clock.leap_at(2, SECOND * 7 // 10, answered(table))
    assert table.play().faults == ()


def test_a_referee_that_looks_too_late_at_ready_voids_the_game_and_leaves_no_process(tmp_path: Path) -> None:
    clock, launcher = LeapingClock(), Remembering(PlainLauncher(tmp_path))
    clock.leap_at(3, 20 * SECOND)
    with pytest.raises(VoidGame, match="ms late"):
        BotPlayer(WHO, launcher=launcher, clock=clock, limits=Limits()).start()
    assert not Path(f"/proc/{launcher.pid}").exists()


class Remembering:
    """Remembers the last process."""

    def __init__(self, real: PlainLauncher) -> None:
        self.real = real
        self.pid = 0

    def launch(self, bot: Prepared) -> Child:
        child = self.real.launch(bot)
        self.pid = child.pid
        return child


class InterruptedClock(SystemClock):
    """At its third call the operator presses Ctrl-C."""

    calls = 0

    def now(self) -> int:
        self.calls += 1
        if self.calls == 3:
            raise KeyboardInterrupt
        return super().now()


def test_an_interrupt_while_a_process_is_started_leaves_no_process(tmp_path: Path) -> None:
    launcher = Remembering(PlainLauncher(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        BotPlayer(WHO, launcher=launcher, clock=InterruptedClock(), limits=Limits()).start()
    assert not Path(f"/proc/{launcher.pid}").exists()
    assert list(tmp_path.iterdir()) == []
