"""A bot that makes its games void, as an organiser meets it: the round is closed, and what is told of it fits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import referee_command

PROGRAM = """#!/usr/bin/env python3
import json, os, signal, subprocess, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif "id" in message:
        WEAPON
        print(json.dumps({"id": message["id"], "action": message["legal"][0]}), flush=True)
"""
HONEST = "pass"
KILLS = "len(message['hand']) > min(message['hand_sizes']) and os.kill(os.getppid(), 9)"
STOPS = """if len(message['hand']) > min(message['hand_sizes']):
            parent = os.getppid()
            subprocess.Popen(["sh", "-c", f"sleep 0.6; kill -CONT {parent}"], start_new_session=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            os.kill(parent, signal.SIGSTOP)
            time.sleep(0.1)"""


def bot(folder: Path, name: str, weapon: str) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(PROGRAM.replace("WEAPON", weapon))
    path.chmod(0o755)
    return str(path)


def play(folder: Path, tier: str, *bots: str, more: tuple[str, ...] = ()) -> str:
    """What the organiser reads of a tournament that ends well."""
    done = referee_command(
        *("tournament", *bots, "--sandbox", tier, "--deals", "4", "--seed", "s", "--jobs", "2"),
        *("--move-time", "5s", "--max-faults", "3", *more),
        cwd=folder,
        env={"XDG_CACHE_HOME": str(folder / "cache")},
        seconds=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def faults(folder: Path, *more: str) -> list[tuple[str, str, str]]:
    """Of each fault on record: whose, the verdict, the detail."""
    done = referee_command("export", "--format", "jsonl", *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    games = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        (game["seats"][fault["seat"]]["name"], fault["verdict"], fault["detail"])
        for game in games
        for fault in game["faults"]
    ]


@pytest.mark.parametrize("cluster", [(), ("--cluster", "local:2")], ids=["here", "cluster"])
def test_a_bot_that_kills_its_worker_is_withdrawn_the_round_closed_and_every_command_can_tell_why(
    tmp_path: Path, cluster: tuple[str, ...]
) -> None:
    bots = [bot(tmp_path / "bots", name, HONEST) for name in ("ann", "bob")]
    told = play(tmp_path, "D", *bots, bot(tmp_path / "bots", "killer", KILLS), more=cluster)
    assert "killer is charged with the games that it makes void: games with it come to nothing, and alone" in told
    assert "killer was at fault in 3 games of this round and is withdrawn" in told
    assert "round 1 is closed" in told
    assert "stays owed" not in told

    found = faults(tmp_path)
    assert {(name, verdict) for name, verdict, _ in found} == {("killer", "crash")}
    assert all("attempts that came to nothing in this run: " in detail for *_, detail in found)

    checked = referee_command("db", "check", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    merged = referee_command("db", "merge", "merged.db", "referee.db", cwd=tmp_path)
    assert merged.returncode == 0, merged.stderr
    assert faults(tmp_path, "merged.db") == found

    exported = referee_command("export", "--format", "jsonl", cwd=tmp_path).stdout.splitlines()
    games = [json.loads(line) for line in exported]
    (game, *_) = [game for game in games if game["faults"]]
    replayed = referee_command("replay", game["game_id"], cwd=tmp_path)
    assert replayed.returncode == 0, replayed.stderr
    assert "games with it come to nothing" in " ".join(replayed.stdout.split())
    seat = str(game["faults"][0]["seat"])
    bundled = referee_command("bundle", game["game_id"], "--seat", seat, "-o", "bundle", cwd=tmp_path)
    assert bundled.returncode == 0, bundled.stderr
    readme = next((tmp_path / "bundle").rglob("README*")).read_text()
    assert "games with it come to nothing" in " ".join(readme.split())
    shown = (tmp_path / "leaderboards" / "standings.md").read_text()
    assert "killer" in shown


def test_the_same_bots_achieve_nothing_in_boxes(public_path: Path) -> None:
    bots = public_path / "bots"
    programs = [bot(bots, "ann", HONEST), bot(bots, "killer", KILLS), bot(bots, "stopper", STOPS)]
    told = play(public_path, "A", *programs)
    assert "round 1 is closed" in told
    for word in ("void", "come to nothing", "stays owed"):
        assert word not in told
    # What they do in their boxes is their own: the first process of one is not the referee's.
    assert {name for name, *_ in faults(public_path)} <= {"killer", "stopper"}
    assert not any("come to nothing" in detail for *_, detail in faults(public_path))
