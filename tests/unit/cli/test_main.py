from __future__ import annotations

import errno
import io
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from command_line import ROOT

from referee.cli import exit_codes
from referee.cli.exit_codes import ExitCode
from referee.cli.main import COMMANDS, cli
from referee.errors import BotsRefused, DatabaseError, InputError, RefereeError, VoidGame


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


def raising(error: BaseException) -> Callable[[click.Context], object]:
    def work(_: click.Context) -> None:
        raise error

    return work


@pytest.mark.parametrize("name", COMMANDS)
def test_command_has_help_with_an_example_and_says_the_same_of_itself(name: str) -> None:
    done = CliRunner().invoke(cli, [name, "--help"], terminal_width=100)
    assert done.exit_code == 0
    assert "Examples:" in done.output
    assert "--quiet" in done.output
    command = cli.get_command(click.Context(cli), name)
    assert command
    assert command.get_short_help_str(limit=200) == COMMANDS[name]


def test_command_like_no_other_is_refused_with_all_of_them() -> None:
    assert f"there are {', '.join(COMMANDS)}" in CliRunner().invoke(cli, ["xyzzy"]).stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("bad"), 2),
        (DatabaseError("bad"), 2),
        (click.UsageError("bad"), 2),
        (click.BadParameter("bad"), 2),
        (RefereeError("bad"), 1),
        (VoidGame("bad"), 1),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (EOFError(), 130),
        (ZeroDivisionError("bad"), 70),
        (PermissionError("bad"), 70),
        (BrokenPipeError("of a bot, not of standard output"), 70),
        (click.exceptions.Exit(3), 3),
        (SystemExit(4), 4),
    ],
    ids=repr,
)
def test_each_error_has_its_exit_code_and_words(
    probe: Callable[..., Result], error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = probe(raising(error))
    assert done.exit_code == code
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    if code not in (3, 4):
        assert done.stderr.startswith("referee: ")


def test_refused_bots_have_a_line_each(probe: Callable[..., Result]) -> None:
    done = probe(raising(BotsRefused({"bots/a": "no manifest", "bots/b": "not executable"})))
    assert done.exit_code == 2
    assert done.stderr == "referee: bots/a: no manifest\nreferee: bots/b: not executable\n"


def test_what_others_wrote_does_not_reach_the_terminal_as_it_is(probe: Callable[..., Result]) -> None:
    done = probe(raising(InputError("a\x1b[31m\u202e\x07é")))
    assert done.stderr == "referee: a\\x1b[31m\\u202e\\x07é\n"


def test_internal_error_names_the_file_with_its_traceback(
    probe: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = probe(raising(KeyError("x")))
    said = re.fullmatch(r"referee: internal error: KeyError: 'x'; its traceback is in (.*)\n", done.stderr)
    assert said
    written = Path(said[1]).read_text()
    assert written.startswith("Traceback")
    assert "raise error" in written


@pytest.mark.parametrize("words", [["-v", "probe"], ["probe", "-v"], ["probe", "--verbose"]])
def test_internal_error_shows_its_traceback_when_asked(
    probe: Callable[..., Result], words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = probe(raising(KeyError("x")), *words)
    assert done.exit_code == 70
    assert "Traceback (most recent call last)" in done.stderr
    assert done.stderr.endswith("referee: internal error: KeyError: 'x'\n")
    assert list(tmp_path.iterdir()) == []


def test_internal_error_on_a_full_disk_says_how_to_see_it(
    probe: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "no-such-folder"))
    done = probe(raising(KeyError("x")))
    assert done.exit_code == 70
    assert done.stderr == "referee: internal error: KeyError: 'x'; run it with -v to see the traceback\n"


@pytest.mark.parametrize(
    ("words", "level"),
    [("probe", 0), ("-q probe", -1), ("probe -q", -1), ("-v probe -vv", 3), ("-q probe -v", 0), ("--verbose probe", 1)],
)
def test_loudness_may_stand_before_and_after_the_command(probe: Callable[..., Result], words: str, level: int) -> None:
    done = probe(lambda ctx: click.echo(f"{ctx.obj.level} {ctx.obj.quiet} {ctx.obj.verbose}"), *words.split())
    assert done.stdout == f"{level} {level < 0} {level > 0}\n"


def test_full_disk_behind_standard_output_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Full())
        code = exit_codes.run(lambda: sys.stdout.write("x"), is_verbose=lambda: False)
    assert code == ExitCode.NEGATIVE
    assert capsys.readouterr().err == "referee: cannot write: No space left on device\n"


def test_options_are_taken_from_the_environment(tmp_path: Path) -> None:
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    for env, words, named in [
        ({"REFEREE_DB": str(here)}, [], here),
        ({"REFEREE_EXPORT_DB": str(here)}, [], here),
        ({"REFEREE_DB": str(there), "REFEREE_EXPORT_DB": str(here)}, [], here),
        ({"REFEREE_DB": str(there)}, ["--db", str(here)], here),
        ({"REFEREE_EXPORT_DB": str(there)}, [str(here)], here),
    ]:
        done = CliRunner().invoke(cli, ["export", *words], env=env)
        assert done.stderr.startswith(f"referee: there is no database {named}"), (env, words)
    done = CliRunner().invoke(cli, ["export"], env={"REFEREE_EXPORT_FORMAT": "xml"})
    assert done.exit_code == 2
    assert "'xml'" in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_its_name_in_the_environment(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command
    named = {param.opts[-1]: param.envvar for param in command.params if isinstance(param, click.Option)}
    assert named["--quiet"] == f"REFEREE_{name.upper().replace('-', '_')}_QUIET"
    acts = {"--new-season", "--close-round", "--plan", "--round", "--shard", "--force"}
    once = {"tournament": acts, "export": {"--force"}}.get(name, set())
    assert {option for option in named if named[option] is None} == once
    for option in named.keys() - once:
        assert named[option] == f"REFEREE_{name}_{option[2:]}".upper().replace("-", "_")


def test_exit_codes_are_those_of_the_document() -> None:
    table = (ROOT / "docs" / "exit-codes.md").read_text()
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == [*ExitCode]
