"""Hostile programs as folders that enter a real tournament, and what there is in it for them to harm."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

PROGRAMS = Path(__file__).with_name("programs")
_SLEEP = "import time; time.sleep(36000)"


@cache
def daemon() -> bytes:
    """The program that leaves a process behind, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
    with TemporaryDirectory() as name:
        out = Path(name) / "daemon"
        subprocess.run([compiler, "-o", str(out), str(PROGRAMS / "daemon.c")], check=True)
        return out.read_bytes()


def enter(folder: Path, program: str, *arguments: str, players: tuple[int, ...] = (2, 3, 4, 5, 6)) -> Path:
    """Make `folder` a bot that runs one of the programs, such as `dies.py exits`."""
    folder.mkdir(parents=True)
    file, *words = program.split()
    for name in {file, "talk.py"}:
        shutil.copy(PROGRAMS / name, folder)
    if "./daemon" in words:
        (folder / "daemon").write_bytes(daemon())
        (folder / "daemon").chmod(0o755)
    command = json.dumps(["python3", "-B", "-S", file, *words, *arguments])
    (folder / "bot.toml").write_text(f"command = {command}\nplayers = {list(players)}\n")
    return folder


@contextmanager
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process of whoever runs the referee, which is there to be killed."""
    with subprocess.Popen([sys.executable, "-S", "-c", _SLEEP], stdin=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def target(victim: int, folder: Path, database: Path, token: str = "mine") -> str:
    """What programs that reach out are told: a process, files in `folder`, the tournament's own database.

    `token` is the name of the files that they write where they can.

    In base64, so that no path stands in their command line.
    """
    told = {
        "token": token,
        "place": str(folder),
        "referee": os.getpid(),
        "victim": victim,
        "sibling": victim,
        "secret": str(folder / "secret"),
        "other_bot": str(folder / "secret"),
        "database": str(database),
        "port": 1,
        "socket": str(folder / "socket"),
    }
    return b64encode(json.dumps(told).encode()).decode()
