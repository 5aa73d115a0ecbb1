from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import in_terminal
from records import ANNA, BERT, CARL, START, played

from referee.cli.main import cli
from referee.record import GameRecord
from referee.store import Stored, StoredRound, open_store

CLOSED = StoredRound(1, 1, '{"round":1}', "c0" * 32, "5ec7e7", "practice", sealed=False, closed=True)
OPEN = StoredRound(2, 1, '{"round":2}', "c1" * 32, "5ec7e8", None, sealed=True, closed=False)


@pytest.fixture(scope="module")
def records() -> list[GameRecord]:
    """In schedule order."""
    pairs = [played((ANNA, BERT), deal=deal, rotation=rotation) for deal in range(3) for rotation in range(2)]
    return [
        *pairs,
        played((BERT, CARL), faults={0: START}),
        played((ANNA, BERT, CARL), faults={1: 2, 2: 4}, notes={0: "é\n"}),
    ]


@pytest.fixture
def db(tmp_path: Path, records: list[GameRecord]) -> str:
    path = tmp_path / "a.db"
    with open_store(path, create=True) as store:
        store.claim()
        store.open_round(CLOSED)
        store.open_round(OPEN)
        store.save_bots({ANNA: {"language": "Rust", "author": "=x"}})
        store.add([Stored.of(record) for record in reversed(records)])
    return str(path)


def export(*words: str) -> str:
    done = CliRunner().invoke(cli, ["export", *words])
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def test_at_a_terminal_nothing_that_a_bot_said_is_written_as_it_is(db: str) -> None:
    shown = in_terminal("export", db)
    assert shown.isascii() and r"\u00e9" in shown
    assert "\u00e9" in export(db)
