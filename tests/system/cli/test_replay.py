from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

from command_line import in_terminal
from records import played

from referee.cli.commands.replay import show_game
from referee.record import GameRecord
from referee.store import Stored, open_store


def saved(path: Path, record: GameRecord) -> str:
    """A database of one game."""
    with open_store(path, create=True) as store:
        store.claim()
        store.add([Stored.of(record)])
    return str(path)


def shown(record: GameRecord, seat: int | None = None) -> str:
    """What is shown of a game."""
    with redirect_stdout(io.StringIO()) as text:
        show_game(record, names=[bot.name for bot in record.seats], seat=seat)
    return text.getvalue()


def test_colours_are_for_terminals_and_for_those_who_want_them(tmp_path: Path) -> None:
    record = played(game_id="abc")
    path = saved(tmp_path / "a.db", record)
    coloured = in_terminal("replay", path, "abc")
    assert "\x1b[1m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == shown(record)
    assert in_terminal("replay", path, "abc", env={"NO_COLOR": "1"}) == shown(record)
