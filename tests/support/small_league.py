"""A folder with two bots, `a.py` and `b.py`, and `referee.db`, a small tournament between them."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from command_line import ROOT, environment
from processes import REFEREE

WORDS = "tournament a.py b.py --deals 2 --jobs 1 --seed x --db referee.db --out page"


def make(folder: Path) -> Path:
    """Play it in `folder`, and return that."""
    for name in ("a", "b"):
        shutil.copy(ROOT / "tests" / "system" / "bots" / "programs" / "plain" / "first.py", folder / f"{name}.py")
    (folder / "tmp").mkdir()
    subprocess.run([*REFEREE, *WORDS.split()], cwd=folder, env=surroundings(folder), capture_output=True, check=True)
    return folder


def surroundings(folder: Path) -> dict[str, str]:
    """An environment that keeps everything in `folder`."""
    return environment({"TMPDIR": str(folder / "tmp"), "XDG_CACHE_HOME": str(folder / "cache")})


def game_ids(database: Path) -> list[str]:
    """The ids of the games of a database."""
    with closing(sqlite3.connect(database)) as db:
        return [game for (game,) in db.execute("SELECT game_id FROM games ORDER BY deal, rotation")]
