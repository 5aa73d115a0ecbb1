"""What lies with the referee's own files and settings is refused with its cause; `auto` takes no lower tier for it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bots.hostile.arena import as_a_user
from command_line import BEST_SANDBOX, ROOT, environment

from referee.bots.sandbox.probing import best

PLAIN = ROOT / "tests" / "system" / "bots" / "programs" / "plain"
IS_ROOT = os.geteuid() == 0
USERS = ("root", "user") if IS_ROOT else ("user",)
NAMESPACE = "unshare -m" if IS_ROOT else "unshare -rm"
"""The command that runs another with mounts of its own."""


@pytest.fixture
def work(public_path: Path) -> Path:
    """A folder with bots, which every user may use."""
    (public_path / "bots").mkdir()
    for name in ("first.py", "last.py"):
        shutil.copy(PLAIN / name, public_path / "bots")
    for folder in ("own", "built"):
        bot = public_path / "bots" / folder
        bot.mkdir()
        (bot / "bot").write_text("#!/usr/bin/python3\n" + (PLAIN / "first.py").read_text())
        (bot / "bot").chmod(0o755)
        (bot / "bot.toml").write_text('command = ["./bot"]\n')
    build = 'import os; os.mkdir("made"); os.rename("bot", "made/bot")'
    (public_path / "bots" / "built" / "bot.toml").write_text(
        f"command = ['./made/bot']\nbuild = [['python3', '-c', '{build}']]\n"
    )
    public_path.chmod(0o777)
    return public_path


def shell(
    work: Path, script: str, *, who: str = USERS[0], cache: str = "cache", program: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a script of a shell in which `referee` is the command, or a Python program; as root or as an ordinary user."""
    env = environment(BEST_SANDBOX | {"XDG_CACHE_HOME": str(work / cache), "HOME": "/tmp"})
    python = [sys.executable]
    if who == "user" and IS_ROOT:
        *start, python_of_user = as_a_user()
        settings = [f"{name}={value}" for name, value in env.items() if name.startswith(("REFEREE", "XDG"))]
        python = [*start, *settings, python_of_user]
    if program:
        script = shlex.join([*python, "-c", program])
    words = shlex.join([*python, "-m", "referee"])
    return subprocess.run(
        ["bash", "-c", f'referee() {{ {words} "$@"; }}\n{script}'],
        env=env, cwd=work, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


MATCH = "referee match bots/first.py bots/own --deals 1"


def is_refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Assert that nothing was played, and that one line says why."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    [line] = done.stderr.splitlines()
    assert all(word in line for word in words), line


@pytest.mark.parametrize("who", USERS)
def test_the_umask_changes_nothing(work: Path, who: str) -> None:
    for cache, masks in (("usual", ("022", "077")), ("new", ("077",))):
        for mask in masks:
            for bot in ("own", "built"):
                script = f"umask {mask}; referee match bots/first.py bots/{bot} --deals 1 --json"
                done = shell(work, script, who=who, cache=cache)
                assert done.returncode == 0, done.stderr
                games = json.loads(done.stdout)["games"]
                assert {game["isolation"][0] for game in games} == {best()[0].value}
                assert [game["faults"] for game in games] == [[]] * 2


def test_a_cache_where_nothing_can_be_executed_is_refused(work: Path) -> None:
    (work / "cache").mkdir()
    mount = f"mount -t tmpfs -o noexec,mode=0755 tmpfs {work / 'cache'}"
    for sandbox in ("auto", "A", "C"):
        inside = f"{mount}; exec {sys.executable} -m referee match bots/first.py bots/own --sandbox {sandbox}"
        is_refused(shell(work, f"{NAMESPACE} sh -c {shlex.quote(inside)}"), "noexec", "XDG_CACHE_HOME")
    inside = f"{mount}; exec {sys.executable} -m referee match bots/own bots/own --sandbox D"
    done = shell(work, f"{NAMESPACE} sh -c {shlex.quote(inside)}")
    assert done.returncode == 2 and "noexec" in done.stderr, done.stderr
    inside = f"{mount}; exec {sys.executable} -m referee doctor"
    doctor = shell(work, f"{NAMESPACE} sh -c {shlex.quote(inside)}")
    assert doctor.returncode == 1
    found = dict(line[2:].split(": ", 1) for line in doctor.stdout.splitlines() if line[:1] in "✓!✗")
    assert all("noexec" in found[subject] for subject in ("tier A", "tier B", "tier C", "cache of bots"))
    assert "XDG_CACHE_HOME" in doctor.stdout.splitlines()[-1]


@pytest.mark.parametrize("options", ["size=4k,mode=0755", "ro,mode=0755"])
def test_a_cache_that_is_full_or_read_only_is_refused(work: Path, options: str) -> None:
    (work / "cache").mkdir()
    mount = f"mount -t tmpfs -o {options} tmpfs {work / 'cache'}"
    inside = f"{mount}; exec {sys.executable} -m referee match bots/first.py bots/own"
    is_refused(shell(work, f"{NAMESPACE} sh -c {shlex.quote(inside)}"), "XDG_CACHE_HOME")


@pytest.mark.parametrize("who", USERS)
@pytest.mark.parametrize("limit", ["-n 32", "-s 256", "-f 1024", "-d 100000"])
def test_a_limit_that_is_lower_than_a_bots_is_refused(work: Path, who: str, limit: str) -> None:
    option = limit.split()[0].replace("-", "-H")
    is_refused(shell(work, f"ulimit {limit}; {MATCH}", who=who), f"ulimit {option}")


def test_a_soft_limit_of_open_files_is_raised(work: Path) -> None:
    done = shell(work, f"ulimit -Sn 24; {MATCH}")
    assert done.returncode == 0, done.stderr
    assert f"isolation {best()[0]}" in done.stderr


def test_a_user_whose_processes_are_used_up_is_told_so(work: Path) -> None:
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NPROC, (2, resource.getrlimit(resource.RLIMIT_NPROC)[1]))\n"
        "sys.argv[1:] = ['match', 'bots/first.py', 'bots/own']; from referee.cli.main import main; main()"
    )
    is_refused(shell(work, "", who="user", program=program), "ulimit -u")


def test_a_short_path_changes_nothing(work: Path) -> None:
    done = shell(work, f"PATH=/nowhere; {MATCH}")
    assert done.returncode == 0, done.stderr
    assert shell(work, MATCH).stderr == done.stderr


def test_without_proc_the_doctor_names_it(work: Path) -> None:
    inside = f"umount -l /proc && exec {sys.executable} -m referee doctor"
    done = shell(work, f"{NAMESPACE} sh -c {shlex.quote(inside)}")
    assert done.returncode == 1, done.stderr
    tier_a = next(line for line in done.stdout.splitlines() if "tier A: " in line)
    assert "/proc" in tier_a
    assert "too old" not in tier_a


def test_without_a_home_the_variable_to_set_is_named(work: Path) -> None:
    env = {"PYTHONPATH": os.pathsep.join([str(ROOT), *(path for path in sys.path if path.endswith("-packages"))])}
    *start, python = as_a_user() if IS_ROOT else ("unshare", "-U", "env", sys.executable)
    without = ["-u", "HOME", "-u", "XDG_CACHE_HOME"]
    words = [*start[: start.index("env") + 1], *without, *(f"{name}={value}" for name, value in env.items()), python]
    commands = (("match", "bots/first.py", "bots/last.py"), ("check", "bots/first.py"), ("build", "bots/built"))
    for command in commands:
        done = subprocess.run(
            [*words, "-m", "referee", *command], cwd=work, capture_output=True, text=True, check=False, timeout=300
        )
        assert (done.returncode, done.stdout) == (2, "")
        lines = done.stderr.splitlines()
        assert "XDG_CACHE_HOME" in lines[-1] and "Traceback" not in done.stderr, done.stderr
    doctor = subprocess.run(
        [*words, "-m", "referee", "doctor"], cwd=work, capture_output=True, text=True, check=False, timeout=300
    )
    assert doctor.returncode == 1 and "XDG_CACHE_HOME" in doctor.stdout, doctor.stderr
