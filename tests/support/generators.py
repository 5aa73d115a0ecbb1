"""Where the tools of other languages are kept and run, for the tests of what they make of the schemas."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from command_line import ROOT

HERE = ROOT / "tests" / "system" / "types"
"""Our programs in other languages, and the lists that pin the tools."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """No other process does the same meanwhile: tests run side by side."""
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run_in(
    folder: Path,
    command: Sequence[str] | str,
    *,
    stdin: str = "",
    path: Sequence[Path] = (),
    status: int = 0,
    **env: str,
) -> str:
    """What a command prints, which has to end with this status; `path` comes before PATH."""
    words = ["sh", "-ec", command] if isinstance(command, str) else list(command)
    searched = os.pathsep.join([*map(str, path), os.environ["PATH"]])
    done = subprocess.run(
        words, cwd=folder, env={**os.environ, **env, "PATH": searched}, input=stdin, capture_output=True, text=True,
        timeout=1200, check=False,
    )  # fmt: skip
    assert done.returncode == status, f"{command} failed:\n{done.stdout}{done.stderr}"
    return done.stdout
