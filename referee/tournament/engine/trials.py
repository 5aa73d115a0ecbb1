"""Trials: why did a game come to nothing? Played by a worker as a block is, so under the same conditions.

In a trial of a bot its program is the only one in its worker that is not ours: the seats of the others are played by
`ScriptedPlayer`, without a process, by the moves that they made when the game was void. What happens then is done by
that bot, or by the machine; whether the machine is well is shown by games between programs of ours, one
after each attempt, in the same worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Child, Launcher
from referee.bots.seat.player import BotPlayer
from referee.errors import VoidGame
from referee.play import Clock, Player
from referee.record import Bot
from referee.tournament.engine.block import play_once, player_of, stop
from referee.tournament.engine.reference_bot import nobody
from referee.tournament.engine.table_players import ScriptedPlayer
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.schedule import GameSpec, Trial

ATTEMPTS = 5
"""How many attempts in a row have to come to nothing with a bot, and none of ours between them, to show something."""
PAUSES = (0, 1_000_000_000, 2_000_000_000)
"""Before each attempt at a game between programs of ours, in ns: what passes by itself is to end no run."""


class Showing(Enum):
    """What a trial showed."""

    PLAYED = auto()
    """The game could be played."""
    VOID = auto()
    """It came to nothing each time."""
    UNCLEAR = auto()
    """It came to nothing in a way that says nothing of the bot."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What a trial showed, and the last reason why something came to nothing."""

    trial: Trial
    showing: Showing
    attempts: int = 1
    reason: str = ""


def hold(
    trial: Trial,
    game: GameSpec,
    *,
    bots: Mapping[Bot, Prepared],
    conditions: Conditions,
    launcher: Launcher,
    clock: Clock,
) -> Tried:
    """Hold a trial about `game`."""
    court = _Court(game, conditions, _Launches(launcher), clock)
    if trial.bot is None:
        return court.machine(trial)
    return court.bot(trial, trial.bot, bots[trial.bot])


@dataclass(slots=True)
class _Launches:
    """A launcher that knows whether the last process could be made."""

    real: Launcher
    failed: bool = False

    def launch(self, bot: Prepared) -> Child:
        self.failed = True
        child = self.real.launch(bot)
        self.failed = False
        return child


@dataclass(frozen=True, slots=True)
class _Court:
    game: GameSpec
    conditions: Conditions
    launches: _Launches
    clock: Clock

    def machine(self, trial: Trial) -> Tried:
        """Whether programs of ours can play: in one of some attempts."""
        reason = ""
        for number, pause in enumerate(PAUSES, 1):
            if pause:
                self.clock.sleep_until(self.clock.now() + pause)
            void = self._ours()
            if void is None:
                return Tried(trial, Showing.PLAYED, number)
            reason = str(void)
        return Tried(trial, Showing.VOID, len(PAUSES), reason)

    def bot(self, trial: Trial, bot: Bot, prepared: Prepared) -> Tried:
        """Whether a game with one bot can be played, in any of some attempts."""
        reason = ""
        for number in range(1, ATTEMPTS + 1):
            void = self._alone(trial, bot, prepared)
            if void is None:
                return Tried(trial, Showing.PLAYED, number)
            reason = str(void)
            # A bot that has no process has done nothing; its copy may be gone, and others may have taken it away.
            if self.launches.failed or not prepared.folder.is_dir() or self._ours() is not None:
                return Tried(trial, Showing.UNCLEAR, number, reason)
        return Tried(trial, Showing.VOID, ATTEMPTS, reason)

    def _ours(self) -> VoidGame | None:
        return self._attempt([self._player(nobody()) for _ in self.game.seats], {})

    def _alone(self, trial: Trial, bot: Bot, prepared: Prepared) -> VoidGame | None:
        moves = dict(enumerate(trial.moves))
        others = {seat: ScriptedPlayer(moves.get(seat, ())) for seat, one in enumerate(self.game.seats) if one != bot}
        return self._attempt([self._player(prepared) for one in self.game.seats if one == bot], others)

    def _player(self, bot: Prepared) -> BotPlayer:
        return player_of(bot, self.conditions, self.launches, self.clock)

    def _attempt(self, real: list[BotPlayer], others: Mapping[int, Player]) -> VoidGame | None:
        """Play once; why it came to nothing, None where it did not."""
        waiting = iter(real)
        table = [others.get(seat) or next(waiting) for seat in range(len(self.game.seats))]
        try:
            play_once(self.game, table, self.conditions, self.clock)
        except VoidGame as void:
            for player in real:
                player.kill()
            return void
        stop(real, self.clock)
        return None
