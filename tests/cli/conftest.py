"""What several tests of commands start from."""

from __future__ import annotations

from pathlib import Path

import pytest
import small_league as small


@pytest.fixture(scope="session")
def small_league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `small_league`, to be copied and not to be changed."""
    return small.make(tmp_path_factory.mktemp("small"))
