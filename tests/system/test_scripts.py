"""The README's first command, as a newcomer runs it; the second is what runs this."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_first_command_plays_a_tournament_in_a_clean_copy_and_says_where_its_leaderboard_is(tmp_path: Path) -> None:
    """With the environment of these tests in place of one that is made, which `scripts/test` has shown to work."""
    for name in "scripts", "example_bots":
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", tmp_path / ".venv" / "installed")
    for name in "pip", "referee":
        (tmp_path / ".venv" / "bin" / name).symlink_to(Path(sys.executable).parent / name)
    done = subprocess.run(
        ["sh", "scripts/try"],
        cwd=tmp_path,
        env={**os.environ, "DEALS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,  # a compiler of C++ is slow on a busy machine
    )
    assert done.returncode == 0, done.stderr
    assert "leaderboard: first-league/leaderboard/index.html" in done.stdout
    assert (tmp_path / "first-league" / "leaderboard" / "index.html").is_file()
