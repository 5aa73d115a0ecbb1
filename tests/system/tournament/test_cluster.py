"""Blocks over Dask, with a real scheduler and real workers: the same games, none twice, whoever is killed meanwhile."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from clusters import (
    Machines,
    games,
    job,
    machines,
    page_blocks,
    parent,
    play,
    timeless,
    traveller,
    wait_for_end,
    worker_of,
)
from command_line import TESTS_PATH, environment
from processes import descendants, wait_until
from workers import block, line_up

from referee.bots.cache.prepare import Prepared
from referee.bots.sandbox.probing import as_recorded
from referee.bots.tiers import Tier
from referee.errors import InputError, RefereeError
from referee.record import GameRecord
from referee.store import Stored
from referee.tournament.cluster import connection
from referee.tournament.cluster.engine import Cluster
from referee.tournament.engine.losses import LostGame, LostWorker
from referee.tournament.engine.pool import Arrival, Pool
from referee.tournament.engine.worker_messages import Finished

DIARY = "if games > getattr(sys, 'told', 0): sys.told = games; (here / 'diary').open('a').write('x')"
"""A line in the diary for every game that is begun."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with machines(tmp_path_factory.mktemp("cluster"), workers=2) as found:
        yield found


def names(arrivals: list[Arrival]) -> Counter[tuple[tuple[str, ...], int, int]]:
    """The games that came in: who, which rotation, which deal."""
    return Counter((tuple(bot.name for bot in game.line_up), game.rotation, game.deal) for game in games(arrivals))


def every(*bots: Prepared, deals: int, rotations: int = 2) -> Counter[tuple[tuple[str, ...], int, int]]:
    """Each game of a table once."""
    who = tuple(bot.name for bot in line_up(*bots))
    return Counter((who, rotation, deal) for rotation in range(rotations) for deal in range(deals))


def asks(game: Stored, name: str) -> bool:
    """Whether a bot had a decision to make in a game; the cards hang on the bots' hashes, and so on the test's folder."""
    record = GameRecord.unpack(game.packed)
    return any(record.seats[step.seat].name == name for step in record.steps)


def test_the_games_are_those_that_this_machine_plays_by_itself(cluster: Machines, tmp_path: Path) -> None:
    ann, bob, eve = (traveller(tmp_path, name) for name in ("ann", "bob", "eve"))
    blocks = [
        *[block(ann, bob, deals=3, rotation=rotation) for rotation in range(2)],
        *[block(ann, bob, eve, deals=2, rotation=rotation) for rotation in range(3)],
    ]
    whole = job(tmp_path, ann, bob, eve)
    with closing(Cluster(cluster.address, whole)) as far, closing(Pool([whole])) as near:
        there, here = (sorted(map(timeless, games(play(engine, *blocks))), key=str) for engine in (far, near))
    assert len(here) == 12
    assert there == here


def test_games_in_boxes_are_played_by_machines_that_prove_the_tier_and_by_no_others(public_path: Path) -> None:
    ann, bob = (traveller(public_path, name) for name in ("ann", "bob"))
    plain = job(public_path, ann, bob)
    boxed = replace(plain, conditions=replace(plain.conditions, isolation=Tier.A))
    with machines(public_path / "cluster", workers=1) as able, closing(Cluster(able.address, boxed)) as far:
        found = games(play(far, block(ann, bob, deals=2)))
    assert [GameRecord.unpack(one.packed).isolation for one in found] == [as_recorded(Tier.A)] * 2
    with machines(public_path / "poor", workers=1) as unable, pytest.raises(RefereeError) as caught:
        (public_path / "poor" / "away").mkdir(mode=0o700 if os.geteuid() == 0 else 0o500)  # no place for boxes
        with closing(Cluster(unable.address, boxed)) as far:
            play(far, block(ann, bob))
    assert str(caught.value).startswith(f"the machine {socket.gethostname()} of the cluster cannot play: ")


def test_bots_are_built_in_a_box_over_there_too(public_path: Path) -> None:
    ann = traveller(public_path, "ann", build=f"pwd >place; test ! -e {public_path} || echo seen >>place")
    bob = traveller(public_path, "bob")
    plain = job(public_path, ann, bob)
    boxed = replace(plain, conditions=replace(plain.conditions, isolation=Tier.A))
    with machines(public_path / "cluster", workers=1) as able, closing(Cluster(able.address, boxed)) as far:
        assert len(games(play(far, block(ann, bob)))) == 1
        (built,) = able.cache.glob(f"{ann.manifest.identity.hash}-*/bot/place")
    assert built.read_text() == "/bot\n"


def test_a_bot_is_sent_once_and_built_once_for_all_workers_of_a_machine(cluster: Machines, tmp_path: Path) -> None:
    ann = traveller(tmp_path, "ann", build=f"echo built >> {tmp_path}/builds")
    bob = traveller(tmp_path, "bob")
    (tmp_path / "builds").unlink()
    blocks = [block(ann, bob, deals=2, rotation=number % 2, first=2 * number) for number in range(6)]
    with closing(Cluster(cluster.address, job(tmp_path, ann, bob))) as first:
        assert len(games(play(first, *blocks))) == 12
    assert (tmp_path / "builds").read_text() == "built\n"
    assert list(cluster.cache.glob(f"{ann.manifest.identity.hash}-*/bot/bot.py"))
    with closing(Cluster(cluster.address, job(tmp_path, ann, bob))) as second:
        for packed in second.packs.glob("[0-9a-f]*"):
            packed.unlink()  # whoever asked for one would not get it
        assert len(games(play(second, *blocks))) == 12
    assert (tmp_path / "builds").read_text() == "built\n"


def test_a_build_that_fails_over_there_is_told_with_the_machine_and_the_output(
    cluster: Machines, tmp_path: Path
) -> None:
    ann = traveller(tmp_path, "ann", build=f"test ! -e {tmp_path}/away || (echo no compiler here; exit 3)")
    bob = traveller(tmp_path, "bob")
    (tmp_path / "away").touch()
    with closing(Cluster(cluster.address, job(tmp_path, ann, bob))) as far, pytest.raises(RefereeError) as caught:
        play(far, block(ann, bob))
    words = str(caught.value)
    assert words.startswith(
        f"the machine {socket.gethostname()} of the cluster cannot play: ann cannot play: its build"
    )
    assert "failed with exit status 3\n    no compiler here" in words


def test_a_worker_killed_in_the_middle_costs_the_game_it_was_playing_and_leaves_no_bot(
    cluster: Machines, tmp_path: Path
) -> None:
    waits = "if games == 4 and once('asked'): (here / 'pid').write_text(str(os.getpid())); wait_for('never')"
    ann, bob = traveller(tmp_path, "ann"), traveller(tmp_path, "bob", f"{DIARY}\n{waits}")
    whole = job(tmp_path, ann, bob)
    blocks = [block(ann, bob, deals=8, rotation=rotation, first=8 * rotation) for rotation in range(2)]
    arrivals: list[Arrival] = []
    family: set[int] = set()
    with closing(Cluster(cluster.address, whole)) as far:
        for arrival in far.run(iter(blocks), lambda: 0.1):
            arrivals += [arrival] if arrival is not None else []
            # The eight games of one block and the first three of the other.
            if not family and len(games(arrivals)) == 11 and (tmp_path / "pid").exists():
                worker = worker_of(int((tmp_path / "pid").read_text()))
                family = descendants(worker)
                os.kill(worker, signal.SIGKILL)
                wait_for_end(family)
    assert len(family) >= 4, "worker, our process, two bots"
    line = ("ann", "bob")
    assert names(arrivals) == Counter((line, each.rotation, deal) for each in blocks for deal in each.deals)
    # Besides the game that was cut off, what Dask's own retry began before it was told not to.
    asked = sum(asks(game, "bob") for game in games(arrivals))
    assert asked + 1 <= len((tmp_path / "diary").read_text()) <= 16 + 1 + 8
    with closing(Pool([whole])) as near:
        undisturbed = sorted(map(timeless, games(play(near, *blocks))), key=str)
    assert sorted(map(timeless, games(arrivals)), key=str) == undisturbed


def test_a_game_that_costs_three_workers_is_given_up_and_all_others_are_played(
    cluster: Machines, tmp_path: Path
) -> None:
    grandparent = "int(open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1])"
    ann, bob = traveller(tmp_path, "ann"), traveller(tmp_path, "bob")
    eve = traveller(tmp_path, "eve", f"if games == 2: os.kill({grandparent}, 9); wait_for('never')")
    with closing(Cluster(cluster.address, job(tmp_path, ann, bob, eve))) as far:
        arrivals = play(far, block(ann, eve, deals=2), block(ann, bob, deals=3))
    assert names(arrivals) == every(ann, eve, deals=2, rotations=1) + every(ann, bob, deals=3, rotations=1)


def test_a_game_that_no_worker_survives_is_given_up_after_three(cluster: Machines, tmp_path: Path) -> None:
    ann, bob = traveller(tmp_path, "ann"), traveller(tmp_path, "bob")
    grandparent = "int(open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1])"
    eve = traveller(tmp_path, "eve", f"os.kill({grandparent}, 9); wait_for('never')")
    with closing(Cluster(cluster.address, job(tmp_path, ann, bob, eve))) as far:
        arrivals = play(far, block(ann, eve), block(ann, bob, deals=3))
    assert names(arrivals) == every(ann, bob, deals=3, rotations=1)
    (lost,) = [arrival for arrival in arrivals if isinstance(arrival, LostGame)]
    assert (lost.line_up, lost.rotation, lost.deal) == (line_up(ann, eve), 0, 0)
    assert re.fullmatch(rf"the worker tcp://\S+ on {socket.gethostname()} was lost", lost.reason)


def test_a_bot_that_kills_its_parent_costs_no_worker_of_the_cluster(cluster: Machines, tmp_path: Path) -> None:
    ann = traveller(tmp_path, "ann")
    eve = traveller(tmp_path, "eve", "os.kill(os.getppid(), 9)")
    before = cluster.pids()
    with closing(Cluster(cluster.address, job(tmp_path, ann, eve))) as far:
        arrivals = [arrival for arrival in play(far, block(ann, eve)) if not isinstance(arrival, Finished)]
    each = LostWorker(line_up(ann, eve), 0, 0, "it was killed by SIGKILL")
    *losses, lost = arrivals
    assert losses == [each] * 3
    assert isinstance(lost, LostGame)
    assert (lost.line_up, lost.reason, lost.workers, lost.ours) == (each.line_up, each.reason, 3, False)
    assert cluster.pids() == before


def test_a_stopped_run_ends_with_the_games_in_hand(cluster: Machines, tmp_path: Path) -> None:
    ann, bob = traveller(tmp_path, "ann"), traveller(tmp_path, "bob", DIARY)
    blocks = (block(ann, bob, deals=500, rotation=number % 2, first=500 * number) for number in count())
    with closing(Cluster(cluster.address, job(tmp_path, ann, bob))) as far:
        arrivals: list[Arrival] = []
        stopped = False
        for arrival in far.run(blocks, lambda: 0.1):
            arrivals += [arrival] if arrival is not None else []
            if not stopped and {game.rotation for game in games(arrivals)} == {0, 1}:
                stopped = True
                far.stop()
    begun = len((tmp_path / "diary").read_text())  # a game in which bob is never asked has no line there
    assert 0 < begun <= len(games(arrivals)) < 500


def test_dropped_blocks_are_neither_awaited_nor_played_again(cluster: Machines, tmp_path: Path) -> None:
    ann, bob = traveller(tmp_path, "ann"), traveller(tmp_path, "bob")
    eve = traveller(tmp_path, "eve", "(here / 'pid').write_text(str(os.getpid())); wait_for('never')")
    unwanted = eve.manifest.identity
    with closing(Cluster(cluster.address, job(tmp_path, ann, bob, eve))) as far:
        arrivals: list[Arrival] = []
        for arrival in far.run(iter([block(ann, eve), block(ann, bob, deals=3)]), lambda: 0.1):
            arrivals += [arrival] if arrival is not None else []
            if (tmp_path / "pid").exists():
                far.drop(lambda block: unwanted in block.line_up)
        assert names(arrivals) == every(ann, bob, deals=3, rotations=1)
        wait_for_end({int((tmp_path / "pid").read_text())})


REFEREE = """
import pathlib, sys
sys.path[:0] = sys.argv[1].split(":")
from clusters import job, play, traveller
from workers import block
from referee.tournament.cluster import connection
from referee.tournament.cluster.engine import Cluster
if __name__ == "__main__":
    here = pathlib.Path(sys.argv[2])
    bob = traveller(here, "bob", "(here / 'pid').write_text(str(os.getpid())); wait_for('never')")
    ann = traveller(here, "ann")
    play(Cluster(sys.argv[3], job(here, ann, bob)), block(ann, bob))
"""


def test_the_games_of_a_referee_that_is_killed_end_on_all_machines(cluster: Machines, tmp_path: Path) -> None:
    words = [sys.executable, "-c", REFEREE, TESTS_PATH, str(tmp_path), cluster.address]
    with subprocess.Popen(words, env=environment()) as referee:
        pid = tmp_path / "pid"
        wait_until(lambda: pid.exists() and bool(pid.read_text()))
        family = descendants(parent(int(pid.read_text())))
        referee.kill()
    assert len(family) == 3, "our process and two bots"
    wait_for_end(family)


def test_a_scheduler_that_goes_away_ends_the_run_in_one_sentence_and_the_bots(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ann = traveller(tmp_path, "ann")
    bob = traveller(tmp_path, "bob", "if games == 3: (here / 'pid').write_text(str(os.getpid())); wait_for('never')")
    arrivals: list[Arrival] = []
    with machines(tmp_path, workers=1) as own, closing(Cluster(own.address, job(tmp_path, ann, bob))) as far:
        with pytest.raises(RefereeError) as caught:
            for arrival in far.run(iter([block(ann, bob, deals=4)]), lambda: 0.1):
                arrivals += [arrival] if arrival is not None else []
                if len(games(arrivals)) == 2 and (tmp_path / "pid").exists() and own.scheduler.poll() is None:
                    bot = int((tmp_path / "pid").read_text())
                    own.scheduler.kill()
                    own.scheduler.wait()
        assert str(caught.value) == (
            f"the scheduler at {own.address} is gone: what was played is kept, and the same command goes on"
        )
        assert not isinstance(caught.value, InputError)
        wait_for_end({bot})
    assert names(arrivals) == every(ann, bob, deals=2, rotations=1)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://127.0.0.1:1", "--cluster tcp://127.0.0.1:1: no Dask scheduler answers there ("),
        ("127.0.0.1", "--cluster 127.0.0.1: no Dask scheduler answers there ("),
        ("nonsense://x", "--cluster nonsense://x: no Dask scheduler answers there ("),
        ("local:0", "--cluster local:0 starts no workers: write local:4 for four of them"),
    ],
)
def test_an_address_without_a_scheduler_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    monkeypatch.setattr(connection, "CONNECT", 0.5)
    with pytest.raises(InputError) as caught:
        Cluster(address, job(tmp_path))
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_a_cluster_without_workers_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    ann, bob = traveller(tmp_path, "ann"), traveller(tmp_path, "bob")
    with machines(tmp_path, workers=0) as own:
        lonely = Cluster(own.address, job(tmp_path, ann, bob), patience=0.5)
        with closing(lonely), pytest.raises(RefereeError, match="has had no worker for 0 s: what was played is kept"):
            play(lonely, block(ann, bob))
        own.start_worker()
        with closing(Cluster(own.address, job(tmp_path, ann, bob))) as far:
            assert names(play(far, block(ann, bob))) == every(ann, bob, deals=1, rotations=1)


def test_a_block_is_played_that_was_brought_to_a_worker_when_no_other_was_there(tmp_path: Path) -> None:
    waits = "if once('asked'): (here / 'pid').write_text(str(os.getpid())); wait_for('never')"
    ann, bob = traveller(tmp_path, "ann"), traveller(tmp_path, "bob", waits)
    arrivals: list[Arrival] = []
    with machines(tmp_path, workers=1) as own, closing(Cluster(own.address, job(tmp_path, ann, bob))) as far:
        killed = False
        for arrival in far.run(iter([block(ann, bob, deals=2)]), lambda: 0.1):
            arrivals += [arrival] if arrival is not None else []
            if not killed and (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
                killed = True
                os.kill(worker_of(int((tmp_path / "pid").read_text())), signal.SIGKILL)
    assert names(arrivals) == every(ann, bob, deals=2, rotations=1)


# -- SLURM


def test_the_program_of_the_page_asks_slurm_for_one_worker_process_a_core() -> None:
    (program,) = page_blocks("python")
    names: dict[str, Any] = {"__name__": "workers"}
    exec(compile(program, "docs/cluster.md", "exec"), names)
    with names["workers"]() as slurm:
        script = slurm.job_script().splitlines()
    assert {"#SBATCH -p normal", "#SBATCH --cpus-per-task=16", "#SBATCH -t 04:00:00"} <= set(script)
    assert 'export XDG_CACHE_HOME="$TMPDIR/cache"' in script
    command = script[-1].split()
    assert command[1:3] == ["-m", "distributed.cli.dask_worker"]
    options = dict(pairwise(command))
    assert (options["--nworkers"], options["--nthreads"], options["--lifetime"]) == ("16", "1", "230m")
    assert script.index('export XDG_CACHE_HOME="$TMPDIR/cache"') < len(script) - 1
