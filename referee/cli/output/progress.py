"""How far a tournament is."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from referee.ratings.scores.scores import half_points
from referee.record import Bot, GameResult
from referee.units import many

_SHOWN_BOTS = 20


@dataclass(slots=True)
class _Count:
    games: int = 0
    points: float = 0.0
    faults: int = 0

    @property
    def score(self) -> float:
        return self.points / self.games if self.games else 0.0


@dataclass(slots=True)
class RunCounts:
    """What has been played in this run."""

    owed: int
    began: float = field(default_factory=time.monotonic)
    games: int = 0
    faults: int = 0
    bots: dict[tuple[int, Bot], _Count] = field(default_factory=dict)

    def add(self, result: GameResult) -> None:
        """Count one game: opponents beaten and half of those tied, over opponents."""
        self.games += 1
        self.faults += len(result.forfeited)
        players = len(result.seats)
        points = half_points(result.places)
        for seat, bot in enumerate(result.seats):
            count = self.bots.setdefault((players, bot), _Count())
            count.games += 1
            count.points += points[seat] / (2 * (players - 1))
            count.faults += seat in result.forfeited

    @property
    def speed(self) -> float:
        """Games a second since the run began."""
        return self.games / max(time.monotonic() - self.began, 1e-9)


class TournamentProgress:
    """What has been played in this run, as a line, or as a bar and the run's own standings."""

    def __init__(self, owed: int) -> None:
        self.counts = RunCounts(owed)
        self._bar = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("games  {task.fields[speed]}/s"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[faults]} faults"),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=owed, speed=0, faults=0)

    def add(self, results: Iterable[GameResult]) -> None:
        """Count games."""
        for result in results:
            self.counts.add(result)

    def line(self) -> str:
        """Return how far the run is, in a line."""
        counts = self.counts
        left = f"{(counts.owed - counts.games) / counts.speed:.0f} s left, " if counts.games else ""
        return (
            f"{counts.games} of {counts.owed} games, {counts.speed:.3g} a second, {left}{many(counts.faults, 'fault')}"
        )

    def picture(self) -> RenderableType:
        """Return how far the run is, as a bar and a table."""
        counts = self.counts
        self._bar.update(self._task, completed=counts.games, speed=f"{counts.speed:.0f}", faults=counts.faults)
        return Group(self._bar, self._standings())

    def _standings(self) -> Table:
        table = Table("players", "bot", "games", "score", "faults", title="this run")
        best = sorted(self.counts.bots.items(), key=lambda item: (item[0][0], -item[1].score, item[0][1]))
        for (players, bot), count in best[:_SHOWN_BOTS]:
            table.add_row(str(players), escape(bot.name), str(count.games), f"{count.score:.3f}", str(count.faults))
        return table
