"""`referee bundle` as organisers and authors use it."""

from __future__ import annotations

from pathlib import Path

from command_line import referee_command
from records import played

from referee.record import GameRecord
from referee.store import Stored, open_store


def saved(path: Path, *records: GameRecord) -> str:
    with open_store(path, create=True) as store:
        store.claim()
        store.add([Stored.of(record) for record in records])
    return str(path)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.db", played(game_id="abc", faults={1: 2}))
    done = referee_command("bundle", path, "abc", "-o", "/proc/nowhere/out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("referee: /proc/nowhere/out cannot be written: ")
