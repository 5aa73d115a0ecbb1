"""Whichever process of a command is killed, no process of a bot stays; signals and terminals work as without a guard."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import join
from uuid import uuid4

import pytest
from command_line import ROOT, environment
from processes import REFEREE, alive, children, descendants, state, wait_until

LEAVES_A_DAEMON = """import os, signal, subprocess, sys, time
DAEMON = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(3600)"
def daemon():
    if os.fork() == 0:
        os.setsid()
        child = subprocess.Popen([sys.executable, "-c", DAEMON, sys.argv[1]], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        child.stdout.readline()
        os._exit(0)
    os.wait()
"""
PLAYS = """
sys.stdin.readline()
print('{"type":"ready","protocol":1}', flush=True)
sys.stdin.readline()
daemon()
time.sleep(3600)
"""
BUILDS = """
daemon()
time.sleep(3600)
"""
LIMITS = ("--start-time", "none", "--move-time", "none")
OTHER = str(ROOT / "example_bots" / "greedy")


def bot(folder: Path, token: str, *, builds: bool = False) -> Path:
    """A bot that leaves a daemon in a session of its own, and then plays or builds for ever."""
    place = folder / "bot"
    place.mkdir()
    (place / "leaves.py").write_text(LEAVES_A_DAEMON + (BUILDS if builds else PLAYS))
    command = f'command = ["python3", "leaves.py", "{token}"]\n'
    (place / "bot.toml").write_text(command + command.replace("command", "build", 1) if builds else command)
    return place


def has(token: str) -> dict[int, bool]:
    """The living processes that have the token in their command line: True for those that only wait."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and alive(int(entry.name)):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if token.encode() in words:
                found[int(entry.name)] = b"leaves.py" not in words
    return found


@contextmanager
def begun(folder: Path, *words: str | Path, **more: object) -> Iterator[subprocess.Popen[bytes]]:
    """A command that is running."""
    env = environment({"XDG_CACHE_HOME": str(folder / "cache")})
    with subprocess.Popen(
        [*REFEREE, *map(str, words)], env=env, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more
    ) as run:  # type: ignore[call-overload]
        try:
            yield run
        finally:
            run.kill()


def kill(run: subprocess.Popen[bytes], whom: str) -> None:
    (worker,) = children(run.pid)
    os.kill(run.pid if whom == "guard" else worker, signal.SIGKILL)


def daemon_of(token: str) -> int:
    """The pid of the daemon, which was put into a session of its own by one that is over."""
    wait_until(lambda: any(has(token).values()))
    return next(pid for pid, waits in has(token).items() if waits)


@pytest.mark.parametrize("whom", ["guard", "worker"])
@pytest.mark.parametrize("tier", ["A", "C", "D"])
def test_nothing_of_a_match_stays_when_one_of_its_processes_is_killed(public_path: Path, tier: str, whom: str) -> None:
    token = f"guarded-{uuid4().hex}"
    place = bot(public_path, token)
    with begun(public_path, "match", place, OTHER, "--deals", "1", "--sandbox", tier, *LIMITS) as run:
        daemon_of(token)
        family = descendants(run.pid)
        kill(run, whom)
        wait_until(lambda: not any(map(alive, family)) and not has(token))
        code = run.wait()
    assert code == (-signal.SIGKILL if whom == "guard" else 128 + signal.SIGKILL)


@pytest.mark.parametrize("whom", ["guard", "worker"])
@pytest.mark.parametrize("command", ["check", "build"])
def test_nothing_of_a_command_stays_when_one_of_its_processes_is_killed(
    tmp_path: Path, command: str, whom: str
) -> None:
    token = f"guarded-{uuid4().hex}"
    place = bot(tmp_path, token, builds=command == "build")
    with begun(tmp_path, command, place, *(LIMITS if command == "check" else ())) as run:
        daemon_of(token)
        family = descendants(run.pid)
        kill(run, whom)
        wait_until(lambda: not any(map(alive, family)) and not has(token))


def test_a_worker_that_is_killed_is_told_of_in_one_sentence(tmp_path: Path) -> None:
    token = f"guarded-{uuid4().hex}"
    with begun(tmp_path, "match", bot(tmp_path, token), OTHER, *LIMITS) as run:
        daemon_of(token)
        kill(run, "worker")
        _, said = run.communicate()
    told = [line for line in said.splitlines() if line.startswith(b"referee: ")]
    assert (run.returncode, len(told)) == (137, 1)
    assert b"SIGKILL" in told[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_whole_group_is_one_signal(tmp_path: Path, number: signal.Signals) -> None:
    token = f"guarded-{uuid4().hex}"
    with begun(tmp_path, "match", bot(tmp_path, token), OTHER, *LIMITS, start_new_session=True) as run:
        daemon_of(token)
        os.killpg(run.pid, number)
        _, said = run.communicate()
    assert (run.returncode, said.splitlines()[-1:]) == (130, [b"referee: interrupted"]), said
    assert not has(token)


def test_a_terminal_stops_and_interrupts_both_processes(tmp_path: Path) -> None:
    token = f"guarded-{uuid4().hex}"
    command = join([*REFEREE, "match", str(bot(tmp_path, token)), OTHER, *LIMITS])
    ours, its = os.openpty()
    with subprocess.Popen(
        ["setsid", "--ctty", "--wait", "bash", "-mc", f"{command}; fg; exit $?"],
        env=environment(), cwd=tmp_path, stdin=its, stdout=its, stderr=its, start_new_session=True,
    ) as shell:  # fmt: skip
        os.close(its)
        daemon_of(token)
        family = descendants(shell.pid)
        pair = {pid for pid in family if b"match" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")}
        assert len(pair) == 2
        seen_stopped = False
        os.write(ours, b"\x1a")
        until = time.monotonic() + 60
        while not seen_stopped and time.monotonic() < until:
            seen_stopped = all(state(pid) == "T" for pid in pair)
        wait_until(lambda: all(state(pid) not in ("", "T") for pid in pair))
        os.write(ours, b"\x03")
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # the other side is closed
            pass
        os.close(ours)
    assert shell.returncode == 130, shown
    assert shown.count(b"interrupted") == 1
    assert not has(token)
