"""A worker as a real process: when it sends what, and how it ends."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from workers import block, job, odd, plain

from referee.tournament.engine.worker import BEAT_EVERY
from referee.tournament.engine.worker_handle import Message, Remote, close_all
from referee.tournament.engine.worker_messages import (
    BlockTask,
    Drop,
    Failed,
    Finished,
    Heartbeat,
    Sending,
    Stop,
    WorkerConfig,
)

FIRST, LAST = plain("first"), plain("last")


@contextmanager
def worker(job: WorkerConfig) -> Iterator[Remote]:
    remote = Remote(job)
    try:
        yield remote
    finally:
        close_all([remote])


def messages(remote: Remote) -> Iterator[Message]:
    """What the worker says, until its end."""
    while True:
        assert select.select([remote.connection], [], [], 30)[0], "the worker says nothing"
        came = remote.receive()
        if came is None:
            return
        yield from came


def of_a_block(remote: Remote) -> list[Finished]:
    """The worker's messages up to the one that ends its block."""
    came = []
    for message in messages(remote):
        if isinstance(message, Finished):
            came.append(message)
            if message.done:
                return came
    raise AssertionError(remote.process.wait())


def test_a_finished_game_is_sent_while_the_next_one_goes_on(tmp_path: Path) -> None:
    slow = odd(tmp_path, "slow", "if games == 8: wait_for('go')")
    with worker(job(tmp_path, FIRST, slow)) as remote:
        remote.send(BlockTask(block(FIRST, slow, deals=8)))
        deals: set[int] = set()
        for message in messages(remote):
            if isinstance(message, Finished):
                deals |= {game.deal for game in message.games}
            if deals == set(range(7)):
                break
        (tmp_path / "go").touch()
        assert [game.deal for message in of_a_block(remote) for game in message.games] == [7]


def test_the_last_game_does_not_wait_for_bots_that_take_their_time_to_quit(tmp_path: Path) -> None:
    stays = odd(tmp_path, "stays", "", "while True: time.sleep(1)\n")
    with worker(job(tmp_path, FIRST, stays)) as remote:
        remote.send(BlockTask(block(FIRST, stays)))
        game, end = of_a_block(remote)
    assert ([one.deal for one in game.games], game.done) == ([0], False)
    assert (end.games, end.done) == ((), True)


def test_after_a_loss_each_game_is_sent_by_itself(tmp_path: Path) -> None:
    with worker(job(tmp_path, FIRST, LAST)) as remote:
        remote.send(BlockTask(block(FIRST, LAST, deals=5), Sending.EACH))
        came = of_a_block(remote)
    assert [[game.deal for game in one.games] for one in came] == [[0], [1], [2], [3], [4], []]


def test_a_worker_that_is_told_to_stop_finishes_the_game_in_hand(tmp_path: Path) -> None:
    slow = odd(tmp_path, "slow", "(here / 'asked').touch()\nwait_for('go')")
    with worker(job(tmp_path, FIRST, slow)) as remote:
        remote.send(BlockTask(block(FIRST, slow, deals=200)))
        came = messages(remote)
        while not (tmp_path / "asked").exists():
            next(came)
        remote.send(Stop())
        (tmp_path / "go").touch()
        deals = [game.deal for message in of_a_block(remote) for game in message.games]
    assert deals == list(range(len(deals)))
    assert 1 <= len(deals) < 200


def test_an_idle_worker_says_that_it_lives_and_does_nothing_else(tmp_path: Path) -> None:
    began = time.monotonic()
    with worker(job(tmp_path, FIRST, LAST)) as remote:
        came = messages(remote)
        assert next(came) == Heartbeat()
        before = cpu_seconds(remote.process.pid)
        assert next(came) == Heartbeat()
        assert time.monotonic() - began > BEAT_EVERY
        assert cpu_seconds(remote.process.pid) - before < 0.2


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_an_error_of_ours_is_sent_home_in_one_line_and_not_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with worker(job(tmp_path, FIRST)) as remote:
        remote.send(BlockTask(block(FIRST, LAST)))
        *_, last = messages(remote)
        remote.process.wait(timeout=30)
    assert isinstance(last, Failed)
    assert last.reason.startswith("KeyError: ")
    assert "(block.py, line " in last.reason
    assert "\n" not in last.reason
    assert capfd.readouterr() == ("", "")


def test_a_worker_that_is_told_to_drop_its_block_finishes_the_game_in_hand_and_plays_the_next_block_whole(
    tmp_path: Path,
) -> None:
    slow = odd(tmp_path, "slow", "(here / 'asked').touch()\nwait_for('go')")
    with worker(job(tmp_path, FIRST, slow)) as remote:
        remote.send(BlockTask(block(FIRST, slow, deals=200)))
        came = messages(remote)
        while not (tmp_path / "asked").exists():
            next(came)
        remote.send(Drop())
        (tmp_path / "go").touch()
        dropped = [game.deal for message in of_a_block(remote) for game in message.games]
        remote.send(BlockTask(block(FIRST, slow, deals=5, rotation=1)))
        following = [game.deal for message in of_a_block(remote) for game in message.games]
    assert dropped == list(range(len(dropped)))
    assert 1 <= len(dropped) < 200
    assert following == list(range(5))


def test_a_block_that_is_dropped_as_soon_as_it_is_handed_out_is_dropped_for_good(tmp_path: Path) -> None:
    """Both come in together; the order to drop is not one that came too late for the block before."""
    with worker(job(tmp_path, FIRST, LAST)) as remote:
        next(messages(remote))
        for _ in range(20):
            remote.send(BlockTask(block(FIRST, LAST, deals=20)))
            remote.send(Drop())
            played = [game.deal for message in of_a_block(remote) for game in message.games]
            assert played == list(range(len(played)))
            assert 1 <= len(played) < 20


def test_a_drop_that_comes_too_late_leaves_the_next_block_alone(tmp_path: Path) -> None:
    with worker(job(tmp_path, FIRST, LAST)) as remote:
        remote.send(BlockTask(block(FIRST, LAST, deals=1)))
        of_a_block(remote)
        remote.send(Drop())
        remote.send(BlockTask(block(FIRST, LAST, deals=4, rotation=1)))
        assert [game.deal for message in of_a_block(remote) for game in message.games] == [0, 1, 2, 3]
