from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from records import played

import referee
from referee.store import Store, Stored, open_store

ROOT = Path(referee.__file__).parents[1]
PAGE = 4096

COPIER = """
import os, signal, sys
from pathlib import Path
from referee.store import copying, open_store
copying._PAGES = 1
left = int(sys.argv[3])

def count(done, total):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

open_store(sys.argv[1]).back_up(Path(sys.argv[2]), force=True, progress=count)
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "a.db", create=True) as store:
        store.claim()
        store.add([Stored.of(played(deal=deal)) for deal in range(20)])
        yield store


def deals(path: Path) -> list[int]:
    with open_store(path) as store:
        assert store._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [result.deal for result in store.results()]


def test_killed_copy_leaves_the_file_that_was_there_whole(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    store.back_up(target)
    store.add([Stored.of(played(deal=99))])
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for left in (1, 5, 9):
        argv = [sys.executable, "-c", COPIER, str(store.path), str(target), str(left)]
        assert subprocess.run(argv, env=environment, check=False).returncode == -signal.SIGKILL
        assert deals(target) == list(range(20))
    argv = [sys.executable, "-c", COPIER, str(store.path), str(target), "0"]
    assert subprocess.run(argv, env=environment, check=False).returncode == 0
    assert deals(target) == [*range(20), 99]


def test_full_disk_leaves_nothing(store: Store, tmp_path: Path) -> None:
    """The limit on a file's size stands for the disk's: SQLite hears the same of both."""
    program = (
        "import resource, signal, sys; from pathlib import Path; from referee.store import open_store\n"
        "from referee.errors import DatabaseError\n"
        "store = open_store(sys.argv[1])\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({4 * PAGE}, {4 * PAGE}))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "try: store.back_up(Path(sys.argv[2]))\n"
        "except DatabaseError as error: print(error)\n"
    )
    argv = [sys.executable, "-c", program, str(store.path), str(tmp_path / "copy.db")]
    done = subprocess.run(
        argv, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout, "the copy was made"
    assert not [path for path in tmp_path.iterdir() if "copy" in path.name]
