"""How a tournament goes, on stderr: what went wrong, and on a display what has been played."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from referee.cli.output.display import Display, display
from referee.cli.output.words import many
from referee.ratings.scores.scores import half_points
from referee.record import Bot, Result
from referee.store import Stored
from referee.tournament.engine.inquiry import Unplayed
from referee.tournament.engine.run import unplayed_in_words

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
class Counts:
    """What has been played in this run."""

    owed: int
    began: float = field(default_factory=time.monotonic)
    games: int = 0
    faults: int = 0
    bots: dict[tuple[int, Bot], _Count] = field(default_factory=dict)

    def add(self, result: Result) -> None:
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


class Notes:
    """Tells what went wrong, and nothing else; a context, which ends with the run."""

    def __init__(self, shown: Display) -> None:
        self._shown = shown

    def played(self, games: Sequence[Stored]) -> None:
        """See `Watcher`."""

    def unplayed(self, unplayed: Unplayed) -> None:
        """See `Watcher`."""
        self._shown.note(unplayed_in_words(unplayed))

    def charged(self, bot: Bot, why: str) -> None:
        """See `Watcher`."""
        self._shown.note(f"{bot.name} is charged with the games that it makes void: {why}")

    def withdrawn(self, bot: Bot, faults: int) -> None:
        """See `Watcher`."""
        self._shown.note(f"{bot.name} was at fault in {many(faults, 'game')} of this round and is withdrawn")

    def reinstated(self, bot: Bot) -> None:
        """See `Watcher`."""
        self._shown.note(
            f"{bot.name} plays on: an opponent was withdrawn before some of its faults, which therefore do not count"
        )

    def tick(self) -> None:
        """See `Watcher`."""

    def __enter__(self) -> Self:
        self._shown.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._shown.__exit__(*raised)


class TournamentProgress(Notes):
    """And what has been played: in a line, or as a bar and the standings of this run."""

    def __init__(self, owed: int, shown: Display) -> None:
        super().__init__(shown)
        self.counts = Counts(owed)
        self._bar = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("games  {task.fields[speed]}/s"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[faults]} faults"),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=owed, speed=0, faults=0)

    def played(self, games: Sequence[Stored]) -> None:
        """See `Watcher`."""
        for game in games:
            self.counts.add(game.result)

    def tick(self) -> None:
        """See `Watcher`."""
        self._shown.tick(self._line, self._picture)

    def _line(self) -> str:
        counts = self.counts
        left = f"{(counts.owed - counts.games) / counts.speed:.0f} s left, " if counts.games else ""
        return (
            f"{counts.games} of {counts.owed} games, {counts.speed:.3g} a second, {left}{many(counts.faults, 'fault')}"
        )

    def _picture(self) -> RenderableType:
        counts = self.counts
        self._bar.update(self._task, completed=counts.games, speed=f"{counts.speed:.0f}", faults=counts.faults)
        return Group(self._bar, self._standings())

    def _standings(self) -> Table:
        table = Table("players", "bot", "games", "score", "faults", title="this run")
        best = sorted(self.counts.bots.items(), key=lambda item: (item[0][0], -item[1].score, item[0][1]))
        for (players, bot), count in best[:_SHOWN_BOTS]:
            table.add_row(str(players), escape(bot.name), str(count.games), f"{count.score:.3f}", str(count.faults))
        return table


def progress(owed: int, *, quiet: bool) -> Notes:
    """What suits this stderr."""
    shown = display(quiet=quiet)
    return Notes(shown) if quiet else TournamentProgress(owed, shown)
