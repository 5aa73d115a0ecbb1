"""A conversation with one process of a bot: it sends messages, judges answers and turns failures into faults."""

from __future__ import annotations

import re

from protocol.codec import WireError, encode, parse_answer, parse_ready, readable, usual_answer
from protocol.messages import PROTOCOL_VERSION, Quit
from referee import actions
from referee.actions import Action, Kind
from referee.bots.cache.prepare import Prepared
from referee.bots.process.launcher import Launcher, seems_not_executed
from referee.bots.process.limits import Limits
from referee.bots.process.pondering import BotCpuAccount
from referee.bots.process.process import BotProcess, KeptWaiting, NoLine, NoReply, RefereeLate, Tap
from referee.bots.seat import diagnosis
from referee.bots.seat.faults import blame, blame_silence, deafness, how_it_ended, stillness
from referee.bots.seat.wire import hello_line
from referee.errors import BotFault, Verdict, VoidGame
from referee.play import Clock, Reply
from referee.rules import Question

_MS = 1_000_000
QUIT_GRACE = 1000 * _MS
"""How long a process may take to exit after `quit`, in ns."""
UNASKED = 250_000_000
"""How long `listen` waits for a bot that speaks or ends without being asked, in ns."""
_QUIT = encode(Quit(type="quit"))


Allowance = tuple[int | None, int | None, int | None]
"""For a decision: its limit in ns, `time_left_ms`, `game_left_ms`."""


class Conversation:
    """One process of `bot` at a seat, from `start` to `stop`, `kill` or its fault.

    `limits` are enforced. `hello` is the first message; by default it reports these limits. `account` counts the
    bot's processor time at its table; None if the bot is alone.
    """

    def __init__(
        self,
        bot: Prepared,
        *,
        launcher: Launcher,
        clock: Clock,
        limits: Limits,
        hello: bytes | None = None,
        tap: Tap | None = None,
        account: BotCpuAccount | None = None,
    ) -> None:
        self.used = 0
        """The time that the bot has used in this game, in ns."""
        self._bot = bot
        self._launcher = launcher
        self._clock = clock
        self._limits = limits
        self._hello = hello or hello_line(limits)
        self._tap = tap
        self._account = account
        self._process: BotProcess | None = None
        self._unsent = b""
        self._heard = b""
        self._fixed = self._allowance_now()

    @property
    def process(self) -> BotProcess:
        """The process; there is one from `start` on."""
        assert self._process is not None
        return self._process

    # -- messages

    def start(self) -> None:
        """Start the process and wait for its `ready`. Raises BotFault, VoidGame."""
        account = self._account
        child = self._launcher.launch(self._bot)
        try:
            if account is not None:
                account.enter(child)
            monitor = None if account is None else account.monitor
            self._process = BotProcess(child, self._clock, self._tap, monitor)
            self._introduce(self._process)
        except BaseException:
            self._leave()
            child.end()
            raise

    def begin_game(self, line: bytes) -> None:
        """Begin a game: `line` is its `start`, which is sent together with the first question."""
        self._unsent = line
        self.used = 0

    def tell(self, line: bytes) -> None:
        """Send a message that wants no answer. What the pipe does not take goes out with the next one."""
        self.process.send(self._unsent + line)
        self._unsent = b""

    def put(self, line: bytes, question: Question, question_id: int) -> Reply:
        """Send a question and judge the answer. Raises BotFault, after which the process has ended, and VoidGame."""
        process, account = self.process, self._account
        try:
            if process.inbox:
                raise self._spoke_unasked(process)
            if self._unsent:
                line = self._unsent + line
                self._unsent = b""
            limit = self.allowance()[0]
            began = self._clock.now() if account is None else account.asked()
            try:
                answer = process.exchange(line, None if limit is None else began + limit)
            except NoLine as silence:
                raise self._no_answer(process, silence.why, limit, began) from None
            except RefereeLate as late:
                raise self._too_late(process, late, Verdict.TIMEOUT, began) from None
            if account is not None:
                account.answered(process.answered_at, process.waited)
            spent = process.answered_at - began - process.waited
            self.used += spent
            reply = self._judge(process, question, question_id, answer, spent // 1000)
        except BotFault:
            self._leave()
            raise
        process.answered = answer
        return reply

    def listen(self) -> BotFault | None:
        """Wait a moment where nothing is due; return the fault of a bot that speaks or ends."""
        process = self.process
        process.settle(UNASKED)
        if not process.unasked():
            return None
        self._leave()
        if process.inbox:
            return self._spoke_unasked(process)
        return blame(process, Verdict.CRASH, f"{how_it_ended(process)} after its answer")

    def allowance(self) -> Allowance:
        """Return the limit of the next decision and the times that its question reports."""
        return self._fixed if self._limits.game_ms is None else self._allowance_now()

    def could_be_of_the_last_game(self, fault: BotFault, question_id: int) -> bool:
        """True if the cause of a fault at a game's first question may lie before that question.

        Nobody can tell, unless the bot's line has the question's id.
        """
        return (
            fault.verdict in (Verdict.CRASH, Verdict.PROTOCOL_ERROR)
            and re.search(rb"(?<!\d)%d(?!\d)" % question_id, self._heard) is None
        )

    # -- the end

    def say_quit(self) -> None:
        """Send `quit` without waiting, so that several processes may exit side by side; `stop` follows."""
        if self._process is not None:
            self._process.say_goodbye(_QUIT)
        if self._account is not None:
            self._account.part()

    def stop(self, *, by: int | None = None) -> None:
        """Send `quit`, wait until the clock's time `by` (None: for a second), and end the whole process tree.

        Harmless if the process has ended.
        """
        self.say_quit()
        process = self._leave()
        if process is not None:
            process.stop(QUIT_GRACE if by is None else by - self._clock.now())

    def kill(self) -> None:
        """End the process tree at once."""
        process = self._leave()
        if process is not None:
            process.child.end()

    def _leave(self) -> BotProcess | None:
        """Forget the process, which has ended or is ended by the caller."""
        process, self._process = self._process, None
        if self._account is not None:
            self._account.leave()
        return process

    # -- judging

    def _judge(self, process: BotProcess, question: Question, question_id: int, line: bytes, us: int) -> Reply:
        usual = usual_answer(line)
        if usual is not None:
            digits, written = usual.groups()
            chosen = actions.parse_bytes(written)
            if chosen is not None and int(digits) == question_id and _is_legal(chosen, question):
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
        return Reply(action, us, note)

    def _allowance_now(self) -> Allowance:
        move, game = self._limits.move_ms, self._limits.game_ms
        game_left = None if game is None else max(game * _MS - self.used, 0)
        left = [time for time in (None if move is None else move * _MS, game_left) if time is not None]
        limit = min(left, default=None)
        return limit, None if limit is None else limit // _MS, None if game_left is None else game_left // _MS

    def _spoke_unasked(self, process: BotProcess) -> BotFault:
        said = self._heard = bytes(process.inbox)
        return blame(process, Verdict.PROTOCOL_ERROR, diagnosis.spoken_unasked(said, process.answered), line=said)

    def _no_answer(self, process: BotProcess, why: NoReply, limit: int | None, began: int) -> BotFault | VoidGame:
        account = self._account
        if account is not None and why in (NoReply.DEADLINE, NoReply.LATE):
            hog = account.monitor.hog(process.answered_at, account)
            if hog is not None:
                reason = diagnosis.overload(hog.used, hog.whole, asked=False, kept=process.answered_at - began)
                return VoidGame(reason, culprit=hog.account.seat)
        self._heard = bytes(process.inbox)
        waited = "comes" if limit is None else f"within {limit // _MS} ms"
        move, game = self._limits.move_ms, self._limits.game_ms
        if limit is not None and game is not None and (move is None or limit < move * _MS):
            waited += f", all that was left of its {game} ms for the game"
        if process.waited >= _MS:
            waited += f" (besides the {process.waited // _MS} ms that it waited for a processor)"
        return blame_silence(process, why, waited=waited, us=_own_us(process, began))

    def _too_late(self, process: BotProcess, late: RefereeLate, verdict: Verdict, began: int) -> BotFault | VoidGame:
        """Return `late` itself, unless a bot of this table kept the processors from the referee or from this bot."""
        account = self._account
        if account is None:
            return late
        found = account.monitor.heaviest(late.at, late.deadline, account, answered=late.answered)
        kept = late.passed if isinstance(late, KeptWaiting) else None
        if found is None or (kept is not None and found.account is account):
            return late
        if found.account is not account:
            reason = diagnosis.overload(found.used, found.whole, asked=False, kept=kept)
            return VoidGame(reason, culprit=found.account.seat)
        self._heard = bytes(process.inbox)
        detail = diagnosis.overload(found.used, found.whole, asked=True)
        return blame(process, verdict, detail, us=(late.at - began) // 1000)

    # -- starting

    def _introduce(self, process: BotProcess) -> None:
        start_ms = self._limits.start_ms
        began = self._clock.now()
        try:
            line = process.exchange(self._hello, None if start_ms is None else began + start_ms * _MS)
            ready = parse_ready(line)
        except NoLine as silence:
            raise self._never_ready(process, silence.why, _own_us(process, began)) from None
        except RefereeLate as late:
            raise self._too_late(process, late, Verdict.START_TIMEOUT, began) from None
        except WireError as error:
            detail = f"its first line must be its `ready` message: {error}"
            us = _own_us(process, began)
            raise blame(process, Verdict.START_FAILED, detail, line=line, us=us) from None
        if ready.protocol != PROTOCOL_VERSION:
            detail = f"it chose version {ready.protocol} of the protocol, and only 1 was offered"
            us = _own_us(process, began)
            raise blame(process, Verdict.START_FAILED, detail, line=line, us=us)
        process.answered = line
        if self._account is not None:
            self._account.started(process.answered_at)

    def _never_ready(self, process: BotProcess, why: NoReply, us: int) -> BotFault | VoidGame:
        said = bytes(process.inbox)
        if why is NoReply.GONE:
            detail = f"{how_it_ended(process)} before it said `ready`"
            detail = seems_not_executed(self._bot, process.child.status(), process.stderr.text()) or detail
        elif why is NoReply.TOO_LONG:
            detail = f"its first line has no end: {readable(said, 80)}"
        else:
            return blame(process, Verdict.START_TIMEOUT, self._no_ready(process, why, said), line=said or None, us=us)
        return blame(process, Verdict.START_FAILED, detail, line=said or None, us=us)

    def _no_ready(self, process: BotProcess, why: NoReply, said: bytes) -> str:
        limit = self._limits.start_ms
        waited = "no `ready` comes" if limit is None else f"no `ready` within {limit} ms"
        if why is NoReply.DEAF and not said:
            return f"{waited}: {deafness(process)}"
        return f"{waited}: {stillness(process, said, '`hello`', '`ready`')}"


def _own_us(process: BotProcess, began: int) -> int:
    """Return the bot's own time of an exchange that is over, in us."""
    return (process.answered_at - began - process.waited) // 1000


def _is_legal(action: Action, question: Question) -> bool:
    if question.drawn is None:
        return action.kind is Kind.LAY and action.cards & question.hand != 0
    return action in question.legal
