"""Rounds as their organiser runs them: what they are committed to, how they begin and end, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import msgspec
from cli.league import PLAIN, League, hash_of
from command_line import environment
from derivations import key_of, members, the_deck
from processes import REFEREE, wait_until

from referee.record import GameRecord

SPY = """
import json, os, shutil, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{{"type": "ready", "protocol": 1}}', flush=True)
    elif "id" in message:
        if not os.path.exists({seen!r}):
            shutil.copytree({out!r}, {seen!r})
        print(json.dumps({{"id": message["id"], "action": message["legal"][0]}}), flush=True)
"""


# -- commitments


def test_what_a_round_is_committed_to_is_published_before_its_first_game_and_its_secret_when_it_closes(
    tmp_path: Path,
) -> None:
    league = League(tmp_path, "last", "middle")
    seen = tmp_path / "seen"
    league.write("spy", SPY.format(seen=str(seen), out=str(tmp_path / "leaderboards")))
    said = league.play("--deals", "2", "--players", "2,3")

    (before,) = json.loads((seen / "rounds.json").read_text())["rounds"]
    (after,) = league.published("rounds.json")["rounds"]
    assert {**before, "secret": after["secret"]} == after
    assert (before["secret"], before["sealed"], before["seed"]) == (None, True, None)
    assert (seen / before["manifest"]).read_bytes() == (tmp_path / "leaderboards" / "round-1.json").read_bytes()
    assert league.published()["rounds"] == [after]

    secret = bytes.fromhex(after["secret"])
    assert len(secret) == 16
    manifest = (tmp_path / "leaderboards" / "round-1.json").read_bytes()
    assert hashlib.sha256(secret + manifest).hexdigest() == before["commitment"]
    for shown in (seen / "rounds.json", seen / "round-1.json"):
        assert after["secret"] not in shown.read_text()

    lines = said.splitlines()
    (opening,) = [at for at, line in enumerate(lines) if f"its commitment is {before['commitment']}" in line]
    (closing,) = [at for at, line in enumerate(lines) if f"round 1 is closed; its secret was {after['secret']}" in line]
    assert opening < closing
    assert said.index(after["secret"]) > said.index(before["commitment"])

    records = league.records()
    assert len(records) == after["games"] == 3 * 2 * 2 + 2 * 3
    for record in records:
        bots = sorted(
            (seat["name"], seat["hash"]) if isinstance(seat, dict) else tuple(seat) for seat in record["seats"]
        )
        key = key_of(secret, "deal", *members(bots), record["deal"])
        assert (key.hex(), the_deck(key, record["rotation"])) == (record["key"], record["deck"])
    names = {bot["name"]: bot["hash"] for bot in json.loads(manifest)["bots"]}
    assert names == {name: hash_of(league, name) for name in ("last", "middle", "spy")}


def test_a_secret_is_drawn_when_the_bots_are_hashed_and_built(tmp_path: Path) -> None:
    """Of what an author chooses, nothing can be tried against a secret that is not there yet."""
    log = tmp_path / "log"
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import secrets\n"
        "draw = secrets.token_bytes\n"
        "def logged(size):\n"
        f"    open({str(log)!r}, 'a').write('drawn\\n')\n"
        "    return draw(size)\n"
        "secrets.token_bytes = logged\n"
    )
    league = League(tmp_path, "first", "last")
    bot = tmp_path / "builder"
    bot.mkdir()
    shutil.copy(PLAIN / "middle.py", bot)
    build = f"open({str(log)!r}, 'a').write('built\\\\n')"
    (bot / "bot.toml").write_text(f'command = ["python3", "middle.py"]\nbuild = ["python3", "-c", "{build}"]\n')
    env = environment({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    env["PYTHONPATH"] = os.pathsep.join([str(hook), env["PYTHONPATH"]])
    done = subprocess.run(
        [*REFEREE, *league.words("builder", "--deals", "1")],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert log.read_text().split() == ["built", "drawn"]


def test_a_round_from_a_seed_is_marked_everywhere(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last")
    said = league.play("--deals", "1", "--seed", "tea")
    assert "it is not sealed: its decks come from a seed" in said
    assert "round 1 is closed; it was not sealed" in said
    for name in ("standings.json", "rounds.json"):
        (one,) = league.published(name)["rounds"]
        assert (one["sealed"], one["seed"]) == (False, "tea")
    for page in ("index.html", "standings.md"):
        assert "not sealed: from the seed tea" in league.text(page)
    assert league.export()["rounds"][0]["sealed"] is False


# -- how one ends


def test_a_round_that_is_closed_as_it_stands_tells_its_secret_and_its_deals_are_never_played(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last")
    league.play("--deals", "2", "--plan", "round.json")
    (planned,) = league.published("rounds.json")["rounds"]
    assert planned["secret"] is None
    said = league.play("--deals", "2", "--close-round")
    (closed,) = league.published("rounds.json")["rounds"]
    assert closed["commitment"] == planned["commitment"]
    assert f"round 1 is closed as it stands; its secret was {closed['secret']}" in said
    assert league.export()["games"] == []
    assert "no round of referee.db is open" in league.refused("--close-round")

    again = league.play("--deals", "2", "--round", "round.json")
    assert "round 1 is closed" in again
    assert league.export()["games"] == []

    league.play("--deals", "2")
    assert {(record["round"], record["deal"]) for record in league.records()} == {(2, 2), (2, 3)}


def test_an_interrupted_round_is_finished_before_a_new_bot_plays(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last")
    words = ("--deals", "20", "--pace", "2ms")  # slow enough to be stopped in the middle
    run = subprocess.Popen(
        [*REFEREE, *league.words(*words)],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    wait_until(lambda: league.stored() > 0 or run.poll() is not None)
    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=60)[1]
    assert run.returncode == 130, said
    kept = len(league.records())
    assert 0 < kept < 40
    assert league.published("rounds.json")["rounds"][0]["secret"] is None
    league.add("middle")
    more = league.play(*words)
    assert f"round 1: 40 games, of which {kept} were played before: {40 - kept} to play" in more
    order = [more.index(text) for text in ("round 1: 40 games", "round 1 is closed", "round 2: 80 games")]
    assert order == sorted(order)
    assert league.tables() == {(1, ("first", "last")): 40, (2, ("first", "middle")): 40, (2, ("last", "middle")): 40}


# -- what is refused


def test_other_conditions_are_refused_until_a_new_season_begins(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last")
    league.play("--deals", "1", "--seed", "tea")
    for words, says in (
        (("--move-time", "2s"), "--move-time 1s, not 2s"),
        (("--fresh",), "without --fresh, not with it"),
        (("--pace", "1ms"), "--pace none, not 1ms"),
        (("--memory", "64M"), "--memory 512M, not 64M"),
        (("--rule", "scoring=winner"), "--rule scoring=places, not winner"),
    ):
        said = league.refused("--deals", "1", *words)
        assert says in said
        assert "--new-season" in said
    old = league.published()
    said = league.play("--deals", "1", "--move-time", "2s", "--new-season")
    assert "round 2: 2 games" in said
    new = league.published()
    assert (old["season"], new["season"], new["limits"]["move"]) == (1, 2, "2 s")
    assert [one["number"] for one in new["rounds"]] == [2]
    assert {(record["round"], record["deal"]) for record in league.records()} == {(1, 0), (2, 1)}
    assert league.standings("--season", "1") == old
    assert league.standings() == league.standings("--season", "2") == new
    unknown = league.run("standings", "--season", "3")
    assert (unknown.returncode, "has no season 3: the last one is 2" in unknown.stderr) == (2, True)
    assert "nothing is owed" in league.play("--deals", "1", "--move-time", "2s")
    assert "--move-time 2s, not 1s" in league.refused("--deals", "1")


def test_a_season_that_goes_on_in_another_way_says_so_and_its_page_too(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last")
    assert "games of this season were played" not in league.play("--deals", "1")
    with closing(sqlite3.connect(tmp_path / "referee.db")) as db, db:
        for number, packed in db.execute("SELECT record, packed FROM records").fetchall():
            other = msgspec.structs.replace(GameRecord.unpack(packed), isolation="D with cgroups")
            db.execute("UPDATE records SET packed = ? WHERE record = ?", (other.pack(), number))
    said = league.play("--deals", "2")
    assert "games of this season were played at D with cgroups, and are now at D" in said
    assert any("Games were played at D and at D with cgroups: " in note for note in league.published()["notes"])
    assert "games of this season were played" not in league.play("--deals", "3")


def test_a_new_season_tells_the_secret_of_the_round_that_it_ends(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last")
    league.play("--deals", "1", "--plan", "round.json")
    secret = json.loads((tmp_path / "round.json").read_text())["secret"]
    said = league.play("--deals", "1", "--new-season")
    assert f"round 1 is closed as it stands; its secret was {secret}" in said
    assert league.standings("--season", "2") == league.published()
    assert league.tables() == {(2, ("first", "last")): 2}


def test_another_seed_than_that_of_the_open_round_is_refused(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last")
    league.play("--deals", "1", "--seed", "tea", "--plan", "round.json")
    said = league.refused("--deals", "1", "--seed", "milk")
    assert "round 1 of referee.db was opened with the seed 'tea', and not with 'milk'" in said
    assert "--close-round" in said
    league.play("--deals", "1")
    assert league.published("rounds.json")["rounds"][0]["seed"] == "tea"
