"""Finding bots that ponder: that use a processor while another seat of their table is asked.

Nothing is measured at a question. At the end of a game the processor time of each bot is compared with the time that
the bot was asked. A bot that used much more is a known ponderer: from its next game on all of its processes are
suspended after each answer and resumed before each question.

The result is a lower bound: time that a bot may have used in its own turn is never held against it.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from referee.bots.process.launcher import Child
from referee.bots.process.system import cores_of
from referee.play import Clock

_MS = 1_000_000
EVERY, _LATEST = 20 * _MS, 100 * _MS
"""How long after a look at the table the next one is due, in ns: at least, and at most where looks take long."""
_COSTS = 100
"""A look is followed by this many times its processor time without another."""
BURST = 5 * _MS
"""What a bot may use out of turn at once, in ns, above what follows."""
_SHARE = 50
"""A bot may use 1/50 of the elapsed time while it is not being asked."""
SHORTEST = 50 * _MS
"""A comparison takes about 0.1 ms, so shorter games are compared together with the next one; in ns."""
_AFTER_ANSWER, _AFTER_END = _MS // 10, _MS
"""What a bot may use after each answer to come back to its next read, and for reading `end`, in ns."""
_NEWBORN = 2 * _MS
"""What a process that was born since the last look and works out of turn counts for, in ns: others may have come and
gone unseen."""
_RESUMED = _MS // 10
"""What suspended processes cannot use between two looks, in ns, unless somebody resumed them."""


class Pondering(NamedTuple):
    """What a seat did in one game while it was not asked: ms of processor time, and whether it was suspended."""

    cpu_ms: int
    suspended: bool


class CpuShare(NamedTuple):
    """The bot that used most of a table's processors while the referee could not run: `used` of `whole`, in ns."""

    account: BotCpuAccount
    used: int
    whole: int


class PonderingMonitor:
    """The processes of the bots of one table.

    `known_ponderers` are the hashes of bots that were caught in earlier games; the set grows by those caught here.
    """

    def __init__(self, clock: Clock, known_ponderers: set[str] | None = None) -> None:
        self.clock = clock
        self.known_ponderers = set() if known_ponderers is None else known_ponderers
        self.due = 0
        """The clock's time in ns at which the next look is due."""
        self.question_at = 0
        """When the last question was put."""
        self._looked_at = self._marked_at = clock.now()
        self._accounts: list[BotCpuAccount] = []

    def account(self, bot: str) -> BotCpuAccount:
        """Return a new account for the bot with this hash."""
        account = BotCpuAccount(self, bot)
        self._accounts.append(account)
        return account

    def look(self, now: int) -> None:
        """Read what every bot has used, and check its memory. Takes about 30 us for each process."""
        began = time.thread_time_ns()
        first = self._marked_at < self.question_at
        for account in self._accounts:
            account.look(now, first=first)
        self._looked_at = now
        if first:
            self._marked_at = now
        self.due = now + min(max(EVERY, _COSTS * (time.thread_time_ns() - began)), _LATEST)

    def heaviest(self, now: int, deadline: int, asked: BotCpuAccount | None, *, answered: bool) -> CpuShare | None:
        """Return the bot that kept the referee, which should have run at `deadline`, from running until `now`.

        None if no bot used more than half of the processors since the last look. The bot that is `asked` is not to
        blame if it has `answered` and used no more than it could have used before the deadline.
        """
        passed, since = now - self._looked_at, self._looked_at
        shares = [CpuShare(one, one.used_since_look(), passed * one.cores) for one in self._accounts]
        heaviest = max(shares, key=lambda share: share.used, default=None)
        if heaviest is None or 2 * heaviest.used <= heaviest.whole:
            return None
        may_be_in_time = answered and heaviest.account is asked
        if may_be_in_time and heaviest.used <= (deadline - since) * heaviest.account.cores:
            return None
        return heaviest

    def hog(self, now: int, asked: BotCpuAccount | None) -> CpuShare | None:
        """Return the bot that took the processor from the bot that is `asked` and missed its deadline.

        None if no other bot used more than half of the processors since the first look after the question.
        """
        is_marked = self._marked_at >= self.question_at
        passed = now - (self._marked_at if is_marked else self._looked_at)
        shares = [
            CpuShare(one, one.used_since_question() if is_marked else one.used_since_look(), passed * one.cores)
            for one in self._accounts
            if one is not asked
        ]
        heaviest = max(shares, key=lambda share: share.used, default=None)
        return heaviest if heaviest is not None and 2 * heaviest.used > heaviest.whole else None


class BotCpuAccount:
    """The processor time of one player's processes, one process after the other, compared with the time it was asked.

    `seat` is its seat in the current game; `cores` is the number of processors on which its process may run.
    """

    def __init__(self, monitor: PonderingMonitor, bot: str) -> None:
        self.seat = 0
        self.cores = 1
        self.suspended = False
        """True if its processes are suspended between its questions, in the current game."""
        self.monitor = monitor
        self._bot = bot
        self._child: Child | None = None
        self._pondered = self._reported = self._above = 0
        self._is_asked = self._stopped = self._has_answered = False
        self._asked_at = self._looked = self._marked = 0
        self._begin_window(0, 0)

    def _begin_window(self, now: int, used: int) -> None:
        """Count from now on; the current process has `used` that many ns so far."""
        self._since, self._used = now, used
        self._asked = self._allowed = self._hidden = 0

    # -- a game and its processes

    def begin(self, seat: int) -> None:
        """Begin a game at this seat."""
        self.seat = seat
        self.suspended = self._bot in self.monitor.known_ponderers
        if self.suspended:
            self._suspend()

    def enter(self, child: Child) -> None:
        """Follow a process that was just started and is being asked for `ready`."""
        self._child = child
        self.cores = cores_of(child.pid)
        self._stopped = False
        self._is_asked = True
        self._asked_at = self.monitor.clock.now()
        self._looked = self._marked = child.cpu_ns()
        self._begin_window(self._asked_at, self._looked)

    def started(self, at: int) -> None:
        """Begin to count: the process sent `ready`. Before that it may have been another program, such as a shell."""
        self.answered(at, 0)
        if self._child is not None:
            self._begin_window(at, self._child.cpu_ns())

    def leave(self) -> None:
        """Stop following the process: it has ended, or is about to be ended."""
        self._settle()
        self._child = None
        self._is_asked = self._stopped = False

    def part(self) -> None:
        """Resume the process for its last message. What it does in its last second does not count."""
        child, stopped = self._child, self._stopped
        self.leave()
        if child is not None and stopped:
            child.resume()

    def ended(self) -> None:
        """Allow the bot to read that its game has ended."""
        self._allowed += _AFTER_END

    # -- a question

    def asked(self) -> int:
        """Note that the bot is about to be asked; return the clock's time in ns from which on it is."""
        monitor = self.monitor
        now = monitor.clock.now()
        if now >= monitor.due:
            monitor.look(now)
            now = monitor.clock.now()
        if self._stopped and self._child is not None:
            self._child.resume()
            self._stopped = False
            now = monitor.clock.now()
        self._asked_at = monitor.question_at = now
        self._is_asked = True
        return now

    def answered(self, at: int, waited: int) -> None:
        """Note the answer, at the clock's time `at`; for `waited` ns the bot had no processor."""
        self._asked += at - self._asked_at - waited
        self._allowed += _AFTER_ANSWER
        self._is_asked = False
        self._has_answered = True
        if self.suspended:
            self._suspend()

    def _suspend(self) -> None:
        if self._child is not None:
            self._child.suspend()
            self._stopped = True

    # -- what it used

    def look(self, now: int, *, first: bool) -> None:
        """Read what the bot has used; end it if it has too much memory, suspend it again if somebody resumed it.

        `first` is True at the first look after a question.
        """
        child = self._child
        if child is None:
            return
        used = child.cpu_ns()
        if self._stopped and used - self._looked > _RESUMED:
            self._suspend()
        if not self._is_asked and child.newborn_at_work():
            self._hidden += _NEWBORN
        self._looked = used
        if first:
            self._marked = used
        child.watch_memory(now, answered=self._has_answered)
        self._has_answered = False

    def used_since_look(self) -> int:
        """Return the processor time since the last look, in ns."""
        return 0 if self._child is None else self._child.cpu_ns() - self._looked

    def used_since_question(self) -> int:
        """Return the processor time since the first look after the last question, in ns."""
        return 0 if self._child is None else self._child.cpu_ns() - self._marked

    def take_pondering(self) -> Pondering:
        """Return what the bot did out of turn since the last call. What is less than a ms is kept for the next one."""
        if self.monitor.clock.now() - self._since >= SHORTEST:
            self._settle()
        ms = (self._pondered - self._reported) // _MS
        self._reported += ms * _MS
        return Pondering(ms, self.suspended)

    def _settle(self) -> None:
        """Compare what the process has used with the time that it was asked, and begin the next comparison."""
        if self._child is None:
            return
        now = self.monitor.clock.now()
        if self._is_asked:  # it failed; its last question counts in full
            self._asked += now - self._asked_at
        used = self._child.cpu_ns()
        pondered = max(0, used - self._used - self._asked * self.cores)
        allowed = self._allowed + (now - self._since) // _SHARE
        self._pondered += pondered
        self._above = max(0, self._above + pondered + self._hidden - allowed)
        if self._above > BURST:
            self.monitor.known_ponderers.add(self._bot)
        self._begin_window(now, used)
