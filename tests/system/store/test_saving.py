from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import TESTS_PATH

import referee
from referee.store import Store, open_store

ROOT = Path(referee.__file__).parents[1]

ADDER = """
import sys
from records import ANNA, BERT, CARL, played
from referee.store import Stored, open_store
store = open_store(sys.argv[1], create=True)
store.claim()
for deal in range(100_000):
    batch = [Stored.of(played(line_up, deal=deal)) for line_up in ((ANNA, BERT), (BERT, CARL))]
    store.add(batch)
    print(*(game.game_id for game in batch), flush=True)
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "a.db", create=True)
    store.claim()
    return store


def test_killed_player_loses_nothing_that_was_acknowledged_and_has_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), TESTS_PATH])}
    argv = [sys.executable, "-c", ADDER, str(path)]
    acknowledged: list[str] = []
    for lines in (20, 1, 150):
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=environment) as adder:
            assert adder.stdout
            acknowledged += [word for _ in range(lines) for word in adder.stdout.readline().split()]
            adder.send_signal(signal.SIGKILL)
            acknowledged += adder.stdout.read().split()[:-1]  # the last word may be cut
        with open_store(path) as store:
            found = [record.game_id for record in store.records()]
            assert {*acknowledged} <= {*found}
            assert len(found) == len({*found}) == len(list(store.results())) == store.counts().games
            assert [*store.played().values()] == [{0: range(len(found) // 2)}] * 2
            assert store._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
