"""The pool with real workers: some are killed, stopped, stuck, broken or cannot be made at all."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from command_line import TESTS_PATH
from processes import alive, descendants, wait_until
from workers import block, job, odd, plain, workers

from referee.errors import RefereeError
from referee.tournament.engine.losses import LostGame, LostWorker
from referee.tournament.engine.pool import Arrival, Notice, Pool
from referee.tournament.engine.worker_messages import Finished
from referee.tournament.rounds.schedule import Block

FIRST, LAST, MIDDLE, SILENT = plain("first"), plain("last"), plain("middle"), plain("silent")


def play(pool: Pool, *blocks: Block) -> list[Arrival]:
    return [arrival for arrival in pool.run(iter(blocks), lambda: 0.1) if arrival is not None]


def games(arrivals: list[Arrival]) -> list[tuple[tuple[str, ...], int]]:
    """The bots and the deal of each game that came in."""
    return [
        (tuple(bot.name for bot in game.line_up), game.deal)
        for arrival in arrivals
        if isinstance(arrival, Finished)
        for game in arrival.games
    ]


# -- losses


def test_games_of_killed_workers_are_given_up_one_by_one_and_all_others_are_played(tmp_path: Path) -> None:
    killer = odd(tmp_path, "killer", "if games == 2 and once('a'): os.kill(os.getppid(), 9)")
    with closing(Pool([job(tmp_path, FIRST, LAST, killer)] * 2)) as pool:
        arrivals = play(pool, block(FIRST, killer, deals=4), block(FIRST, LAST, deals=4))
    assert sorted(games(arrivals)) == sorted(
        [(("first", name), deal) for name in ("killer", "last") for deal in range(4)]
    )


def test_a_worker_that_its_bot_stops_is_ended_and_its_game_played_by_another(tmp_path: Path) -> None:
    stopper = odd(tmp_path, "stopper", "if once('stopped'): os.kill(os.getppid(), signal.SIGSTOP)")
    family: set[int] = set()
    with closing(Pool([job(tmp_path, FIRST, LAST, stopper)] * 2, silence=2.5)) as pool:
        arrivals = []
        for arrival in pool.run(iter([block(FIRST, stopper), block(FIRST, LAST, deals=3)]), lambda: 0.1):
            family |= descendants(os.getpid()) - {os.getpid()}
            arrivals += [arrival] if arrival is not None else []
    assert games(arrivals) == [*[(("first", "last"), deal) for deal in range(3)], (("first", "stopper"), 0)]
    assert not any(map(alive, family))


def test_a_worker_that_is_stuck_in_the_middle_of_a_message_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib, sys, time\n"
        "if 'referee.tournament.engine.worker' in sys.orig_argv:\n"
        "    try: (pathlib.Path(__file__).parent / 'stuck').touch(exist_ok=False)\n"
        "    except FileExistsError: pass\n"
        "    else:\n"
        "        os.write(int(sys.orig_argv[-1]), b'\\0\\0\\1\\0half')\n"
        "        while True: time.sleep(60)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with closing(Pool([job(tmp_path, FIRST, LAST, MIDDLE)] * 2)) as pool:
        running = pool.run(iter([block(FIRST, LAST), block(FIRST, MIDDLE)]), lambda: 0.1)
        came = next(arrival for arrival in running if isinstance(arrival, Finished) and arrival.games)
        assert (tmp_path / "stuck").exists()
        assert len(came.games) == 1
        assert len(workers()) == 2
    assert not workers()


REFEREE = """
import pathlib, sys
sys.path[:0] = sys.argv[1].split(":")
from workers import block, job, odd, plain
from referee.tournament.engine.pool import Pool
here = pathlib.Path(sys.argv[2])
slow = odd(here, "slow", "if not (here / 'go').exists(): (here / 'asked').open('a').write('x'); wait_for('go')")
pool = Pool([job(here, plain("first"), slow)], silence=2.5)
for arrival in pool.run(iter([block(plain("first"), slow)]), lambda: 0.1):
    pass
pool.close()
"""


def test_no_worker_grows_silent_while_the_referee_itself_is_suspended(tmp_path: Path) -> None:
    with referee_of_one_game(tmp_path) as (referee, worker):
        family = descendants(referee.pid)
        for pid in (referee.pid, worker):
            os.kill(pid, signal.SIGSTOP)
        pass_time(3)
        os.kill(referee.pid, signal.SIGCONT)
        pass_time(0.5)
        assert alive(worker)
        os.kill(worker, signal.SIGCONT)
        (tmp_path / "go").touch()
        assert referee.wait(timeout=30) == 0
        assert (tmp_path / "asked").read_text() == "x", "the game was played by a second worker"
        assert not any(map(alive, family))


def test_a_stopped_worker_and_its_bots_end_with_a_referee_that_is_killed(tmp_path: Path) -> None:
    with referee_of_one_game(tmp_path) as (referee, worker):
        family = descendants(referee.pid)
        os.kill(worker, signal.SIGSTOP)
        referee.kill()
        wait_until(lambda: not any(map(alive, family)), seconds=10)


@contextmanager
def referee_of_one_game(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A process with a pool, in the middle of a game that ends when there is a file `go`, and its worker."""
    referee = subprocess.Popen([sys.executable, "-c", REFEREE, TESTS_PATH, str(folder)])
    try:
        wait_until((folder / "asked").exists)
        (worker,) = workers(referee.pid)
        yield referee, worker
    finally:
        referee.kill()
        referee.wait()


def pass_time(seconds: float) -> None:
    until = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() > until)


# -- blocks that are given up


def test_a_block_that_is_dropped_ends_with_the_game_in_hand_and_the_worker_goes_on_with_the_next(
    tmp_path: Path,
) -> None:
    slow = odd(tmp_path, "slow", "(here / 'asked').touch()\nwait_for('go')")
    slows, others = block(FIRST, slow, deals=50), block(FIRST, LAST, deals=3)
    with closing(Pool([job(tmp_path, FIRST, LAST, slow)])) as pool:
        arrivals: list[Arrival] = []
        for arrival in pool.run(iter([slows, others]), lambda: 0.1):
            arrivals += [arrival] if arrival is not None else []
            if (tmp_path / "asked").exists() and not (tmp_path / "go").exists():
                pool.drop(lambda one: one == slows)
                (tmp_path / "go").touch()
    played = games(arrivals)
    dropped = [deal for names, deal in played if "slow" in names]
    assert dropped == list(range(len(dropped)))
    assert 1 <= len(dropped) < 50
    assert [deal for names, deal in played if "last" in names] == [0, 1, 2]


def test_blocks_in_hand_that_are_wanted_are_played_whole_when_another_is_dropped(tmp_path: Path) -> None:
    slow = odd(tmp_path, "slow", "(here / f'asked{message[\"seat\"]}').touch()\nwait_for('go')")
    ours, theirs = block(FIRST, slow, deals=30), block(LAST, slow, deals=8, rotation=1)
    with closing(Pool([job(tmp_path, FIRST, LAST, slow)] * 2)) as pool:
        arrivals: list[Arrival] = []
        for arrival in pool.run(iter([ours, theirs]), lambda: 0.1):
            arrivals += [arrival] if arrival is not None else []
            if len(workers()) == 2 and not (tmp_path / "go").exists() and len(list(tmp_path.glob("asked*"))) == 2:
                pool.drop(lambda one: one == ours)
                (tmp_path / "go").touch()
    played = games(arrivals)
    assert [deal for names, deal in played if "last" in names] == list(range(8))
    assert sum("first" in names for names, _ in played) < 30


def test_a_block_that_was_dropped_is_not_handed_out_again_when_its_worker_is_lost(tmp_path: Path) -> None:
    killer = odd(tmp_path, "killer", "(here / 'asked').touch()\nwait_for('go')\nos.kill(os.getppid(), 9)")
    unwanted, others = block(FIRST, killer, deals=4), block(FIRST, LAST, deals=2)
    with closing(Pool([job(tmp_path, FIRST, LAST, killer)])) as pool:
        arrivals: list[Arrival] = []
        for arrival in pool.run(iter([unwanted, others]), lambda: 0.1):
            arrivals += [arrival] if arrival is not None else []
            if (tmp_path / "asked").exists() and not (tmp_path / "go").exists():
                pool.drop(lambda one: one == unwanted)
                (tmp_path / "go").touch()
    assert games(arrivals) == [(("first", "last"), deal) for deal in range(2)]
    assert not any(isinstance(arrival, LostGame) for arrival in arrivals)


def test_a_lost_block_that_waits_to_be_handed_out_again_can_be_dropped(tmp_path: Path) -> None:
    killer = odd(tmp_path, "killer", "if once('a'): os.kill(os.getppid(), 9)")
    slow = odd(tmp_path, "slow", "(here / 'asked').touch()\nwait_for('go')")
    lost, held = block(FIRST, killer, deals=4), block(FIRST, slow)
    with closing(Pool([job(tmp_path, FIRST, slow, killer)])) as pool:
        dropped = False
        arrivals: list[Arrival] = []
        running = pool.run(iter([lost, held]), lambda: 0.1)
        for arrival in running:
            arrivals += [arrival] if arrival is not None else []
            if not dropped and (tmp_path / "a").exists() and not workers():
                pool.drop(lambda one: one.line_up == lost.line_up)
                dropped = True
                (tmp_path / "go").touch()
    assert dropped
    assert games(arrivals) == [(("first", "slow"), 0)]


# -- workers that cannot be


def test_workers_that_cannot_begin_end_the_run_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "msgspec.py").write_text("raise ImportError('msgspec is broken here')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with closing(Pool([job(tmp_path, FIRST, LAST)] * 2)) as pool, pytest.raises(RefereeError) as caught:
        play(pool, *[block(FIRST, LAST, first=number) for number in range(2)])
    assert str(caught.value) == (
        "no worker process can be started on this machine: 3 in a row ended before they said anything, "
        "the last one so: ImportError: msgspec is broken here"
    )
    assert capfd.readouterr() == ("", "")


def test_an_error_of_ours_in_a_worker_is_the_reason_why_its_game_was_given_up(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(Pool([job(tmp_path, FIRST, LAST)])) as pool:
        arrivals = play(pool, block(FIRST, MIDDLE), block(FIRST, LAST))
    (lost,) = [arrival for arrival in arrivals if isinstance(arrival, LostGame)]
    assert lost.reason.startswith("KeyError: ")
    assert lost.ours
    assert [arrival.reason for arrival in arrivals if isinstance(arrival, LostWorker)] == [lost.reason] * 3
    assert games(arrivals) == [(("first", "last"), 0)]
    assert capfd.readouterr() == ("", "")


def test_no_more_workers_are_started_than_there_are_blocks(tmp_path: Path) -> None:
    with closing(Pool([job(tmp_path, FIRST, LAST)] * 5000)) as pool:
        assert not workers()
        most = 0
        for _ in pool.run(iter([block(FIRST, LAST, first=number) for number in range(2)]), lambda: 0.1):
            most = max(most, len(workers()))
    assert most == 2


@contextmanager
def descriptors(left: int) -> Iterator[None]:
    """Inside, this process can open `left` files more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = [os.open(os.devnull, os.O_RDONLY) for _ in range(left)]
    gaps = []
    while (top := os.open(os.devnull, os.O_RDONLY)) < len(os.listdir("/proc/self/fd")) - 2:
        gaps.append(top)
    for descriptor in spare:
        os.close(descriptor)
    os.close(top)
    resource.setrlimit(resource.RLIMIT_NOFILE, (top, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in gaps:
            os.close(descriptor)


def test_where_only_some_workers_can_be_started_they_play_and_it_is_said_once(tmp_path: Path) -> None:
    patient = odd(tmp_path, "patient", "wait_for('go')")
    blocks = [block(FIRST, patient, first=number) for number in range(20)]
    arrivals: list[Arrival] = []
    with descriptors(left=14), closing(Pool([job(tmp_path, FIRST, patient)] * 50)) as pool:
        for arrival in pool.run(iter(blocks), lambda: 0.1):
            arrivals += [arrival] if arrival is not None else []
            if isinstance(arrival, Notice):
                (tmp_path / "go").touch()
    (notice,) = [arrival for arrival in arrivals if isinstance(arrival, Notice)]
    assert notice.text.startswith("no more than ")
    assert notice.text.endswith(" can be started on this machine: Too many open files")
    assert len(games(arrivals)) == 20


def test_where_no_worker_can_be_started_the_run_ends_in_one_sentence_and_nothing_leaks(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    sentence = r"^no worker process can be started on this machine: Too many open files$"
    with (
        descriptors(left=2),
        closing(Pool([job(tmp_path, FIRST, LAST)] * 50)) as pool,
        pytest.raises(RefereeError, match=sentence),
    ):
        play(pool, block(FIRST, LAST))
    assert os.listdir("/proc/self/fd") == before


# -- the end


def test_closing_ends_stopped_workers_and_all_that_descends_from_them_side_by_side(tmp_path: Path) -> None:
    parent = odd(tmp_path, "parent", "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)")
    pool = Pool([job(tmp_path, SILENT, parent)] * 3)
    running = pool.run(iter([block(parent, SILENT, first=number) for number in range(3)]), lambda: 0.1)
    while sum(sleeps(pid) for pid in descendants(os.getpid())) < 3:
        next(running)
    family = descendants(os.getpid()) - {os.getpid()}
    for pid in workers():
        os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    pool.close()
    assert time.monotonic() - began < 5
    wait_until(lambda: not any(map(alive, family)), seconds=5)
    assert len(family) >= 12
    pool.close()


def sleeps(pid: int) -> bool:
    try:
        return b"sleep\x00600" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_a_stopped_run_ends_with_the_games_in_hand(tmp_path: Path) -> None:
    with closing(Pool([job(tmp_path, FIRST, LAST)])) as pool:
        running = pool.run(iter([block(FIRST, LAST, deals=500), block(FIRST, LAST, rotation=1)]), lambda: 0.1)
        first = next(arrival for arrival in running if isinstance(arrival, Finished) and arrival.games)
        pool.stop()
        arrivals = [first, *(arrival for arrival in running if arrival is not None)]
    deals = [deal for _, deal in games(arrivals)]
    assert deals == list(range(len(deals)))
    assert len(deals) < 500
