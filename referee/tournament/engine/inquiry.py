"""Whose fault is it that a game comes to nothing? What a run does about it, until somebody is charged or nobody is.

A game that was void each time, or that cost several workers, is a case. First programs of ours play a game: where
that comes to nothing too, the machine cannot play, and the run ends. Then each bot of the table is tried alone
(`trials`). Who makes every attempt come to nothing while ours are played is charged, after ours have played once more:
the game is played without it, as one in which it was at fault before the beginning. A bot is charged too once void
games have followed it (`voids`), and whoever has been charged is not tried again in the same run. Where nothing shows
who it was, the game stays owed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import count

import msgspec

from referee.errors import RefereeError
from referee.record import Bot, LineUp
from referee.tournament.engine.block import Parked
from referee.tournament.engine.losses import LostGame, LostWorker
from referee.tournament.engine.pool import Arrival
from referee.tournament.engine.trials import Showing, Tried
from referee.tournament.engine.voids import Ledger
from referee.tournament.engine.worker_messages import Finished
from referee.tournament.rounds.schedule import Block, Trial

Unplayed = Parked | LostGame


@dataclass(frozen=True, slots=True)
class Play:
    """This block is to be played now."""

    block: Block


@dataclass(frozen=True, slots=True)
class StaysOwed:
    """Nobody can be shown to have made this game come to nothing."""

    unplayed: Unplayed


@dataclass(frozen=True, slots=True)
class Charged:
    """A bot was found out, for the first time in this run; `why` is a sentence about it."""

    bot: Bot
    why: str


Ruling = Play | StaysOwed | Charged


@dataclass(frozen=True, slots=True)
class _Case:
    """A game that came to nothing, in one rotation of one line-up."""

    line_up: LineUp
    rotation: int
    deal: int
    unplayed: Unplayed

    @property
    def game(self) -> Block:
        return Block(self.line_up, self.rotation, (self.deal,))


@dataclass(slots=True)
class Inquiry:
    """What is known of void games in a run, and the cases that are open. It holds for several runs of one command."""

    ledger: Ledger = field(default_factory=Ledger)
    _shown: dict[Bot, str] = field(default_factory=dict)
    _absent: dict[Block, tuple[tuple[Bot, str], ...]] = field(default_factory=dict)
    _waiting: list[_Case] = field(default_factory=list)
    _open: list[_Case] = field(default_factory=list)
    _course: Generator[Ruling, Tried | None, None] | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _asked: Trial | None = None

    def mark(self, block: Block) -> Block:
        """A block as it is to be played: where a bot was found out, a game that comes to nothing is not replayed."""
        if block.trial is not None or not self._found_out(block):
            return block
        return msgspec.structs.replace(block, replays=0)

    def hear(self, arrival: Arrival) -> Iterator[Ruling]:
        """Take something in; what follows from it. Raises RefereeError where the machine cannot play."""
        match arrival:
            case Finished():
                yield from self._finished(arrival)
            case LostWorker():
                yield from self._came_to_nothing(arrival.line_up, arrival.deal, arrival.reason)
            case LostGame(trial=Trial() as trial):
                showing = Showing.UNCLEAR if arrival.ours and trial.bot else Showing.VOID
                yield from self._go_on(Tried(trial, showing, arrival.workers, arrival.reason))
            case LostGame():
                self._waiting.append(_Case(arrival.line_up, arrival.rotation, arrival.deal, arrival))
        if self._course is None and self._waiting:
            self._course = self._hold()
            yield from self._go_on(None)

    def give_up(self) -> list[Unplayed]:
        """Hold no trial any more; the games of the cases that were open."""
        cases, self._open, self._waiting, self._course = self._open + self._waiting, [], [], None
        return [case.unplayed for case in cases]

    # -- what comes in

    def _finished(self, finished: Finished) -> Iterator[Ruling]:
        for game in finished.games:
            self.ledger.played(game.line_up, game.deal)
        if finished.games:
            self.ledger.took(finished.games[0].line_up, finished.ms)
        for void in finished.voids:
            yield from self._came_to_nothing(tuple(sorted(void.game.seats)), void.game.deal, void.reason)
        for parked in finished.parked:
            spec = parked.game
            self._waiting.append(_Case(tuple(sorted(spec.seats)), spec.rotation, spec.deal, parked))
        for tried in finished.tried:
            yield from self._go_on(tried)

    def _came_to_nothing(self, line_up: LineUp, deal: int, reason: str) -> Iterator[Ruling]:
        if self.ledger.void(line_up, deal):
            for bot in self.ledger.followed():
                yield from self._find_out(bot, "void games follow it in a way that is no chance", reason)

    # -- cases

    def _go_on(self, tried: Tried | None) -> Iterator[Ruling]:
        """Go on with the cases up to the next trial."""
        if self._course is None or (tried is not None and tried.trial != self._asked):
            return  # a trial of a run that was stopped
        course = self._course
        try:
            ruling = course.send(tried)
            while True:
                yield ruling
                if isinstance(ruling, Play) and ruling.block.trial is not None:
                    self._asked = ruling.block.trial
                    return
                ruling = next(course)
        except StopIteration:
            self._course = None

    def _hold(self) -> Generator[Ruling, Tried | None, None]:
        while self._waiting:
            self._open, self._waiting = self._waiting, []
            yield from self._machine_plays(self._open[0])
            while self._open:
                yield from self._judge(self._open[0])
                del self._open[0]

    def _judge(self, case: _Case) -> Generator[Ruling, Tried | None, None]:
        absent = self._absent.get(case.game, ())
        present = [bot for bot in dict.fromkeys(case.line_up) if bot not in dict(absent)]
        guilty = [bot for bot in present if bot in self._shown][:1]
        if not guilty:
            tried = []
            for bot in present:
                tried.append((yield from self._tried(case, bot)))
            void = [one for one in tried if one.showing is Showing.VOID]
            if void:
                yield from self._machine_plays(case)
            for one in void:
                assert one.trial.bot is not None
                guilty.append(one.trial.bot)
                yield from self._find_out(one.trial.bot, _alone(one), one.reason)
        if not guilty:
            yield StaysOwed(case.unplayed)
            return
        absent += tuple((bot, self._detail(bot, case.unplayed.reason)) for bot in guilty)
        self._absent[case.game] = absent
        yield Play(self.mark(msgspec.structs.replace(case.game, absent=absent)))

    def _machine_plays(self, case: _Case) -> Generator[Ruling, Tried | None, None]:
        """Return where programs of ours can play. Raises RefereeError where they cannot."""
        tried = yield from self._tried(case, None)
        if tried.showing is not Showing.PLAYED:
            raise RefereeError(
                "games come to nothing on this machine, and so did one between programs of the referee's own "
                f"({tried.reason}): what was played is kept, nobody was charged with it, and the same command goes on "
                "when the machine can play"
            )

    def _tried(self, case: _Case, bot: Bot | None) -> Generator[Ruling, Tried | None, Tried]:
        moves = () if bot is None else case.unplayed.moves
        tried = yield Play(msgspec.structs.replace(case.game, trial=Trial(next(self._numbers), bot, moves)))
        assert tried is not None
        return tried

    def _found_out(self, block: Block) -> bool:
        """Whether a bot sits there that was found out, and is not charged with these games already."""
        return any(bot in self._shown and bot not in dict(block.absent) for bot in block.line_up)

    # -- words

    def _find_out(self, bot: Bot, how: str, reason: str) -> Iterator[Ruling]:
        if bot not in self._shown:
            self._shown[bot] = how
            yield Charged(bot, self._detail(bot, reason))

    def _detail(self, bot: Bot, reason: str) -> str:
        """The charge, in words: what was seen of this bot in this run, and the last reason."""
        played, void, others_played, others_void = self.ledger.figures(bot)
        return (
            f"games with it come to nothing, and {self._shown[bot]} (attempts that came to nothing in this run: {void} "
            f"with it, {others_void} without it; games that were played: {played} with it, {others_played} without "
            f"it); the last time, {reason}"
        )


def _alone(tried: Tried) -> str:
    return (
        f"alone among stand-ins of the referee's it made {tried.attempts} attempts of {tried.attempts} come to nothing "
        "while games without it were played"
    )
