"""Tournament files: what they say and how it is told where they say it wrongly."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from command_line import ROOT, referee_command

from referee.cli.main import cli

ALL = cli.get_command(click.Context(cli), "tournament")
assert ALL is not None
PLAIN = ROOT / "tests" / "system" / "bots" / "programs" / "plain"


def test_bots_are_required_where_no_file_names_them(tmp_path: Path) -> None:
    for words in [], ["--file", str(tmp_path / "t.toml")]:
        (tmp_path / "t.toml").write_text("deals = 1")
        done = referee_command("tournament", *words)
        assert (done.returncode, "BOTS" in done.stderr.splitlines()[0]) == (2, True)


def test_a_tournament_is_played_from_a_file_alone(tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    for name in ("first.py", "last.py"):
        (tmp_path / "bots" / name).write_bytes((PLAIN / name).read_bytes())
    (tmp_path / "t.toml").write_text('bots = ["bots/*"]\ndeals = 1\njobs = 1\nseed = "s"\ndb = "x.db"\nout = "page"')
    done = referee_command("tournament", "--file", str(tmp_path / "t.toml"), cwd=Path("/"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"leaderboard: {tmp_path}/page/index.html"
    standings = json.loads((tmp_path / "page" / "standings.json").read_text())
    assert [row["games"] for row in standings["tables"][0]["rows"]] == [2, 2]
    assert (tmp_path / "x.db").exists()


@pytest.mark.parametrize("what", ["missing", "folder"])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, what: str) -> None:
    path = tmp_path / "t.toml"
    if what == "folder":
        path.mkdir()
    done = referee_command("tournament", "--file", str(path), "x")
    reason = "Is a directory" if what == "folder" else "No such file or directory"
    assert (done.returncode, done.stderr) == (
        2, f"referee: {path}: the tournament file cannot be read: {reason}\n",
    )  # fmt: skip
