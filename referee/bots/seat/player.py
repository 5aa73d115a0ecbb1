"""A bot at a seat: the wire protocol on one side, the game's language on the other."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator
from typing import Protocol

from protocol.codec import WireError, encode, parse_answer, parse_ready, readable, usual_answer
from protocol.messages import PROTOCOL_VERSION, Quit
from referee import actions
from referee.actions import Action, Kind
from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Launcher, seems_not_executed
from referee.bots.process.limits import Limits, Reuse
from referee.bots.process.pondering import OutOfTurn, Turns
from referee.bots.process.process import BotProcess, KeptWaiting, NoLine, Overslept, Silence, Tap
from referee.bots.seat import diagnosis
from referee.bots.seat.faults import blame, blame_silence, deafness, how_it_ended, stillness
from referee.bots.seat.wire import QuestionWriter, end_line, hello_line, start_line
from referee.errors import BotFault, Verdict, VoidGame
from referee.play import Clock, End, Reply, Start
from referee.rules import Question

_MS = 1_000_000
QUIT_GRACE = 1000 * _MS
"""What a process gets to exit after `quit`, in ns."""
_QUIT = encode(Quit(type="quit"))


Allowance = tuple[int | None, int | None, int | None]
"""For a decision: its limit in ns, `time_left_ms`, `game_left_ms`."""


def question_ids() -> Iterator[int]:
    """Ids from 1 to 2^31 - 1 that nobody can guess."""
    while True:
        for number in array("I", os.urandom(4096)):
            if number >> 1:
                yield number >> 1


class Writer(Protocol):
    """Writes a seat's questions, as `referee.bots.seat.wire.QuestionWriter` does."""

    def line(self, question: Question, question_id: int, time_left: int | None, game_left: int | None, /) -> bytes:
        """The message for `question`."""


class BotPlayer:
    """One seat's bot: a `referee.play.Player` whose process is started when a game needs it.

    `turns` are those of the table at which it sits; None: it is alone, and nobody's time is to be kept.
    `replaced` counts the processes that failed at the first question of a game that was not their first, so that it
    was put to a new one.
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
        turns: Turns | None = None,
    ) -> None:
        self.bot = bot
        self.replaced = 0
        self._launcher = launcher
        self._clock = clock
        self._limits = limits
        self._reuse = reuse
        self._tap = tap
        self._turns = turns
        self._guest = None if turns is None else turns.guest(bot.manifest.identity.hash)
        self._ids = question_ids()
        self._process: BotProcess | None = None
        self._start: Start | None = None
        self._writer: Writer | None = None
        self._unsent = b""
        self._used = 0
        self._first_question = True
        self._seasoned = False
        self._heard = b""
        self._allowance = self._allowance_now()

    # -- a game

    def start(self) -> None:
        """Start the process now, if there is none, and wait for its `ready`. Raises BotFault, VoidGame."""
        if self._process is None:
            self._seasoned = False
            self._process = self._launch()

    def begin(self, start: Start) -> None:
        """See `Player`. Starts a process where there is none that can be used again."""
        self._start = start
        if self._guest is not None:
            self._guest.seat = start.seat
        self._writer = QuestionWriter(start)
        self._unsent = start_line(start)
        self._used = 0
        self._first_question = True
        if self._process is not None and self._seasoned and self._process.unasked():
            self.stop()
        self.start()

    def ask(self, question: Question) -> Reply:
        """See `Player`."""
        process = self._process
        assert process is not None and self._writer is not None
        question_id = next(self._ids)
        try:
            return self._ask(process, question, question_id)
        except BotFault as fault:
            self._forget_process()
            if self._may_be_of_the_last_game(fault, question_id):
                return self._ask_again(question)
            raise

    def end(self, end: End) -> None:
        """See `Player`. The message is not waited for: what the pipe does not take goes out later."""
        process = self._process
        if process is None:
            return
        process.send(self._unsent + end_line(end))
        if self._guest is not None:
            self._guest.ended()
        self._unsent = b""
        self._seasoned = True
        if self._reuse is Reuse.FRESH:
            self.stop()

    def stop(self, *, by: int | None = None) -> None:
        """Send `quit`, give the process until `by` to exit, end its whole tree. Harmless where there is none.

        `by` is the clock's time in ns, None for a second from now.
        """
        self.say_quit()
        process = self._forget_process()
        if process is not None:
            process.stop(QUIT_GRACE if by is None else by - self._clock.now())

    def say_quit(self) -> None:
        """Send `quit` without waiting, so that several processes may exit side by side; `stop` follows."""
        if self._process is not None:
            self._process.say_goodbye(_QUIT)
            if self._guest is not None:
                self._guest.part()

    def listen(self, tap: Tap | None) -> None:
        """Let `tap` hear what the process says from now on."""
        self._tap = tap
        if self._process is not None:
            self._process.tap = tap

    def kill(self) -> None:
        """End the process tree at once."""
        process = self._forget_process()
        if process is not None:
            process.child.end()

    def out_of_turn(self) -> OutOfTurn:
        """What its processes did while it was not asked, since this was asked last; nothing where nobody looked."""
        return OutOfTurn(0, False) if self._guest is None else self._guest.out_of_turn()

    def _forget_process(self) -> BotProcess | None:
        """It has ended, or whoever gets it here ends it."""
        process, self._process = self._process, None
        if self._guest is not None:
            self._guest.leave()
        return process

    # -- a decision

    def _ask(self, process: BotProcess, question: Question, question_id: int) -> Reply:
        assert self._writer is not None
        if process.inbox:
            raise self._spoke_unasked(process)
        allowance = self._allowance if self._limits.game_ms is None else self._allowance_now()
        limit, time_left, game_left = allowance
        line = self._writer.line(question, question_id, time_left, game_left)
        if self._unsent:
            line = self._unsent + line
            self._unsent = b""
        guest = self._guest
        began = self._clock.now() if guest is None else guest.asked()
        try:
            answer = process.exchange(line, None if limit is None else began + limit)
        except NoLine as silence:
            raise self._silence(process, silence.why, limit, began) from None
        except Overslept as late:
            raise self._too_late(process, late, Verdict.TIMEOUT, began) from None
        if guest is not None:
            guest.answered(process.answered_at)
        spent = process.answered_at - began - process.waited
        self._used += spent
        reply = self._judge(process, question, question_id, answer, spent // 1000)
        process.answered = answer
        return reply

    def _may_be_of_the_last_game(self, fault: BotFault, question_id: int) -> bool:
        """Whether what went wrong may have been done before the question was heard, and so is not charged.

        Nobody can tell, unless what came bears the question's id.
        """
        return (
            self._seasoned
            and self._first_question
            and fault.verdict in (Verdict.CRASH, Verdict.PROTOCOL_ERROR)
            and re.search(rb"(?<!\d)%d(?!\d)" % question_id, self._heard) is None
        )

    def _ask_again(self, question: Question) -> Reply:
        """Put a game's first question to a new process.

        From then on each game gets a new one, in which there is nothing to forgive: a bot that fails only where it
        has played before gains no more by it than this once.
        """
        assert self._start is not None
        self.replaced += 1
        self._reuse = Reuse.FRESH
        self._unsent = start_line(self._start)
        self.start()
        process = self._process
        assert process is not None
        try:
            return self._ask(process, question, next(self._ids))
        except BotFault:
            self._forget_process()
            raise

    def _judge(self, process: BotProcess, question: Question, question_id: int, line: bytes, us: int) -> Reply:
        usual = usual_answer(line)
        if usual is not None:
            digits, written = usual.groups()
            chosen = actions.parse_bytes(written)
            if chosen is not None and int(digits) == question_id and _is_legal(chosen, question):
                self._first_question = False
                return Reply(chosen, us)
        try:
            answered, text, note = parse_answer(line)
        except WireError as error:
            self._heard = line
            detail = diagnosis.broken_line(line, str(error))
            raise blame(process, Verdict.PROTOCOL_ERROR, detail, line=line, us=us) from None
        if answered != question_id:
            self._heard = line
            detail = diagnosis.old_id(answered, question_id, process.answered)
            raise blame(process, Verdict.PROTOCOL_ERROR, detail, line=line, us=us)
        action = actions.parse(text)
        if action is None or not _is_legal(action, question):
            detail = diagnosis.illegal(text, [one.text for one in question.legal], laying=question.drawn is None)
            raise blame(process, Verdict.ILLEGAL_ACTION, detail, line=line, us=us)
        self._first_question = False
        return Reply(action, us, note)

    def _allowance_now(self) -> Allowance:
        move, game = self._limits.move_ms, self._limits.game_ms
        game_left = None if game is None else max(game * _MS - self._used, 0)
        left = [time for time in (None if move is None else move * _MS, game_left) if time is not None]
        limit = min(left, default=None)
        return limit, None if limit is None else limit // _MS, None if game_left is None else game_left // _MS

    # -- blame

    def _spoke_unasked(self, process: BotProcess) -> BotFault:
        said = self._heard = bytes(process.inbox)
        return blame(process, Verdict.PROTOCOL_ERROR, diagnosis.spoken_unasked(said, process.answered), line=said)

    def _silence(self, process: BotProcess, why: Silence, limit: int | None, began: int) -> BotFault:
        us = _own_us(process, began)
        self._heard = bytes(process.inbox)
        waited = "comes" if limit is None else f"within {limit // _MS} ms"
        move, game = self._limits.move_ms, self._limits.game_ms
        if limit is not None and game is not None and (move is None or limit < move * _MS):
            waited += f", all that was left of its {game} ms for the game"
        if process.waited >= _MS:
            waited += f" (besides the {process.waited // _MS} ms that it waited for a processor)"
        return blame_silence(process, why, waited=waited, us=us)

    def _too_late(self, process: BotProcess, late: Overslept, verdict: Verdict, began: int) -> BotFault | VoidGame:
        """Nobody's fault, unless a bot of this table kept the processors from the referee or from the bot."""
        guest, turns = self._guest, self._turns
        found = None if turns is None else turns.heaviest(late.at, late.deadline, answered=late.answered)
        kept = late.passed if isinstance(late, KeptWaiting) else None
        if found is None or (kept is not None and found.guest is guest):
            return late
        if found.guest is not guest:
            reason = diagnosis.overload(found.used, found.whole, asked=False, kept=kept)
            return VoidGame(reason, culprit=found.guest.seat)
        self._heard = bytes(process.inbox)
        detail = diagnosis.overload(found.used, found.whole, asked=True)
        return blame(process, verdict, detail, us=(late.at - began) // 1000)

    # -- starting

    def _launch(self) -> BotProcess:
        child = self._launcher.launch(self.bot)
        try:
            if self._guest is not None:
                self._guest.enter(child)
            return self._introduce(BotProcess(child, self._clock, self._tap, self._turns))
        except BaseException:
            self._forget_process()
            child.end()
            raise

    def _hello(self) -> bytes:
        return hello_line(self._limits)

    def _introduce(self, process: BotProcess) -> BotProcess:
        limits = self._limits
        began = self._clock.now()
        try:
            line = process.exchange(self._hello(), None if limits.start_ms is None else began + limits.start_ms * _MS)
            ready = parse_ready(line)
        except NoLine as silence:
            raise self._never_ready(process, silence.why, _own_us(process, began)) from None
        except Overslept as late:
            raise self._too_late(process, late, Verdict.START_TIMEOUT, began) from None
        except WireError as error:
            detail = f"its first line is to be its `ready` message: {error}"
            us = _own_us(process, began)
            raise blame(process, Verdict.START_FAILED, detail, line=line, us=us) from None
        if ready.protocol != PROTOCOL_VERSION:
            detail = f"it chose version {ready.protocol} of the protocol, and only 1 was offered"
            us = _own_us(process, began)
            raise blame(process, Verdict.START_FAILED, detail, line=line, us=us)
        process.answered = line
        if self._guest is not None:
            self._guest.answered(process.answered_at)
        return process

    def _never_ready(self, process: BotProcess, why: Silence, us: int) -> BotFault | VoidGame:
        said = bytes(process.inbox)
        if why is Silence.GONE:
            detail = f"{how_it_ended(process)} before it said `ready`"
            detail = seems_not_executed(self.bot, process.child.status(), process.stderr.text()) or detail
        elif why is Silence.TOO_LONG:
            detail = f"its first line has no end: {readable(said, 80)}"
        else:
            return blame(process, Verdict.START_TIMEOUT, self._no_ready(process, why, said), line=said or None, us=us)
        return blame(process, Verdict.START_FAILED, detail, line=said or None, us=us)

    def _no_ready(self, process: BotProcess, why: Silence, said: bytes) -> str:
        limit = self._limits.start_ms
        waited = "no `ready` comes" if limit is None else f"no `ready` within {limit} ms"
        if why is Silence.DEAF and not said:
            return f"{waited}: {deafness(process)}"
        return f"{waited}: {stillness(process, said, '`hello`', '`ready`')}"


def _own_us(process: BotProcess, began: int) -> int:
    """A bot's own time of an exchange that is over, in us."""
    return (process.answered_at - began - process.waited) // 1000


def _is_legal(action: Action, question: Question) -> bool:
    if question.drawn is None:
        return action.kind is Kind.LAY and action.cards & question.hand != 0
    return action in question.legal
