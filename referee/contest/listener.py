"""What a contest reports while it works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from referee.contest.duel_standing import DuelStanding
from referee.record import Bot
from referee.store import Stored
from referee.tournament.engine.inquiry import Unplayed
from referee.tournament.progress.stages import Course
from referee.tournament.rounds.rounds import Round


@dataclass(frozen=True, slots=True)
class Announcement:
    """A round that is about to be played.

    `owed` is how many games are to be played here, at most if the round stops by itself; `played` how many were played
    before. `withdrawn` maps bots to the most faults that were allowed; games of `absent` bots are dropped.
    `isolations` are the ways in which earlier games of the season were played, if this one is not among them.
    """

    round: Round
    owed: int
    played: int
    course: Course | None = None
    withdrawn: Mapping[Bot, int] = field(default_factory=dict)
    absent: tuple[Bot, ...] = ()
    isolations: tuple[str, ...] = ()


class Listener:
    """Hears what a contest does. Every method does nothing: override those that you want.

    What is reported as played is on disk. No method may raise anything but KeyboardInterrupt.
    """

    # -- before games

    def building(self, bot: str) -> None:
        """A bot is being built, which may take minutes."""

    def passed_over(self, path: Path, reason: str) -> None:
        """A path beside the bots is not a bot, such as a README."""

    def refused(self, path: str, reason: str) -> None:
        """A bot cannot play and is left out."""

    def renamed(self, given: str, known: str) -> None:
        """A bot plays under the name that its games are kept under; the names differ in capitals alone."""

    # -- rounds

    def announce(self, announcement: Announcement) -> None:
        """A round is about to be played."""

    def announce_duel(self, standing: DuelStanding, *, alike: bool) -> None:
        """A duel is about to be played; `alike` if the two are the same program, so that neither is better."""

    def begin(self, games: int) -> None:
        """At most `games` games are played from now on."""

    def end(self) -> None:
        """No more games are played in this round; follows each `begin`, also after an error."""

    def closed(self, one: Round) -> None:
        """A round is closed: its secret may be known."""

    def remark(self, text: str) -> None:
        """Something that the organiser should know, in one sentence."""

    # -- games

    def played(self, games: Sequence[Stored]) -> None:
        """These games are in the database."""

    def unplayed(self, unplayed: Unplayed) -> None:
        """A game could not be played, and stays owed."""

    def charged(self, bot: Bot, why: str) -> None:
        """A bot was found to make games void, and is charged with them from now on."""

    def withdrawn(self, bot: Bot, faults: int) -> None:
        """A bot reached the most faults that the round allows, and plays no more."""

    def reinstated(self, bot: Bot) -> None:
        """A bot that was reported as withdrawn plays on: some of its faults do not count."""

    def tick(self) -> None:
        """Time has passed: several times a second while games are played."""
