from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from command_line import ROOT, environment, python, referee_command
from records import played

from referee import __version__
from referee.cli.exit_codes import ExitCode
from referee.cli.main import COMMANDS, cli
from referee.store import Stored, open_store

HEAVY = {"pydantic", "trueskill", "rich", "jinja2", "msgspec", "sqlite3", "numpy", "distributed", "referee.rules"}

MODULES_AFTER = """
import json, sys
from referee.cli.main import main
try:
    main()
except SystemExit:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""

WAITING = """
import signal, sys, types, click
from referee.cli.main import COMMANDS, main
@click.command()
def command():
    print("ready", flush=True)
    signal.pause()
sys.modules["referee.cli.commands.probe"] = types.SimpleNamespace(command=command)
COMMANDS["probe"] = ""
main()
"""


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a command of ours, made of a function, as `referee probe`."""

    def run(work: Callable[[click.Context], object], *words: str) -> Result:
        module = types.ModuleType("referee.cli.commands.probe")
        module.command = click.Command("probe", callback=click.pass_context(work))  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "referee.cli.commands.probe", module)
        monkeypatch.setitem(COMMANDS, "probe", "")
        monkeypatch.setattr(cli, "commands", {})
        return CliRunner().invoke(cli, words or ["probe"])

    return run


def test_version_is_said() -> None:
    done = referee_command("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"referee {__version__}\n", "")


def test_alone_it_shows_its_help() -> None:
    alone, asked = referee_command(), referee_command("--help")
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout == asked.stdout
    assert all(f"  {name} " in alone.stdout for name in COMMANDS)


@pytest.mark.parametrize("words", [["--version"], ["--help"], [], ["no-such-command"], ["completion", "bash"]])
def test_start_up_imports_nothing_heavy(words: list[str]) -> None:
    done = python("-c", MODULES_AFTER, *words)
    loaded = set(json.loads(done.stderr.splitlines()[-1]))
    assert "referee.cli.main" in loaded
    assert not HEAVY & loaded


def test_unknown_command_is_refused_with_the_nearest_one() -> None:
    done = referee_command("standing")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == ("referee: there is no command 'standing': did you mean standings?\nTry `referee --help`.\n")


def test_unknown_option_is_bad_input() -> None:
    done = referee_command("export", "--frmat", "csv")
    assert done.returncode == 2
    assert done.stderr.startswith("referee: No such option")
    assert done.stderr.endswith("Try `referee export --help`.\n")


def test_unusable_database_is_one_sentence_and_bad_input(tmp_path: Path) -> None:
    done = referee_command("export", "--db", str(tmp_path / "no.db"))
    assert done.returncode == 2
    assert (
        done.stderr
        == f"referee: there is no database {tmp_path / 'no.db'}: `referee tournament` makes one, and --db FILE names another\n"
    )


def test_closed_pipe_is_quiet(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with open_store(path, create=True) as store:
        store.claim()
        store.add([Stored.of(played(deal=deal)) for deal in range(100)])
    with subprocess.Popen(
        [sys.executable, "-m", "referee", "export", str(path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    ) as process:  # fmt: skip
        assert process.stdout
        assert process.stderr
        assert process.stdout.read(100)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == ExitCode.BROKEN_PIPE


@pytest.mark.parametrize("words", [["--help"], ["completion", "bash"], ["--version"], []])
def test_pipe_that_was_closed_before_is_quiet(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "referee", *words],
        stdout=writing, stderr=subprocess.PIPE, env=environment(), check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (ExitCode.BROKEN_PIPE, b"")


def test_interrupt_ends_without_a_traceback() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, "probe"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    ) as process:  # fmt: skip
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "referee: interrupted\n"
    assert process.returncode == 130


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_is_printed(shell: str) -> None:
    done = referee_command("completion", shell, env={"PATH": ""})
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_REFEREE_COMPLETE={shell}_complete" in done.stdout


def test_completion_offers_commands_and_options() -> None:
    for words, offered in [("referee st", ["plain,standings"]), ("referee export --form", ["plain,--format"])]:
        env = {"_REFEREE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        assert referee_command(env=env).stdout.splitlines() == offered


def test_a_name_that_no_file_can_have_is_bad_input() -> None:
    bots = [str(ROOT / "example_bots" / name) for name in ("greedy", "pairs")]
    for words in ("check", 5000 * "x"), ("tournament", *bots, "--db", 5000 * "x"):
        done = referee_command(*words)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert done.stderr == f"referee: no file can be called {79 * 'x'}…: File name too long\n"
