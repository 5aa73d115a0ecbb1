"""A unit test starts no process: whatever does fails, and belongs into `tests/system`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

_STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}
_running = False


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    del args
    if _running and event in _STARTS:
        raise AssertionError(f"a unit test starts no process, and this one called {event}: move it to tests/system")


sys.addaudithook(_refuse)


@pytest.fixture(autouse=True)
def without_processes() -> Iterator[None]:
    """Refuse to start a process while a unit test runs."""
    global _running
    _running = True
    yield
    _running = False
