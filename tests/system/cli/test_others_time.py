"""Who was held, from the games to the pages: a tournament with a bot that works while others are asked."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from command_line import referee_command

from referee.bundles.bundle import read_bundle
from referee.record import Idling

PROGRAMS = Path(__file__).parents[2] / "system" / "bots" / "hostile" / "programs"


def bot(place: Path, program: str, *arguments: str) -> str:
    shutil.copytree(PROGRAMS, place, ignore=shutil.ignore_patterns("__pycache__"))
    words = json.dumps(["python3", "-S", program, *arguments])
    (place / "bot.toml").write_text(f"command = {words}\n")
    return str(place)


def test_a_bot_that_works_in_others_time_is_named_on_the_page_in_the_run_and_in_the_terminal(tmp_path: Path) -> None:
    bots = [bot(tmp_path / "idler", "idlers.py", "itself"), bot(tmp_path / "thinker", "thinks.py", "5")]
    limits = ("--move-time", "20s", "--start-time", "20s", "--sandbox", "D", "--deals", "3", "--jobs", "1")
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
    for game in games:
        check_told_of(game, tmp_path)


def check_told_of(game: dict[str, Any], folder: Path) -> None:
    """Whoever looks at one game sees who was held in it; the bundle of a seat tells of that seat alone."""
    shown = referee_command("replay", game["game_id"], cwd=folder).stdout.splitlines()
    for seat, ms in enumerate(game["idle_cpu_ms"]):
        used = [f"used {ms} ms of a processor while others were asked"] if ms else []
        words = " and ".join([*used, *["was stopped between its questions"] * (seat in game["held"])])
        (line,) = [line for line in shown if f" {game['seats'][seat]['name'].ljust(7)}  " in line and "left" in line]
        assert line.endswith(f"left, {words}" if words else "left")
        place = folder / f"{game['game_id']}-{seat}"
        referee_command("bundle", game["game_id"], "--seat", str(seat), "-o", str(place), cwd=folder)
        told = " ".join((place / "README.txt").read_text().split())
        assert told.count("others' time") == told.count(f"besides it {words} (docs/sandbox.md") == bool(words)
        held = seat in game["held"]
        assert json.loads((place / "record.json").read_text())["idling"] == {"cpu_ms": ms, "held": held}
        assert read_bundle(place).of_game.idling == Idling(ms, held)


def test_a_match_says_who_worked_in_others_time(tmp_path: Path) -> None:
    bots = [bot(tmp_path / "idler", "idlers.py", "itself"), bot(tmp_path / "thinker", "thinks.py", "5")]
    limits = ("--move-time", "20s", "--start-time", "20s", "--sandbox", "D", "--deals", "3", "--seed", "long")
    done = referee_command("match", *bots, *limits, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = re.search(
        r"^idler used (\d+) ms of a processor while others were asked and was stopped between its questions in [1-6] of 6 games$",
        done.stdout,
        re.MULTILINE,
    )
    assert said and int(said[1]) > 0
    idler, thinker = json.loads(referee_command("match", *bots, *limits, "--json", cwd=tmp_path).stdout)["bots"]
    assert (idler["held"] in range(1, 7), idler["idle_cpu_ms"] > 0, thinker["held"]) == (True, True, 0)
