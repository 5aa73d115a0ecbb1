"""Tournaments that are killed and begun again, and what that cost: nothing, it is hoped."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from processes import descendants, wait_until
from workers import workers

from crashes.league import League, kill_all

PATIENCE = 15.0
"""Seconds that what a killed process leaves behind may take to end itself."""
IN_A_ROW = 10
"""How often one league is killed before it may come to its end."""
MOMENTS = ("before", "after", "closing", "renaming")
"""Where a hooked referee can kill itself; see `hooked`."""
WHOM = ("referee", "worker", "group", "everything")
"""Who is killed at a random moment. `group` is the referee's process group, `everything` all of its descendants too."""


@dataclass
class Toll:
    """What kills have cost: games, processes and files, each counted where it was seen; all but `kills` is to be 0."""

    kills: int = 0
    lost: int = 0
    twice: int = 0
    processes: int = 0
    folders: int = 0
    halves: int = 0
    """Published files that were not whole after a kill."""
    differing: int = 0
    """Leagues whose standings at the end were not the undisturbed ones."""

    def add(self, other: Toll) -> None:
        """Count another's too."""
        for name, count in vars(other).items():
            setattr(self, name, getattr(self, name) + count)

    @property
    def damage(self) -> dict[str, int]:
        """What is not 0."""
        return {name: count for name, count in vars(self).items() if name != "kills" and count}


@dataclass(frozen=True)
class Undisturbed:
    """A league that was played without a kill."""

    league: League
    standings: bytes
    games: frozenset[str]
    seconds: float

    @classmethod
    def play(cls, folder: Path, **how: object) -> Undisturbed:
        """Build the bots and play, once to warm up and once to take the time."""
        first = League.new(folder / "first", **how)
        first.finish()
        league = first.again(folder / "undisturbed")
        began = time.monotonic()
        run = league.begin()
        _, said = run.communicate(timeout=300)
        seconds = time.monotonic() - began
        assert run.returncode == 0, f"the undisturbed run failed: {said!r}"
        assert league.standings() == first.standings(), "two undisturbed runs differ"
        games = frozenset(league.stored())
        assert len(games) == league.games, "the undisturbed run has not all games"
        assert league.acknowledged() == games, "what is committed is not noted"
        return cls(league, league.standings(), games, seconds)

    def again(self, folder: Path, *, built: bool = True) -> League:
        """The same league, with nothing played, its bots built or not."""
        return self.league.again(folder, built=built)

    def look(self, league: League, toll: Toll) -> None:
        """Count what a kill has cost, when all that is to die of it has died."""
        try:
            wait_until(lambda: not league.processes(), seconds=PATIENCE)
        except AssertionError:
            left = league.processes()
            toll.processes += len(left)
            kill_all(left)
        stored = league.stored()
        toll.lost += len(league.acknowledged() - set(stored))
        toll.twice += len(stored) - len(set(stored)) + len(set(stored) - self.games)
        toll.halves += sum(not whole for whole in published(league))

    def conclude(self, league: League, toll: Toll) -> None:
        """Play a league to its end, and count what has come out differently."""
        league.finish()
        self.look(league, toll)
        toll.lost += len(self.games - set(league.stored()))
        left = league.left_over()
        if left:
            print(f"left over in {league.folder.name}: {', '.join(sorted(left))}")
        toll.folders += len(left)
        toll.differing += league.standings() != self.standings
        shutil.rmtree(league.folder)


def published(league: League) -> Iterator[bool]:
    """Of each file in the leaderboard's folder, whether it is whole."""
    for path in league.folder.glob("leaderboards/[!.]*"):
        text = path.read_text()
        if path.suffix == ".json":
            try:
                yield bool(json.loads(text))
            except ValueError:
                yield False
        else:
            yield text.endswith({".html": "</html>\n"}.get(path.suffix, "\n"))


def at_every(moment: str, undisturbed: Undisturbed, folder: Path) -> Toll:
    """Kill the referee at each of its commits, closings or renames in turn, each time in a new league.

    A hooked referee commits what comes in at once, so a small league with one job has several commits.
    """
    toll = Toll()
    while True:
        league = undisturbed.again(folder / f"{moment}-{toll.kills + 1}", built=moment != "renaming")
        run = league.begin(f"{moment}:{toll.kills + 1}")
        _, said = run.communicate(timeout=300)
        if run.returncode != -signal.SIGKILL:
            assert run.returncode == 0, f"a run that was not killed failed: {said!r}"
            undisturbed.conclude(league, toll)
            return toll
        toll.kills += 1
        undisturbed.look(league, toll)
        undisturbed.conclude(league, toll)


def at_random(whom: str, kills: int, undisturbed: Undisturbed, folder: Path, dice: random.Random) -> Toll:
    """Kill at moments drawn over an undisturbed run's time, several times in a row the same league."""
    toll = Toll()
    while toll.kills < kills:
        league = undisturbed.again(folder / f"{whom}-{toll.kills}")
        for _ in range(min(IN_A_ROW, kills - toll.kills)):
            run = league.begin()
            struck = _STRIKE[whom](run, undisturbed.seconds, dice)
            _, said = run.communicate(timeout=300)
            assert run.returncode in (0, 1, -signal.SIGKILL), f"it ended with {run.returncode}: {said!r}"
            toll.kills += struck
            undisturbed.look(league, toll)
            if run.returncode == 0:
                break
        undisturbed.conclude(league, toll)
    return toll


Strike = Callable[[subprocess.Popen[bytes], float, random.Random], int]
"""Kill something of a run, at moments within so many seconds; how often anything was there to be killed."""


def _moment(run: subprocess.Popen[bytes], seconds: float, dice: random.Random) -> bool:
    """Wait for a random moment; whether the run still runs then."""
    try:
        run.wait(timeout=dice.uniform(0, seconds))
    except subprocess.TimeoutExpired:
        return True
    return False


def _strike_referee(run: subprocess.Popen[bytes], seconds: float, dice: random.Random) -> int:
    if not _moment(run, seconds, dice):
        return 0
    run.kill()
    return 1


def _strike_group(run: subprocess.Popen[bytes], seconds: float, dice: random.Random) -> int:
    if not _moment(run, seconds, dice):
        return 0
    os.killpg(run.pid, signal.SIGKILL)
    return 1


def _strike_everything(run: subprocess.Popen[bytes], seconds: float, dice: random.Random) -> int:
    if not _moment(run, seconds, dice):
        return 0
    kill_all(descendants(run.pid))
    return 1


def _strike_workers(run: subprocess.Popen[bytes], seconds: float, dice: random.Random) -> int:
    """A run may lose several workers, so it is struck until it ends."""
    struck = 0
    while _moment(run, seconds / 4, dice):
        found = sorted(workers(run.pid))
        if found:
            kill_all([dice.choice(found)])
            struck += 1
    return struck


_STRIKE: dict[str, Strike] = {
    "referee": _strike_referee,
    "worker": _strike_workers,
    "group": _strike_group,
    "everything": _strike_everything,
}
