"""A bot whose folder is renamed in capitals alone is the same bot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import referee_command

from referee.store import open_store

BOT = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif "id" in message:
        print(json.dumps({"id": message["id"], "action": message["legal"][0]}), flush=True)
"""


def enter(folder: Path, text: str = BOT) -> None:
    folder.mkdir()
    (folder / "bot.toml").write_text('command = ["python3", "bot.py"]\n')
    (folder / "bot.py").write_text(text)


def rows(cwd: Path) -> dict[str, int]:
    """Games by name, as published."""
    [table] = json.loads((cwd / "leaderboards/standings.json").read_text())["tables"]
    return {row["name"]: row["games"] for row in table["rows"]}


def played(cwd: Path, *bots: str) -> int:
    """How many games the database has after a tournament between these bots."""
    done = referee_command("tournament", *bots, "--deals", "2", "--sandbox", "D", "-j", "1", "--seed", "s", cwd=cwd)
    assert done.returncode == 0, done.stderr
    with open_store(cwd / "referee.db") as store:
        return store.counts().games


@pytest.mark.parametrize("changed", [False, True])
def test_a_bot_renamed_in_capitals_has_one_row(tmp_path: Path, changed: bool) -> None:
    for name in ("a", "b"):
        enter(tmp_path / name)
    assert played(tmp_path, "a", "b") == 4
    (tmp_path / "a").rename(tmp_path / "moved")
    (tmp_path / "moved").rename(tmp_path / "A")
    if changed:
        (tmp_path / "A/bot.py").write_text(BOT + "# better\n")
    assert played(tmp_path, "A", "b") == (8 if changed else 4)
    assert rows(tmp_path) == {"A" if changed else "a": 4, "b": 4}
    assert played(tmp_path, "A", "b") == (8 if changed else 4)
