"""Pondering: what is counted once per game, to the ns, with a clock and processes that are handed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.bots.process import pondering
from referee.bots.process.pondering import BURST, EVERY, BotCpuAccount, Pondering, PonderingMonitor

MS = 1_000_000
US = 1_000


@dataclass
class World:
    """A clock, and processes by pid with the processor time of each."""

    time: int = 1000 * MS
    used: dict[int, int] = field(default_factory=dict)
    reads: int = 0

    def now(self) -> int:
        return self.time

    def sleep_until(self, when: int) -> None:
        self.time = max(self.time, when)


@dataclass
class FakeChild:
    """A bot of some processes; those that have ended may still count."""

    world: World
    pids: list[int]
    suspended: int = 0
    resumed: int = 0
    still: bool = False
    newborn: bool = False
    costs: int = 0
    """How long a look at its memory takes."""

    @property
    def pid(self) -> int:
        return self.pids[0]

    def cpu_ns(self) -> int:
        self.world.reads += 1
        return sum(self.world.used[pid] for pid in self.pids)

    def watch_memory(self, now: int, *, answered: bool) -> None:
        self.world.time += self.costs

    def newborn_at_work(self) -> bool:
        return self.newborn

    def suspend(self) -> None:
        self.suspended += 1
        self.still = True

    def resume(self) -> None:
        self.resumed += 1
        self.still = False


@dataclass
class Table:
    """Two bots, of which the first has two processes, and one processor."""

    world: World
    monitor: PonderingMonitor
    bots: list[tuple[BotCpuAccount, FakeChild]]

    def question(self, seat: int, *, wall: int, used: dict[int, int], waited: int = 0) -> None:
        """Ask a seat, which takes `wall` ns; meanwhile the processes use what they do."""
        account, _ = self.bots[seat]
        account.asked()
        self.spend(wall, used)
        account.answered(self.world.now(), waited)

    def spend(self, wall: int, used: dict[int, int]) -> None:
        for pid, ns in used.items():
            self.world.used[pid] += ns
        self.world.time += wall

    def next_game(self) -> list[Pondering]:
        """End the game, and begin another one."""
        for account, _ in self.bots:
            account.ended()
        found = [account.take_pondering() for account, _ in self.bots]
        for seat, (account, _) in enumerate(self.bots):
            account.begin(seat)
        return found


Make = Callable[..., Table]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Make:
    def make(*, known: set[str] | None = None) -> Table:
        world = World()
        monkeypatch.setattr(pondering, "cores_of", lambda _: 1)
        monkeypatch.setattr(pondering, "SHORTEST", 0)
        monitor = PonderingMonitor(world, known)
        bots = []
        for seat, pids in enumerate([[100, 101], [200]]):
            world.used |= dict.fromkeys(pids, 20 * MS)
            child, account = FakeChild(world, pids), monitor.account(f"hash{seat}")
            account.begin(seat)
            account.enter(child)  # type: ignore[arg-type]
            world.time += 20 * MS
            account.started(world.now())
            bots.append((account, child))
        return Table(world, monitor, bots)

    return make


QUIET = Pondering(0, suspended=False)


def test_what_is_used_in_turn_is_not_counted(table: Make) -> None:
    one = table()
    for _ in range(50):
        one.question(0, wall=30 * MS, used={100: 15 * MS, 101: 15 * MS})
        one.question(1, wall=30 * MS, used={200: 30 * MS})
    assert one.next_game() == [QUIET, QUIET]


def test_what_cannot_have_been_used_in_turn_is_counted_to_the_ms_and_the_rest_goes_to_the_next_game(
    table: Make,
) -> None:
    one = table()
    one.question(0, wall=MS, used={100: MS})
    one.question(1, wall=9 * MS, used={101: 1700 * US, 200: 7 * MS})
    assert one.next_game() == [(1, False), QUIET]
    one.question(0, wall=MS, used={100: MS})
    one.question(1, wall=9 * MS, used={100: 1400 * US, 200: 7 * MS})
    assert one.next_game() == [(2, False), QUIET]
    assert one.next_game() == [QUIET, QUIET]


def test_time_in_which_the_asked_bot_had_no_processor_leaves_no_room_for_what_it_used(table: Make) -> None:
    one = table()
    one.question(0, wall=10 * MS, used={100: 4 * MS}, waited=6 * MS)
    one.question(1, wall=10 * MS, used={100: 3 * MS})
    assert one.next_game()[0].cpu_ms == 3


def test_between_looks_no_question_reads_a_clock(table: Make) -> None:
    one = table()
    one.question(0, wall=10 * US, used={})
    before = one.world.reads
    for _ in range(100):
        one.question(0, wall=50 * US, used={100: 10 * US})
        one.question(1, wall=50 * US, used={200: 10 * US})
    assert one.world.reads == before


def test_a_short_game_is_compared_together_with_the_next_one(table: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    one = table()
    monkeypatch.setattr(pondering, "SHORTEST", 70 * MS)
    one.question(1, wall=30 * MS, used={100: 5 * MS})
    assert one.next_game() == [QUIET, QUIET]
    one.question(1, wall=30 * MS, used={100: 5 * MS})
    assert one.next_game() == [(10, False), QUIET]
    assert one.monitor.known_ponderers == {"hash0"}


def test_a_burst_passes_and_a_bot_that_uses_more_is_suspended_from_its_next_game_on(table: Make) -> None:
    one = table(known=set())
    _, child = one.bots[0]
    one.question(1, wall=50 * MS, used={100: BURST})
    one.next_game()
    assert not one.monitor.known_ponderers
    one.question(1, wall=50 * MS, used={100: BURST + 3 * MS})
    assert not child.suspended
    assert one.next_game()[0] == (8, False)
    assert one.monitor.known_ponderers == {"hash0"}
    assert child.still
    one.question(1, wall=50 * MS, used={})
    assert one.next_game()[0] == (0, True)


def test_a_bot_that_ponders_a_little_in_each_game_is_found_after_some_games(table: Make) -> None:
    one = table()
    games = 0
    while not one.monitor.known_ponderers:
        one.question(0, wall=MS, used={100: MS})
        one.question(1, wall=20 * MS, used={100: 3 * MS})
        one.next_game()
        games += 1
        assert games < 10, "it is never found"
    assert games > 1


def test_a_long_silence_buys_no_longer_burst(table: Make) -> None:
    one = table()
    for _ in range(100):
        one.question(1, wall=1000 * MS, used={})
        one.next_game()
    one.question(1, wall=100 * MS, used={100: BURST + 4 * MS})
    one.next_game()
    assert one.bots[0][1].still


def test_a_bot_whose_new_processes_work_out_of_turn_is_found_though_nothing_is_counted(table: Make) -> None:
    one = table()
    account, child = one.bots[0]
    child.newborn = True
    account.asked()
    for _ in range(5):
        one.spend(EVERY, {})
        one.monitor.look(one.world.now())
    account.answered(one.world.now(), 0)
    child.newborn = False
    one.next_game()
    assert not one.monitor.known_ponderers, "in its own turn it may have as many as it likes"
    child.newborn = True
    one.bots[1][0].asked()
    for _ in range(5):
        one.spend(EVERY, {})
        one.monitor.look(one.world.now())
    one.bots[1][0].answered(one.world.now(), 0)
    assert one.next_game()[0] == QUIET
    assert one.monitor.known_ponderers == {"hash0"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 300), st.floats(0, 0.9)), min_size=1, max_size=60))
def test_a_bot_that_is_never_suspended_has_used_less_than_a_twentieth_and_one_burst(
    thinks: list[tuple[int, float]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        one = table.__wrapped__(patch)()  # type: ignore[attr-defined]
        used = waited = 0
        for wall, share in thinks:
            one.question(0, wall=MS, used={100: MS})
            one.question(1, wall=10 * wall * MS, used={100: int(10 * wall * MS * share)})
            used, waited = used + int(10 * wall * MS * share), waited + 10 * wall * MS
            one.next_game()
            if one.monitor.known_ponderers:
                return
        assert used < waited / 20 + BURST + 2 * len(thinks) * MS


def test_coming_back_from_an_answer_suspends_no_bot(table: Make) -> None:
    one = table()
    for _ in range(40):
        for _ in range(50):
            for seat, other in ((0, 1), (1, 0)):
                one.question(seat, wall=100 * US, used={100 + 100 * seat: 60 * US, 100 + 100 * other: 30 * US})
        one.next_game()
    assert not one.monitor.known_ponderers


def test_a_known_ponderer_is_resumed_before_its_questions_and_suspended_after_its_answers(table: Make) -> None:
    one = table(known={"hash0"})
    account, child = one.bots[0]
    assert child.still, "known from another process, it is suspended from its `ready` on"
    for times in range(1, 4):
        account.asked()
        assert (child.still, child.resumed) == (False, times)
        one.spend(MS, {100: MS})
        account.answered(one.world.now(), 0)
        assert child.still
        one.question(1, wall=50 * MS, used={200: 50 * MS})
    assert one.next_game()[0] == (0, True)
    assert not one.bots[1][1].suspended


def test_a_suspended_bot_is_not_charged_the_time_that_it_takes_to_resume_it(
    table: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = table(known={"hash0"})
    account, child = one.bots[0]

    def slowly() -> None:
        child.still = False
        one.world.time += 40 * MS

    monkeypatch.setattr(child, "resume", slowly)
    before = one.world.now()
    assert account.asked() == before + 40 * MS


def test_a_bot_that_a_friend_resumed_is_suspended_again(table: Make) -> None:
    one = table(known={"hash0"})
    _, child = one.bots[0]
    one.bots[1][0].asked()
    suspended = child.suspended
    one.spend(EVERY, {100: MS})
    one.monitor.look(one.world.now())
    assert child.suspended == suspended + 1


def test_a_process_is_resumed_for_its_last_message(table: Make) -> None:
    one = table(known={"hash0"})
    account, child = one.bots[0]
    account.part()
    assert not child.still
    account.part()
    assert child.resumed == 1


def test_what_a_process_used_before_it_was_replaced_counts(table: Make) -> None:
    one = table()
    account, _ = one.bots[0]
    one.question(1, wall=20 * MS, used={100: 9 * MS})
    account.leave()
    one.world.used[300] = 0
    account.enter(FakeChild(one.world, [300]))  # type: ignore[arg-type]
    account.started(one.world.now())
    assert one.next_game()[0].cpu_ms == 9
    assert one.bots[0][0].suspended


def test_a_slow_look_at_another_bot_is_not_the_time_of_the_one_that_is_asked(table: Make) -> None:
    one = table()
    (_, attacker), (victim, _) = one.bots
    attacker.costs = 1000 * MS
    one.world.time = max(one.world.time, one.monitor.due)
    looked_until = one.world.time + attacker.costs
    assert victim.asked() == looked_until == one.world.time


# -- a deadline was missed


def hog(one: Table, used: dict[int, int], *, looks: int) -> int | None:
    """Return the seat that took the processor from seat 0, which missed its deadline after 200 ms."""
    account, _ = one.bots[0]
    account.asked()
    for _ in range(looks):
        one.spend(200 * MS // looks, {pid: ns // looks for pid, ns in used.items()})
        one.monitor.look(one.world.now())
    one.spend(200 * MS, used)
    found = one.monitor.hog(one.world.now(), account)
    return None if found is None else found.account.seat


@pytest.mark.parametrize("looks", [0, 1, 10])
def test_a_bot_that_used_more_than_half_while_another_missed_its_deadline_is_named(table: Make, looks: int) -> None:
    assert hog(table(), {200: 120 * MS}, looks=looks) == 1
    assert hog(table(), {200: 40 * MS, 100: 150 * MS}, looks=looks) is None


# -- the referee was late


def late(one: Table, seat: int, used: dict[int, int], *, limit: int, passed: int, answered: bool) -> int | None:
    """Return the seat that is to blame for a question that was looked at only after `passed` ns."""
    account, _ = one.bots[seat]
    began = account.asked()
    one.monitor.look(began)
    one.spend(passed, used)
    found = one.monitor.heaviest(one.world.now(), began + limit, account, answered=answered)
    return None if found is None else found.account.seat


def test_a_quiet_table_is_not_to_blame(table: Make) -> None:
    assert late(table(), 0, {}, limit=100 * MS, passed=400 * MS, answered=False) is None


@pytest.mark.parametrize("answered", [False, True])
def test_a_bot_that_was_not_asked_and_used_more_than_half_is_to_blame(table: Make, *, answered: bool) -> None:
    half = 200 * MS
    assert late(table(), 0, {200: half}, limit=100 * MS, passed=400 * MS, answered=answered) is None
    assert late(table(), 0, {200: half + MS}, limit=100 * MS, passed=400 * MS, answered=answered) == 1


def test_the_bot_that_was_asked_is_to_blame_unless_its_answer_may_have_been_in_time(table: Make) -> None:
    question = {"limit": 300 * MS, "passed": 560 * MS}
    assert late(table(), 0, {100: 281 * MS}, answered=False, **question) == 0
    assert late(table(), 0, {100: 300 * MS}, answered=True, **question) is None
    assert late(table(), 0, {100: 301 * MS}, answered=True, **question) == 0


def test_only_what_was_used_since_the_last_look_counts(table: Make) -> None:
    one = table()
    one.question(0, wall=900 * MS, used={100: 900 * MS})
    assert late(one, 0, {}, limit=100 * MS, passed=400 * MS, answered=False) is None
