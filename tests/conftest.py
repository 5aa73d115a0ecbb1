"""What all tests share: bots are not kept apart unless a test asks for it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import small_league as small
from command_line import NO_SANDBOX
from hypothesis import settings

import protocol

os.environ.update(NO_SANDBOX)
settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def public_folder() -> Iterator[Path]:
    """A folder that others may enter: root's boxes are made by another user, and pytest's folders are closed to him."""
    with tempfile.TemporaryDirectory(prefix="referee-tests-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def public_path(public_folder: Path) -> Path:
    """As `tmp_path`, in a place that others may enter."""
    folder = Path(tempfile.mkdtemp(dir=public_folder))
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def small_league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the league in `small_league.py`: copy it, do not change it."""
    return small.make(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def transcripts() -> dict[str, list[dict[str, Any]]]:
    """By name, without the ending: the lines of each transcript."""
    folder = Path(protocol.__file__).parent / "transcripts"
    return {
        path.stem: [json.loads(line) for line in path.read_text("ascii").splitlines()]
        for path in sorted(folder.glob("*.jsonl"))
    }
