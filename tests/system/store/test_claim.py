from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from records import played

import referee
from referee.errors import DatabaseBusyError, DatabaseError
from referee.store import Stored, open_store

ROOT = Path(referee.__file__).parents[1]

HOLDER = """
import subprocess, sys
from referee.store import open_store
store = open_store(sys.argv[1], create=True)
store.claim()
CHILD
print("claimed", flush=True)
sys.stdin.read()
"""

FORKED = """
import os, signal
read, write = os.pipe()
if not (child := os.fork()):
    os.write(write, b".")
    signal.pause()
os.read(read, 1)
print(child, flush=True)
"""

STARTED = """
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, close_fds=False)
print(child.pid, flush=True)
"""


@contextmanager
def holder(path: Path, child: str = "") -> Iterator[subprocess.Popen[str]]:
    """A process that has claimed the database, said so, and waits."""
    argv = [sys.executable, "-c", HOLDER.replace("CHILD", child), str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def says(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_second_player_is_told_who_plays(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with holder(path) as process:
        assert says(process) == "claimed"
        with open_store(path, create=True) as store, pytest.raises(DatabaseBusyError) as caught:
            store.claim()
        assert (
            str(caught.value)
            == f"another referee (pid {process.pid}) is playing on {path}: wait for it, or play on another with --db"
        )


def test_killed_player_leaves_no_claim(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with holder(path) as process:
        assert says(process) == "claimed"
        kill(process)
        with open_store(path) as store:
            store.claim()
            assert store.add([Stored.of(played())]) == 1


@pytest.mark.parametrize("child", [FORKED, STARTED], ids=["forked", "started"])
def test_child_that_outlives_its_killed_parent_does_not_keep_the_claim(tmp_path: Path, child: str) -> None:
    path = tmp_path / "a.db"
    with holder(path, child) as process:
        pid = int(says(process))
        assert says(process) == "claimed"
        os.kill(pid, signal.SIGSTOP)  # or it may end with its parent
        kill(process)
        try:
            with open_store(path) as store:
                store.claim()
        finally:
            os.kill(pid, signal.SIGKILL)


def test_a_file_with_two_names_is_played_on_by_nobody_until_one_is_removed(tmp_path: Path) -> None:
    path, link = tmp_path / "a.db", tmp_path / "link.db"
    with holder(path) as process:
        assert says(process) == "claimed"
        link.hardlink_to(path)
        with open_store(link, create=True) as store, pytest.raises(DatabaseError):
            store.claim()
    for name in (path, link):
        with open_store(name) as store, pytest.raises(DatabaseError):
            store.claim()
    path.unlink()
    with open_store(link) as store:
        store.claim()
