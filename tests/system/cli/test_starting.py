"""Signals while the program starts, a terminal that goes away, and a current folder that was removed."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import termios
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_cases import CASES
from processes import REFEREE, wait_until
from small_league import surroundings

from referee.cli.main import cli

AT_AN_IMPORT = """
import os, signal, sys
from referee.__main__ import main
assert "click" not in sys.modules
class Finder:
    number = -1
    def find_spec(self, name, *_):
        self.number += name == "referee.cli.main" or self.number >= 0
        if self.number == int(os.environ["AT"]):
            os.kill(os.getpid(), getattr(signal, os.environ["SIGNAL"]))
sys.meta_path.insert(0, Finder())
main()
"""
"""The program, with a signal when it looks for its nth module; `main` has done nothing before the first."""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_during_imports_shows_no_traceback(small_league: Path, name: str) -> None:
    for number in (0, 1, 7, 40, 100, 250):
        done = subprocess.run(
            [sys.executable, "-c", AT_AN_IMPORT, "standings", "referee.db"],
            cwd=small_league, env=surroundings(small_league) | {"AT": str(number), "SIGNAL": name},
            capture_output=True, check=False, timeout=120,
        )  # fmt: skip
        words = b"" if number < 250 else b"referee: interrupted\n"  # by then the command has begun
        assert (done.returncode, done.stdout, done.stderr) == (130, b"", words), number


def games(database: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


def test_a_terminal_that_goes_away_ends_a_tournament_with_its_page(small_league: Path, tmp_path: Path) -> None:
    folder = tmp_path / "league"
    shutil.copytree(small_league, folder)
    words = [
        "tournament",
        "a.py",
        "b.py",
        "--deals",
        "100000",
        "--jobs",
        "1",
        "--seed",
        "x",
        "--db",
        "new.db",
        "--out",
        "new",
    ]
    ours, its = os.openpty()
    with subprocess.Popen(
        [*REFEREE, *words], cwd=folder, env=surroundings(folder), stdin=its, stdout=its, stderr=its,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(its, termios.TIOCSCTTY, 0),
    ) as run:  # fmt: skip
        os.close(its)
        wait_until(lambda: bool(os.read(ours, 1 << 16)) and games(folder / "new.db") > 0, seconds=240)
        os.close(ours)
        assert run.wait(timeout=240) == 130
    assert games(folder / "new.db")
    assert (folder / "new" / "index.html").stat().st_size
    assert not list((folder / "tmp").iterdir())


@pytest.mark.parametrize("name", CASES)
def test_a_current_folder_that_was_removed_is_one_sentence(
    small_league: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    words = CASES[name].words.split()
    absolute = [str(small_league / word) if (small_league / word).is_file() else word for word in words]
    (tmp_path / "gone").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "gone").rmdir()
    done = CliRunner().invoke(cli, absolute, env=surroundings(tmp_path))
    assert done.exit_code in (0, 1, 2, 3), done.output
    assert done.stderr.count("referee: ") <= 1
    assert not list((tmp_path / "tmp").iterdir())
