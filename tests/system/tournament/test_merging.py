from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from rounds import BOB, a_round, database, play

import referee
from referee.contest.publishing import about
from referee.contest.season import Season, standings_of
from referee.record import Bot
from referee.site import data
from referee.store import Store, open_store
from referee.tournament.audit.merging import Merged, merge

ROOT = Path(referee.__file__).parents[1]
OLD_ADA, NEW_ADA = Bot("ada", "00" * 32), Bot("ada", "ff" * 32)
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


def joined(into: Path, *sources: Path) -> Merged:
    return merge(into, sources, lambda *_: None)


def published(store: Store) -> str:
    """The bytes of standings.json."""
    season = Season(store)
    return data.render(standings_of(store, season), about(store, season))


def content(path: Path) -> object:
    """All that a database says, apart from the times at which rounds were opened and closed."""
    with open_store(path) as store:
        return (store.rounds(), sorted(store.packed()), store.saved_bots(), store.current_bots(), published(store))


KILLED = """
import os, signal, sys
from pathlib import Path
from referee.store import store as store_module
from referee.tournament.audit.merging import merge

left = int(sys.argv[1])
transaction = store_module.Store._transaction

def count(statement):
    global left
    left -= statement.startswith(("COMMIT", "INSERT", "UPDATE"))
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

claim = store_module.Store.claim
def traced(self):
    claim(self)
    self._db.set_trace_callback(count)
store_module.Store.claim = traced
import referee.tournament.audit.merging as merging
merging._WRITTEN_AT_ONCE, merging.batched = 1, lambda games: ([game] for game in games)
merge(Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]], lambda *_: None)
"""


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A folder where a commit costs no time."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


def test_killed_merge_is_finished_by_the_same_merge(in_memory: Path) -> None:
    folder = in_memory
    first = a_round((OLD_ADA, BOB), deals=2)
    second = a_round((NEW_ADA, BOB), deals=2, after=first)
    with database(folder / "a.db", first) as store:
        play(store)
    with database(folder / "b.db", first) as store:
        play(store)
    with database(folder / "b.db", second) as store:
        play(store)
    sources = [folder / "b.db", folder / "a.db"]
    joined(folder / "expected.db", *sources)
    expected = content(folder / "expected.db")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    kills = 0
    while True:
        into = folder / f"{kills}.db"
        argv = [sys.executable, "-c", KILLED, str(kills + 1), str(into), *map(str, sources)]
        done = subprocess.run(argv, env=environment, check=False)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        kills += 1
        joined(into, *sources)
        assert content(into) == expected
    assert kills > 20
