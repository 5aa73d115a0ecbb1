"""Where hostile bots play: one tier, good neighbours at the next table, and a look at what is left behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from command_line import ROOT
from seats import FirstLegal

from referee.bots.cache.prepare import Prepared
from referee.bots.cache.removal import remove_tree
from referee.bots.process.launcher import Launcher
from referee.bots.process.limits import Limits
from referee.bots.process.system import Reaper, tree
from referee.bots.sandbox.probing import launcher_for
from referee.bots.source.manifest import BotSpec
from referee.bots.tiers import Tier
from referee.cards import deck_of
from referee.play import DealtGame, SystemClock, play_game
from referee.record import Bot, GameRecord
from referee.rules import DEFAULT_RULES
from referee.tournament.engine.block import Parked, play_block
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.schedule import Block, games_of

PROGRAMS = Path(__file__).with_name("programs")
PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or "python3"
"""One that a box has too."""
_USER = "54321"
"""Nobody's number."""
_SECRET = b"s" * 16
_NEIGHBOURS_GAMES = 100_000


TIERS = list(reversed(Tier))
"""All of them, the weakest first; on a machine that lacks one its tests fail."""


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user of the machine may enter, as root's boxes are made by another one."""
    folder = Path(tempfile.mkdtemp(prefix="catalogue-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        remove_tree(folder)


def as_a_user() -> tuple[str, ...]:
    """The command by which root runs a Python, with all that tests need, as somebody who may do nothing else.

    Where our own Python lies may be closed to others; another of the same version has its modules from here.
    """
    paths = os.pathsep.join([str(ROOT), *(path for path in sys.path if path.endswith("-packages"))])
    variables = ("HOME=/tmp", f"PATH={os.defpath}", f"PYTHONPATH={paths}", "PYTHONDONTWRITEBYTECODE=1")
    user = ("setpriv", "--reuid", _USER, "--regid", _USER, "--clear-groups", "env", "-i", *variables)
    for python in (sys.executable, PYTHON):
        command = (*user, python)
        tried = subprocess.run([*command, "-c", "import pytest, referee.tournament.engine.block"], capture_output=True)
        if tried.returncode == 0:
            return command
    raise AssertionError("no Python that a user may run has what the tests need")


@dataclass
class Arena:
    """One tier's table. `folder` is entirely its own; the bots see `bots/hostile`, their copy of the programs."""

    tier: Tier
    folder: Path
    reaper: Reaper
    neighbours: Iterator[GameRecord | Parked] = field(default_factory=lambda: iter(()))

    def __post_init__(self) -> None:
        self.programs = self.folder / "bots" / "hostile"
        shutil.copytree(PROGRAMS, self.programs, ignore=shutil.ignore_patterns("__pycache__"))
        compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
        source, daemon = str(self.programs / "daemon.c"), str(self.programs / "daemon")
        subprocess.run([compiler, "-o", daemon, source], check=True)
        unread = self.programs / "unread"
        unread.write_text("nothing")
        os.utime(unread, (0, time.time()))
        (self.folder / "scratch").mkdir()
        self.seat_neighbours()

    def launcher(self, cores: frozenset[int] | None = None) -> Launcher:
        """What makes the bots' processes."""
        return launcher_for(self.tier, scratch=self.folder / "scratch", reaper=self.reaper, cores=cores)

    def bot(self, name: str, program: str, *arguments: str) -> Prepared:
        """One of the programs as a bot."""
        identity = Bot(name, sha256(name.encode()).hexdigest())
        argv = (PYTHON, "-B", "-S", program, *arguments)
        manifest = BotSpec(
            identity=identity,
            path=self.programs,
            command=argv,
            build=(),
            language=None,
            author=None,
            players=frozenset(range(2, 7)),
        )
        return Prepared(manifest=manifest, folder=self.programs, argv=argv)

    def play(
        self, one: Prepared, other: Prepared, limits: Limits, *, deals: int = 1, cores: frozenset[int] | None = None
    ) -> Iterator[GameRecord | Parked]:
        """Games of two bots, as a worker plays them; `one` has seat 0 in the first."""
        line_up = (one.manifest.identity, other.manifest.identity)
        block = Block(line_up, 0, tuple(range(deals)))
        return play_block(
            games_of(block, _SECRET),
            bots=dict(zip(line_up, (one, other), strict=True)),
            conditions=Conditions(DEFAULT_RULES, limits),
            launcher=self.launcher(cores),
            clock=SystemClock(),
        )

    # -- the neighbours

    def seat_neighbours(self) -> None:
        """Let two good bots sit down, whose processes live on while others play."""
        bots = [self.bot(f"neighbour-{number}", "good.py") for number in (1, 2)]
        self.neighbours = self.play(*bots, Limits(move_ms=20_000), deals=_NEIGHBOURS_GAMES)
        self.next_game_is_right()

    def next_game_is_right(self) -> None:
        """The neighbours play on, with the processes they have, and their game is what it is without any process."""
        record = next(self.neighbours)
        assert isinstance(record, GameRecord), record
        assert record.faults == ()
        game = DealtGame(record.game_id, record.rules, deck_of(record.deck), record.seeds)
        alone = play_game(game, [FirstLegal(), FirstLegal()], clock=SystemClock())
        assert [(step.seat, step.action) for step in record.steps] == [(one.seat, one.action) for one in alone.steps]
        assert record.outcome == alone.outcome

    def dismiss_neighbours(self) -> None:
        """Let them go: then no bot is left in this process."""
        close = getattr(self.neighbours, "close", None)
        if close is not None:
            close()

    # -- what is left behind

    @contextmanager
    def nothing_left(self, *, once_alone: bool = False) -> Iterator[None]:
        """Assert that what is done inside leaves no process, descriptor, file.

        `once_alone`: no process when no other bot is left either.
        """
        before = self._traces()
        yield
        if once_alone:
            self.dismiss_neighbours()
        remain = [_described(pid) for pid in self._processes() - before[0]]
        assert remain == [], f"left behind: {remain}"
        if once_alone:
            self.seat_neighbours()
        assert self._traces()[1:] == before[1:], "descriptors or scratch folders are left"

    def _traces(self) -> tuple[set[int], int, int]:
        """Processes, how many descriptors, how many scratch folders."""
        scratch = len(list((self.folder / "scratch").iterdir()))
        return self._processes(), len(os.listdir("/proc/self/fd")), scratch

    def _processes(self) -> set[int]:
        """All that descends from this process, dead or alive; whoever loses its parents stays among them.

        That a program cannot hide from: it is the kernel that hands orphans on, and this process is their reaper.
        """
        return set(tree(os.getpid())) - {os.getpid()}


Enter = Callable[[Tier], Arena]


@contextmanager
def arenas(reaper: Reaper, *, neighbours: bool = True) -> Iterator[Enter]:
    """The arena of a tier, one open at a time; without `neighbours` they are dismissed at its beginning."""
    with ExitStack() as stack:
        opened: dict[Tier, Arena] = {}

        def enter(tier: Tier) -> Arena:
            if tier not in opened:
                stack.close()
                opened.clear()
                arena = opened[tier] = Arena(tier, stack.enter_context(open_folder()), reaper)
                if neighbours:
                    stack.callback(arena.dismiss_neighbours)
                else:
                    arena.dismiss_neighbours()
            return opened[tier]

        yield enter


def _described(pid: int) -> str:
    """A process in words, as far as it still tells."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        return f"{pid} {Path(f'/proc/{pid}/stat').read_text().split()[2]} {command}"
    except OSError:
        return f"{pid}, gone meanwhile"
