"""One game between players in memory: who is asked what, faults, the house, the end, and the pace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from referee.actions import KEEP, WIDOW, parse
from referee.cards import shuffled
from referee.errors import BotFault, IllegalActionError, Verdict, VoidGame
from referee.play import DealtGame, GameEnd, GameStart, PlayedGame, Reply, SystemClock, play_game
from referee.record import Fault, Step
from referee.rules import DEFAULT_RULES, Ending, OddCard, Phase, Question, Rules, State

DECK = shuffled(bytes(16))
MS = 1_000_000

Choice = Callable[[Question], Reply]


class Quiet:
    """Plays by a function and keeps all that it is told. `absent` is its fault before the first question."""

    def __init__(self, choose: Choice | None = None, *, absent: BotFault | None = None) -> None:
        self.choose = choose or lay_first_and_keep
        self.absent = absent
        self.starts: list[GameStart] = []
        self.questions: list[Question] = []
        self.ends: list[GameEnd] = []

    def begin(self, start: GameStart) -> None:
        self.starts.append(start)
        if self.absent is not None:
            raise self.absent

    def ask(self, question: Question) -> Reply:
        self.questions.append(question)
        return self.choose(question)

    def end(self, end: GameEnd) -> None:
        self.ends.append(end)


def lay_first_and_keep(question: Question) -> Reply:
    return Reply(question.legal[0] if question.phase is Phase.LAY else KEEP, 5)


def fault_at(number: int, verdict: Verdict = Verdict.TIMEOUT) -> Choice:
    """Plays, and is at fault at its question number `number`, counted from 0."""
    asked = iter(range(10**6))

    def choose(question: Question) -> Reply:
        if next(asked) == number:
            raise BotFault(verdict, "no answer within 1 s", {"stderr": "hm"}, us=1_000_003)
        return lay_first_and_keep(question)

    return choose


class FakeClock:
    """Stands still but for `advance` and `sleep_until`."""

    def __init__(self) -> None:
        self.time = 1000
        self.slept: list[int] = []

    def now(self) -> int:
        return self.time

    def sleep_until(self, when: int) -> None:
        self.slept.append(when)
        self.time = max(self.time, when)


class NoClock:
    """Must not be looked at."""

    def now(self) -> int:
        raise AssertionError

    def sleep_until(self, when: int) -> None:
        raise AssertionError


def game(players: int, *, rules: Rules = DEFAULT_RULES, deck: tuple[int, ...] = DECK) -> DealtGame:
    return DealtGame("a1b2", rules, deck, tuple(range(100, 100 + players)))


def played(players: Sequence[Quiet], *, rules: Rules = DEFAULT_RULES) -> PlayedGame:
    return play_game(game(len(players), rules=rules), players, clock=NoClock())


# -- What players are told


def test_every_seat_is_told_its_own_hand_and_seed_and_the_sizes_before_the_first_question() -> None:
    players = [Quiet() for _ in range(4)]
    rules = Rules(odd_card=OddCard.FIRST)
    played(players, rules=rules)
    dealt = State(rules, 4, DECK)
    assert [player.starts for player in players] == [
        [GameStart("a1b2", seat, 4, dealt.hands[seat], (8, 7, 7, 7), 7, rules, 100 + seat)] for seat in range(4)
    ]


def test_the_seat_to_move_is_asked_and_no_other() -> None:
    players = [Quiet() for _ in range(3)]
    steps = played(players).steps
    assert [step.seat for step in steps if step.action != "keep"][:4] == [0, 1, 2, 0]
    for seat, player in enumerate(players):
        assert {question.seat for question in player.questions} == {seat}
        assert len(player.questions) == sum(step.seat == seat for step in steps)


def test_questions_are_those_of_the_rules() -> None:
    players = [Quiet() for _ in range(2)]
    steps = played(players).steps
    state = State(DEFAULT_RULES, 2, DECK)
    asked = [iter(player.questions) for player in players]
    for step in steps:
        assert next(asked[step.seat]) == state.ask()
        action = parse(step.action or "")
        assert action is not None
        state.apply(action)
    assert state.outcome is not None


def test_answers_are_kept_with_their_time_and_note() -> None:
    first = Quiet(lambda question: Reply(lay_first_and_keep(question).action, 42, "so there"))
    steps = played([first, Quiet()], rules=Rules(stall_limit=2)).steps
    assert {step.seat for step in steps} == {0, 1}
    assert steps[0] == Step(0, "lay 6D", 42, "so there")
    assert {step.note for step in steps if step.seat == 1} <= {None}


def test_every_seat_is_told_the_outcome_and_its_last_events_once() -> None:
    players = [Quiet() for _ in range(3)]
    result = played(players, rules=Rules(stall_limit=4))
    assert result.outcome.reason is Ending.STALLED
    assert [len(player.ends) for player in players] == [1, 1, 1]
    for seat, player in enumerate(players):
        assert (player.ends[0].game_id, player.ends[0].outcome) == ("a1b2", result.outcome)
        told = [event for question in player.questions for event in question.events] + list(player.ends[0].events)
        assert [event.seat for event in told] == [0, 1, 2, 0]
        assert all((event.laid is not None) == (event.seat == seat) for event in told)


# -- Faults


def test_a_fault_is_a_forfeit_and_is_kept_with_its_evidence() -> None:
    result = played([Quiet(fault_at(0)), Quiet()])
    assert result.steps == (Step(0, None, 1_000_003),)
    assert result.faults == (Fault(0, 0, Verdict.TIMEOUT, "no answer within 1 s", {"stderr": "hm"}),)
    assert (result.outcome.reason, result.outcome.places) == (Ending.FORFEIT, (2, 1))


def test_a_seat_at_fault_is_told_nothing_more_and_not_the_end() -> None:
    players = [Quiet(), Quiet(fault_at(1)), Quiet()]
    result = played(players, rules=Rules(stall_limit=20))
    assert result.outcome.forfeited == (1,)
    assert len(players[1].questions) == 2
    assert [len(player.ends) for player in players] == [1, 0, 1]


def test_the_house_plays_the_seat_on_and_the_others_are_told_so() -> None:
    players = [Quiet(), Quiet(fault_at(0)), Quiet()]
    result = played(players, rules=Rules(stall_limit=9))
    assert result.outcome.reason is Ending.STALLED
    assert result.outcome.places[1] == 3
    assert players[2].questions[0].forfeited == (1,)
    told = [event.seat for question in players[2].questions for event in question.events]
    assert told + [event.seat for event in players[2].ends[0].events] == [0, 1, 2] * 3


def test_two_faults_of_three_end_the_game_and_the_later_one_is_placed_better() -> None:
    players = [Quiet(fault_at(2, Verdict.CRASH)), Quiet(fault_at(0)), Quiet()]
    result = played(players)
    assert (result.outcome.forfeited, result.outcome.places) == ((1, 0), (2, 3, 1))
    assert [fault.verdict for fault in result.faults] == [Verdict.TIMEOUT, Verdict.CRASH]
    assert [result.steps[fault.step or 0].action for fault in result.faults] == [None, None]


def test_failed_starts_are_faults_before_the_first_question_in_the_order_of_seats() -> None:
    failed = BotFault(Verdict.START_FAILED, "it said hello twice")
    late = BotFault(Verdict.START_TIMEOUT, "it said nothing")
    players = [Quiet(), Quiet(absent=late), Quiet(), Quiet(absent=failed)]
    result = played(players, rules=Rules(stall_limit=9))
    assert result.faults == (
        Fault(1, None, Verdict.START_TIMEOUT, "it said nothing", {}),
        Fault(3, None, Verdict.START_FAILED, "it said hello twice", {}),
    )
    assert result.outcome.forfeited == (1, 3)
    assert players[0].questions[0].forfeited == (1, 3)
    assert [len(player.starts) for player in players] == [1, 1, 1, 1]
    assert players[1].questions == players[3].questions == []


def test_a_game_in_which_nobody_starts_is_over_without_a_question() -> None:
    failed = BotFault(Verdict.START_FAILED, "gone")
    result = played([Quiet(absent=failed), Quiet(absent=failed), Quiet(absent=failed)])
    assert (result.steps, result.outcome.places, result.outcome.reason) == ((), (3, 2, 1), Ending.FORFEIT)


def test_who_alone_has_started_wins_unasked_and_is_told() -> None:
    players = [Quiet(absent=BotFault(Verdict.START_FAILED, "gone")), Quiet()]
    result = played(players)
    assert (result.steps, result.outcome.places) == ((), (2, 1))
    assert players[1].ends == [GameEnd("a1b2", result.outcome, ())]


def test_an_illegal_action_is_the_players_to_find_and_leaves_the_game_as_an_error() -> None:
    with pytest.raises(IllegalActionError):
        played([Quiet(lambda _: Reply(WIDOW, 5)), Quiet()])


# -- Void games


def void(_: Question) -> Reply:
    raise VoidGame("the disk is full")


def test_a_void_game_passes_through_and_nobody_is_charged_or_told_an_end() -> None:
    players = [Quiet(), Quiet(void)]
    with pytest.raises(VoidGame, match="the disk is full"):
        played(players)
    assert players[0].ends == []


def test_a_game_can_be_void_before_it_begins() -> None:
    class Broken(Quiet):
        def begin(self, start: GameStart) -> None:
            raise VoidGame("no sandbox")

    with pytest.raises(VoidGame, match="no sandbox"):
        played([Quiet(), Broken()])


def test_a_game_can_be_void_at_its_end() -> None:
    class Broken(Quiet):
        def end(self, end: GameEnd) -> None:
            raise VoidGame("no pipe")

    with pytest.raises(VoidGame, match="no pipe"):
        played([Quiet(), Broken()], rules=Rules(stall_limit=1))


# -- Pace


def turn_times(clock: FakeClock, pace: int, *, thinking: int) -> tuple[list[int], list[int], PlayedGame]:
    """When each turn's first question was put, how many questions each turn had, and the game."""
    asked: list[tuple[int, Phase]] = []

    def choose(question: Question) -> Reply:
        asked.append((clock.time, question.phase))
        clock.time += thinking
        return lay_first_and_keep(question)

    result = play_game(game(3), [Quiet(choose) for _ in range(3)], clock=clock, pace=pace)
    first = [time for time, phase in asked if phase is Phase.LAY]
    counts = [0] * len(first)
    turn = -1
    for _, phase in asked:
        turn += phase is Phase.LAY
        counts[turn] += 1
    return first, counts, result


def test_with_a_pace_every_turn_takes_the_same_time_whatever_was_asked() -> None:
    times, counts, _ = turn_times(FakeClock(), 100 * MS, thinking=3 * MS)
    assert set(counts) == {1, 2}
    assert times == [1000 + 100 * MS * turn for turn in range(len(times))]


def test_a_turn_longer_than_the_pace_is_not_drawn_out_and_the_next_one_has_its_full_time() -> None:
    times, counts, _ = turn_times(FakeClock(), 5 * MS, thinking=4 * MS)
    lengths = [later - earlier for earlier, later in pairwise(times)]
    assert lengths == [5 * MS if count == 1 else 8 * MS for count in counts[:-1]]


def test_the_end_is_not_waited_for() -> None:
    clock = FakeClock()
    times, _, _ = turn_times(clock, 100 * MS, thinking=3 * MS)
    assert len(clock.slept) == len(times) - 1
    assert clock.time - times[-1] < 100 * MS


def test_a_pace_changes_nothing_but_times() -> None:
    _, _, paced = turn_times(FakeClock(), 100 * MS, thinking=3 * MS)
    assert paced == played([Quiet() for _ in range(3)])


def test_without_a_pace_the_clock_is_not_looked_at() -> None:
    assert played([Quiet(), Quiet()]).steps


def test_a_turn_that_ends_in_a_fault_takes_the_time_of_the_pace_too() -> None:
    clock = FakeClock()
    second: list[int] = []

    def note_time(question: Question) -> Reply:
        second.append(clock.time)
        return lay_first_and_keep(question)

    players = [Quiet(fault_at(0)), Quiet(note_time), Quiet()]
    play_game(game(3, rules=Rules(stall_limit=3)), players, clock=clock, pace=100 * MS)
    assert second[0] == 1000 + 100 * MS


# -- The machine's clock


def test_the_machines_clock_goes_forward_and_does_not_sleep_for_the_past() -> None:
    clock = SystemClock()
    before = clock.now()
    clock.sleep_until(before)
    clock.sleep_until(before + 1000)
    assert clock.now() >= before + 1000
