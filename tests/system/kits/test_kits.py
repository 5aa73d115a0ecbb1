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
from asking import HELLO, QUIT, flat, games_of_the_vectors, line, questions_in
from command_line import NO_SANDBOX, ROOT, referee_command
from greedy import choose
from toolchains import linked_copy

from protocol.codec import parse_answer, parse_ready
from referee.bots.cache.prepare import Prepared, prepare
from referee.bots.source.manifest import read_bot
from referee.bots.source.programs import BOXED, BOXED_PATH
from referee.kits import KITS, missing_tools

TRANSCRIPTS = sorted((ROOT / "protocol" / "transcripts").glob("greedy-*.jsonl"))
UNHURRIED = {
    "REFEREE_BUILD_TIME": "550s",
    **{f"REFEREE_{command}_{time}_TIME": "60s" for command in ("CHECK", "MATCH") for time in ("START", "MOVE")},
}
"""The environment of a test: a busy machine is nobody's fault."""
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

    def built(self, name: str) -> Prepared:
        """A bot as it lies in the cache, to be started outside of a box."""
        cache = Path(self.env["XDG_CACHE_HOME"]) / "referee" / "bots"
        return prepare(read_bot(self.folder / name, BOXED), cache, view=BOXED)


@pytest.fixture
def workplace(public_folder: Path) -> Workplace:
    return workplace_in(public_folder)


@cache
def workplace_in(public_folder: Path) -> Workplace:
    """An empty folder. Compilers stand where a box may see them: a copy of those in root's home, as rustup's are."""
    folder = public_folder / "newcomer"
    folder.mkdir()
    folder.chmod(0o755)
    env = {**BOXES, **UNHURRIED, "XDG_CACHE_HOME": str(public_folder / "kits-cache")}
    cargo = shutil.which("cargo")
    assert cargo is not None
    if shutil.which("cargo", path=BOXED_PATH) is None:  # rustup's
        homes = public_folder / "cargo", public_folder / "rustup"
        linked_copy(Path(cargo).parent, homes[0] / "bin", symlinks=True)
        linked_copy(Path(os.environ.get("RUSTUP_HOME") or Path("~/.rustup").expanduser()), homes[1], symlinks=True)
        env |= {"RUSTUP_HOME": str(homes[1]), "PATH": f"{homes[0] / 'bin'}:{os.environ['PATH']}"}
    return Workplace(folder, env)


@pytest.mark.parametrize("language", KITS)
def test_a_kit_is_made_built_checked_and_played_and_answers_as_greedy(language: str, workplace: Workplace) -> None:
    first, *commands = workplace.run("new", language, language).splitlines()
    assert KITS[language].source in first
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "referee"
        workplace.run(*words)
    if "build" in commands[0]:
        assert "warning" not in workplace.run("build", language, "--log").lower()
    workplace.run("check", language, "--transcript", *map(str, TRANSCRIPTS))
    assert_plays_without_a_fault(language, workplace)
    assert_answers_as_greedy(language, workplace.built(language))


def assert_plays_without_a_fault(language: str, workplace: Workplace) -> None:
    found = json.loads(workplace.run("match", language, RANDOM, "--deals", "5", "--json"))
    assert len(found["games"]) == 10
    assert all(game["isolation"].startswith("A") and not game["faults"] for game in found["games"])


def assert_answers_as_greedy(language: str, bot: Prepared) -> None:
    """In games of another implementation of the rules, in which nobody plays greedy."""
    asked = questions_in(flat(games_of_the_vectors()))
    sent = b"".join(map(line, [HELLO, *asked, QUIT]))
    done = subprocess.run(bot.argv, cwd=bot.folder, input=sent, capture_output=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    ready, *answers = done.stdout.splitlines()
    said = parse_ready(ready)
    assert (said.name, said.version, said.language) == (language, "1", KITS[language].language)
    assert len(asked) > 1500
    assert [parse_answer(answer).action for answer in answers] == [choose(question) for question in asked]


# -- where a toolchain is missing


def test_nothing_is_missing_here_of_what_kits_need() -> None:
    missing = {language: missing_tools(kit) for language, kit in KITS.items()}
    assert not any("not found" in sentence for said in missing.values() for sentence in said), missing
