"""`referee compare`: a sentence first, then where the difference comes from; legible in 80 columns; one JSON document."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from command_line import referee_command
from records import ANNA, BERT, CARL, played

from referee.record import Bot
from referee.store import Stored, open_store

OLD_BERT, DORA = Bot("bert", "0d" * 32), Bot("dora", "d4" * 32)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three bots, all pairs and all at one table, six deals; an older bert against anna; dora has not played."""
    path = tmp_path_factory.mktemp("compare") / "a.db"
    line_ups = [*combinations([ANNA, BERT, CARL], 2), (ANNA, BERT, CARL), (ANNA, OLD_BERT)]
    with open_store(path, create=True) as store:
        store.claim()
        store.save_bots({OLD_BERT: {}})
        store.save_bots({ANNA: {}, BERT: {}, CARL: {}, DORA: {}})
        store.add(
            [
                Stored.of(played(line_up, deal=deal, rotation=rotation))
                for line_up in line_ups
                for deal in range(6)
                for rotation in range(len(line_up))
            ]
        )
    return path


def test_lines_are_not_broken_where_there_is_no_terminal(db: Path) -> None:
    shown = referee_command("compare", "anna", "carl", "--db", str(db)).stdout
    (legend,) = [line for line in shown.splitlines() if line.startswith("score: ")]
    assert legend.endswith("reading-the-table.md.")


def test_a_terminal_without_unicode_gets_ascii_in_eighty_columns(db: Path) -> None:
    done = referee_command("compare", "anna", "carl", "--db", str(db), env={"LC_ALL": "C", "COLUMNS": "80"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout.startswith("2 players: ")
    assert "\n3 players: " in done.stdout
