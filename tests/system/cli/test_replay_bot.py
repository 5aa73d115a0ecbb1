"""`referee replay-bot` as authors use it: with a bundle, with a database, with the version that played."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from subprocess import CompletedProcess

import msgspec
import pytest
from command_line import in_terminal, referee_command
from dialogues import LIMITS, by_program
from seats import PROGRAMS

from referee.bots.building.workshop import Workshop
from referee.bots.cache.prepare import prepare
from referee.bots.seat.recorded import transcript_of
from referee.bots.source.manifest import read_bot
from referee.bots.tiers import Tier
from referee.bundles.bundle import files_of
from referee.bundles.place import BundleOutput
from referee.record import Bot, GameRecord
from referee.store import Stored, open_store

BOT = """
import json, sys
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready", "protocol": 1}', flush=True)
    elif "id" in message:
        asked += 1
        print("question", asked, file=sys.stderr, flush=True)
        if asked == 3:
            BREAK
        print(json.dumps({"id": message["id"], "action": message["legal"][0]}), flush=True)
"""
BROKEN = BOT.replace("BREAK", "sys.exit(3)")
MENDED = BOT.replace("BREAK", "pass")
TELLS_TIME = BOT.replace("BREAK", "print(message['time_left_ms'], file=sys.stderr, flush=True)")


class Shop:
    """A folder with a game that a bot lost, its cache, and the command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.chmod(0o755)

    def bot(self, name: str, program: str) -> Path:
        path = self.folder / f"{name}.py"
        path.write_text(program)
        return path

    def game(self, bot: Path) -> GameRecord:
        """A game of the bot at seat 1 of three, kept in `referee.db`."""
        record, _ = by_program(self.folder, sys.executable, str(bot))
        seats = (record.seats[0], read_bot(bot).identity, record.seats[2])
        record = msgspec.structs.replace(record, seats=seats, round=None)
        with open_store(self.folder / "referee.db", create=True) as store:
            store.claim()
            store.add([Stored.of(record)])
        return record

    def run(self, *words: str) -> CompletedProcess[str]:
        env = {"XDG_CACHE_HOME": str(self.folder / "cache")}
        return referee_command("replay-bot", *words, env=env, cwd=self.folder)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def answers(record: GameRecord) -> list[str]:
    return [str(step.action) for step in record.steps if step.seat == 1 and step.action is not None]


def test_a_fault_that_comes_again_is_shown_and_ends_with_one(shop: Shop) -> None:
    bot = shop.bot("mine", BROKEN)
    record = shop.game(bot)
    done = shop.run("a1b2", "--bot", str(bot))
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[:2] == ["game a1b2, seat 1 of 3", f"mine {record.seats[1].hash[:8]}, the version that played"]
    assert [line.split("   ")[-2].split("  ")[-1] for line in lines[2:4]] == answers(record)
    assert lines[4].split()[1:] == ["the", "same", "fault"]
    words = "crash: it exited with status 3 (last on stderr: question 3) while it was being asked"
    assert lines[6:] == [
        f"      then   {words}",
        f"      now    {words}",
        "3 questions: the same to the fault, which comes again",
    ]
    assert json.loads(lines[5].removeprefix("      asked  "))["type"] == "act"
    assert done.stderr == "question 1\nquestion 2\nquestion 3\n"


def test_a_mended_bot_is_told_to_go_another_way_where_it_failed(shop: Shop) -> None:
    record = shop.game(shop.bot("mine", BROKEN))
    mended = shop.bot("mine", MENDED)
    done = shop.run("a1b2", "--bot", str(mended))
    lines = done.stdout.splitlines()
    then, now = record.seats[1].hash[:8], read_bot(mended).identity.hash[:8]
    assert (done.returncode, lines[1]) == (1, f"mine {now}; then it was another version, mine {then}")
    assert lines[-2].startswith("      now    lay ")
    turn = lines[4].split()[0]
    assert lines[-1] == f"3 questions: it goes another way in turn {turn}"


def test_the_same_answers_all_the_way_end_with_zero(shop: Shop) -> None:
    bot = shop.bot("mine", MENDED)
    record = shop.game(bot)
    done = shop.run("a1b2", "--seat", "1", "--bot", str(bot))
    count = len(answers(record))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"{count} questions: the same all the way")


def test_turns_are_those_of_a_replay_and_end_where_they_should(shop: Shop) -> None:
    bot = shop.bot("mine", BROKEN)
    shop.game(bot)
    whole = json.loads(shop.run("a1b2", "--bot", str(bot), "--json").stdout)
    turns = [moment["turn"] for moment in whole["moments"]]
    cut = json.loads(shop.run("a1b2", "--bot", str(bot), "--json", "--until", str(turns[1])).stdout)
    assert [moment["turn"] for moment in cut["moments"]] == [turn for turn in turns if turn <= turns[1]]
    assert (cut["same"], cut["at_fault"], whole["at_fault"]) == (True, False, True)


def test_json_tells_then_and_now(shop: Shop) -> None:
    bot = shop.bot("mine", BROKEN)
    record = shop.game(bot)
    done = shop.run("a1b2", "--bot", str(shop.bot("other", MENDED)), "--json")
    told = json.loads(done.stdout)
    assert (told["game_id"], told["seat"], told["same"], told["at_fault"]) == ("a1b2", 1, False, False)
    assert (told["bot"]["then"]["name"], told["bot"]["now"]["name"]) == ("mine", "other")
    last = told["moments"][-1]
    assert last["question"]["id"] == json.loads(str(record.faults[0].evidence["sent"]))["id"]
    assert (last["then"]["action"], last["then"]["fault"]["verdict"]) == (None, "crash")
    assert (last["now"]["action"], last["now"]["fault"]) == (last["question"]["legal"][0], None)
    assert [moment["then"]["action"] for moment in told["moments"][:-1]] == answers(record)


def test_the_version_that_played_comes_from_the_cache(shop: Shop) -> None:
    bot = shop.bot("mine", BROKEN)
    record = shop.game(bot)
    missing = shop.run("a1b2")
    told = f"referee: mine as it played ({record.seats[1].hash[:8]}) is not in the cache: name a bot with --bot\n"
    assert (missing.returncode, missing.stderr) == (2, told)
    prepare(read_bot(bot), shop.folder / "cache" / "referee" / "bots")
    bot.write_text(MENDED)
    done = shop.run("a1b2")
    assert done.stdout.splitlines()[1] == f"mine {record.seats[1].hash[:8]}, the version that played"
    assert done.stdout.splitlines()[-1] == "3 questions: the same to the fault, which comes again"


def test_a_folder_that_was_built_comes_from_the_cache_as_built(shop: Shop) -> None:
    folder = shop.folder / "mine"
    folder.mkdir()
    (folder / "bot.toml").write_text('command = ["python3", "built.py"]\nbuild = ["cp", "source.txt", "built.py"]\n')
    (folder / "source.txt").write_text(BROKEN)
    prepare(read_bot(folder), shop.folder / "cache" / "referee" / "bots", builder=Workshop(Tier.D))
    record, _ = by_program(shop.folder, sys.executable, str(shop.bot("same", BROKEN)))
    seats = (record.seats[0], read_bot(folder).identity, record.seats[2])
    with open_store(shop.folder / "referee.db", create=True) as store:
        store.claim()
        store.add([Stored.of(msgspec.structs.replace(record, seats=seats, round=None))])
    assert shop.run("a1b2").stdout.splitlines()[-1] == "3 questions: the same to the fault, which comes again"


def test_a_copy_that_was_changed_is_not_taken_for_the_version_that_played(shop: Shop) -> None:
    bot = shop.bot("mine", BROKEN)
    shop.game(bot)
    copy = prepare(read_bot(bot), shop.folder / "cache" / "referee" / "bots").folder
    copy.chmod(0o755)
    (copy / "mine.py").chmod(0o644)
    (copy / "mine.py").write_text(MENDED)
    done = shop.run("a1b2")
    assert (done.returncode, "is not in the cache" in done.stderr) == (2, True)


@pytest.mark.parametrize("name", ["fault", "fault.zip"])
def test_a_bundle_is_all_that_an_author_needs(name: str, shop: Shop) -> None:
    bot = shop.bot("mine", BROKEN)
    record = shop.game(bot)
    with BundleOutput(shop.folder / name) as place:
        place.write(files_of(transcript_of(record, 1, LIMITS)))
    (shop.folder / "referee.db").unlink()
    assert shop.run(name, "--bot", str(bot)).stdout.splitlines()[-1].endswith("which comes again")
    wrong = shop.run(name, "--bot", str(bot), "--seat", "2")
    assert (wrong.returncode, wrong.stderr) == (2, f"referee: {name} is the side of seat 1, and of no other\n")


@pytest.mark.parametrize(
    ("words", "told"), [([], 1000), (["--move-time", "none"], None), (["--move-time", "7s"], 7000)]
)
def test_limits_are_told_and_can_be_others(words: list[str], told: int | None, shop: Shop) -> None:
    shop.game(shop.bot("mine", BROKEN))
    done = shop.run("a1b2", "--bot", str(shop.bot("mine", TELLS_TIME)), *words)
    # Without a round the limits are the defaults; the question of the fault tells what was really told.
    expected = LIMITS.move_ms if told == 1000 else told
    assert done.stderr.splitlines()[3] == str(expected)


def test_a_limit_that_is_given_is_enforced(shop: Shop) -> None:
    bot = shop.bot("mine", MENDED)
    shop.game(bot)
    slow = shop.bot("slow", BOT.replace("BREAK", "import time; time.sleep(3600)"))
    done = shop.run("a1b2", "--seat", "1", "--bot", str(slow), "--move-time", "200ms")
    assert done.stdout.splitlines()[-2].startswith("      now    timeout: no answer within 200 ms")


def test_stdout_and_stderr_are_kept_apart_and_nothing_is_left_behind(shop: Shop) -> None:
    bot = shop.bot("mine", BROKEN)
    shop.game(bot)
    temporary = shop.folder / "tmp"
    temporary.mkdir()
    env = {"XDG_CACHE_HOME": str(shop.folder / "cache"), "TMPDIR": str(temporary)}
    done = referee_command("replay-bot", "a1b2", "--bot", str(bot), "--json", env=env, cwd=shop.folder)
    assert json.loads(done.stdout)["at_fault"] is True
    assert os.listdir(temporary) == []


def test_in_a_terminal_stderr_is_made_safe_and_nothing_is_held_back(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop.folder)
    shop.game(shop.bot("mine", MENDED))
    loud = BOT.replace("BREAK", "sys.stderr.write('\\x1b[2Jgone' + chr(10) + 'half'); sys.stderr.flush(); sys.exit(1)")
    env = {"XDG_CACHE_HOME": str(shop.folder / "cache")}
    shown = in_terminal("replay-bot", "a1b2", "--seat", "1", "--bot", str(shop.bot("loud", loud)), env=env)
    lines = shown.splitlines()
    assert "\\x1b[2Jgone" in lines and "half" in lines
    assert "\x1b[2J" not in shown


def test_what_is_no_bot_or_no_game_is_told(shop: Shop) -> None:
    shop.game(shop.bot("mine", BROKEN))
    (shop.folder / "README.md").write_text("x")
    (shop.folder / "text.zip").write_text("x")
    cases = {
        ("a1b2", "--bot", "README.md"): "referee: README.md is not a bot",
        ("zzz", "--bot", "mine.py"): "referee: there is no game 'zzz'",
        ("a1b2", "--bot", "nowhere"): "referee: nowhere: there is no such file or folder",
        ("x.zip", "--bot", "mine.py"): "referee: x.zip: there is no such file or folder",
        ("a", "b", "c"): "referee: one game at a time",
        ("text.zip", "--bot", "mine.py"): "referee: text.zip is damaged, or not a bundle",
        ("a1b2", "--seat", "3"): "referee: game a1b2 has no seat 3: they are 0 to 2",
    }
    for words, told in cases.items():
        done = shop.run(*words)
        assert (done.returncode, done.stderr.startswith(told)) == (2, True), done.stderr


def test_a_bot_of_another_name_is_told_apart(shop: Shop) -> None:
    bot = shop.bot("mine", MENDED)
    shop.game(bot)
    other = shop.bot("other", (PROGRAMS / "plain" / "last.py").read_text())
    identity: Bot = read_bot(other).identity
    done = shop.run("a1b2", "--seat", "1", "--bot", str(other), "--go-on")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1].startswith(f"other {identity.hash[:8]}; then it was another version, mine ")
    assert done.stdout.count("another way") > 2


def test_nothing_that_a_terminal_would_obey_is_printed_of_what_a_bot_says(shop: Shop) -> None:
    bot = shop.bot("mine", BOT.replace("BREAK", r'print("\x1b[2J\u202e\x7f\x9b31m", flush=True)'))
    shop.game(bot)
    for words in (), ("--json",):
        out = shop.run("a1b2", "--bot", str(bot), *words).stdout
        assert "x1b[2J" in out or "u001b[2J" in out
        assert not set("\x1b\u202e\x7f\x9b") & set(out)
