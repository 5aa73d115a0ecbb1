"""Every kit as a newcomer has it: made in an empty folder, built, checked and played in a sandbox, by what is told there."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from asking import HELLO, QUIT, Message, flat, games_of_the_vectors, line, questions_in, talk_to
from command_line import NO_SANDBOX, ROOT, referee_command
from greedy import choose
from toolchains import linked_copy

from protocol.codec import parse_answer, parse_ready
from referee.bots.manifest import read_bot
from referee.bots.prepare import Prepared, prepare
from referee.bots.programs import BOXED, BOXED_PATH
from referee.kits import KITS, missing_tools

TRANSCRIPTS = sorted((ROOT / "protocol" / "transcripts").glob("greedy-*.jsonl"))
BOXES = dict.fromkeys(NO_SANDBOX, "A")
RANDOM = str(ROOT / "example_bots" / "random")


@dataclass(frozen=True)
class Workplace:
    """A newcomer's folder, and the environment of the shell in it."""

    folder: Path
    env: Mapping[str, str]

    def run(self, *words: str) -> str:
        """What `referee` prints; it has to end well."""
        done = referee_command(*words, cwd=self.folder, env=self.env, seconds=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def workplace(public_folder: Path) -> Workplace:
    return workplace_in(public_folder)


@cache
def workplace_in(public_folder: Path) -> Workplace:
    """One folder for all languages, so that nothing is built twice.

    Compilers stand where a box may see them: a copy of those that are in root's home, as rustup's are.
    """
    folder = public_folder / "newcomer"
    folder.mkdir()
    folder.chmod(0o755)
    env = {**BOXES, "XDG_CACHE_HOME": str(public_folder / "kits-cache")}
    cargo = shutil.which("cargo")
    assert cargo is not None
    if shutil.which("cargo", path=BOXED_PATH) is None:  # rustup's
        homes = public_folder / "cargo", public_folder / "rustup"
        linked_copy(Path(cargo).parent, homes[0] / "bin", symlinks=True)
        linked_copy(Path(os.environ.get("RUSTUP_HOME") or Path("~/.rustup").expanduser()), homes[1], symlinks=True)
        env |= {"RUSTUP_HOME": str(homes[1]), "PATH": f"{homes[0] / 'bin'}:{os.environ['PATH']}"}
    return Workplace(folder, env)


@cache
def made(language: str, public_folder: Path) -> tuple[str, ...]:
    """Make a bot with the name of its language; the words of each command that was told to come next."""
    place = workplace_in(public_folder)
    said = place.run("new", language, language).splitlines()
    commands = [shlex.split(line) for line in said[1:]]
    assert all(words[0] == "referee" for words in commands)
    if "build" in said[1]:
        assert f"{language}: built in" in place.run(*commands[0][1:])
    return tuple(said)


@pytest.mark.parametrize("language", KITS)
def test_a_kit_is_made_built_checked_and_played(language: str, workplace: Workplace, public_folder: Path) -> None:
    said = made(language, public_folder)
    for command in said[1:]:
        workplace.run(*shlex.split(command)[1:])
    found = json.loads(workplace.run("match", language, RANDOM, "--deals", "5", "--move-time", "20s", "--json"))
    assert len(found["games"]) == 10
    assert all(game["isolation"].startswith("A") and not game["faults"] for game in found["games"])


# -- what it answers


@cache
def bot(language: str, public_folder: Path) -> Prepared:
    """The bot that was made and built, to be started outside of a box."""
    made(language, public_folder)
    place = workplace_in(public_folder)
    return prepare(
        read_bot(place.folder / language, BOXED), Path(place.env["XDG_CACHE_HOME"]) / "referee" / "bots", view=BOXED
    )


@cache
def dialogues() -> tuple[list[Message], dict[int, str]]:
    """What all seats of the published dialogues were sent between `hello` and `quit`, and greedy's answers by their ids.

    Who is at fault there has not answered its last question.
    """
    lines = [json.loads(text)["line"] for path in TRANSCRIPTS for text in path.read_text().splitlines()]
    sent = [line for line in lines if line.get("type") in ("start", "act", "end")]
    return sent, {line["id"]: line["action"] for line in lines if "action" in line}


def told(bot: Prepared, *messages: Message) -> list[bytes]:
    """What a bot says to `messages`, all sent at once, the end of its input behind them, and that it ends well."""
    done = subprocess.run(
        bot.argv, cwd=bot.folder, input=b"".join(map(line, messages)), capture_output=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.splitlines()


@pytest.mark.parametrize("language", KITS)
def test_a_kit_gives_the_answers_of_the_published_dialogues(language: str, public_folder: Path) -> None:
    sent, answered = dialogues()
    ready, *answers = told(bot(language, public_folder), HELLO, *sent, QUIT)
    said = parse_ready(ready)
    assert (said.name, said.version, said.language) == (language, "1", KITS[language].language)
    given = {parse_answer(answer).id: parse_answer(answer).action for answer in answers}
    assert list(given) == [question["id"] for question in questions_in(sent)]
    assert len(answered) > 700
    assert {key: given[key] for key in answered} == answered


@pytest.mark.parametrize("language", KITS)
def test_a_kit_gives_the_answers_of_the_page_in_games_of_others(language: str, public_folder: Path) -> None:
    """Those of another implementation of the rules, in which nobody plays greedy."""
    asked = questions_in(flat(games_of_the_vectors()))
    _, *answers = told(bot(language, public_folder), HELLO, *asked, QUIT)
    assert len(asked) > 1500
    assert [parse_answer(answer).action for answer in answers] == [choose(question) for question in asked]


@pytest.mark.parametrize("language", KITS)
def test_a_kit_ignores_messages_and_fields_that_it_does_not_know(language: str, public_folder: Path) -> None:
    sent, _ = dialogues()
    strange = {"type": "weather", "ids": [1], "text": 'a "type":"quit", and an "id":7 \u00e9\ud83d\ude00'}
    odd = {"mood": {"id_card": "QS", "id": 3, "list": [1, {"type": "quit"}], "big": 1e300, "none": None}}
    more = [{**odd, **message, **odd} for message in sent[:60]]
    same = told(bot(language, public_folder), HELLO, *sent[:60])
    assert told(bot(language, public_folder), strange, HELLO | odd, *more[:9], strange, *more[9:]) == same


@pytest.mark.parametrize("language", KITS)
def test_a_kit_answers_at_once_and_ends_on_quit(language: str, public_folder: Path) -> None:
    sent, _ = dialogues()
    with talk_to(bot(language, public_folder)) as process:
        assert process.stdin and process.stdout
        for message in [HELLO, *sent[:40]]:
            process.stdin.write(line(message))
            process.stdin.flush()
            if message["type"] == "hello" or "id" in message:
                assert process.stdout.readline().endswith(b"}\n")
        process.stdin.write(line(QUIT))
        process.stdin.flush()
        assert process.wait() == 0


@pytest.mark.parametrize("language", KITS)
def test_a_kit_ends_with_its_input(language: str, public_folder: Path) -> None:
    assert told(bot(language, public_folder)) == []
    assert len(told(bot(language, public_folder), HELLO)) == 1


# -- where a toolchain is missing


def test_nothing_is_missing_here_of_what_kits_need() -> None:
    missing = {language: missing_tools(kit) for language, kit in KITS.items()}
    assert not any("not found" in sentence for said in missing.values() for sentence in said), missing
