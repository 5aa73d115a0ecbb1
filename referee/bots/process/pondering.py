"""Nobody thinks in others' time: what the bots of a table use of the processors while they are not being asked.

Stopping every bot after every answer would nearly double the time of a question, so only those are stopped that are
caught. All processes of the table are looked at from time to time, and while an answer is waited for; and from some of
its answers to the next question, which nobody can guess, the clock of a bot's busiest process is read, from all of them
once it is under suspicion. A bot that used too much out of turn is restless: from then on all of its processes are
stopped after its answers and let go on before its questions.

What is counted is a lower bound: time that may have been used in turn is never held against a bot.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from referee.bots.process.launcher import Child
from referee.bots.process.process_group import own_ns
from referee.bots.process.system import cores_of
from referee.play import Clock

_MS = 1_000_000
EVERY = 20 * _MS
"""How long after a look at the table the next one is due, in ns; later where looking takes long."""
_COSTS, _LATEST = 100, 100 * _MS
"""A look is followed by so many times its processor time without another, up to this."""
_SOON, _COSTS_SOON = 2 * _MS, 20
"""The same where a bot stirs, so that it is soon caught or cleared."""
FIRST = 5 * _MS
"""How long an answer is waited for before the first look, in ns."""
BURST = 5 * _MS
"""What a bot may use out of turn at once, in ns, above what follows."""
_SHARE = 50
"""One part in so many of the time that passes may be used out of turn."""
_AFTER_ANSWER, _AFTER_END = _MS // 10, _MS
"""What a bot may use after an answer, to come back to its next read, and for hearing `end`, in ns."""
_NOISE = _MS
"""So much in processes other than the busiest one, between two looks, is more than what looking itself gets wrong."""
_MOST_CHANGES = 3
"""How often another process may be the busiest one before all are read at each question."""
_SAMPLED = 32
"""Of 256 answers, after how many the time until the next question is measured."""
_SUSPICIOUS = _MS // 2
"""What a bot under no suspicion uses between an answer and its next question, in ns."""
_NEWBORN = 2 * _MS
"""What a process is taken to stand for that is found at work out of turn and was born since the last look, in ns:
others like it may have come and gone unseen."""
_STIRRING = _MS // 10
"""What stopped processes cannot use between two looks: somebody let them go on."""


class _Since(Enum):
    """What a bot has been doing ever since its busiest process's clock was read."""

    IDLE = auto()
    ASKED = auto()
    BOTH = auto()


_IDLE, _ASKED, _BOTH = _Since


def dice() -> Iterator[bool]:
    """Whether to measure, each time anew, so that nobody can tell beforehand."""
    while True:
        for byte in os.urandom(4096):
            yield byte < _SAMPLED


class OutOfTurn(NamedTuple):
    """What a seat did while it was not asked: ms of processor time, and whether it had to be stopped for it."""

    cpu_ms: int
    held: bool


class Weight(NamedTuple):
    """Who used most of a table's processors while the referee could not run: `used` of `whole`, in ns."""

    guest: Guest
    used: int
    whole: int


class Turns:
    """The bots of one table, and which of them is being asked; none where nobody is.

    `restless` are the hashes of bots that were caught before, whose processes are stopped from their beginning; it
    grows by those that are caught here. `measure` says after which answers to measure.
    """

    def __init__(
        self, clock: Clock, restless: set[str] | None = None, *, measure: Iterator[bool] | None = None
    ) -> None:
        self.clock = clock
        self.measure = dice() if measure is None else measure
        self.restless = set() if restless is None else restless
        self.asked: Guest | None = None
        self.due = 0
        """When the next look is due, in the clock's ns."""
        self.wake_at = 0
        """When whoever waits for an answer is to call `look_if_due`."""
        self._looked_at = clock.now()
        self._guests: list[Guest] = []

    def guest(self, bot: str) -> Guest:
        """A place at the table for the bot with this hash."""
        guest = Guest(self, bot)
        self._guests.append(guest)
        return guest

    def look_if_due(self, now: int) -> None:
        """Look at the table, if it is time to."""
        if now >= self.wake_at:
            self.look(now)

    def look(self, now: int) -> None:
        """Count what everybody used, and stop who uses it out of turn. Takes about 30 us for each process."""
        began = time.thread_time_ns()
        for guest in self._guests:
            guest.count(now)
            guest.watch_memory(now)
        self._looked_at = now
        cost = time.thread_time_ns() - began
        stirs = any(guest.stirs for guest in self._guests)
        pause = max(_SOON, _COSTS_SOON * cost) if stirs else max(EVERY, _COSTS * cost)
        self.due = self.wake_at = now + min(pause, _LATEST)

    def heaviest(self, now: int, deadline: int, *, answered: bool) -> Weight | None:
        """Whose doing it is that the referee, which was to look at `deadline`, did not run until `now`.

        None where no bot used more than half of the processors since the last look. Nor is it the bot's that is being
        asked if there is an answer of it, and it used no more than it could have before the deadline.
        """
        passed, since = now - self._looked_at, self._looked_at
        found = [Weight(guest, guest.count(now), passed * guest.cores) for guest in self._guests if guest.is_there]
        self._looked_at = now
        heaviest = max(found, key=lambda one: one.used, default=None)
        if heaviest is None or 2 * heaviest.used <= heaviest.whole:
            return None
        may_be_in_time = answered and heaviest.guest is self.asked
        if may_be_in_time and heaviest.used <= (deadline - since) * heaviest.guest.cores:
            return None
        return heaviest


class Guest:
    """One player's processes, one after another: what they use in turn and out of turn.

    `seat` is where it sits in the game in hand; `cores` how many processors its process may run on.
    """

    def __init__(self, turns: Turns, bot: str) -> None:
        self.seat = 0
        self.cores = 1
        self._turns = turns
        self._bot = bot
        self._child: Child | None = None
        self._idle = 0
        """All that was used out of turn, in ns."""
        self._told = 0
        """What of it was told by `out_of_turn`."""
        self._was_held = False
        self._forget()

    def _forget(self) -> None:
        """What belongs to a process, and not to the seat."""
        self._starts = self._has_answered = self._held = self._frozen = self._scattered = self._suspect = False
        self._since = _BOTH
        self._busiest = self._own = self._others = self._changes = 0
        self._turn_began = self._counted_at = self._above = 0
        self._forget_windows()

    def _forget_windows(self) -> None:
        """What belongs to the time since the last count."""
        self._turn_wall = self._turn_own = self._idle_own = self._either_own = self._allowed = 0

    @property
    def stirs(self) -> bool:
        """Whether it used more out of turn than it may in the long run, and is not stopped for it as yet."""
        return self._above > _SUSPICIOUS and not self._held

    @property
    def is_there(self) -> bool:
        """Whether it has a process."""
        return self._child is not None

    # -- a process

    def enter(self, child: Child) -> None:
        """A process was started, and is being asked whether it is ready."""
        self._forget()
        self._child = child
        self.cores = cores_of(child.pid)
        self._held = self._bot in self._turns.restless
        self._was_held |= self._held
        self._starts = True
        self._turns.asked = self
        self._turn_began = self._turns.clock.now()
        self._begin_account(child, self._turn_began)
        self._turns.wake_at = min(self._turns.due, self._turn_began + FIRST)

    def _begin_account(self, child: Child, now: int) -> None:
        self._forget_windows()
        self._counted_at = now
        self._follow(child.busiest() or child.pid, child.cpu_ns())

    def leave(self) -> None:
        """The process has ended, or is to be ended at once."""
        self._child = None
        if self._turns.asked is self:
            self._turns.asked = None

    def part(self) -> None:
        """The process is to hear its last message, and may do with its last second what it likes."""
        child = self._child
        self.leave()
        if child is not None and self._frozen:
            child.thaw()

    # -- a question

    def asked(self) -> int:
        """It is asked now; returns the clock's time in ns from which on it is."""
        turns = self._turns
        now = turns.clock.now()
        if self._scattered:
            self.count(now)
        if self._since is _IDLE:
            before = self._idle_own
            self._read_own()
            self._suspect = self._suspect or self._idle_own - before > _SUSPICIOUS
            self._since = _ASKED
        turns.asked = self
        self._turn_began = now
        if now >= turns.due:
            turns.look(now)
            now = self._turn_began = turns.clock.now()  # the look was not this bot's time
        if self._frozen and self._child is not None:
            self._child.thaw()
            self._frozen = False
            now = self._turn_began = turns.clock.now()
        turns.wake_at = min(turns.due, now + FIRST)
        return now

    def answered(self, at: int) -> None:
        """It has answered, at the clock's time `at`."""
        turns = self._turns
        self._has_answered = True
        if self._suspect or next(turns.measure):
            self._read_own()
            self._since = _IDLE
        else:
            self._since = _BOTH
        self._turn_wall += at - self._turn_began
        self._turn_began = at
        self._allowed += _AFTER_ANSWER
        if self._scattered:
            self.count(at)
        if self._starts and self._child is not None:
            # Only now has it become what it will be: who started it may have been another program, or a script.
            self._starts = False
            self._idle += self._idle_own
            self._begin_account(self._child, at)
            self._since = _IDLE
        turns.asked = None
        if self._held:
            self._freeze()
        if at >= turns.due:
            turns.look(at)

    def ended(self) -> None:
        """It was told of a game's end."""
        self._allowed += _AFTER_END

    # -- the account

    def count(self, now: int) -> int:
        """Count what its processes used since the last time, and stop them if it was too much; returns it in ns."""
        child = self._child
        if child is None:
            return 0
        total = child.cpu_ns()
        own = self._read_own()
        if self._turns.asked is self:
            self._turn_wall += now - self._turn_began
            self._turn_began = now
        self._since = _ASKED if self._turns.asked is self else _IDLE
        # In this order, since a process may work on meanwhile: then the others' part is too small, never too large.
        used_by_others = max(self._others, total - self._own)
        others, self._others = used_by_others - self._others, used_by_others
        used = self._turn_own + self._idle_own + self._either_own + others
        in_turn = max(0, self._turn_wall * self.cores - self._turn_own)
        idle = self._idle_own + max(0, self._either_own + others - in_turn)
        self._idle += idle
        allowed = self._allowed + (now - self._counted_at) // _SHARE
        hidden = _NEWBORN if self._turns.asked is not self and not self._starts and child.newborn_at_work() else 0
        self._above = max(0, self._above + idle + hidden - allowed)
        self._counted_at = now
        if (own is None or others > _NOISE) and not self._starts:
            self._look_elsewhere(child, total, alone=own is None or used - others < _NOISE)
        self._forget_windows()
        self._keep_still(idle)
        return used

    def watch_memory(self, now: int) -> None:
        """End the process if it takes more memory than it may; see `Child`."""
        if self._child is not None:
            self._child.watch_memory(now, answered=self._has_answered)
            self._has_answered = False

    def _read_own(self) -> int | None:
        own = own_ns(self._busiest)
        if own is not None:
            used, self._own = own - self._own, own
            if self._since is _IDLE:
                self._idle_own += used
            elif self._since is _ASKED:
                self._turn_own += used
            else:
                self._either_own += used
        return own

    def _look_elsewhere(self, child: Child, total: int, *, alone: bool) -> None:
        """Follow another process where it alone works; where several do, all are to be read each time."""
        busiest = child.busiest(besides=self._busiest)
        self._changes += 1
        self._scattered = self._scattered or not alone or busiest is None or self._changes > _MOST_CHANGES
        if busiest is not None:
            self._follow(busiest, total)

    def _follow(self, pid: int, total: int) -> None:
        """Read this process's clock at questions and answers from now on; `total` is what all have used."""
        self._busiest = pid
        self._own = own_ns(pid) or 0
        self._others = max(0, total - self._own)

    def _keep_still(self, idle: int) -> None:
        if self._above > BURST and not self._held:
            self._held = self._was_held = True
            self._turns.restless.add(self._bot)
        if self._held and self._turns.asked is not self and (idle > _STIRRING or not self._frozen):
            self._freeze()

    def _freeze(self) -> None:
        if self._child is not None:
            self._child.freeze()
            self._frozen = True

    def out_of_turn(self) -> OutOfTurn:
        """What it did out of turn since the last time it was told, to the ms; what is less waits for the next time."""
        if self._child is not None and self._since is _IDLE:
            self._read_own()
        ms = (self._idle + self._idle_own - self._told) // _MS
        self._told += ms * _MS
        held, self._was_held = self._was_held, self._held
        return OutOfTurn(ms, held)
