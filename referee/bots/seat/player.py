"""A bot at a table: a `referee.play.Player` with the wire protocol behind it."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator

from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Launcher
from referee.bots.process.limits import Limits, Reuse
from referee.bots.process.pondering import Pondering, PonderingMonitor
from referee.bots.process.process import Tap
from referee.bots.seat.conversation import Conversation
from referee.bots.seat.wire import QuestionWriter, end_line, start_line
from referee.errors import BotFault
from referee.play import Clock, GameEnd, GameStart, Reply
from referee.rules import Question


def question_ids() -> Iterator[int]:
    """Yield ids from 1 to 2^31 - 1 that nobody can guess."""
    while True:
        for number in array("I", os.urandom(4096)):
            if number >> 1:
                yield number >> 1


class BotPlayer:
    """A bot at a table; its process is started when a game needs it.

    `monitor` watches the bots of its table; None if the bot is alone. `replaced` counts the processes that failed at
    the first question of a game that was not their first, so that the question was put to a new one.
    """

    def __init__(
        self,
        bot: Prepared,
        *,
        launcher: Launcher,
        clock: Clock,
        limits: Limits,
        reuse: Reuse = Reuse.MANY_GAMES,
        tap: Tap | None = None,
        monitor: PonderingMonitor | None = None,
    ) -> None:
        self.bot = bot
        self.replaced = 0
        self.used = 0
        """The time that the bot used in the last game that ended, in ns."""
        self.conversation: Conversation | None = None
        """The conversation with the current process; None if there is no process."""
        self._launcher = launcher
        self._clock = clock
        self._limits = limits
        self._reuse = reuse
        self._tap = tap
        self._account = None if monitor is None else monitor.account(bot.manifest.identity.hash)
        self._ids = question_ids()
        self._start: GameStart | None = None
        self._writer: QuestionWriter | None = None
        self._is_first_question = True
        self._has_finished_a_game = False

    # -- a game

    def start(self) -> None:
        """Start the process now, if there is none, and wait for its `ready`. Raises BotFault, VoidGame."""
        if self.conversation is None:
            self._has_finished_a_game = False
            conversation = Conversation(
                self.bot,
                launcher=self._launcher,
                clock=self._clock,
                limits=self._limits,
                tap=self._tap,
                account=self._account,
            )
            conversation.start()
            self.conversation = conversation

    def begin(self, start: GameStart) -> None:
        """See `Player`. Starts a process where there is none that can be used again."""
        self._start = start
        if self._account is not None:
            self._account.begin(start.seat)
        self._writer = QuestionWriter(start)
        self._is_first_question = True
        conversation = self.conversation
        if conversation is not None and self._has_finished_a_game and conversation.process.unasked():
            self.stop()
        self._begin(start)

    def _begin(self, start: GameStart) -> None:
        self.start()
        assert self.conversation is not None
        self.conversation.begin_game(start_line(start))

    def ask(self, question: Question) -> Reply:
        """See `Player`."""
        conversation = self.conversation
        assert conversation is not None and self._writer is not None
        question_id = next(self._ids)
        _, time_left, game_left = conversation.allowance()
        line = self._writer.line(question, question_id, time_left, game_left)
        try:
            reply = conversation.put(line, question, question_id)
        except BotFault as fault:
            self.conversation = None
            may_be_forgiven = self._has_finished_a_game and self._is_first_question
            if may_be_forgiven and conversation.could_be_of_the_last_game(fault, question_id):
                return self._ask_again(question, conversation.used)
            raise
        self._is_first_question = False
        return reply

    def _ask_again(self, question: Question, used: int) -> Reply:
        """Put a game's first question to a new process; `used` ns of the game's time are gone.

        From then on each game gets a new one, in which there is nothing to forgive: a bot that fails only where it
        has played before gains no more by it than this once.
        """
        assert self._start is not None
        self.replaced += 1
        self._reuse = Reuse.FRESH
        self._begin(self._start)
        assert self.conversation is not None
        self.conversation.used = used
        return self.ask(question)

    def end(self, end: GameEnd) -> None:
        """See `Player`. The message is not waited for: what the pipe does not take goes out later."""
        if self.conversation is None:
            return
        self.conversation.tell(end_line(end))
        self.used = self.conversation.used
        if self._account is not None:
            self._account.ended()
        self._has_finished_a_game = True
        if self._reuse is Reuse.FRESH:
            self.stop()

    # -- its process

    def stop(self, *, by: int | None = None) -> None:
        """End the process with `quit`, as `Conversation.stop` does. Harmless if there is none."""
        conversation, self.conversation = self.conversation, None
        if conversation is not None:
            conversation.stop(by=by)

    def say_quit(self) -> None:
        """Send `quit` without waiting, so that several processes may exit side by side; `stop` follows."""
        if self.conversation is not None:
            self.conversation.say_quit()

    def kill(self) -> None:
        """End the process tree at once."""
        conversation, self.conversation = self.conversation, None
        if conversation is not None:
            conversation.kill()

    def listen(self, tap: Tap | None) -> None:
        """Let `tap` hear what the process says from now on."""
        self._tap = tap
        if self.conversation is not None:
            self.conversation.process.tap = tap

    def take_pondering(self) -> Pondering:
        """Return what the bot did out of turn since the last call; nothing if there is no monitor."""
        return Pondering(0, False) if self._account is None else self._account.take_pondering()
