"""Two rotations of a deal are never played at the same time, and workers are busy all the same."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.record import Bot
from referee.tournament.engine.pool import Pool
from referee.tournament.engine.worker_messages import BlockTask
from referee.tournament.rounds.schedule import Block, Owing, Schedule, Share, Trial

BOTS = [Bot(f"bot-{number}", f"{number}" * 64) for number in range(5)]
SECRET = b"a secret of 16 b"


class Playing:
    """The blocks that workers without processes have in work; each ends when the test says so."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.most = 0

    def blocks(self) -> list[Block]:
        return [worker.task.block for worker in self.pool._workers if worker.task is not None]

    def check(self) -> None:
        blocks = self.blocks()
        self.most = max(self.most, len(blocks))
        for one, two in combinations(blocks, 2):
            assert one.line_up != two.line_up or set(one.deals).isdisjoint(two.deals)


class Idle:
    """A worker that takes blocks and plays none."""

    def __init__(self) -> None:
        self.task: BlockTask | None = None
        self.spoke = True


def pool_of(workers: int) -> Pool:
    pool = Pool([])
    pool._workers = [Idle() for _ in range(workers)]  # type: ignore[misc]
    pool._hand_out = lambda worker, task: setattr(worker, "task", task)  # type: ignore[method-assign]
    return pool


@settings(deadline=None, max_examples=60)
@given(
    sizes=st.sets(st.sampled_from([2, 3, 4]), min_size=1),
    bots=st.integers(4, 5),
    deals=st.integers(1, 25),
    block_size=st.integers(1, 12),
    workers=st.integers(1, 6),
    dice=st.randoms(use_true_random=False),
)
def test_no_block_is_handed_out_beside_another_rotation_of_its_deals(
    sizes: set[int], bots: int, deals: int, block_size: int, workers: int, dice: Random
) -> None:
    owings = [Owing(table, 0, deals) for size in sorted(sizes) for table in combinations(BOTS[:bots], size)]
    schedule = Schedule(owings, block_size=block_size, secret=SECRET)
    blocks = map(schedule.in_order, schedule.owed({}, workers=workers))
    pool = pool_of(workers)
    playing = Playing(pool)
    left = Counter(
        (table, rotation, deal) for table, _, deals in owings for rotation in range(len(table)) for deal in range(deals)
    )
    while True:
        while pool._dispatch(blocks):
            pass
        playing.check()
        busy = [worker for worker in pool._workers if worker.task is not None]
        if not busy:
            break
        worker = dice.choice(busy)
        assert worker.task is not None
        block, worker.task = worker.task.block, None
        cut = dice.randrange(len(block.deals) + 1) if dice.random() < 0.3 else 0
        if cut:  # its worker was lost, or a game is to be looked into
            pool._again.append(BlockTask(block.only(block.deals[-cut:])))
        left.subtract((block.line_up, block.rotation, deal) for deal in block.deals[: len(block.deals) - cut])
    assert not any(left.values())


@pytest.mark.parametrize("trial", [None, Trial(1, BOTS[0])])
def test_a_block_that_is_urged_waits_too_and_a_game_of_the_referees_own_programs_does_not(trial: Trial | None) -> None:
    table = (BOTS[0], BOTS[1])
    pool = pool_of(2)
    playing = Playing(pool)
    blocks = iter([Block(table, 0, (3, 1, 2)), Block(table, 0, (4,))])
    pool._dispatch(iter([next(blocks)]))
    pool.urge(Block(table, 1, (2,), trial=trial))
    pool._dispatch(blocks)
    assert [block.deals for block in playing.blocks()] == [(3, 1, 2), (4,)]
    pool._workers[1].task = None
    pool.urge(Block(table, 1, (2,), trial=Trial(2)))
    pool._dispatch(blocks)
    assert [block.deals for block in playing.blocks()] == [(3, 1, 2), (2,)]
    pool._workers[0].task = None
    pool._dispatch(blocks)
    assert playing.blocks()[0] == Block(table, 1, (2,), trial=trial)


# -- and none of them is idle for long


def rounds_of_play(schedule: Schedule, workers: int) -> tuple[int, int]:
    """How many games one worker plays in turn, at least, and how long it takes if all games are equally long."""
    pool, blocks = pool_of(workers), map(schedule.in_order, schedule.owed({}, workers=workers))
    free = dict.fromkeys(range(workers), 0)
    now = 0
    while True:
        while pool._dispatch(blocks):
            pass
        for number, worker in enumerate(pool._workers):
            if worker.task is not None and free[number] <= now:
                free[number] = now + len(worker.task.block.deals)
        ends = [free[number] for number, worker in enumerate(pool._workers) if worker.task is not None]
        if not ends:
            return -(-schedule.count() // workers), now
        now = min(ends)
        for number, worker in enumerate(pool._workers):
            if worker.task is not None and free[number] <= now:
                worker.task = None


@pytest.mark.parametrize(("bots", "size"), [(2, 2), (3, 2), (5, 2), (4, 3), (5, 4), (4, 4)])
@pytest.mark.parametrize("deals", [50, 100, 120])
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_workers_are_busy_for_at_least_five_sixths_of_the_time(bots: int, size: int, deals: int, workers: int) -> None:
    schedule = Schedule([Owing(table, 0, deals) for table in combinations(BOTS[:bots], size)], secret=SECRET)
    best, took = rounds_of_play(schedule, workers)
    assert took <= best * 1.2


@given(st.integers(1, 30), st.integers(1, 12), st.integers(1, 8), st.integers(1, 3))
def test_cut_blocks_are_the_same_games(deals: int, block_size: int, workers: int, of: int) -> None:
    schedule = Schedule([Owing((BOTS[0], BOTS[1]), 4, deals)], block_size=block_size, secret=SECRET)

    def games(workers: int) -> list[tuple[int, int]]:
        owed = schedule.owed({}, share=Share(1, of), workers=workers)
        return [(block.rotation, deal) for block in owed for deal in block.deals]

    assert sorted(games(workers)) == sorted(games(1))
