"""A database that was damaged at random: every command that reads it answers, or refuses in one sentence."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_league import game_ids

from referee.cli.main import cli

PAGE = 4096
COMMANDS = (
    "standings bad.db",
    "standings bad.db --format json",
    "compare a b --db bad.db",
    "collusion bad.db",
    "replay bad.db GAME",
    "bundle bad.db GAME --seat 0 -o out.zip",
    "export bad.db",
    "export bad.db --format json",
    "db info bad.db",
    "db check bad.db",
    "db backup bad.db copy.db --force",
    "plan --db bad.db",
)


def zeroed(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), PAGE):
        yield data[:start] + bytes(PAGE) + data[start + PAGE :]


def cut_off(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), PAGE):
        yield data[: start + 100]


def flipped(data: bytes) -> Iterator[bytes]:
    random_ = random.Random(15)
    for _ in range(40):
        damaged = bytearray(data)
        for _ in range(30):
            damaged[random_.randrange(len(data))] = random_.randrange(256)
        yield bytes(damaged)


@pytest.mark.parametrize("damage", [zeroed, cut_off, flipped])
def test_damage_is_one_sentence(small_league: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage) -> None:  # type: ignore[no-untyped-def]
    shutil.copy(small_league / "referee.db", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    game = game_ids(Path("referee.db"))[0]
    refused = 0
    for number, data in enumerate(damage(Path("referee.db").read_bytes())):
        for command in COMMANDS:
            for leaving in tmp_path.glob("bad.db*"):
                leaving.unlink()
            Path("bad.db").write_bytes(data)
            done = CliRunner().invoke(cli, command.replace("GAME", game).split())
            assert done.exit_code in (0, 1, 2), (number, command, done.output)
            assert done.stderr.count("referee: ") <= 1, (number, command, done.output)
            refused += done.exit_code == 2
    assert refused
