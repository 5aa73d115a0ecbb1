"""A league as its organiser runs it: bots in a folder, `referee tournament`, and what is then stored and published."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from command_line import environment
from processes import REFEREE

PLAIN = Path(__file__).parents[2] / "system" / "bots" / "programs" / "plain"


class League:
    """A folder with bots, a database and a leaderboard."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder
        self.bots: list[str] = []
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        shutil.copy(PLAIN / f"{name}.py", self.folder)
        self.bots.append(f"{name}.py")

    def write(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(text)
        if f"{name}.py" not in self.bots:
            self.bots.append(f"{name}.py")

    def change(self, name: str) -> str:
        """Another version of a bot; returns its text as it was."""
        path = self.folder / f"{name}.py"
        was = path.read_text()
        path.write_text(f"{was}\n# changed\n")
        return was

    def words(self, *words: str, bots: Collection[str] | None = None) -> list[str]:
        return ["tournament", *(self.bots if bots is None else bots), "--jobs", "1", *words]

    def play(self, *words: str, bots: Collection[str] | None = None, status: int = 0) -> str:
        """A tournament to its end; what it says on stderr."""
        done = self.run(*self.words(*words, bots=bots))
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    def refused(self, *words: str, bots: Collection[str] | None = None) -> str:
        """What is said, in one line, by a tournament that is not played; every game and round stays as it was."""
        before = self.export() if (self.folder / "referee.db").exists() else None
        said = self.play(*words, bots=bots, status=2)
        assert (self.export() if before is not None else None) == before
        lines = [line for line in said.splitlines() if not line.startswith(("passed over", "Try "))]
        assert len(lines) == 1, said
        return lines[0]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*REFEREE, *words],
            cwd=self.folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def export(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("export", "--format", "json").stdout)
        return found

    def stored(self) -> int:
        """How many games are in the database."""
        try:
            with closing(sqlite3.connect(f"file:{self.folder / 'referee.db'}?mode=ro", uri=True)) as db:
                return int(db.execute("SELECT count(*) FROM games").fetchone()[0])
        except sqlite3.Error:
            return 0

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.run("export").stdout.splitlines()]

    def tables(self) -> Counter[tuple[int, tuple[str, ...]]]:
        """How many games of which line-up were played in which round."""
        found = self.export()
        names = [bot["name"] for bot in found["bots"]]
        return Counter((game["round"], tuple(sorted(names[seat] for seat in game["seats"]))) for game in found["games"])

    def published(self, name: str = "standings.json") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text(name))
        return found

    def text(self, name: str) -> str:
        return (self.folder / "leaderboards" / name).read_text()

    def standings(self, *words: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("standings", "--json", *words).stdout)
        return found


def rows(standings: Mapping[str, Any], table: int = 0) -> dict[tuple[str, str], int]:
    """The games of each bot, by its name and the beginning of its hash."""
    return {(row["name"], row["hash"]): row["games"] for row in standings["tables"][table]["rows"]}


def hash_of(league: League, name: str) -> str:
    """The hash of the version that plays now."""
    (found,) = {content for (bot, content) in rows(league.published()) if bot == name}
    return found
