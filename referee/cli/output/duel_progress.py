"""How a duel goes, on stderr: what went wrong, and on a display how it stands."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from referee.cli.duel_course import Course
from referee.cli.output.display import Display, display
from referee.cli.output.duel_report import names_of, standing
from referee.cli.output.progress import Notes
from referee.record import Bot
from referee.store import Stored
from referee.tournament.engine.inquiry import Unplayed


class DuelWatcher(Notes):
    """Takes the games that come in to their duel."""

    def __init__(self, course: Course, shown: Display | None = None) -> None:
        """Without a display only what went wrong is told."""
        super().__init__(shown or Display())
        self.course = course
        self.stuck = False
        """Whether a game stays owed: no deal behind it can count."""

    def played(self, games: Sequence[Stored]) -> None:
        """See `Watcher`."""
        self.course.add(game.result for game in games)

    def unplayed(self, unplayed: Unplayed) -> None:
        """See `Watcher`."""
        self.stuck = True
        super().unplayed(unplayed)

    def withdrawn(self, bot: Bot, faults: int) -> None:
        """See `Watcher`; no fault withdraws a bot from a duel."""

    def tick(self) -> None:
        """See `Watcher`."""
        self._shown.tick(lambda: standing(self.course), self._picture)

    def _picture(self) -> Text:
        return Text(f"{' against '.join(names_of(self.course.duel))}: {standing(self.course)}")


def duel_progress(course: Course, *, quiet: bool) -> DuelWatcher:
    """What suits this stderr."""
    return DuelWatcher(course, display(quiet=quiet))
