"""How a tournament goes, on stderr: a live display on a terminal, a plain line now and then elsewhere, or nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import click
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from referee.cli.words import many
from referee.ratings.scores import half_points
from referee.record import Bot, Result
from referee.store import Stored
from referee.tournament.inquiry import Unplayed
from referee.tournament.run import unplayed_in_words

PLAIN_EVERY = 10.0
"""Seconds between two lines where stderr is no terminal."""
REDRAW_EVERY = 0.25
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


class PlainProgress:
    """A line every few seconds; a context, which ends with the run."""

    def __init__(self, owed: int) -> None:
        self.counts = Counts(owed)
        self._said = time.monotonic()

    def played(self, games: Sequence[Stored]) -> None:
        """See `Watcher`."""
        for game in games:
            self.counts.add(game.result)

    def unplayed(self, unplayed: Unplayed) -> None:
        """See `Watcher`."""
        self._note(unplayed_in_words(unplayed))

    def charged(self, bot: Bot, why: str) -> None:
        """See `Watcher`."""
        self._note(f"{bot.name} is charged with the games that it makes void: {why}")

    def withdrawn(self, bot: Bot, faults: int) -> None:
        """See `Watcher`."""
        self._note(f"{bot.name} was at fault in {many(faults, 'game')} of this round and is withdrawn")

    def tick(self) -> None:
        """See `Watcher`."""
        now = time.monotonic()
        if now - self._said >= PLAIN_EVERY:
            self._said = now
            self._say()

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def _note(self, text: str) -> None:
        click.echo(text, err=True)

    def _say(self) -> None:
        counts = self.counts
        left = f"{(counts.owed - counts.games) / counts.speed:.0f} s left, " if counts.games else ""
        click.echo(
            f"{counts.games} of {counts.owed} games, {counts.speed:.3g} a second, {left}{counts.faults} faults",
            err=True,
        )


class QuietProgress(PlainProgress):
    """Only what went wrong."""

    def played(self, games: Sequence[Stored]) -> None:
        """See `Watcher`."""

    def tick(self) -> None:
        """See `Watcher`."""


class LiveProgress(PlainProgress):
    """A bar and the standings of this run, redrawn in place."""

    def __init__(self, owed: int) -> None:
        super().__init__(owed)
        self._console = Console(stderr=True)
        self._bar = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("games  {task.fields[speed]}/s"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[faults]} faults"),
            console=self._console,
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=owed, speed=0, faults=0)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._drawn = 0.0

    def tick(self) -> None:
        """See `Watcher`."""
        now = time.monotonic()
        if now - self._drawn < REDRAW_EVERY:
            return
        self._drawn = now
        counts = self.counts
        self._bar.update(self._task, completed=counts.games, speed=f"{counts.speed:.0f}", faults=counts.faults)
        self._live.update(Group(self._bar, self._standings()), refresh=True)

    def __enter__(self) -> LiveProgress:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def _note(self, text: str) -> None:
        self._console.print(escape(text))

    def _standings(self) -> Table:
        table = Table("players", "bot", "games", "score", "faults", title="this run")
        best = sorted(self.counts.bots.items(), key=lambda item: (item[0][0], -item[1].score, item[0][1]))
        for (players, bot), count in best[:_SHOWN_BOTS]:
            table.add_row(str(players), escape(bot.name), str(count.games), f"{count.score:.3f}", str(count.faults))
        return table


def progress(owed: int, *, quiet: bool) -> PlainProgress:
    """What suits this stderr."""
    if quiet:
        return QuietProgress(owed)
    return LiveProgress(owed) if Console(stderr=True).is_terminal else PlainProgress(owed)
