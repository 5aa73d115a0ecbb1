"""The folder of a run: its own, gone after it, and swept when the run was killed."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest

from referee.bots.cache import scratch


@pytest.fixture(autouse=True)
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def deep(folder: Path) -> None:
    """Deeper than a recursion gets."""
    subprocess.run(["mkdir", "-p", "/".join("d" * 1200)], cwd=folder, check=True)


def test_a_run_leaves_nothing_behind_whatever_was_put_into_its_folder(base: Path) -> None:
    with scratch.run_folder() as folder:
        deep(folder)
    assert list(base.iterdir()) == []


def test_a_killed_runs_folder_is_swept_and_a_living_ones_is_not(base: Path) -> None:
    killed = base / "referee-run-killed"
    killed.mkdir()
    (killed / ".lock").touch()
    deep(killed)
    with scratch.run_folder() as living:
        assert not killed.exists()
        with scratch.run_folder():
            assert living.exists()
