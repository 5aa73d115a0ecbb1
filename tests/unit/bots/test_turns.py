"""Nobody thinks in others' time: what is counted, to the ns, by a clock and processes that are handed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.bots.process import pondering as turns_module
from referee.bots.process.pondering import BURST, EVERY, FIRST, Guest, Turns, dice

MS = 1_000_000
US = 1_000


@dataclass
class World:
    """A clock, and processes by pid with the processor time of each."""

    time: int = 1000 * MS
    used: dict[int, int] = field(default_factory=dict)

    def now(self) -> int:
        return self.time

    def sleep_until(self, when: int) -> None:
        self.time = max(self.time, when)


@dataclass
class FakeChild:
    """A bot of some processes; those that have ended may still count."""

    world: World
    pids: list[int]
    gone: int = 0
    frozen: int = 0
    thawed: int = 0
    still: bool = False
    newborn: bool = False
    costs: int = 0
    """How long a look at its memory takes."""

    @property
    def pid(self) -> int:
        return self.pids[0]

    def cpu_ns(self) -> int:
        return self.gone + sum(self.world.used[pid] for pid in self.pids)

    def watch_memory(self, now: int, *, answered: bool) -> None:
        self.world.time += self.costs

    def newborn_at_work(self) -> bool:
        return self.newborn

    def busiest(self, *, besides: int | None = None) -> int | None:
        return max((pid for pid in self.pids if pid != besides), key=self.world.used.__getitem__, default=None)

    def freeze(self) -> None:
        self.frozen += 1
        self.still = True

    def thaw(self) -> None:
        self.thawed += 1
        self.still = False


@dataclass
class Table:
    """Two bots, of which the first has `processes` of its own, and one processor."""

    world: World
    turns: Turns
    bots: list[tuple[Guest, FakeChild]]

    def question(self, seat: int, *, wall: int, used: dict[int, int]) -> None:
        """A seat is asked, and takes so long; meanwhile processes use what they do, and the referee looks when due."""
        guest, _ = self.bots[seat]
        guest.asked()
        self.spend(wall, used)
        guest.answered(self.world.now())

    def spend(self, wall: int, used: dict[int, int]) -> None:
        for pid, ns in used.items():
            self.world.used[pid] += ns
        self.world.time += wall


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Table]:
    def make(processes: int = 1, *, restless: set[str] | None = None, measured: bool = True) -> Table:
        world = World()
        monkeypatch.setattr(turns_module, "own_ns", world.used.get)
        monkeypatch.setattr(turns_module, "cores_of", lambda _: 1)
        turns = Turns(world, restless, measure=repeat(measured))
        bots = []
        for seat, pids in enumerate([list(range(100, 100 + processes)), [200]]):
            world.used |= dict.fromkeys(pids, 20 * MS)
            child = FakeChild(world, pids)
            guest = turns.guest(f"hash{seat}")
            guest.seat = seat
            guest.enter(child)  # type: ignore[arg-type]
            world.time += 20 * MS
            guest.answered(world.now())
            bots.append((guest, child))
        return Table(world, turns, bots)

    return make


Make = Callable[..., Table]


def test_what_is_used_in_turn_is_never_counted_out_of_turn(table: Make) -> None:
    one = table()
    for _ in range(50):
        one.question(0, wall=30 * MS, used={100: 30 * MS})
        one.question(1, wall=30 * MS, used={200: 30 * MS})
    assert [guest.out_of_turn() for guest, _ in one.bots] == [(0, False), (0, False)]


def test_what_is_used_out_of_turn_is_counted_to_the_ms_and_what_is_less_goes_to_the_next_game(table: Make) -> None:
    one = table()
    burner, _ = one.bots[0]
    one.question(0, wall=MS, used={100: MS})
    one.question(1, wall=9 * MS, used={100: 1700 * US, 200: 7 * MS})
    assert burner.out_of_turn() == (1, False)
    one.question(0, wall=MS, used={100: MS})
    one.question(1, wall=9 * MS, used={100: 1400 * US, 200: 7 * MS})
    assert burner.out_of_turn() == (2, False)
    assert burner.out_of_turn() == (0, False)


def test_a_child_is_charged_only_with_what_cannot_have_been_used_in_turn(table: Make) -> None:
    one = table(2)
    guest, _ = one.bots[0]
    guest.asked()
    one.spend(15 * MS, {100: 5 * MS, 101: 10 * MS})
    guest.answered(one.world.now())
    one.question(1, wall=10 * MS, used={101: 8 * MS})
    one.turns.look(one.world.now())
    assert guest.out_of_turn().cpu_ms == 8, "the turn's 15 ms had room for 10 ms of it; the rest was out of turn"


def test_once_several_work_all_are_read_at_each_question_and_nothing_is_forgiven(table: Make) -> None:
    one = table(2)
    guest, _ = one.bots[0]
    one.question(0, wall=30 * MS, used={100: 15 * MS, 101: 15 * MS})
    for _ in range(10):
        one.question(0, wall=30 * MS, used={100: MS, 101: MS})
        one.question(1, wall=5 * MS, used={101: 2 * MS})
    assert guest.out_of_turn().cpu_ms == 20


def test_a_child_that_works_alone_is_read_in_place_of_its_parent(table: Make) -> None:
    one = table(2)
    guest, _ = one.bots[0]
    one.question(0, wall=30 * MS, used={101: 29 * MS})
    for _ in range(10):
        one.question(0, wall=9 * MS, used={101: 3 * MS})
        one.question(1, wall=9 * MS, used={101: 2 * MS})
    assert guest.out_of_turn().cpu_ms == 20


def test_a_burst_is_let_pass_and_more_has_the_bot_stopped_while_another_is_asked(table: Make) -> None:
    one = table(restless=set())
    burner, child = one.bots[0]
    one.question(0, wall=MS, used={100: MS})
    other, _ = one.bots[1]
    other.asked()
    one.spend(FIRST, {100: BURST})
    one.turns.look_if_due(one.world.now())
    assert not child.frozen
    one.spend(EVERY, {100: MS})
    one.turns.look_if_due(one.world.now())
    assert child.still
    other.answered(one.world.now())
    assert burner.out_of_turn() == (6, True)
    assert one.turns.restless == {"hash0"}


def test_a_bot_of_which_new_processes_work_out_of_turn_is_stopped_though_nothing_is_counted(table: Make) -> None:
    one = table(restless=set())
    burner, child = one.bots[0]
    child.newborn = True
    burner.asked()
    for _ in range(5):
        one.spend(EVERY, {})
        one.turns.look_if_due(one.world.now())
    assert not child.frozen, "in its own turn it may have as many as it likes"
    burner.answered(one.world.now())
    one.question(1, wall=MS, used={200: MS})
    one.bots[1][0].asked()
    looks = 0
    while not child.frozen:
        one.world.time = one.turns.wake_at
        one.turns.look_if_due(one.world.now())
        looks += 1
        assert looks < 5, "it is never stopped"
    assert looks > 1, "one child in others' time is nothing"
    assert burner.out_of_turn() == (0, True)


def test_who_stirs_is_looked_at_again_before_another_look_would_be_due(table: Make) -> None:
    def next_look(used: int) -> int:
        one = table()
        one.bots[1][0].asked()
        one.spend(EVERY, {100: used})
        one.turns.look_if_due(one.world.now())
        return one.turns.wake_at - one.world.now()

    assert next_look(BURST // 5) < FIRST, "a bot under suspicion has the time of a whole look"
    assert next_look(0) >= EVERY
    assert next_look(2 * BURST) >= EVERY, "who is stopped need not be looked at more often"


def test_a_long_silence_buys_no_longer_burst(table: Make) -> None:
    one = table()
    _, child = one.bots[0]
    for _ in range(1000):
        one.question(1, wall=100 * MS, used={})
    one.question(1, wall=100 * MS, used={100: BURST + 4 * MS})
    one.question(1, wall=EVERY, used={})
    assert child.still


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 300), st.floats(0, 0.9)), min_size=1, max_size=60))
def test_whoever_is_never_stopped_has_used_less_than_a_twentieth_and_one_burst(
    thinks: list[tuple[int, float]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        one = table.__wrapped__(patch)()  # type: ignore[attr-defined]
        _, child = one.bots[0]
        used = waited = 0
        for wall, share in thinks:
            one.question(0, wall=MS, used={100: MS})
            one.question(1, wall=10 * wall * MS, used={100: int(10 * wall * MS * share)})
            used, waited = used + int(10 * wall * MS * share), waited + 10 * wall * MS
            if child.frozen:
                return
        # What was used in the last question may not have been looked at yet.
        last = int(10 * thinks[-1][0] * MS * thinks[-1][1])
        assert used - last < waited / 20 + BURST


def test_coming_back_from_an_answer_stops_nobody(table: Make) -> None:
    one = table()
    for _ in range(2000):
        for seat, other in ((0, 1), (1, 0)):
            one.question(seat, wall=100 * US, used={100 + 100 * seat: 60 * US, 100 + 100 * other: 30 * US})
    assert not any(child.frozen for _, child in one.bots)


def test_the_restless_are_let_go_on_before_their_questions_and_stopped_after_their_answers(table: Make) -> None:
    one = table(restless={"hash0"})
    burner, child = one.bots[0]
    assert child.still, "known from another process, it is stopped from its `ready` on"
    for times in range(1, 4):
        burner.asked()
        assert (child.still, child.thawed) == (False, times)
        one.spend(MS, {100: MS})
        burner.answered(one.world.now())
        assert child.still
        one.question(1, wall=50 * MS, used={200: 50 * MS})
    assert burner.out_of_turn() == (0, True)
    assert not one.bots[1][1].frozen


def test_the_restless_are_not_charged_the_time_that_it_takes_to_let_them_go_on(
    table: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = table(restless={"hash0"})
    burner, child = one.bots[0]

    def slowly() -> None:
        child.still = False
        one.world.time += 40 * MS

    monkeypatch.setattr(child, "thaw", slowly)
    before = one.world.now()
    assert burner.asked() == before + 40 * MS


def test_who_is_woken_by_a_friend_is_stopped_again(table: Make) -> None:
    one = table(restless={"hash0"})
    _, child = one.bots[0]
    one.bots[1][0].asked()
    frozen = child.frozen
    one.spend(EVERY, {100: MS})
    one.turns.look_if_due(one.world.now())
    assert child.frozen == frozen + 1


def test_a_process_that_is_to_hear_its_last_message_is_let_go_on(table: Make) -> None:
    one = table(restless={"hash0"})
    burner, child = one.bots[0]
    burner.part()
    assert not child.still
    burner.part()
    assert child.thawed == 1


# -- the referee was late


def late(one: Table, seat: int, used: dict[int, int], *, limit: int, passed: int, answered: bool) -> int | None:
    """Whose doing it was, by seat, that a question with a limit was looked at when so much had passed."""
    guest, _ = one.bots[seat]
    began = guest.asked()
    one.turns.look(began)
    one.spend(passed, used)
    found = one.turns.heaviest(one.world.now(), began + limit, answered=answered)
    return None if found is None else found.guest.seat


def test_a_quiet_table_is_not_to_blame(table: Make) -> None:
    assert late(table(), 0, {}, limit=100 * MS, passed=400 * MS, answered=False) is None


@pytest.mark.parametrize("answered", [False, True])
def test_whoever_was_not_asked_and_used_more_than_half_is(table: Make, *, answered: bool) -> None:
    half = 200 * MS
    assert late(table(), 0, {200: half}, limit=100 * MS, passed=400 * MS, answered=answered) is None
    assert late(table(), 0, {200: half + MS}, limit=100 * MS, passed=400 * MS, answered=answered) == 1


def test_whoever_was_asked_is_unless_its_answer_may_have_been_in_time(table: Make) -> None:
    question = {"limit": 300 * MS, "passed": 560 * MS}
    assert late(table(), 0, {100: 281 * MS}, answered=False, **question) == 0
    assert late(table(), 0, {100: 300 * MS}, answered=True, **question) is None
    assert late(table(), 0, {100: 301 * MS}, answered=True, **question) == 0


def test_only_what_was_used_since_the_last_look_counts(table: Make) -> None:
    one = table()
    one.question(0, wall=900 * MS, used={100: 900 * MS})
    assert late(one, 0, {}, limit=100 * MS, passed=400 * MS, answered=False) is None


# -- what is not measured


def test_unmeasured_no_more_is_counted_than_there_was_no_room_for_in_turn(table: Make) -> None:
    one = table(measured=False)
    guest, child = one.bots[0]
    for _ in range(100):
        one.question(0, wall=300 * US, used={100: 200 * US})
        one.question(1, wall=300 * US, used={100: 60 * US, 200: 200 * US})
    assert (guest.out_of_turn(), child.frozen) == ((0, False), 0)


def test_who_sleeps_in_turn_to_work_out_of_turn_is_found_by_what_is_measured(table: Make) -> None:
    def play(one: Table) -> bool:
        for _ in range(400):
            one.question(0, wall=10 * MS, used={})
            one.question(1, wall=4 * MS, used={100: 2 * MS})
        return bool(one.bots[0][1].frozen)

    sampled = table()
    sampled.turns.measure = dice()
    assert play(sampled)


def test_an_eighth_of_all_answers_is_measured() -> None:
    some = dice()
    assert 0.1 < sum(next(some) for _ in range(20_000)) / 20_000 < 0.15


def test_a_slow_look_at_another_bot_is_not_the_time_of_the_one_that_is_asked(table: Callable[..., Table]) -> None:
    here = table()
    (_, attacker), (victim, _) = here.bots
    attacker.costs = 1000 * MS
    here.world.time = here.turns.due
    looked_until = here.world.time + attacker.costs
    assert victim.asked() == looked_until == here.world.time
