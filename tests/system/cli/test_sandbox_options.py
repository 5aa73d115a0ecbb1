"""`--sandbox` and its neighbours: what is asked for is met or refused, told, recorded, and the same for a season."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import pytest
from command_line import ROOT, referee_command

from referee.bots.process.limits import DEFAULT_BOX
from referee.bots.sandbox.probing import as_recorded, in_words
from referee.bots.tiers import Tier
from referee.cli.options.sandbox import Size, size_in_words

PLAIN = ROOT / "tests" / "system" / "bots" / "programs" / "plain"


@pytest.fixture
def work(public_path: Path) -> Path:
    """A folder with two bots in it and a cache that others may enter."""
    (public_path / "bots").mkdir()
    for name in ("first.py", "last.py"):
        shutil.copy(PLAIN / name, public_path / "bots")
    return public_path


def run(work: Path, *words: str, sandbox: str = "auto", tools: str = "") -> tuple[int, str, list[str]]:
    """Exit code, stdout, and the lines of stderr."""
    env = {"XDG_CACHE_HOME": str(work / "cache")}
    env |= {f"REFEREE_{command}_SANDBOX": sandbox for command in ("TOURNAMENT", "MATCH", "CHECK")}
    if tools:
        env["PATH"] = tools
    done = referee_command(*words, env=env, cwd=work)
    return done.returncode, done.stdout, done.stderr.splitlines()


def play(work: Path, *words: str, **more: str) -> tuple[int, str, list[str]]:
    return run(work, "tournament", "bots/first.py", "bots/last.py", "--deals", "1", *words, **more)


IN_A = f"isolation {in_words(Tier.A)}"
IN_D = "isolation D: none: bots run with the rights of whoever runs the referee"


def test_the_tier_is_told_recorded_and_shown(work: Path) -> None:
    code, _, told = play(work)
    assert (code, told[0]) == (0, IN_A)
    _, games, _ = run(work, "export", "--format", "jsonl")
    assert [json.loads(line)["isolation"] for line in games.splitlines()] == [as_recorded(Tier.A)] * 2
    _, exported, _ = run(work, "export", "--format", "json")
    conditions = json.loads(exported)["rounds"][0]["manifest"]["conditions"]
    assert (conditions["isolation"], conditions["box"]["memory"]) == ("A", 512 << 20)
    assert "A: each bot in a sandbox" in (work / "leaderboards" / "standings.md").read_text()
    assert json.loads((work / "leaderboards" / "standings.json").read_text())["isolation"].startswith("A: ")


def test_a_match_and_a_check_tell_their_tier_and_a_report_for_programs_only_itself(work: Path) -> None:
    assert run(work, "check", "bots/first.py")[2] == [IN_A]
    assert run(work, "check", "bots/first.py", sandbox="D")[2] == [IN_D]
    assert run(work, "match", "bots/first.py", "bots/last.py", "--deals", "1")[2] == [IN_A]
    code, report, told = run(work, "match", "bots/first.py", "bots/last.py", "--deals", "1", "--json")
    assert (code, told) == (0, [])
    assert {game["isolation"] for game in json.loads(report)["games"]} == {as_recorded(Tier.A)}


def test_auto_means_the_seasons_tier(work: Path) -> None:
    assert play(work, sandbox="D")[2][0] == IN_D
    code, _, told = play(work, "--deals", "2")
    assert (code, told[0]) == (0, IN_D)


def test_another_tier_than_the_seasons_is_refused_and_a_new_season_has_its_own(work: Path) -> None:
    play(work)
    code, _, told = play(work, sandbox="D")
    assert code == 2
    assert "--sandbox A, not D" in told[-1], told
    code, _, told = play(work, "--new-season", sandbox="D")
    assert (code, told[0]) == (0, IN_D)


def test_another_limit_than_the_seasons_is_refused(work: Path) -> None:
    play(work, "--memory", "256M")
    code, _, told = play(work)
    assert code == 2
    assert "--memory 256M, not 512M" in told[-1]


def test_where_the_seasons_tier_cannot_be_had_nothing_is_played(work: Path) -> None:
    play(work)
    (work / "tools").mkdir()
    broken = work / "tools" / "bwrap"
    broken.write_text("#!/bin/sh\necho no >&2; exit 1\n")
    broken.chmod(0o755)
    code, out, told = play(work, "--deals", "2", tools=f"{work / 'tools'}:/usr/bin:/bin")
    assert (code, out) == (2, "")
    [line] = told
    assert line.startswith("referee: this machine cannot keep bots apart as tier A does: this bubblewrap is too old")


def test_a_cache_that_boxes_cannot_enter_is_refused_in_words(work: Path) -> None:
    (work / "cache").mkdir(mode=0o700)
    code, _, told = run(work, "check", "bots/first.py")
    assert (code, len(told)) == (2, 1)
    assert "cannot be entered by the user that makes sandboxes: let others enter it (chmod o+x)" in told[0]


def test_a_limit_holds_in_a_match(work: Path) -> None:
    (work / "bots" / "hog.py").write_text("held = bytearray(200 << 20)\n" + (PLAIN / "first.py").read_text())
    assert run(work, "check", "bots/hog.py")[0] == 0
    code, told, _ = run(work, "check", "bots/hog.py", "--memory", "100M")
    assert code == 1
    assert "MemoryError" in told


# -- folders beyond /usr


@pytest.fixture
def asking(work: Path) -> Path:
    """A bot whose interpreter is in a folder of its own."""
    runtime = work / "opt" / "engine"
    (runtime / "bin").mkdir(parents=True)
    (runtime / "bin" / "mypython").symlink_to("/usr/bin/python3")
    bot = work / "bots" / "asking"
    bot.mkdir()
    shutil.copy(PLAIN / "first.py", bot / "bot.py")
    (bot / "bot.toml").write_text(f'command = ["mypython", "bot.py"]\nruntime = ["{runtime}"]\n')
    return runtime


def test_a_folder_that_is_asked_for_is_there_only_where_it_is_allowed(work: Path, asking: Path) -> None:
    code, _, told = run(work, "check", "bots/asking")
    assert (code, len(told)) == (2, 1)
    assert f"it asks for the folder {asking}: --allow-runtime {asking} lets bots read it" in told[0]
    code, out, _ = run(work, "check", "bots/asking", "--allow-runtime", str(asking))
    assert code == 0, out
    assert run(work, "check", "bots/asking", "--allow-runtime", str(asking.parent))[0] == 0
    assert run(work, "check", "bots/asking", "--allow-runtime", str(asking / "bin"))[0] == 2


def test_a_program_that_is_only_outside_is_refused_with_what_would_help(work: Path, asking: Path) -> None:
    (work / "bots" / "asking" / "bot.toml").write_text('command = ["mypython", "bot.py"]\n')
    code, _, told = run(work, "check", "bots/asking", tools=f"{asking / 'bin'}:/usr/bin:/bin")
    assert (code, len(told)) == (2, 1)
    assert "which is not in the sandbox: take one of /usr/bin" in told[0]
    assert f'have runtime = ["{asking}"] in bot.toml and play with --allow-runtime {asking}' in told[0]


def test_a_build_whose_compiler_is_only_outside_is_told_the_command_that_builds(work: Path, asking: Path) -> None:
    toml = 'command = ["./bot"]\nbuild = ["mypython", "-c", "0"]\n'
    (work / "bots" / "asking" / "bot.toml").write_text(toml)
    code, _, told = run(work, "check", "bots/asking", tools=f"{asking / 'bin'}:/usr/bin:/bin")
    assert (code, len(told)) == (2, 1)
    assert (
        f"which is not in the sandbox: `referee build bots/asking --allow-runtime {asking}` builds with it" in told[0]
    )


def test_a_python_of_a_virtual_environment_is_told_which_one_is_there(work: Path, asking: Path) -> None:
    (asking / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (work / "bots" / "asking" / "bot.toml").write_text('command = ["mypython", "bot.py"]\n')
    code, _, told = run(work, "check", "bots/asking", tools=f"{asking / 'bin'}:/usr/bin:/bin")
    assert (code, len(told)) == (2, 1)
    assert told[0].endswith("as it is of a virtual environment: write python3, which is /usr/bin/python3 there")


# -- sizes


@pytest.mark.parametrize(
    ("text", "size"), [("512M", 512 << 20), ("1.5G", 3 << 29), ("64k", 64 << 10), ("4KiB", 4096), ("1GB", 1 << 30)]
)
def test_sizes_are_read_and_written(text: str, size: int) -> None:
    assert Size().convert(text, None, None) == size
    assert Size().convert(size_in_words(size), None, None) == size


@pytest.mark.parametrize("text", ["512", "M", "1.0001K", "-1M", "1T", "2K", "none"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is no size|is not a whole number of bytes"):
        Size().convert(text, None, None)


def test_an_odd_size_survives_its_words() -> None:
    assert Size().convert(size_in_words(5001), None, None) == 5001
    assert size_in_words(DEFAULT_BOX.memory) == "512M"
