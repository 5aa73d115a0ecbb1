"""What part of a database counts: bots by name and pattern, rounds by number, and what is said of it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from command_line import referee_command
from records import ANNA, BERT, CARL, played

from referee.record import Bot
from referee.store import Stored, open_store

DORA, OLD_BERT = Bot("dora", "d4" * 32), Bot("bert", "0d" * 32)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four bots, all pairs and all threes, three deals; and games of an older bert with anna."""
    path = tmp_path_factory.mktemp("selection") / "a.db"
    bots = [ANNA, BERT, CARL, DORA]
    line_ups = [*combinations(bots, 2), *combinations(bots, 3), (ANNA, OLD_BERT)]
    with open_store(path, create=True) as store:
        store.claim()
        store.save_bots({OLD_BERT: {}})
        store.save_bots({bot: {} for bot in bots})
        store.add(
            [
                Stored.of(played(line_up, deal=deal, rotation=rotation))
                for line_up in line_ups
                for deal in range(3)
                for rotation in range(len(line_up))
            ]
        )
    return path


def test_a_terminal_without_unicode_gets_ascii_in_eighty_columns(db: Path) -> None:
    done = referee_command("standings", str(db), "--by-seat", env={"LC_ALL": "C", "COLUMNS": "80"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "+/-" in done.stdout
