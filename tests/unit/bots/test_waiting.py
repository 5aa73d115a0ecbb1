"""What of a bot's time it waited for a processor: by threads, counts of the kernel and a clock that are handed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from referee.bots.process import waiting as waiting_module
from referee.bots.process.waiting import EVERY, FIRST, Waiting

MS = 1_000_000


@dataclass
class Bot:
    """A bot of one thread for each process; `at_work` are the threads that are ready to run, `hidden` what nobody sees."""

    used: dict[int, int] = field(default_factory=lambda: {1: 100 * MS})
    delay: dict[int, int] = field(default_factory=lambda: {1: 7 * MS})
    at_work: set[int] = field(default_factory=lambda: {1})
    turns: int = 0
    counts_all: bool = False
    last_cpu_ns: int = 100 * MS
    pid: int = 1

    def cpu_ns(self) -> int:
        self.last_cpu_ns = sum(self.used.values())
        return self.last_cpu_ns

    def processes(self) -> list[int]:
        return list(self.used)

    def spend(self, pid: int, *, used: int = 0, waited: int = 0) -> None:
        self.used[pid] = self.used.get(pid, 0) + used
        self.delay[pid] = self.delay.get(pid, 0) + waited


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Waiting]:
    """A bot is asked at 0, on one processor."""

    def make(bot: Bot, *, watched: bool = True) -> Waiting:
        def thread(place: str) -> waiting_module._Thread:
            pid = int(place)
            return waiting_module._Thread(bot.used[pid], bot.delay[pid], bot.turns, pid in bot.at_work)

        monkeypatch.setattr(waiting_module, "_thread", thread)
        monkeypatch.setattr(waiting_module, "threads_of", lambda pid: [str(pid)])
        monkeypatch.setattr(waiting_module, "cores_of", lambda _: 1)
        waiting = Waiting(bot, watched=watched)  # type: ignore[arg-type]
        waiting.ask(0)
        return waiting

    return make


Ask = Callable[..., Waiting]


def test_a_wait_counts_and_what_was_before_the_question_does_not(ask: Ask) -> None:
    bot = Bot()
    waiting = ask(bot)
    waiting.look(FIRST)
    assert waiting.waited == 0
    bot.spend(1, used=5 * MS, waited=80 * MS)
    waiting.look(90 * MS)
    assert waiting.waited == 80 * MS
    waiting.ask(100 * MS)
    assert waiting.waited == 0


def test_threads_that_wait_side_by_side_count_once_and_never_more_than_others_had_of_the_processor(ask: Ask) -> None:
    bot = Bot(at_work=set())
    bot.spend(2)
    bot.last_cpu_ns = bot.cpu_ns()
    waiting = ask(bot)
    waiting.look(FIRST)
    bot.spend(1, used=10 * MS, waited=60 * MS)
    bot.spend(2, used=10 * MS, waited=70 * MS)
    waiting.look(100 * MS)
    assert waiting.waited == 70 * MS
    bot.spend(1, used=180 * MS, waited=190 * MS)
    waiting.look(300 * MS)
    assert waiting.waited == 100 * MS, "of 300 ms it used 200 itself"


def test_a_wait_that_has_not_ended_counts_and_counts_once(ask: Ask) -> None:
    bot = Bot()
    waiting = ask(bot)
    for look in range(10):
        waiting.look(FIRST + look * EVERY)
        assert waiting.waited == look * EVERY
    bot.spend(1, used=2 * MS, waited=98 * MS)
    bot.at_work.clear()
    waiting.look(FIRST + 10 * EVERY)
    assert waiting.waited == 98 * MS


def test_what_the_machine_itself_did_not_get_counts_for_a_thread_that_wanted_it(ask: Ask) -> None:
    bot = Bot()
    waiting = ask(bot)
    waiting.look(FIRST)
    bot.spend(1, used=30 * MS, waited=20 * MS)
    waiting.look(FIRST + 200 * MS)
    assert waiting.waited == 170 * MS


def test_a_bot_that_sleeps_and_wakes_up_for_each_look_has_not_waited(ask: Ask) -> None:
    bot = Bot()
    waiting = ask(bot)
    for look in range(100):
        bot.turns += 1
        bot.spend(1, used=MS // 10, waited=MS // 100)
        waiting.look(FIRST + look * EVERY)
    assert waiting.waited < 2 * MS


def test_a_bot_is_not_judged_at_one_look_nor_where_it_has_just_become_ready(ask: Ask) -> None:
    bot = Bot(at_work=set())
    waiting = ask(bot)
    assert waiting.cannot_tell()
    waiting.look(FIRST)
    assert waiting.cannot_tell()
    bot.at_work.add(1)
    waiting.look(2 * FIRST)
    assert waiting.cannot_tell()
    waiting.look(3 * FIRST)
    assert not waiting.cannot_tell()


def test_a_bot_that_sleeps_is_judged_and_was_given_the_processor(ask: Ask) -> None:
    bot = Bot(at_work=set())
    waiting = ask(bot)
    for look in range(1, 3):
        waiting.look(look * FIRST)
    assert not waiting.cannot_tell()
    assert waiting.waited == 0


@pytest.mark.parametrize("counts_all", [False, True])
def test_where_processes_are_born_that_nobody_counts_nothing_is_proven(ask: Ask, *, counts_all: bool) -> None:
    bot = Bot(at_work=set(), counts_all=counts_all)
    waiting = ask(bot)
    waiting.look(FIRST)
    for child in range(10, 20):
        bot.spend(1, waited=9 * MS)
        bot.used = {1: bot.used[1], child: 0}
        bot.delay = {1: bot.delay[1], child: 0}
        waiting.look(child * EVERY)
    assert waiting.waited == (90 * MS if counts_all else 0)


def test_of_a_bot_that_is_not_watched_the_time_before_the_first_look_is_its_own(ask: Ask) -> None:
    bot = Bot()
    waiting = ask(bot, watched=False)
    waiting.look(50 * MS)
    bot.spend(1, waited=60 * MS)
    waiting.look(60 * MS)
    assert waiting.waited == 10 * MS


def test_a_system_that_counts_nothing_proves_nothing(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = ask(Bot())
    monkeypatch.setattr(waiting_module, "_thread", lambda _: None)
    waiting.look(FIRST)
    assert not waiting.cannot_tell()
    assert waiting.waited == 0
