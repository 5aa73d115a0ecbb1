"""The tools of other languages, of the versions that the lists beside this file pin, installed once for all tests."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import ROOT
from generators import HERE, alone, run_in

TRANSCRIPTS = sorted((ROOT / "protocol" / "transcripts").glob("*.jsonl"))


@pytest.fixture(scope="session")
def lines() -> list[str]:
    """Every line of every transcript, as it is written there."""
    found = [line for path in TRANSCRIPTS for line in path.read_text("ascii").splitlines()]
    assert {json.loads(line)["to"] for line in found} == {"bot", "referee"}
    return found


@pytest.fixture(scope="session")
def kept(request: pytest.FixtureRequest) -> Path:
    """A folder of ours that outlives the tests, so that what is fetched and compiled there is used again."""
    cache = request.config.cache
    assert cache is not None
    return Path(cache.mkdir("types-of-other-languages"))


@pytest.fixture(scope="session")
def node_modules(kept: Path) -> Path:
    """What package-lock.json names, installed."""
    lock = (HERE / "package-lock.json").read_bytes()
    folder = kept / f"npm-{hashlib.sha256(lock).hexdigest()[:12]}"
    with alone(kept):
        if not (folder / "installed").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for name in "package.json", "package-lock.json":
                shutil.copy(HERE / name, folder)
            run_in(folder, ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            (folder / "installed").touch()
    return folder / "node_modules"


@pytest.fixture
def workplace(tmp_path: Path, node_modules: Path) -> Callable[[str], Path]:
    """A new folder with our program in a language, the schemas and the tools, as an author has it."""

    def made(language: str) -> Path:
        folder = tmp_path / language
        shutil.copytree(HERE / language, folder)
        (folder / "protocol").symlink_to(ROOT / "protocol")
        (folder / "node_modules").symlink_to(node_modules)
        return folder

    return made
