"""`referee build`: what it says, how it ends, and that a tournament has what it made."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import ROOT, referee_command

from referee.bots.building.fetching import NAMES

PLAIN = ROOT / "tests" / "system" / "bots" / "programs" / "plain" / "first.py"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(public_path: Path) -> Run:
    """Runs `referee WORDS`; its exit code, stdout and stderr."""

    def referee(*words: str, sandbox: str = "auto") -> tuple[int, str, str]:
        env = {"XDG_CACHE_HOME": str(public_path / "cache")}
        env |= {f"REFEREE_{command}_SANDBOX": sandbox for command in ("BUILD", "MATCH", "CHECK", "TOURNAMENT")}
        done = referee_command(*words, env=env, cwd=public_path)
        return done.returncode, done.stdout, done.stderr

    return referee


def bot(folder: Path, name: str, build: str) -> None:
    """A bot that plays, whose build is a line of shell."""
    home = folder / name
    home.mkdir()
    shutil.copy(PLAIN, home / "bot.py")
    (home / "bot.toml").write_text(f"command = ['python3', 'bot.py']\nbuild = ['sh', '-c', {json.dumps(build)}]\n")


def test_it_tells_what_was_built_and_where_it_lies(run: Run, public_path: Path) -> None:
    bot(public_path, "mine", "echo built >made")
    shutil.copy(PLAIN, public_path / "plain.py")
    code, out, told = run("build", "mine", "plain.py")
    mine, plain = out.splitlines()
    assert code == 0
    assert mine.startswith("mine: built in ")
    assert "building mine …" in told
    assert (Path(mine.rpartition(" ")[2]) / "made").read_text() == "built\n"
    assert plain.startswith("plain: nothing to build, content ")
    assert run("build", "mine")[1].startswith("mine: built before, content ")


def test_a_build_that_fails_ends_with_1_and_the_others_are_built(run: Run, public_path: Path) -> None:
    bot(public_path, "bad", "echo what went wrong; exit 3")
    bot(public_path, "good", "true")
    code, out, told = run("build", "bad", "good")
    assert (code, out.split(":")[0]) == (1, "good")
    assert (
        "bad: its build `sh -c 'echo what went wrong; exit 3'` failed with exit status 3\n    what went wrong\n" in told
    )
    assert run("build", "bad", "--log")[:2] == (0, "$ /usr/bin/sh -c 'echo what went wrong; exit 3'\nwhat went wrong\n")


def test_what_is_no_bot_ends_with_2(run: Run, public_path: Path) -> None:
    (public_path / "empty").mkdir()
    code, out, told = run("build", "empty")
    assert (code, out) == (2, "")
    assert "referee: empty: it has no bot.toml" in told
    bot(public_path, "mine", "true")
    assert run("build", "mine", "--log")[0] == 2
    assert run("build", "mine", "--time", "none")[0] == 2


def test_a_rebuild_that_makes_something_else_is_told(run: Run, public_path: Path) -> None:
    bot(public_path, "mine", "head -c 16 /dev/urandom >made")
    assert "not what was built before" not in run("build", "mine")[2]
    assert "mine: what was built is not what was built before" in run("build", "mine", "--rebuild")[2]
    bot(public_path, "same", "echo same >made")
    run("build", "same")
    code, out, told = run("build", "same", "--rebuild")
    assert (code, out.startswith("same: built in "), "not what was built before" in told) == (0, True, False)


@pytest.mark.parametrize("command", ["build", "check"])
def test_what_an_editor_left_is_named_and_not_in_the_copy(run: Run, public_path: Path, command: str) -> None:
    bot(public_path, "mine", "true")
    (public_path / "mine/.bot.py.swp").touch()
    _, out, told = run(command, "mine", "--json")
    assert any(line.startswith("mine: left out") and ".bot.py.swp" in line for line in told.splitlines())
    if command == "build":
        folder = json.loads(out)[0]["folder"]
        assert sorted(path.name for path in Path(folder).iterdir()) == ["bot.py", "bot.toml"]


def test_json_has_all_of_it(run: Run, public_path: Path) -> None:
    bot(public_path, "bad", "exit 3")
    bot(public_path, "good", "true")
    code, out, _ = run("build", "bad", "good", "--json")
    bad, good = json.loads(out)
    assert (code, bad["name"], bad["built"], bad["folder"]) == (1, "bad", "failed", None)
    assert bad["reason"] == "its build `sh -c 'exit 3'` failed with exit status 3"
    assert (good["built"], good["reason"], len(good["content"])) == ("now", None, 64)
    assert Path(good["folder"]).is_dir()


def test_limits_hold_as_they_are_given(run: Run, public_path: Path) -> None:
    bot(public_path, "slow", "sleep 1000")
    assert "did not end in 1 s and was killed" in run("build", "slow", "--time", "1s")[2]
    bot(public_path, "large", "yes | head -c 20M >made")
    assert run("build", "large", "--size", "16M")[0] == 1
    assert run("build", "large", "--file-size", "16M")[0] == 1
    assert run("build", "large", "--size", "64M")[0] == 0


def test_who_needs_the_network_is_refused_by_a_match_in_words_that_help(run: Run, public_path: Path) -> None:
    bot(public_path, "mine", "echo could not resolve host: example.org; exit 6")
    code, _, told = run("match", "mine", "mine", "--deals", "1")
    assert code == 2
    assert "it seems to want the network, which it gets from `referee build mine --fetch` alone" in told


def test_what_was_built_before_is_played_and_not_built_again(run: Run, public_path: Path) -> None:
    bot(public_path, "mine", "head -c 16 /dev/urandom >made")
    content = run("build", "mine")[1].rpartition(" ")[2]
    code, _, told = run("match", "mine", "mine", "--deals", "1")
    assert (code, "building" in told) == (0, False)
    assert run("build", "mine")[1].rpartition(" ")[2] == content
    assert run("build", "mine")[1].startswith("mine: built before")


def test_builds_that_may_fetch_are_told_of_by_the_variables_that_they_get(
    run: Run, public_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    bot(public_path, "mine", "true")
    assert "builds have the network\n" in run("build", "mine", "--fetch")[2]
    monkeypatch.setenv("PIP_INDEX_URL", "https://me:secret@mirror.invalid/simple")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    told = run("build", "mine", "--fetch", "--pass-env", "PIP_INDEX_URL")[2]
    assert "builds have the network, and of your environment HTTPS_PROXY, PIP_INDEX_URL\n" in told
    assert "secret" not in told and "builds have" not in run("build", "mine")[2]
    assert "PIP_INDEX_URL" not in run("build", "mine", "--fetch")[2]
    code, _, said = run("build", "mine", "--fetch", "--pass-env", "NOT_SET_HERE")
    assert (code, "NOT_SET_HERE" in said) == (2, True)
    code, _, said = run("build", "mine", "--pass-env", "PIP_INDEX_URL")
    assert (code, "--fetch" in said) == (2, True)


def test_passwords_that_a_build_prints_are_neither_shown_nor_kept_in_its_log(
    run: Run, public_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:hush%21hush@127.0.0.1:1")
    bot(public_path, "mine", "echo cannot reach $HTTPS_PROXY as hush!hush; exit 1")
    said = [word for words in ((), ("--json",), ("--log",)) for word in run("build", "mine", "--fetch", *words)[1:]]
    assert "".join(said).count("cannot reach http://***@127.0.0.1:1 as ***") == 3
    assert "hush%21hush" not in "".join(said)
    kept = [path.read_bytes() for path in (public_path / "cache").rglob("*.log")]
    assert kept and not any(b"hush%21" in log for log in kept)
