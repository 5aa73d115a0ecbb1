"""How a duel goes, on stderr: a line redrawn in place on a terminal, one now and then elsewhere, or nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence

import click
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.text import Text

from referee.cli.duel_course import Course
from referee.cli.duel_report import names_of, standing
from referee.cli.progress import PLAIN_EVERY, REDRAW_EVERY
from referee.record import Bot
from referee.store import Stored
from referee.tournament.inquiry import Unplayed
from referee.tournament.run import unplayed_in_words


class DuelWatcher:
    """Takes the games that come in to their duel, and tells only what went wrong; a context that ends with the run."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.stuck = False
        """Whether a game stays owed: no deal behind it can count."""

    def played(self, games: Sequence[Stored]) -> None:
        """See `Watcher`."""
        self.course.add(game.result for game in games)

    def unplayed(self, unplayed: Unplayed) -> None:
        """See `Watcher`."""
        self.stuck = True
        self._note(unplayed_in_words(unplayed))

    def charged(self, bot: Bot, why: str) -> None:
        """See `Watcher`."""
        self._note(f"{bot.name} is charged with the games that it makes void: {why}")

    def withdrawn(self, bot: Bot, faults: int) -> None:
        """See `Watcher`; no fault withdraws a bot from a duel."""

    def tick(self) -> None:
        """See `Watcher`."""

    def __enter__(self) -> DuelWatcher:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def _note(self, text: str) -> None:
        click.echo(text, err=True)


class PlainDuelWatcher(DuelWatcher):
    """And a line every few seconds."""

    def __init__(self, course: Course) -> None:
        super().__init__(course)
        self._said = time.monotonic()

    def tick(self) -> None:
        """See `Watcher`."""
        now = time.monotonic()
        if now - self._said >= PLAIN_EVERY:
            self._said = now
            self._note(standing(self.course))


class LiveDuelWatcher(DuelWatcher):
    """And a line that is redrawn in place."""

    def __init__(self, course: Course) -> None:
        super().__init__(course)
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._drawn = 0.0
        self._names = " against ".join(names_of(course.duel))

    def tick(self) -> None:
        """See `Watcher`."""
        now = time.monotonic()
        if now - self._drawn >= REDRAW_EVERY:
            self._drawn = now
            self._live.update(Text(f"{self._names}: {standing(self.course)}"), refresh=True)

    def __enter__(self) -> LiveDuelWatcher:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def _note(self, text: str) -> None:
        self._console.print(escape(text))


def duel_progress(course: Course, *, quiet: bool) -> DuelWatcher:
    """What suits this stderr."""
    if quiet:
        return DuelWatcher(course)
    return LiveDuelWatcher(course) if Console(stderr=True).is_terminal else PlainDuelWatcher(course)
