"""Leagues as their organiser runs them: rounds, what they are committed to, who may play in them and who is out."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from command_line import environment, referee_command
from processes import REFEREE, wait_until

PLAIN = Path(__file__).parents[1] / "bots" / "programs" / "plain"
DECK = [rank + suit for rank in "6789TJQKA" for suit in "CDHS"]

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


class League:
    """A folder with bots, a database and a leaderboard."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder
        self.bots: list[str] = []
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        shutil.copy(PLAIN / f"{name}.py", self.folder)
        self.bots.append(f"{name}.py")

    def write(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(text)
        if f"{name}.py" not in self.bots:
            self.bots.append(f"{name}.py")

    def change(self, name: str) -> str:
        """Another version of a bot; returns its text as it was."""
        path = self.folder / f"{name}.py"
        was = path.read_text()
        path.write_text(f"{was}\n# changed\n")
        return was

    def words(self, *words: str, bots: Collection[str] | None = None) -> list[str]:
        return ["tournament", *(self.bots if bots is None else bots), "--jobs", "1", *words]

    def play(self, *words: str, bots: Collection[str] | None = None, status: int = 0) -> str:
        """A tournament to its end; what it says on stderr."""
        done = self.run(*self.words(*words, bots=bots))
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    def refused(self, *words: str, bots: Collection[str] | None = None) -> str:
        """What is said, in one line, by a tournament that is not played; every game and round stays as it was."""
        before = self.export() if (self.folder / "referee.db").exists() else None
        said = self.play(*words, bots=bots, status=2)
        assert (self.export() if before is not None else None) == before
        lines = [line for line in said.splitlines() if not line.startswith(("passed over", "Try "))]
        assert len(lines) == 1, said
        return lines[0]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*REFEREE, *words],
            cwd=self.folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def export(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("export", "--format", "json").stdout)
        return found

    def stored(self) -> int:
        """How many games are in the database."""
        try:
            with closing(sqlite3.connect(f"file:{self.folder / 'referee.db'}?mode=ro", uri=True)) as db:
                return int(db.execute("SELECT count(*) FROM games").fetchone()[0])
        except sqlite3.Error:
            return 0

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.run("export").stdout.splitlines()]

    def tables(self) -> Counter[tuple[int, tuple[str, ...]]]:
        """How many games of which line-up were played in which round."""
        found = self.export()
        names = [bot["name"] for bot in found["bots"]]
        return Counter((game["round"], tuple(sorted(names[seat] for seat in game["seats"]))) for game in found["games"])

    def published(self, name: str = "standings.json") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text(name))
        return found

    def text(self, name: str) -> str:
        return (self.folder / "leaderboards" / name).read_text()

    def standings(self, *words: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("standings", "--json", *words).stdout)
        return found


def rows(standings: Mapping[str, Any], table: int = 0) -> dict[tuple[str, str], int]:
    """The games of each bot, by its name and the beginning of its hash."""
    return {(row["name"], row["hash"]): row["games"] for row in standings["tables"][table]["rows"]}


def hash_of(league: League, name: str) -> str:
    """The hash of the version that plays now."""
    (found,) = {content for (bot, content) in rows(league.published()) if bot == name}
    return found


# -- commitments


def deck_of(secret: bytes, bots: list[tuple[str, str]], deal: int) -> tuple[str, list[str]]:
    """The key and the deck of a deal, from nothing but `docs/rules.md` and the specification of keys."""

    def framed(field: str | int) -> bytes:
        data = field.encode() if isinstance(field, str) else struct.pack(">Q", field)
        return struct.pack(">I", len(data)) + data

    fields = ["deal", len(bots), *(text for bot in bots for text in bot), deal]
    key = hmac.new(secret, b"".join(map(framed, fields)), hashlib.sha256).digest()

    def numbers() -> Iterator[int]:
        counter = 0
        while True:
            yield from struct.unpack(">8I", hashlib.sha256(key + struct.pack(">Q", counter)).digest())
            counter += 1

    stream = numbers()
    deck = list(DECK)
    for i in range(35, 0, -1):
        n = i + 1
        x = next(x for x in stream if x < 2**32 - 2**32 % n)
        deck[i], deck[x % n] = deck[x % n], deck[i]
    return key.hex(), deck


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
        assert deck_of(secret, bots, record["deal"]) == (record["key"], record["deck"])
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


# -- one round after another


def test_a_changed_bot_plays_anew_and_one_that_changes_back_does_not(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last", "middle")
    league.play("--deals", "1")
    old = hash_of(league, "first")
    whole = league.export()
    assert "nothing is owed" in league.play("--deals", "1")
    assert league.export() == whole

    was = league.change("first")
    said = league.play("--deals", "1")
    new = hash_of(league, "first")
    assert "round 2: 4 games, of which 0 were played before: 4 to play" in said
    assert league.tables() == {
        (1, ("first", "last")): 2,
        (1, ("first", "middle")): 2,
        (1, ("last", "middle")): 2,
        (2, ("first", "last")): 2,
        (2, ("first", "middle")): 2,
    }
    assert new != old
    first, second = league.published("rounds.json")["rounds"]
    assert first["secret"] != second["secret"]
    assert json.loads(league.text("round-2.json"))["previous"] == first["commitment"]
    assert {game["game_id"] for game in whole["games"]} < {game["game_id"] for game in league.export()["games"]}
    assert league.published()["notes"] == ["first has had 2 versions; the games of this one count"]
    assert set(rows(league.published())) == {("first", new), *rest(league)}
    assert rows(league.standings("--all-versions"))["first", old] == 4
    assert rows(league.standings("--all-versions"))["first", new] == 4
    assert ("first", old) not in rows(league.standings())

    (tmp_path / "first.py").write_text(was)
    assert "nothing is owed" in league.play("--deals", "1")
    assert hash_of(league, "first") == old
    assert rows(league.published())["first", old] == 4
    assert len(league.published("rounds.json")["rounds"]) == 2


def rest(league: League) -> set[tuple[str, str]]:
    return {bot for bot in rows(league.published()) if bot[0] != "first"}


def test_games_of_a_bot_that_is_left_out_of_an_open_round_are_dropped_until_it_is_back(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last", "middle")
    league.play("--deals", "1", "--plan", "round.json")
    everybody = list(league.bots)
    said = league.play("--deals", "1", "--drop-missing", bots=everybody[:2])
    gone = next(bot for bot in json.loads(league.text("round-1.json"))["bots"] if bot["name"] == "middle")
    assert f"not here any more, so their games of this round are dropped: middle ({gone['hash'][:8]})" in said
    assert "round 1: 6 games, of which 0 were played before: 2 to play" in said
    assert "round 1 is closed" in said
    assert "nothing is owed" in said
    back = league.play("--deals", "1", bots=everybody)
    assert "round 2: 4 games, of which 0 were played before: 4 to play" in back
    assert league.tables() == {(1, ("first", "last")): 2, (2, ("first", "middle")): 2, (2, ("last", "middle")): 2}
    deals = {(record["round"], record["deal"]) for record in league.records()}
    assert deals == {(1, 0), (2, 1)}, "the deals of the dropped games were known"


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
        (("--move-time", "2s"), "limits.move_ms: 1000 in the database, 2000 now"),
        (("--fresh",), 'processes: "many_games" in the database, "fresh" now'),
        (("--pace", "1ms"), "pace_ms: 0 in the database, 1 now"),
        (("--rule", "scoring=winner"), 'rules.scoring: "places" in the database, "winner" now'),
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
    assert "limits.move_ms: 2000 in the database, 1000 now" in league.refused("--deals", "1")


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


# -- shares


def test_a_planned_round_is_played_in_shares_and_by_nobody_it_does_not_know(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last", "middle")
    (tmp_path / "round.json").touch(mode=0o644)
    said = league.play("--deals", "4", "--plan", "round.json")
    assert "round 1: 24 games; its commitment is " in said
    assert "round.json holds its secret: only those who play it should read it" in said
    assert (tmp_path / "round.json").stat().st_mode & 0o077 == 0
    assert league.export()["games"] == []
    again = (tmp_path / "round.json").read_bytes()
    league.play("--deals", "4", "--plan", "round.json")
    assert (tmp_path / "round.json").read_bytes() == again

    ids: list[set[str]] = []
    for number in (1, 2, 3):
        words = ("--round", "round.json", "--shard", f"{number}/3", "--db", f"{number}.db", "--out", f"out{number}")
        league.play("--deals", "4", *words)
        ids.append({json.loads(line)["game_id"] for line in league.run("export", f"{number}.db").stdout.splitlines()})
        league.play("--deals", "4", *words)
        (open_round,) = json.loads((tmp_path / f"out{number}" / "rounds.json").read_text())["rounds"]
        assert open_round["secret"] is None
    assert [len(share) for share in ids] == [8, 8, 8]
    league.play("--deals", "4")
    assert {record["game_id"] for record in league.records()} == set.union(*ids)
    assert len(set.union(*ids)) == 24

    assert "there is nothing to plan" in league.refused("--deals", "4", "--plan", "other.json")
    assert not (tmp_path / "other.json").exists()
    assert "no round of referee.db is open" in league.refused("--deals", "4", "--shard", "1/2")
    other = league.refused("--round", "round.json", "--db", "x.db", bots=league.bots[:2])
    assert "round 1 is played by bots as they were when it was opened, and these are not among those given" in other
    assert "middle (" in other
    slower = league.refused("--round", "round.json", "--db", "y.db", "--move-time", "7s")
    assert "limits.move_ms: 1000 in the database, 7000 now" in slower
    league.play("--deals", "1", "--plan", "theirs.json", "--db", "theirs.db", "--out", "theirs")
    mixed = league.refused("--round", "theirs.json")
    assert "has a round 1 of its own: play a round of another machine on a database of its own, with --db" in mixed


# -- withdrawal


def test_a_bot_that_always_fails_is_withdrawn_and_the_standings_do_not_depend_on_how_many_play(tmp_path: Path) -> None:
    found = []
    for jobs in (1, 2, 3):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        league = League(folder, "fails", "first", "last")
        words = ("--deals", "30", "--seed", "tea", "--max-faults", "5", "--jobs", str(jobs))
        said = league.play(*words)
        assert "is withdrawn" in said
        assert "round 1 is closed" in said
        assert league.published()["notes"] == []
        (note,) = league.published()["withdrawn"]
        assert (note["name"], note["round"], note["faults"]) == ("fails", 1, 5)
        assert {row["name"]: row["games"] for row in league.published()["tables"][0]["rows"]} == {
            "first": 60,
            "last": 60,
        }
        for page in ("index.html", "standings.md"):
            assert re.search(
                r"fails.{0,80}was withdrawn in round 1, where it came to 5.faults", league.text(page), re.S
            )
        tables = league.tables()
        assert tables[1, ("first", "last")] == 60
        kept = sum(games for (_, table), games in tables.items() if "fails" in table)
        # What fails at once may do so for the rest of a block, of ten games, before the word comes that it is out.
        assert 5 <= kept <= jobs * (5 + 10), "the record keeps its games, and it is not asked for many more"
        found.append(league.text("standings.json"))
    assert found[0] == found[1] == found[2]


def test_a_silent_bot_costs_no_more_limits_than_faults_withdraw_it(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last", "silent")
    said = league.play("--deals", "150", "--move-time", "200ms", "--max-faults", "5")
    assert "round 1 is closed" in said
    tables = league.tables()
    assert tables[1, ("first", "last")] == 300
    assert 5 <= tables[1, ("first", "silent")] + tables[1, ("last", "silent")] <= 5 + 1
    assert json.loads(league.text("round-1.json"))["block_size"] == 900 // 64 == 14


def test_who_was_withdrawn_is_left_out_of_later_rounds_until_it_changes(tmp_path: Path) -> None:
    league = League(tmp_path, "fails", "first", "last")
    league.play("--deals", "3", "--max-faults", "2")
    league.add("middle")
    said = league.play("--deals", "3", "--max-faults", "2")
    assert "round 2: 12 games" in said
    assert "left out until they are changed: fails\n" in said
    assert not any("fails" in names for number, names in league.tables() if number == 2)
    shown = referee_command("standings", cwd=tmp_path).stdout
    assert re.search(r"^fails [0-9a-f]{8} was withdrawn in round 1, where it came to 2 faults", shown, re.M), shown
    assert {row["name"] for row in league.published()["tables"][0]["rows"]} == {"first", "last", "middle"}
    league.change("fails")
    league.play("--deals", "3", "--max-faults", "none")
    assert [note["round"] for note in league.published()["withdrawn"]] == [1]
    (games,) = [row["games"] for row in league.published()["tables"][0]["rows"] if row["name"] == "fails"]
    assert games == 18


# -- fair entry


def test_an_authors_bots_do_not_meet_at_three_seats_where_they_are_kept_apart(tmp_path: Path) -> None:
    league = League(tmp_path, "first", "last", "middle")
    bot = tmp_path / "filed"
    bot.mkdir()
    (bot / "bot.toml").write_text('command = ["python3", "bot.py"]\nauthor = "Ada"\n')
    shutil.copy(PLAIN / "first.py", bot / "bot.py")
    league.bots.append("filed")
    words = ("--author", "first=Ada", "--author", "last=Bea", "--deals", "1", "--players", "2,3")
    assert "Ada enters 2 bots, and --max-entries allows 1" in league.refused(*words, "--max-entries", "1")
    league.play(*words, "--same-author", "apart", "--max-entries", "2")
    assert league.tables() == {
        **{(1, pair): 2 for pair in (("filed", "first"), ("filed", "last"), ("filed", "middle"))},
        **{(1, pair): 2 for pair in (("first", "last"), ("first", "middle"), ("last", "middle"))},
        **{(1, table): 3 for table in (("filed", "last", "middle"), ("first", "last", "middle"))},
    }
    authors = {row["name"]: row["author"] for row in league.published()["tables"][0]["rows"]}
    assert authors == {"filed": "Ada", "first": "Ada", "last": "Bea", "middle": ""}
    said = league.play(*words, "--author", "filed=Cyd", "--same-author", "apart", "--max-entries", "1")
    assert "round 2: 6 games" in said
    authors = {row["name"]: row["author"] for row in league.published()["tables"][0]["rows"]}
    assert authors["filed"] == "Cyd"
