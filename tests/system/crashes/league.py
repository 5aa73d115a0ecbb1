"""A small tournament in a folder of its own, to be killed and begun again: three bots of C, a few hundred games."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from command_line import environment
from processes import wait_until

HERE = Path(__file__).parent
HOOKED = HERE / "hooked.py"
BOTS = {"one": 1, "three": 3, "two": 2}
PUBLISHED = {"index.html", "standings.md", "standings.csv", "standings.json", "run.json", "rounds.json", "round-1.json"}
CLOSED = {"bots", "cache", "leaderboards", "log", "referee.db", "referee.db.lock", "tmp"}
"""All that is in a league's folder when nobody plays."""


def make_bots(folder: Path) -> None:
    """Three bots that are one program of C, each with its own way to choose."""
    for name, number in BOTS.items():
        bot = folder / name
        shutil.copytree(HERE / "picker", bot)
        build = ["cc", "-O1", "-o", "picker", "picker.c"]
        (bot / "bot.toml").write_text(f"build = {json.dumps(build)}\ncommand = ['./picker', '{number}']\n")


@dataclass(frozen=True)
class League:
    """A folder with bots, database, leaderboard, and the temporary folder and the cache that the referee is told."""

    folder: Path
    deals: int = 40
    jobs: int = 2
    more: tuple[str, ...] = ()
    """Further words of the command."""

    @classmethod
    def new(cls, folder: Path, **how: object) -> League:
        """A league that nobody has played in."""
        make_bots(folder / "bots")
        for name in ("tmp", "cache"):
            (folder / name).mkdir()
        (folder / "log").touch()
        return cls(folder, **how)  # type: ignore[arg-type]

    def again(self, folder: Path, *, built: bool = True, **how: object) -> League:
        """The same league in another folder, with nothing played; the bots are built where they are here, or not."""
        league = League.new(folder, **({"deals": self.deals, "jobs": self.jobs, "more": self.more} | how))
        if built:
            shutil.copytree(self.folder / "cache", league.folder / "cache", dirs_exist_ok=True)
        return league

    @property
    def games(self) -> int:
        """How many games it has."""
        return 3 * 2 * self.deals

    @property
    def database(self) -> Path:
        """Where the games are."""
        return self.folder / ("referee.db" if "--db" not in self.more else self.more[self.more.index("--db") + 1])

    @property
    def words(self) -> tuple[str, ...]:
        """The command, which is the same before and after whatever happens."""
        bots = [f"bots/{name}" for name in BOTS]
        how = ("--seed", "crash", "--deals", str(self.deals), "--jobs", str(self.jobs))
        return ("tournament", *bots, *how, *self.more)

    @property
    def surroundings(self) -> dict[str, str]:
        """The environment: temporary files and copies of bots lie in the league's folder."""
        return environment({"TMPDIR": str(self.folder / "tmp"), "XDG_CACHE_HOME": str(self.folder / "cache")})

    def begin(self, kill: str = "never") -> subprocess.Popen[bytes]:
        """The command as the leader of a process group, as a shell starts it; it kills itself as `hooked` says."""
        return subprocess.Popen(
            [sys.executable, str(HOOKED), str(self.folder / "log"), kill, *self.words],
            cwd=self.folder, env=self.surroundings, process_group=0,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def referee(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Any command to its end."""
        return subprocess.run(
            [sys.executable, "-m", "referee", *words], cwd=self.folder, env=self.surroundings,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip

    def finish(self) -> subprocess.CompletedProcess[str]:
        """The same command to its end, which must be a good one."""
        done = self.referee(*self.words)
        assert done.returncode == 0, f"the same command did not go on: {done.stderr}"
        return done

    def standings(self) -> bytes:
        """The published standings."""
        return (self.folder / "leaderboards" / "standings.json").read_bytes()

    def commits(self) -> list[list[str]]:
        """Of each commit that was made, the ids of its games."""
        # What a kill cut off was not said to the end.
        lines = (self.folder / "log").read_text().rpartition("\n")[0].splitlines()
        return [json.loads(line) for line in lines]

    def acknowledged(self) -> set[str]:
        """The ids of the games that were said to be on the disk."""
        return {game for commit in self.commits() for game in commit}

    def stored(self) -> list[str]:
        """The ids of the games in the database."""
        return game_ids(self.database)

    def processes(self) -> set[int]:
        """Everything alive that was started for this league: its folder stands in the environment of all."""
        return processes_of(self.folder)

    def left_over(self) -> set[str]:
        """What lies about where nobody plays, of which there must be nothing."""
        found = {path.name for path in self.folder.iterdir()} - CLOSED
        found -= {path.split("/")[0] for path in self.more}
        found |= {f"tmp/{path.name}" for path in (self.folder / "tmp").iterdir() if not is_pythons_probe(path)}
        found |= {str(path.relative_to(self.folder)) for path in (self.folder / "cache").rglob("*.making")}
        return found | {path.name for path in self.folder.glob("leaderboards/*") if path.name not in PUBLISHED}


def is_pythons_probe(path: Path) -> bool:
    """Whether this is what Python's `tempfile` writes once a process to see whether it may, and then removes."""
    return path.is_file() and path.read_bytes() in (b"", b"blat")


def game_ids(database: Path) -> list[str]:
    """The ids of all games of a database that may be missing or unmade as yet.

    They are read from a copy: whoever opens a database changes what the next run will find.
    """
    with tempfile.TemporaryDirectory() as folder:
        for path in (database, database.with_name(database.name + "-wal")):
            if path.exists():
                shutil.copy(path, Path(folder) / path.name)
        with closing(sqlite3.connect(Path(folder) / database.name)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "the database is damaged"
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'games'").fetchone():
                return []
            return [row[0] for row in db.execute("SELECT game_id FROM games")]


def processes_of(folder: Path) -> set[int]:
    """The living processes, other than this one, in whose environment a folder stands."""
    sign = os.fsencode(folder) + b"/"
    return {int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal() and _bears(path, sign)}


def _bears(process: Path, sign: bytes) -> bool:
    try:
        alive = (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
        return alive and sign in (process / "environ").read_bytes()
    except OSError:
        return False


def kill_all(pids: Sequence[int] | set[int]) -> None:
    """SIGKILL for processes that we started, those that are gone already excepted."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def wait_for_games(run: subprocess.Popen[bytes], league: League, count: int) -> None:
    """Return when so many games were acknowledged; fail where the run ends before."""
    wait_until(lambda: len(league.acknowledged()) >= count or run.poll() is not None)
    assert run.poll() is None, f"the run was over before {count} games: {run.stderr and run.stderr.read()!r}"
