"""The command line as a shell sees it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import referee

ROOT = Path(referee.__file__).parents[1]
TESTS_PATH = f"{ROOT / 'tests' / 'support'}:{ROOT / 'tests' / 'system'}"
"""The folders that tests import their helpers from, for `sys.path` of another process."""
NO_SANDBOX = {
    f"REFEREE_{command}_SANDBOX": "D"
    for command in ("TOURNAMENT", "DUEL", "MATCH", "WATCH", "CHECK", "BUILD", "REPLAY_BOT")
}
"""The environment in which bots run with our rights."""
BEST_SANDBOX = dict.fromkeys(NO_SANDBOX, "auto")
"""The environment as a user has it."""


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours without what would change words, colours and buffers, and with this tree to import from.

    Bots are not kept apart unless `extra` says so: what is tested is something else, and their interpreter is ours.
    """
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("REFEREE", "_REFEREE", "COLUMNS", "PYTHON"))
    }
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **NO_SANDBOX, **(extra or {})}


def python(
    *argv: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, seconds: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run python to its end, for so long at most."""
    return subprocess.run(
        [sys.executable, *argv],
        env=environment(env), cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False,
    )  # fmt: skip


def referee_command(
    *argv: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, seconds: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run `referee` to its end, for so long at most."""
    return python("-m", "referee", *argv, env=env, cwd=cwd, seconds=seconds)


def in_terminal(*argv: str, env: Mapping[str, str] | None = None) -> str:
    """What `referee` prints where its standard output and input are a terminal."""
    ours, its = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "referee", *argv], stdin=its, stdout=its, stderr=its, env=environment(env)
    ):
        os.close(its)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # Linux's way of saying that the other side is closed
            pass
        finally:
            os.close(ours)
    return shown.decode().replace("\r\n", "\n")
