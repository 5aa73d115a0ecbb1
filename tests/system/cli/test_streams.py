"""Standard streams that are closed, full or without a reader, for every command."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from command_cases import CASES, TOURNAMENT, Case
from processes import REFEREE
from small_league import game_ids, surroundings

from referee.cli.exit_codes import ExitCode
from referee.cli.main import COMMANDS, cli

GAMES = 4
"""Of a tournament of two bots with two deals."""


def test_every_command_is_in_the_table() -> None:
    names = set()
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        names |= {f"{name} {inner}" for inner in command.commands} if isinstance(command, click.Group) else {name}
    assert names == CASES.keys()


@pytest.fixture(params=CASES, ids=str)
def run(request: pytest.FixtureRequest, small_league: Path, tmp_path: Path) -> Run:
    folder = tmp_path / "league"
    shutil.copytree(small_league, folder)
    return Run(CASES[request.param], folder)


@dataclass(frozen=True)
class Run:
    """A command in a folder of its own."""

    case: Case
    folder: Path

    def __call__(self, redirections: str, **streams: int) -> subprocess.CompletedProcess[bytes]:
        """Run it with the redirections of a shell, and return it with the streams that are captured."""
        words = self.case.words.replace("GAME", game_ids(self.folder / "referee.db")[0]).split()
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {redirections}', "sh", *REFEREE, *words],
            cwd=self.folder, env=surroundings(self.folder), check=False, timeout=240,
            **({"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams),
        )  # fmt: skip
        assert b"Traceback" not in (done.stdout or b"") + (done.stderr or b"")
        assert not list((self.folder / "tmp").iterdir()), "a traceback or a temporary folder was left"
        return done

    def check_made(self) -> None:
        """Everything that the command makes is there, and whole."""
        if self.case.made:
            made = self.folder / self.case.made
            assert made.stat().st_size
            if made.suffix == ".db":
                with closing(sqlite3.connect(made)) as db:
                    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if self.case is TOURNAMENT:
            assert len(game_ids(self.folder / "new.db")) == GAMES


def unread() -> int:
    """A pipe that nothing will ever read from."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.parametrize("state", ["closed", "full", "unread"])
def test_standard_output(run: Run, state: str) -> None:
    match state:
        case "closed":  # and the others with it, so that all three descriptors are free for whatever is opened
            done, code = run("<&- >&- 2>&-"), run.case.code
        case "full":
            done, code = run(">/dev/full"), ExitCode.NEGATIVE
            assert done.stderr.splitlines()[-1].startswith(b"referee: standard output cannot be written"), done.stderr
        case _:
            writing = unread()
            done, code = run("", stdout=writing), ExitCode.BROKEN_PIPE
            os.close(writing)
    assert code is None or done.returncode == code, done.stderr
    run.check_made()


@pytest.mark.parametrize("state", ["closed", "full", "unread"])
def test_standard_error_and_input(run: Run, state: str) -> None:
    writing = unread()
    done = {
        "closed": lambda: run("<&- 2>&-"),
        "full": lambda: run("</dev/full 2>/dev/full"),
        "unread": lambda: run("", stdin=writing, stderr=writing),
    }[state]()
    os.close(writing)
    assert run.case.code is None or done.returncode == run.case.code
    assert done.stdout
    run.check_made()
