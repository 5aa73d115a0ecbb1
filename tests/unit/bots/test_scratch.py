"""The folder of a run: its own, gone after it, and swept when the run was killed."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path

import pytest

from referee.bots.cache import scratch


@pytest.fixture(autouse=True)
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_swept_between_its_making_and_its_locking_is_made_again(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock
    first = True

    def flock(descriptor: int, how: int) -> None:
        nonlocal first
        if first and not how & fcntl.LOCK_NB:
            first = False
            scratch.sweep(base)
            assert list(base.iterdir()) == []
        real(descriptor, how)

    monkeypatch.setattr(scratch.fcntl, "flock", flock)
    with scratch.run_folder() as folder:
        assert (folder / ".lock").exists()
        scratch.sweep(base)
        assert folder.exists()


def test_what_a_run_left_that_was_killed_before_it_had_its_lock_is_swept(base: Path) -> None:
    (base / "referee-run-young" / "bot-old").mkdir(parents=True)
    scratch.sweep()
    assert list(base.iterdir()) == []


def test_a_folder_swept_between_its_making_and_the_making_of_its_lock_is_made_again(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tempfile.mkdtemp
    swept: list[str] = []

    def mkdtemp(**how: str) -> str:
        made = real(**how)
        if not swept:
            swept.append(made)
            scratch.sweep(base)
        return made

    monkeypatch.setattr(scratch.tempfile, "mkdtemp", mkdtemp)
    with scratch.run_folder() as folder:
        assert not Path(swept[0]).exists()
        assert list(base.iterdir()) == [folder]
