"""What a contest reports, on stderr: sentences, and on a display how far it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from rich.text import Text

from referee.bots.sandbox.probing import as_recorded, in_words
from referee.cli.output.display import Display, display
from referee.cli.output.duel_report import standing_line
from referee.cli.output.progress import TournamentProgress
from referee.cli.output.words import closed_in_words, sealed_in_words
from referee.contest.duel_standing import DuelStanding
from referee.contest.listener import Announcement, Listener
from referee.errors import refusal_lines
from referee.record import Bot
from referee.store import Stored
from referee.tournament.engine.inquiry import Unplayed
from referee.tournament.engine.run import unplayed_in_words
from referee.tournament.rounds.rounds import Round
from referee.units import many


class TerminalListener(Listener):
    """Prints what is reported; with `quiet` only what went wrong."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._display: Display = Display()
        self._progress: TournamentProgress | None = None
        self._standing: DuelStanding | None = None

    # -- before games

    def building(self, bot: str) -> None:
        """See `Listener`."""
        self.remark(f"building {bot} …")

    def passed_over(self, path: Path, reason: str) -> None:
        """See `Listener`."""
        self.remark(f"passed over: {path} ({reason})")

    def refused(self, path: str, reason: str) -> None:
        """See `Listener`."""
        for line in refusal_lines(f"left out: {path}", reason):
            self.remark(line)

    def renamed(self, given: str, known: str) -> None:
        """See `Listener`."""
        click.echo(f"{given} plays as {known}: under this name its games are kept", err=True)

    # -- rounds

    def announce(self, announcement: Announcement) -> None:
        """See `Listener`."""
        for line in _announced(announcement):
            self.remark(line)

    def announce_duel(self, standing: DuelStanding, *, alike: bool) -> None:
        """See `Listener`."""
        self._standing = standing
        one = standing.duel.round
        new, old = standing.names
        self.remark(f"isolation {in_words(one.manifest.conditions.isolation)}")
        if alike:
            self.remark(f"{new} and {old} are the same bot, byte for byte: neither is better, whatever the verdict")
        most, before = f"{standing.duel.max_deals:,} deals at most", f"{standing.test.deals:,} were played before"
        tables = f"tables of {standing.duel.players}"
        self.remark(
            f"round {one.number}: {new} against {old}, {tables}, {most}, of which {before}; {sealed_in_words(one)}"
        )

    def begin(self, games: int) -> None:
        """See `Listener`."""
        self._display = display(quiet=self._quiet)
        self._progress = TournamentProgress(games)
        self._display.__enter__()

    def end(self) -> None:
        """See `Listener`."""
        self._display.__exit__()
        self._display = Display()

    def closed(self, one: Round) -> None:
        """See `Listener`."""
        self.remark(closed_in_words(one))

    def remark(self, text: str) -> None:
        """See `Listener`."""
        if not self._quiet:
            click.echo(text, err=True)

    # -- games

    def played(self, games: Sequence[Stored]) -> None:
        """See `Listener`."""
        if self._progress is not None:
            self._progress.add(game.result for game in games)

    def unplayed(self, unplayed: Unplayed) -> None:
        """See `Listener`."""
        self._display.note(unplayed_in_words(unplayed))

    def charged(self, bot: Bot, why: str) -> None:
        """See `Listener`."""
        self._display.note(f"{bot.name} is charged with the games that it makes void: {why}")

    def withdrawn(self, bot: Bot, faults: int) -> None:
        """See `Listener`."""
        self._display.note(f"{bot.name} was at fault in {many(faults, 'game')} of this round and is withdrawn")

    def reinstated(self, bot: Bot) -> None:
        """See `Listener`."""
        self._display.note(
            f"{bot.name} plays on: an opponent was withdrawn before some of its faults, which therefore do not count"
        )

    def tick(self) -> None:
        """See `Listener`."""
        standing, progress = self._standing, self._progress
        if standing is not None:
            self._display.tick(
                lambda: standing_line(standing),
                lambda: Text(f"{' against '.join(standing.names)}: {standing_line(standing)}"),
            )
        elif progress is not None:
            self._display.tick(progress.line, progress.picture)


def _announced(announcement: Announcement) -> list[str]:
    one, course = announcement.round, announcement.course
    tier = one.manifest.conditions.isolation
    lines = [f"isolation {in_words(tier)}"]
    if announcement.isolations:
        before = " and ".join(announcement.isolations)
        lines.append(f"games of this season were played at {before}, and are now at {as_recorded(tier)}")
    tables = Counter((len(line_up), deals) for line_up, _, deals in one.manifest.owings())
    most = "" if course is None else f" at most, looked at after every {course.until.every}"
    for (size, deals), count in sorted(tables.items()):
        line_ups = f"{many(count, 'line-up')}, {many(deals, 'deal')} each{most}, {size} rotations"
        lines.append(f"tables of {size}: {line_ups}")
    at_most = "" if course is None else " at most"
    lines.append(
        f"round {one.number}: {many(one.manifest.count(), 'game')}, of which {announcement.played} were played before: "
        f"{announcement.owed} to play{at_most}; {sealed_in_words(one)}"
    )
    lines += [
        f"{bot.name} is withdrawn from this round after {many(faults, 'fault')}"
        for bot, faults in announcement.withdrawn.items()
    ]
    if announcement.absent:
        names = ", ".join(f"{bot.name} ({bot.hash[:8]})" for bot in announcement.absent)
        lines.append(f"not here any more, so their games of this round are dropped: {names}")
    return lines
