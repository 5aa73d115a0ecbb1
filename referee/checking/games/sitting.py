"""One game of the checked bot against players in memory, by the referee's own rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from referee.checking.bot.bot_under_test import BotUnderTest
from referee.checking.games.dealing import Dealer, Fate
from referee.checking.games.manners import Manner, takes
from referee.checking.games.setting import GameSetup
from referee.checking.report import patience
from referee.errors import BotFault
from referee.play import GameEnd, GameStart, Reply
from referee.rules import Outcome, Question, State


@dataclass(slots=True)
class CheckedGame:
    """How a game went: the bot's questions and answers, how it ended, or the fault that ended it.

    `setting` has the deck as it was dealt in the end: the same choices with it make the same game.
    """

    setting: GameSetup
    questions: list[Question] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    outcome: Outcome | None = None
    fault: BotFault | None = None


class ArrangedTable:
    """A game that is about to be played."""

    def __init__(
        self,
        setting: GameSetup,
        subject: BotUnderTest,
        *,
        game_id: str,
        manner: Manner = takes,
        fate: Fate | None = None,
    ) -> None:
        self._setting = setting
        self._subject = subject
        self._game_id = game_id
        self._manner = manner
        self._state = State(setting.rules, setting.players, setting.deck)
        self._dealer = Dealer(setting, self._state, fate)
        self._asked = [0] * setting.players
        self._course = CheckedGame(setting)
        self._over = False

    def play(self, *, until: Callable[[CheckedGame], bool] | None = None) -> CheckedGame:
        """Play it to its end, or to a fault of the bot. Raises VoidGame.

        When `until` is true after an answer, or the bot was waited for long enough, the others are at fault in their
        next turns, and so it ends soon.
        """
        course, state = self._course, self._state
        try:
            self._subject.begin(self._start())
            if self._setting.absent:
                state.forfeit(*self._setting.absent)
            while state.outcome is None:
                self._step(state)
                self._over = self._over or self._is_slow() or (until is not None and until(course))
        except BotFault as fault:
            course.fault = fault
        else:
            course.outcome = state.outcome
            if state.outcome is not None:
                self._subject.end(GameEnd(self._game_id, state.outcome, state.untold(self._setting.seat)))
        course.setting = msgspec.structs.replace(self._setting, deck=self._dealer.deck())
        return course

    def _is_slow(self) -> bool:
        return sum(reply.us for reply in self._course.replies) > patience.GAME * 1e6

    def _start(self) -> GameStart:
        state, setting = self._state, self._setting
        hand, sizes = state.hands[setting.seat], tuple(state.sizes)
        return GameStart(
            self._game_id, setting.seat, setting.players, hand, sizes, len(state.talon), setting.rules, setting.seed
        )

    def _step(self, state: State) -> None:
        seat = state.turn
        self._asked[seat] += 1
        leaves = self._over or (seat, self._asked[seat]) in self._setting.leaving
        if leaves and seat != self._setting.seat:
            state.forfeit(seat)
            return
        question = state.ask()
        if seat == self._setting.seat:
            self._course.questions.append(question)
            reply = self._subject.ask(question)
            self._course.replies.append(reply)
            action = reply.action
        else:
            action = self._manner(question)
        if question.drawn is None:
            self._dealer.arrange(state, action, over=self._over)
        state.apply(action)
