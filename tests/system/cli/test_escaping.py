"""Nothing from outside reaches a terminal as it is, and no name forges a line of the referee."""

from __future__ import annotations

import ast
import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from command_cases import CASES
from command_line import ROOT, environment
from hypothesis import given
from hypothesis import strategies as st
from processes import REFEREE
from small_league import game_ids, surroundings

from protocol.text import printable
from referee.cli.main import cli
from referee.cli.output.same_command import same_command

HOSTILE = "x\x1b]0;t\x07\x1b[2J\x9b\u202e\nreferee: forged\r\n\x1b[31mreferee: forged"


def check(done: Result) -> None:
    for text in done.stdout, done.stderr:
        assert all(char.isprintable() or char in "\n\t" for char in text), text
        assert not [line for line in text.splitlines() if line.startswith("referee: forged")], text
    assert done.exit_code in (0, 1, 2, 3), done.output


@pytest.fixture
def folder(small_league: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy with a bot and a database whose names are hostile, as the current folder."""
    shutil.copytree(small_league, tmp_path / "league")
    monkeypatch.chdir(tmp_path / "league")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "league" / "tmp"))
    shutil.copy("referee.db", HOSTILE + ".db")
    shutil.copy("a.py", HOSTILE + ".py")
    return tmp_path / "league"


@pytest.mark.parametrize("name", CASES)
def test_in_every_place_of_a_command_line(folder: Path, name: str) -> None:
    words = CASES[name].words.replace("GAME", game_ids(Path("referee.db"))[0]).split()
    for place, word in enumerate(words):
        suffix = Path(word).suffix if word[0] != "-" else ""
        texts = {HOSTILE + suffix, "--" + HOSTILE} if place else {HOSTILE}
        for text in texts:
            check(CliRunner().invoke(cli, [*words[:place], text, *words[place + 1 :]], env=surroundings(folder)))
    check(CliRunner().invoke(cli, [*words, HOSTILE], env=surroundings(folder)))


@pytest.mark.parametrize("variable", ["REFEREE_DB", "REFEREE_TOURNAMENT_JOBS", "REFEREE_STANDINGS_DB"])
def test_in_the_environment(folder: Path, variable: str) -> None:
    for words in (["standings"], ["tournament", "a.py", "b.py", "--deals", "1", "--out", "page"]):
        check(CliRunner().invoke(cli, words, env=surroundings(folder) | {variable: HOSTILE}))


def test_of_a_folder_of_bots_that_are_refused(folder: Path) -> None:
    (folder / HOSTILE).mkdir()
    (folder / HOSTILE / "bot.toml").write_text("command = 1")
    words = ["tournament", "a.py", "b.py", HOSTILE, "--deals", "1", "--out", "new", "--db", "new.db"]
    refused = CliRunner().invoke(cli, words, env=surroundings(folder))
    assert refused.exit_code == 2
    check(refused)
    check(CliRunner().invoke(cli, [*words, "--skip-refused", "--jobs", "1"], env=surroundings(folder)))


@given(st.text())
def test_printable_text_stays_and_everything_else_is_escaped(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(text) == text or not text.isprintable()


def test_only_careful_functions_write_to_a_terminal() -> None:
    """`click.echo` writes to streams that escape; a console or a colour of its own would not."""
    for path in (ROOT / "referee" / "cli").rglob("*.py"):
        if path.name in ("display.py", "streams.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("Console", "print", "click.secho", "sys.stdout.write", "sys.stderr.write"), path


def test_the_command_that_goes_on_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith("REFEREE")]:
        monkeypatch.delenv(variable)
    words = ["tournament", "bots/my bot", "it's\x1b[1m\n", "--new-season"]
    settings = {"REFEREE_DB": "my games.db", "REFEREE_TOURNAMENT_DEALS": "7", "REFEREE_DUEL_DB": "other"}
    monkeypatch.setattr("sys.argv", ["/bin/referee", *words])
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    line = same_command("tournament")
    assert line.isprintable()
    program = (
        f'referee() {{ printf \'%s\\0\' "$REFEREE_DB" "$REFEREE_TOURNAMENT_DEALS" "$REFEREE_DUEL_DB" "$@"; }}; {line}'
    )
    done = subprocess.run(["bash", "-c", program], env={"PATH": os.environ["PATH"]}, capture_output=True, check=True)
    assert done.stdout.decode().split("\0") == ["my games.db", "7", "", *words[:-1], ""]


def limited(kind: int, size: int, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*REFEREE, *words], cwd=cwd, env=surroundings(cwd), capture_output=True, text=True, check=False, timeout=240,
        preexec_fn=lambda: resource.setrlimit(kind, (size, size)),
    )  # fmt: skip


def test_too_little_memory_for_the_ratings_is_said_before_the_games(folder: Path) -> None:
    words = ("tournament", "a.py", "b.py", "--deals", "1", "--db", "new.db", "--out", "new")
    done = limited(resource.RLIMIT_AS, 110_000 << 10, *words, cwd=folder)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "ulimit -v" in done.stderr
    assert not (folder / "new.db").exists()


def test_a_limit_of_the_size_of_files_is_named(folder: Path) -> None:
    words = ("tournament", "a.py", "b.py", "--deals", "400", "--db", "new.db", "--out", "new", "--jobs", "1", "-q")
    done = limited(resource.RLIMIT_FSIZE, 200_000, *words, cwd=folder)
    assert done.returncode in (1, 2), done.stderr
    assert "ulimit -f" in done.stderr.splitlines()[-1], done.stderr


def test_a_new_bot_is_made_where_its_path_says(folder: Path) -> None:
    done = CliRunner().invoke(cli, ["new", "python", "deep/er/mine"], env=environment())
    assert done.exit_code == 0, done.output
    assert "deep/er/mine" in done.stdout
    assert "# mine" in (folder / "deep" / "er" / "mine" / "README.md").read_text()
    assert CliRunner().invoke(cli, ["new", "python", "a.py/mine"]).exit_code == 2
