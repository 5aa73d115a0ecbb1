"""Which processors a command plays on: free ones first, whatever other referees do on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from command_line import ROOT, environment
from processes import descendants, wait_until

from referee.bots.process.system import usable_cores
from referee.contest import cores
from referee.errors import InputError

GREEDY = str(ROOT / "example_bots" / "greedy")
TOURNAMENT = ("tournament", GREEDY, str(ROOT / "example_bots" / "random"), "--players", "2", "--deals", "100000")


@pytest.fixture
def name(monkeypatch: pytest.MonkeyPatch) -> str:
    """Claims of this test alone: other referees may play on this machine."""
    name = f"\0test-{os.getpid()}"
    monkeypatch.setattr(cores, "_NAME", name)
    return name


@contextmanager
def referee(name: str, *arguments: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A referee whose claims begin with `name`."""
    program = f"from referee.contest import cores\ncores._NAME = {name!r}\nfrom referee.cli.main import main\nmain()"
    folder.mkdir()
    env = environment({"XDG_CACHE_HOME": str(folder / "cache")})
    run = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with run:
        try:
            yield run
        finally:
            run.kill()


def worker_cores(run: subprocess.Popen[bytes]) -> set[int]:
    """The processors to which the bots of a running referee are pinned; empty before there are any."""
    found: set[int] = set()
    for pid in descendants(run.pid) - {run.pid}:
        try:
            if b"bot.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found |= os.sched_getaffinity(pid)
        except OSError:
            continue
    return found if len(found) == 1 else set()


def test_two_referees_with_one_job_each_play_on_different_processors(name: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        found = []
        for number in range(2):
            run = stack.enter_context(referee(name, *TOURNAMENT, "-j", "1", folder=tmp_path / str(number)))
            wait_until(lambda run=run: bool(worker_cores(run)))
            found.append(worker_cores(run))
        assert [len(one) for one in found] == [1, 1]
        assert len(found[0] | found[1]) == min(2, len(usable_cores()))


def held_by_another(name: str, count: int) -> subprocess.Popen[str]:
    """A process that has claimed that many processors, and waits."""
    program = (
        f"from referee.contest import cores\ncores._NAME = {name!r}\nprint(cores.claim({count}), flush=True)\ninput()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_the_processor_with_the_fewest_referees_is_taken_and_a_killed_one_leaves_none(name: str) -> None:
    usable = usable_cores()
    with held_by_another(name, 1) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == f"{usable[:1]}\n"
        for _ in range(3):
            assert cores.claim(1) == (usable[1:] or usable)[:1], "what was claimed before is given back"
        assert sorted(cores.claim(len(usable))) == usable, "more than are free are shared"
        other.kill()
    wait_until(lambda: cores.claim(1) == usable[:1])


def test_every_worker_has_a_processor_and_more_workers_share_them(name: str) -> None:
    usable = usable_cores()
    assert cores.cores_of(None) == [(frozenset({core}), None) for core in usable]
    more = [core for own, _ in cores.cores_of(len(usable) + 1) for core in own or ()]
    assert sorted(more[: len(usable)]) == usable
    assert more[len(usable)] in usable


def test_processors_for_threads_are_nobody_elses(name: str) -> None:
    usable = usable_cores()
    ((own, bots),) = cores.cores_of(1, len(usable))
    assert own == bots == frozenset(usable)
    with pytest.raises(InputError):
        cores.cores_of(2, len(usable))
