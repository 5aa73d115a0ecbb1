"""Two rotations of a deal are never played at the same time, and workers are busy all the same."""

from __future__ import annotations

from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest
from workers import job, line_up, odd, plain

from referee.tournament.engine.losses import LostWorker
from referee.tournament.engine.pool import Pool
from referee.tournament.engine.worker_handle import Remote
from referee.tournament.engine.worker_messages import BlockTask, Finished
from referee.tournament.rounds.schedule import Block, Owing, Schedule

# -- with real workers


def test_real_workers_never_have_two_rotations_of_a_deal_in_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = plain("first"), plain("last")
    schedule = Schedule([Owing(line_up(one, two), 0, 12)], block_size=6, secret=b"s" * 16)
    handed: list[list[Block]] = []
    hand_out = Pool._hand_out

    def noted(pool: Pool, worker: Remote, task: BlockTask) -> None:
        hand_out(pool, worker, task)
        handed.append([each.task.block for each in pool._workers if each.task is not None])

    monkeypatch.setattr(Pool, "_hand_out", noted)
    with closing(Pool([job(tmp_path, one, two)] * 2)) as pool:
        blocks = map(schedule.in_order, schedule.owed({}, workers=pool.workers))
        came = [arrival for arrival in pool.run(blocks, lambda: 0.1) if isinstance(arrival, Finished)]
    assert sum(len(arrival.games) for arrival in came) == 24
    assert max(map(len, handed)) == 2
    for together in handed:
        for first, second in combinations(together, 2):
            assert set(first.deals).isdisjoint(second.deals)


def test_deals_are_played_in_an_order_of_each_rotations_own(tmp_path: Path) -> None:
    one, two = plain("first"), plain("last")
    schedule = Schedule([Owing(line_up(one, two), 0, 8)], block_size=8, secret=b"s" * 16)
    with closing(Pool([job(tmp_path, one, two)])) as pool:
        arrivals = list(pool.run(map(schedule.in_order, schedule.owed({})), lambda: 0.1))
    games = [game for arrival in arrivals if isinstance(arrival, Finished) for game in arrival.games]
    orders = [[game.deal for game in games if game.rotation == rotation] for rotation in (0, 1)]
    assert [sorted(order) for order in orders] == [list(range(8))] * 2
    assert orders[0] != orders[1] and list(range(8)) not in orders
    for rotation, order in enumerate(orders):
        assert order == sorted(order, key=lambda deal: schedule.turn(line_up(one, two), deal, rotation))


def test_the_game_that_a_lost_worker_was_playing_is_the_first_of_the_order_that_is_missing(tmp_path: Path) -> None:
    killer = odd(tmp_path, "killer", "if games == 3 and once('a'): os.kill(os.getppid(), 9)")
    other = plain("first")
    schedule = Schedule([Owing(line_up(killer, other), 0, 6)], secret=b"s" * 16)
    block = schedule.in_order(Block(line_up(killer, other), 0, tuple(range(6))))
    with closing(Pool([job(tmp_path, killer, other)])) as pool:
        arrivals = list(pool.run(iter([block]), lambda: 0.1))
    (lost,) = [arrival for arrival in arrivals if isinstance(arrival, LostWorker)]
    assert lost.deal in block.deals[:3]
    assert sorted(game.deal for one in arrivals if isinstance(one, Finished) for game in one.games) == list(range(6))
