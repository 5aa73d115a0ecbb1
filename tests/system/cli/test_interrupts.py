"""Whatever ends a command from outside, its bots end with it, and its temporary folders go."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, environment
from processes import REFEREE, alive, children, descendants, wait_until

THINKS_FOR_EVER = """import json, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    if json.loads(line)["type"] == "hello":
        print('{"type":"ready","protocol":1}', flush=True)
    else:
        time.sleep(3600)
"""
LIMITS = ("--start-time", "none", "--move-time", "none")
OTHER = str(ROOT / "example_bots" / "greedy")
COMMANDS = {"check": (), "match": (OTHER,)}


def bots_of(run: subprocess.Popen[bytes]) -> set[int]:
    """The processes of the bot that thinks; the command itself is two."""
    found = set()
    for pid in descendants(run.pid) - {run.pid, *children(run.pid)}:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        found |= {pid} if b"thinks.py" in words else set()
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_that_ends_a_command_leaves_no_bot_and_no_folder(
    tmp_path: Path, command: str, number: signal.Signals
) -> None:
    (tmp_path / "tmp").mkdir()
    bot = tmp_path / "thinks.py"
    bot.write_text(THINKS_FOR_EVER)
    env = environment({"TMPDIR": str(tmp_path / "tmp"), "XDG_CACHE_HOME": str(tmp_path / "cache")})
    words = [*REFEREE, command, str(bot), *COMMANDS[command], *LIMITS]
    with subprocess.Popen(words, env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
        wait_until(lambda: bool(bots_of(run)))
        bots = bots_of(run)
        run.send_signal(number)
        _, said = run.communicate(timeout=60)
    assert (run.returncode, said.splitlines()[-1]) == (130, b"referee: interrupted"), said
    assert not {pid for pid in bots if alive(pid)}
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    program = (
        "import os, signal; from referee.cli import exit_codes;"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "raise SystemExit(exit_codes.run(lambda: os.kill(os.getpid(), signal.SIGHUP), is_verbose=lambda: False))"
    )
    done = subprocess.run([sys.executable, "-c", program], env=environment(), cwd=tmp_path, check=False, timeout=60)
    assert done.returncode == 0
