"""One league that nothing happened to, for the others to be compared with."""

from __future__ import annotations

import pytest

from crashes.kills import Undisturbed


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed.play(tmp_path_factory.mktemp("league"))


@pytest.fixture(scope="session")
def short(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """One that is over soon, to be played for every commit that it has."""
    return Undisturbed.play(tmp_path_factory.mktemp("short"), deals=2, jobs=1)
