"""Memory of a whole bot, and of the machine: who takes too much is charged, and who was within its limit is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from bots.hostile.arena import as_a_user
from command_line import TESTS_PATH
from seats import prepared

from referee.bots.process import launcher, memory
from referee.bots.process.limits import MIB, Box, Limits
from referee.bots.process.pondering import PonderingMonitor
from referee.bots.process.system import Reaper, read_proc
from referee.bots.sandbox.cgroup_homes import Version
from referee.bots.sandbox.cgroups import home_or_none
from referee.bots.sandbox.probing import launcher_for
from referee.bots.seat.player import BotPlayer
from referee.bots.tiers import Tier
from referee.cards import shuffled
from referee.errors import VoidGame
from referee.play import DealtGame, SystemClock, play_game
from referee.rules import DEFAULT_RULES

pytestmark = pytest.mark.xdist_group("memory")
"""Where the kernel kills for memory, a bot that is killed meanwhile may be innocent: its games are void."""

PYTHON = "/usr/bin/python3"
USERS = ("root", "user") if os.geteuid() == 0 else ("user",)
BOX = Box(memory=128 * MIB)
LIMIT = BOX.memory_in_all
READY = 'import sys, json; input(); print(\'{"type": "ready", "protocol": 1}\', flush=True)\n'
PLAY = """
for line in sys.stdin:
    question = json.loads(line)
    if "id" in question:
        print(json.dumps({"id": question["id"], "action": question["legal"][0]}), flush=True)
"""
CROWD = READY + (
    "import os, time; sys.stdin.readline(); sys.stdin.readline()\n"
    "for _ in range(8):\n if not os.fork():\n  held = bytearray(b'x') * (60 << 20); time.sleep(1000)\n"
    "os.wait(); os._exit(1)\n"
)
"""Eight processes of 60 MiB each."""
TABLES = (
    READY
    + "import mmap, time; sys.stdin.readline(); sys.stdin.readline()\n"
    + (
        "space = mmap.mmap(-1, 1 << 39, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)\n"
        "space.madvise(15)\n"
        "for place in range(0, 1 << 39, 1 << 21): space[place]\n"
        "time.sleep(1000)\n"
    )
)
"""Page tables of 1 GiB, by reading one byte of each 2 MiB of half a TiB that it may not write."""
SHARED = (
    READY
    + "import os, signal, time\nheld = bytearray(b'x') * (60 << 20)\nchildren = []\n"
    + ("for _ in range(6):\n pid = os.fork()\n if not pid: time.sleep(1000)\n children.append(pid)\n")
    + PLAY
)
"""Six children that share 60 MiB with their parent."""
ALONE = READY.replace("input()", "held = bytearray(b'x') * (110 << 20); input()") + PLAY
"""A process of 110 MiB, which is within its limit."""


@contextmanager
def _table(tier: Tier, folder: Path, *scripts: str) -> Iterator[list[BotPlayer]]:
    monitor, reaper = PonderingMonitor(SystemClock()), Reaper()
    launcher = launcher_for(tier, scratch=folder.parent / "scratch", box=BOX, reaper=reaper)
    with ExitStack() as ending:
        players = []
        for number, script in enumerate(scripts):
            bot = prepared(PYTHON, "-S", "-c", script, folder=folder, name=f"bot{number}")
            limits = Limits(start_ms=60_000, move_ms=60_000)
            players.append(BotPlayer(bot, launcher=launcher, clock=SystemClock(), limits=limits, monitor=monitor))
            ending.callback(players[-1].kill)
        yield players


def outcome(tier: Tier, folder: Path, *scripts: str) -> list[str]:
    """Play a game between some scripts; return the verdicts of its faults with their limits, or why it is void."""
    game = DealtGame("game", DEFAULT_RULES, shuffled(b"deck"), (5, 6))
    with _table(tier, folder, *scripts) as players:
        try:
            for player in players:
                player.start()
            children = [player.conversation.process.child for player in players if player.conversation is not None]
            played = play_game(game, players, clock=SystemClock())
        except VoidGame as void:
            return ["void", str(void)]
        return [f"{fault.verdict} {children[fault.seat].memory_used_up()}" for fault in played.faults]


def as_who(who: str, tier: Tier, folder: Path, scripts: list[str], *, group: Path | None = None) -> list[str]:
    """Return `outcome` in a process of root or an ordinary user, and in a control group."""
    program = (
        "import sys, json; sys.path[:0] = sys.argv[1].split(':')\n"
        "from pathlib import Path\n"
        "from bots import test_memory\n"
        "print(json.dumps(test_memory.outcome(test_memory.Tier(sys.argv[2]), Path(sys.argv[3]), *json.loads(sys.argv[4]))))\n"
    )
    python = as_a_user() if who == "user" and os.geteuid() == 0 else (sys.executable,)
    words = [*python, "-c", program, TESTS_PATH, tier.value, str(folder), json.dumps(scripts)]
    if group is not None:
        words = ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs"), *words]
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
@pytest.mark.parametrize("script", [CROWD, TABLES], ids=["processes", "page tables"])
def test_a_bot_whose_processes_take_more_than_its_limit_together_is_ended(
    tier: Tier, who: str, script: str, folder: Path
) -> None:
    assert as_who(who, tier, folder, [script, READY + PLAY]) == [f"crash {LIMIT}"]


@pytest.mark.parametrize("who", USERS)
@pytest.mark.parametrize("tier", Tier)
def test_pages_that_processes_share_are_counted_once(tier: Tier, who: str, folder: Path) -> None:
    assert as_who(who, tier, folder, [SHARED, READY + PLAY]) == []


MAPPED = """
import mmap, os, sys
space = mmap.mmap(-1, 8192 * 30000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
space.madvise(mmap.MADV_NOHUGEPAGE)
for place in range(0, 8192 * 30000, 8192):
    space[place] = 1
    space.madvise(mmap.MADV_DONTDUMP, place, 4096)
children = []
for _ in range(5):
    pid = os.fork()
    if not pid:
        sys.stdin.readline()
        os._exit(0)
    children.append(pid)
print(*children, flush=True)
sys.stdin.readline()
"""
"""Six processes that share 117 MiB in 60,000 mappings each: the kernel takes 20 ms for an exact look at one of them."""


def test_a_bot_cannot_make_a_look_at_its_memory_long(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Counter[str]()

    def read(path: str) -> bytes:
        looked[Path(path).name] += 1
        return read_proc(path)

    monkeypatch.setattr(memory, "read_proc", read)
    with subprocess.Popen([PYTHON, "-c", MAPPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pids = [process.pid, *map(int, process.stdout.readline().split())]
        assert len(pids) == 6
        assert memory.memory_of(pids) > 6 * 110 * MIB
        assert looked["smaps_rollup"] == 0
        assert memory.memory_of(pids, limit=400 * MIB) > 400 * MIB
        assert looked["smaps_rollup"] <= 2
        process.kill()


HOME = home_or_none()
GROUPED = [(tier, who) for tier in Tier for who in USERS] if HOME is not None and HOME.version is Version.ONE else []


@pytest.mark.parametrize(("tier", "who"), GROUPED)
def test_a_bot_within_its_limit_that_the_kernel_kills_is_not_charged(tier: Tier, who: str, folder: Path) -> None:
    """Two bots of 110 MiB, within their limits, on a machine of 210 MiB: a control group around the referee."""
    assert HOME is not None
    group = HOME.folders["memory"] / f"small-machine-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(210 * MIB))
        void, why = as_who(who, tier, folder, [ALONE, ALONE], group=group)
    finally:
        for _ in range(1000):
            try:
                group.rmdir()
            except OSError:
                os.sched_yield()
            else:
                break
    assert void == "void"
    assert "bot0" in why or "bot1" in why


def test_an_older_kill_of_another_program_is_no_excuse(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kills = [5]
    monkeypatch.setattr(launcher, "oom_kills", lambda: kills[-1])
    bot = prepared(PYTHON, "-S", "-c", READY + PLAY, folder=folder)
    child = launcher.PlainLauncher(tmp_path, Reaper(), box=BOX).launch(bot)
    try:
        now = 0
        kills.append(6)
        assert child.killed_for_want_of_memory()
        for _ in range(2):
            now += 10_000_000_000
            child.watch_memory(now, answered=True)
        assert not child.killed_for_want_of_memory(), "it has answered since"
        kills.append(7)
        for _ in range(5):
            now += 10_000_000_000
            child.watch_memory(now, answered=False)
        assert child.killed_for_want_of_memory(), "it has not answered since, and may be the one"
    finally:
        child.end()
