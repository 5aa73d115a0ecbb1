"""Who is withdrawn, after which game, and what is played of it, whoever plays how much at once."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from itertools import combinations
from types import SimpleNamespace
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from runs import Notes

from referee.record import Bot, LineUp
from referee.store import Faulted
from referee.tournament.engine.run import _withdraw
from referee.tournament.progress.withdrawal import MAX_FAULTS, Point, Withdrawals
from referee.tournament.rounds.schedule import Block, Owing, RotationTurn, Schedule, SchedulePlace

ANN, BOB, CYD, DEE = (Bot(name, letter * 64) for name, letter in zip(("ann", "bob", "cyd", "dee"), "abcd", strict=True))
BOTS = (ANN, BOB, CYD, DEE)


class Game(NamedTuple):
    line_up: LineUp
    rotation: int
    deal: int


Faults = Mapping[Game, tuple[Bot, ...]]


class League(NamedTuple):
    """A schedule and, of every game that could be played, who would be at fault in it."""

    schedule: Schedule
    max_faults: int
    faults: Faults

    @property
    def games(self) -> list[Game]:
        """All games, in the order of the schedule."""
        return games_of(map(self.schedule.in_order, self.schedule.owed({})))


def games_of(blocks: Iterable[Block]) -> list[Game]:
    return [Game(block.line_up, block.rotation, deal) for block in blocks for deal in block.deals]


def told(game: Game, bots: tuple[Bot, ...]) -> Faulted:
    return Faulted(game.line_up, game.deal, game.rotation, bots)


def played_of(games: Iterable[Game]) -> dict[LineUp, dict[int, set[int]]]:
    found: dict[LineUp, dict[int, set[int]]] = {}
    for game in games:
        found.setdefault(game.line_up, {}).setdefault(game.rotation, set()).add(game.deal)
    return found


def walk(league: League, known: Iterable[Game] | None = None) -> tuple[dict[Bot, Game], list[Game]]:
    """The reference: the last game of everyone who is withdrawn, and the games that count; all games one by one."""
    there = None if known is None else set(known)
    last: dict[Bot, Game] = {}
    faults: Counter[Bot] = Counter()
    counting = []
    for game in league.games:
        if any(bot in last for bot in game.line_up) or (there is not None and game not in there):
            continue
        counting.append(game)
        for bot in league.faults.get(game, ()):
            faults[bot] += 1
            if faults[bot] >= league.max_faults:
                last[bot] = game
    return last, counting


def point_of(schedule: Schedule, game: Game) -> Point:
    where = (game.line_up, game.deal, game.rotation)
    return Point(schedule.place(*where), schedule.turn(*where))


def points(league: League, last: Mapping[Bot, Game]) -> dict[Bot, Point]:
    return {bot: point_of(league.schedule, game) for bot, game in last.items()}


@st.composite
def leagues(draw: st.DrawFn) -> League:
    tables = [table for size in (2, 3) for table in combinations(BOTS, size)]
    chosen = draw(st.lists(st.sampled_from(tables), min_size=1, max_size=6, unique=True))
    owings = [Owing(table, draw(st.integers(0, 3)), draw(st.integers(1, 6))) for table in chosen]
    secret = draw(st.sampled_from([None, b"a secret of 16 b", b"another secret.."]))
    schedule = Schedule(owings, block_size=draw(st.integers(1, 4)), secret=secret)
    clumsy = draw(st.dictionaries(st.sampled_from(BOTS), st.sampled_from([0.2, 0.5, 1.0]), max_size=3))
    dice = random.Random(draw(st.integers(0, 10_000)))
    faults = {}
    for game in games_of(schedule.owed({})):
        bots = [bot for bot in game.line_up if dice.random() < clumsy.get(bot, 0)]
        dice.shuffle(bots)
        if bots:
            faults[game] = tuple(bots)
    return League(schedule, draw(st.integers(1, 8)), faults)


shuffles = st.integers(0, 10_000).map(random.Random)


@settings(deadline=None, max_examples=300)
@given(leagues(), shuffles, st.floats(0, 1))
def test_points_are_those_of_a_walk_in_schedule_order_whatever_else_is_known_and_however_it_comes(
    league: League, dice: random.Random, rest: float
) -> None:
    last, counting = walk(league)
    known = set(counting) | {game for game in league.games if dice.random() < rest}
    coming = [told(game, bots) for game, bots in league.faults.items() if game in known]
    dice.shuffle(coming)
    one_by_one = Withdrawals(league.schedule, league.max_faults)
    for game in coming:
        before = dict(one_by_one.points)
        assert one_by_one.add(game) is (one_by_one.points != before)
    at_once = Withdrawals(league.schedule, league.max_faults, coming)
    cut = dice.randrange(len(coming) + 1)
    both = Withdrawals(league.schedule, league.max_faults, coming[:cut])
    for game in coming[cut:]:
        both.add(game)
    assert one_by_one.points == at_once.points == both.points == points(league, last)


@settings(deadline=None)
@given(leagues(), shuffles)
def test_what_is_known_of_a_part_is_what_a_walk_of_that_part_says(league: League, dice: random.Random) -> None:
    """While games are out, points are provisional; they are those of the games that are there."""
    coming = list(league.faults)
    dice.shuffle(coming)
    withdrawals = Withdrawals(league.schedule, league.max_faults)
    for number, game in enumerate(coming, 1):
        withdrawals.add(told(game, league.faults[game]))
        faultless = set(league.games) - league.faults.keys()
        last, _ = walk(league, {*coming[:number], *faultless})
        assert withdrawals.points == points(league, last)


@settings(deadline=None)
@given(leagues())
def test_a_game_is_set_aside_where_it_comes_after_the_last_one_of_a_bot_of_its_table(league: League) -> None:
    _, counting = walk(league)
    withdrawals = Withdrawals(league.schedule, league.max_faults, [told(*one) for one in league.faults.items()])
    counts = set(counting)
    for block in map(league.schedule.in_order, league.schedule.owed({})):
        aside = [Game(block.line_up, block.rotation, deal) not in counts for deal in block.deals]
        assert withdrawals.sets_aside(block) is all(aside)
        assert withdrawals.gives_up(block) is aside[-1]
        for deal, expected in zip(block.deals, aside, strict=True):
            assert withdrawals.sets_aside(Block(block.line_up, block.rotation, (deal,))) is expected


@settings(deadline=None)
@given(leagues())
def test_games_that_are_known_already_change_nothing(league: League) -> None:
    coming = [told(*one) for one in league.faults.items()]
    withdrawals = Withdrawals(league.schedule, league.max_faults, [*coming, *coming])
    before = dict(withdrawals.points)
    assert not any(withdrawals.add(game) for game in coming)
    assert withdrawals.points == before == points(league, walk(league)[0])


def test_the_same_fault_twice_counts_once() -> None:
    schedule = Schedule([Owing((ANN, BOB), 0, 5)], block_size=5)
    withdrawals = Withdrawals(schedule, 2)
    game = Faulted((ANN, BOB), 0, 0, (ANN,))
    assert not withdrawals.add(game)
    assert not withdrawals.add(game)
    assert withdrawals.points == {}
    assert withdrawals.add(Faulted((ANN, BOB), 1, 0, (ANN,)))
    assert withdrawals.points == {ANN: point_of(schedule, Game((ANN, BOB), 0, 1))}


@given(leagues())
def test_without_a_limit_nobody_is_ever_withdrawn(league: League) -> None:
    withdrawals = Withdrawals(league.schedule, None, [told(*one) for one in league.faults.items()])
    assert not any(withdrawals.add(told(*one)) for one in league.faults.items())
    assert withdrawals.points == {}
    assert not any(withdrawals.sets_aside(block) or withdrawals.gives_up(block) for block in league.schedule.owed({}))


def test_faults_in_games_that_are_set_aside_withdraw_nobody() -> None:
    """Whether such a game was played depends on how much was in hand when its other bot was withdrawn."""
    schedule = Schedule([Owing((ANN, BOB), 0, 6), Owing((BOB, CYD), 0, 6)], block_size=6)
    ann = [Faulted((ANN, BOB), deal, 0, (ANN,)) for deal in range(3)]
    both = [Faulted((ANN, BOB), deal, 1, (BOB, ANN)) for deal in range(6)]
    assert set(Withdrawals(schedule, 3, [*ann, *both]).points) == {ANN}
    bob = [Faulted((BOB, CYD), deal, 0, (BOB,)) for deal in range(3)]
    assert set(Withdrawals(schedule, 3, [*ann, *both, *bob[:2]]).points) == {ANN}
    assert set(Withdrawals(schedule, 3, [*ann, *both, *bob]).points) == {ANN, BOB}


def test_the_point_is_the_game_in_which_a_bot_came_to_its_last_fault_in_the_order_of_the_schedule() -> None:
    schedule = Schedule([Owing(pair, 0, 5) for pair in combinations(BOTS, 2)], block_size=2)
    known = [((ANN, BOB), 3, 0), ((ANN, CYD), 0, 1), ((ANN, BOB), 1, 0)]
    found = Withdrawals(schedule, 2, [Faulted(*game, (ANN,)) for game in known])
    assert found.points == {ANN: Point(SchedulePlace(players=2, chunk=0, line_up=1, rotation=1), RotationTurn(b"", 0))}
    assert not found.sets_aside(Block((ANN, CYD), 1, (0, 1)))
    assert found.gives_up(Block((ANN, CYD), 1, (0, 1)))
    assert found.sets_aside(Block((ANN, CYD), 1, (1,)))
    assert found.sets_aside(Block((ANN, DEE), 0, (0, 1)))
    assert not found.gives_up(Block((BOB, DEE), 0, (0, 1)))


def test_a_withdrawal_that_an_earlier_one_undoes_is_gone() -> None:
    schedule = Schedule([Owing((ANN, BOB), 0, 6), Owing((BOB, CYD), 0, 6)], block_size=6)
    bob = [Faulted((ANN, BOB), deal, 1, (BOB,)) for deal in range(3)]
    withdrawals = Withdrawals(schedule, 3, bob)
    assert set(withdrawals.points) == {BOB}
    late = [withdrawals.add(Faulted((ANN, BOB), deal, 0, (ANN,))) for deal in range(3)]
    assert (late, set(withdrawals.points)) == ([False, False, True], {ANN})
    assert not withdrawals.sets_aside(Block((BOB, CYD), 0, (0,)))


def test_the_game_that_withdraws_a_bot_still_counts_against_everybody_at_its_table() -> None:
    schedule = Schedule([Owing((ANN, BOB), 0, 3)], block_size=3)
    withdrawals = Withdrawals(schedule, 1, [Faulted((ANN, BOB), 0, 0, (BOB, ANN))])
    assert withdrawals.points == dict.fromkeys((ANN, BOB), point_of(schedule, Game((ANN, BOB), 0, 0)))


def test_a_bot_that_fails_twenty_five_times_is_withdrawn_where_nobody_says_otherwise() -> None:
    assert MAX_FAULTS == 25


# -- any number of workers


class Played(NamedTuple):
    withdrawn: dict[Bot, Point]
    games: set[Game]
    rounds: int


class Worker:
    """What one has in hand: deals of a block still to come, of which it plays one more after it was told to stop."""

    def __init__(self) -> None:
        self.block: Block | None = None
        self.left: deque[int] = deque()

    def take(self, block: Block | None) -> None:
        self.block, self.left = block, deque(block.deals if block else ())

    def drop(self) -> None:
        while len(self.left) > 1:
            self.left.pop()


def play(league: League, jobs: int, dice: random.Random, *, hurry: float = 0.5, before: Iterable[Game] = ()) -> Played:
    """As a tournament plays, in memory: a worker is chosen at random, and news of faults may come late."""
    there = set(before)
    runs = 0
    while True:
        known = Withdrawals(
            league.schedule, league.max_faults, [told(g, league.faults[g]) for g in there & league.faults.keys()]
        )
        owed = map(league.schedule.in_order, league.schedule.owed(played_of(there), unwanted=known.sets_aside))
        workers = [Worker() for _ in range(jobs)]
        for worker in workers:
            worker.take(next(owed, None))
        if workers[0].block is None:
            return Played(known.points, there, runs)
        runs += 1
        news: deque[Game] = deque()
        while busy := [worker for worker in workers if worker.left]:
            worker = dice.choice(busy)
            assert worker.block is not None
            game = Game(worker.block.line_up, worker.block.rotation, worker.left.popleft())
            assert game not in there, "a game was played twice"
            there.add(game)
            if game in league.faults:
                news.append(game)
            while news and dice.random() < hurry:
                game = news.popleft()
                if known.add(told(game, league.faults[game])):
                    for other in workers:
                        if other.block is not None and known.gives_up(other.block):
                            other.drop()
            for idle in workers:
                if not idle.left:
                    idle.take(next(owed, None))


@settings(deadline=None, max_examples=200)
@given(leagues(), st.integers(2, 5), shuffles)
def test_who_is_withdrawn_and_which_games_count_does_not_depend_on_how_many_are_played_at_once(
    league: League, jobs: int, dice: random.Random
) -> None:
    last, counting = walk(league)
    holes = {game for game in league.games if dice.random() < 0.3}
    for workers, before in ((1, ()), (jobs, ()), (jobs, holes)):
        found = play(league, workers, dice, before=before)
        assert found.withdrawn == points(league, last)
        assert found.games.issuperset(counting)
        rated = {game for game in found.games if last.keys().isdisjoint(game.line_up)}
        assert rated == {game for game in counting if last.keys().isdisjoint(game.line_up)}


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 6), st.integers(1, 10), st.integers(1, 30), shuffles)
def test_a_bot_that_always_fails_holds_no_worker_up_for_longer_than_max_faults_games_and_one(
    jobs: int, max_faults: int, block_size: int, dice: random.Random
) -> None:
    schedule = Schedule([Owing(table, 0, 60) for table in combinations(BOTS, 2)], block_size=block_size)
    faults = {game: (ANN,) for game in games_of(schedule.owed({})) if ANN in game.line_up}
    found = play(League(schedule, max_faults, faults), jobs, dice, hurry=1.0)
    anns = sum(ANN in game.line_up for game in found.games)
    # The worker that is earliest in the schedule comes to max_faults by itself at the latest; all others stop with it.
    assert max_faults <= anns <= jobs * (max_faults + 1)
    assert len(found.games) - anns == 3 * 2 * 60


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 6), st.integers(1, 10), st.integers(1, 30), shuffles)
def test_bots_that_all_fail_play_a_bounded_number_of_games_for_each_job(
    jobs: int, max_faults: int, block_size: int, dice: random.Random
) -> None:
    schedule = Schedule([Owing(table, 0, 60) for table in combinations(BOTS, 2)], block_size=block_size)
    faults = {game: game.line_up for game in games_of(schedule.owed({}))}
    found = play(League(schedule, max_faults, faults), jobs, dice, hurry=1.0)
    assert len(found.games) <= len(BOTS) * jobs * (max_faults + 1)


class Dropping:
    """An engine with nothing in progress."""

    def drop(self, unwanted: object) -> None: ...


def test_a_withdrawal_is_reported_with_the_faults_that_count_and_again_when_it_is_undone() -> None:
    schedule = Schedule([Owing((ANN, BOB), 0, 6), Owing((BOB, CYD), 0, 6)], block_size=6)
    withdrawals, notes = Withdrawals(schedule, 3), Notes()

    def came_in(*games: Faulted) -> None:
        _withdraw([SimpleNamespace(faulted=game) for game in games], withdrawals, Dropping(), notes)  # type: ignore[arg-type, list-item]

    came_in(*(Faulted((ANN, BOB), deal, 1, (BOB,)) for deal in range(5)))
    assert notes.out == [("bob", 3)]
    came_in(*(Faulted((ANN, BOB), deal, 0, (ANN,)) for deal in range(3)))
    assert notes.out == [("bob", 3), ("bob", 0), ("ann", 3)]
