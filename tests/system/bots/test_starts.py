"""Who is to blame where a bot's process ends or closes its pipes: the same verdict at every tier, as root and as a user."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bots.hostile.arena import as_a_user
from command_line import TESTS_PATH
from seats import FirstLegal, prepared

from referee.bots.process.limits import Limits
from referee.bots.process.system import Reaper
from referee.bots.sandbox.probing import launcher_for
from referee.bots.seat.player import BotPlayer
from referee.bots.tiers import Tier
from referee.cards import shuffled
from referee.errors import BotFault, VoidGame
from referee.play import DealtGame, SystemClock, play_game
from referee.rules import DEFAULT_RULES

USERS = ("root", "user") if os.geteuid() == 0 else ("user",)
STARTERS = ("setpriv", "prlimit", "confine")
PRETENDERS = [
    *(
        f"echo '{starter}: failed to execute /bin/sh: {os.strerror(errno.EAGAIN)}' >&2; exit 126"
        for starter in STARTERS
    ),
    "echo 'bwrap: execvp /bin/sh: Cannot allocate memory' >&2; exit 1",
    "exit 127",
    "exit 255",
    "kill -KILL $$",
]
"""Scripts that look like a sandbox that failed."""
CLOSERS = ["exec >&-; while read line; do :; done; sleep 1000", "read hello; exec >&- <&-; sleep 1000"]
"""Scripts that close stdout and live on."""


def verdict_of(tier: Tier, folder: Path, script: str) -> str:
    """Return what becomes of a bot that runs a script before it is ready."""
    bot = prepared("/bin/sh", "-c", script, folder=folder)
    launcher = launcher_for(tier, scratch=folder.parent / "scratch", reaper=Reaper())
    player = BotPlayer(bot, launcher=launcher, clock=SystemClock(), limits=Limits(start_ms=60_000))
    try:
        player.start()
    except BotFault as fault:
        return fault.verdict.value
    except VoidGame as void:
        return f"void: {void}"
    finally:
        player.kill()
    return "ready"


def verdict_when_asked(tier: Tier, folder: Path, script: str) -> str:
    """Return what becomes of a bot that runs a script when it has said that it is ready; it has a minute to answer."""
    script = 'read hello; echo \'{"type": "ready", "protocol": 1}\'; read start; read question; ' + script
    bot = prepared("/bin/sh", "-c", script, folder=folder)
    launcher = launcher_for(tier, scratch=folder.parent / "scratch", reaper=Reaper())
    player = BotPlayer(
        bot, launcher=launcher, clock=SystemClock(), limits=Limits(start_ms=60_000, move_ms=60_000, game_ms=None)
    )
    game = DealtGame("game", DEFAULT_RULES, shuffled(b"deck"), (5, 6))
    try:
        player.start()
        played = play_game(game, [player, FirstLegal()], clock=SystemClock())
    finally:
        player.kill()
    assert played.faults
    return str(played.faults[0].verdict)


def as_who(who: str, function: str, tier: Tier, folder: Path, scripts: list[str]) -> list[str]:
    """Return what a function above returns for each script, in a process of root or of an ordinary user."""
    program = (
        "import sys, json; sys.path[:0] = sys.argv[1].split(':')\n"
        "from pathlib import Path\n"
        "from bots import test_starts\n"
        "function = getattr(test_starts, sys.argv[2])\n"
        "tier, folder, scripts = test_starts.Tier(sys.argv[3]), Path(sys.argv[4]), json.loads(sys.argv[5])\n"
        "print(json.dumps([function(tier, folder, script) for script in scripts]))\n"
    )
    python = as_a_user() if who == "user" and os.geteuid() == 0 else (sys.executable,)
    words = [*python, "-c", program, TESTS_PATH, function, tier.value, str(folder), json.dumps(scripts)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.fixture
def folder(public_path: Path) -> Path:
    """A bot's folder beside one for temporary files, which every user may use."""
    (public_path / "bot").mkdir()
    (public_path / "scratch").mkdir()
    (public_path / "scratch").chmod(0o777)
    public_path.chmod(0o777)
    return public_path / "bot"


@pytest.mark.parametrize("who", USERS)
@pytest.mark.parametrize("tier", Tier)
def test_nothing_that_a_bot_prints_or_exits_with_is_the_sandboxes_failure(tier: Tier, who: str, folder: Path) -> None:
    assert set(as_who(who, "verdict_of", tier, folder, PRETENDERS)) == {"start_failed"}


@pytest.mark.parametrize("who", USERS)
@pytest.mark.parametrize("tier", Tier)
def test_a_bot_that_closes_its_stdout_is_seen_to_at_once(tier: Tier, who: str, folder: Path) -> None:
    assert as_who(who, "verdict_of", tier, folder, CLOSERS) == ["start_failed"] * 2
    assert as_who(who, "verdict_when_asked", tier, folder, ["exec >&-; sleep 1000"]) == ["crash"]


@pytest.mark.parametrize("tier", Tier)
def test_a_bot_that_closes_its_stdin_is_told_from_one_that_does_not_read(tier: Tier, folder: Path) -> None:
    """Without a limit nothing else ends the wait for its answer."""
    launcher = launcher_for(tier, scratch=folder.parent / "scratch", reaper=Reaper())
    bot = prepared("/bin/sh", "-c", "exec <&-; sleep 1000", folder=folder)
    player = BotPlayer(bot, launcher=launcher, clock=SystemClock(), limits=Limits(start_ms=None))
    try:
        with pytest.raises(BotFault) as caught:
            player.start()
    finally:
        player.kill()
    assert caught.value.verdict.value == "start_timeout"
