"""Who was held, from the games to the pages: a tournament with a bot that works while others are asked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from command_line import referee_command

PROGRAMS = Path(__file__).parents[1] / "bots" / "hostile" / "programs"


def bot(place: Path, program: str, *arguments: str) -> str:
    shutil.copytree(PROGRAMS, place, ignore=shutil.ignore_patterns("__pycache__"))
    words = json.dumps(["python3", "-S", program, *arguments])
    (place / "bot.toml").write_text(f"command = {words}\n")
    return str(place)


def test_a_bot_that_works_in_others_time_is_named_on_the_page_in_the_run_and_in_the_terminal(tmp_path: Path) -> None:
    bots = [bot(tmp_path / "idler", "idlers.py", "itself"), bot(tmp_path / "thinker", "thinks.py", "5")]
    limits = ("--move-time", "20s", "--start-time", "20s", "--sandbox", "D", "--deals", "1", "--jobs", "1")
    done = referee_command("tournament", *bots, *limits, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    games = [json.loads(line) for line in referee_command("export", cwd=tmp_path).stdout.splitlines()]
    held = [game["seats"][seat]["name"] for game in games for seat in game["held"]]
    assert set(held) == {"idler"}
    published = tmp_path / "leaderboards"
    (one,) = json.loads((published / "run.json").read_text())["held"]
    spent = sum(game["idle_cpu_ms"][seat] for game in games for seat in game["held"])
    assert (one["name"], one["held"], one["games"], one["cpu_ms"]) == ("idler", len(held), len(games), spent)
    sentence = f"was held in {len(held)} of its {len(games)} games"
    assert sentence in (published / "index.html").read_text()
    assert sentence in (published / "standings.md").read_text()
    assert sentence in referee_command("standings", cwd=tmp_path).stdout
    assert "held" not in (published / "standings.json").read_text()
    assert referee_command("db", "check", cwd=tmp_path).returncode == 0
