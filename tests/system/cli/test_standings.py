from __future__ import annotations

from pathlib import Path

import pytest
from command_line import in_terminal, referee_command
from records import ANNA, BERT, CARL, played

from referee.cli.output.tables import LEGEND
from referee.record import Bot
from referee.store import Stored, open_store

OLD_BERT = Bot("bert", "0d" * 32)


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = tmp_path / "a.db"
    with open_store(path, create=True) as store:
        store.claim()
        store.save_bots({OLD_BERT: {}})
        store.save_bots({ANNA: {"language": "Rust"}, BERT: {}, CARL: {}})
        line_ups = [(ANNA, BERT), (ANNA, CARL), (ANNA, OLD_BERT), (ANNA, BERT, CARL)]
        store.add(
            [
                Stored.of(played(line_up, deal=deal, rotation=rotation))
                for line_up in line_ups
                for deal in range(3)
                for rotation in range(len(line_up))
            ]
        )
    return str(path)


def test_tables_are_printed_one_for_each_number_of_players(db: str) -> None:
    done = referee_command("standings", db)
    assert (done.returncode, done.stderr) == (0, "")
    two, three = done.stdout.split("3 players")
    assert two.startswith("2 players: 12 games on 6 deals")
    assert three.startswith(": 9 games on 3 deals")
    assert all(bot.name in two and bot.name in three for bot in (ANNA, BERT, CARL))
    assert "\x1b" not in done.stdout


def test_standings_do_not_depend_on_the_width_where_there_is_no_terminal(db: str) -> None:
    shown = referee_command("standings", db).stdout
    assert "…" not in shown
    assert [line for line in shown.splitlines() if line.startswith("ranks: ")] == [LEGEND[1]]
    assert max(map(len, referee_command("standings", db, env={"COLUMNS": "60"}).stdout.splitlines())) <= 60


def test_colours_are_for_terminals_and_for_those_who_want_them(db: str) -> None:
    assert "\x1b[" in in_terminal("standings", db)
    assert "\x1b[3" not in in_terminal("standings", db, env={"NO_COLOR": "1"})
