"""How long a bot that is being asked waited for a processor that others used: that time is not its own.

Linux counts for each thread the time in which it was ready to run and another one ran ("run delay", the second number
of `schedstat` in proc(5); Documentation/scheduler/sched-stats.rst). The count grows only when a wait ends, and lacks
what a hypervisor gives to other machines. So a thread that is ready at two looks, and did not get on a processor in
between (the third number), has waited for what it did not use of that time. Else the run delay counts: a thread that
got on a processor may have slept since, and have woken up just before it was looked at.

Nothing is read at a question. The first look comes a few ms later, and most answers come before it. What the referee
was late by then counts as waiting, since it plays on the same processors.

A bot cannot make time for itself. Its threads may wait for each other, but what is counted is never more than the time
since the question less what all of its processes used of their processors meanwhile. So waiting never gives a bot more
of a processor for an answer than its limit.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from referee.bots.process.launcher import Child
from referee.bots.process.system import cores_of, read_proc, stat_of, threads_of

_MS = 1_000_000
FIRST = 5 * _MS
"""How long after its question a bot is first looked at, in ns."""
EVERY = 10 * _MS
"""How long after a look the next one is due, in ns; later where looking takes long."""
_COSTS = 50
"""A look is followed by this many times its own processor time without another."""


class _Thread(NamedTuple):
    """A thread's time on a processor and run delay in ns, how often it got on one, and whether it is ready to run."""

    used: int
    delay: int
    turns: int
    ready: bool


class _Look(NamedTuple):
    """One look at a bot: when, the processor time of all of its processes so far, the processes, their threads."""

    at: int
    used: int
    pids: frozenset[int]
    threads: dict[str, _Thread]


class Waiting:
    """The run delay of a bot's processes, for one question after the other.

    `waited` is what is proven since the question, in ns; `due` is when the next look is, in the clock's ns. `watched`
    says that the bot's processor time is read again and again, so that the last reading stands for the question's time.
    """

    def __init__(self, child: Child, *, watched: bool) -> None:
        self.waited = self.due = 0
        self._child = child
        self._watched = watched
        self._began = self._used_before = self._cores = 0
        self._delay = self._intervals = self._doubtful = 0
        self._last: _Look | None = None
        self._ahead: dict[str, int] = {}
        """By thread: what was counted of a wait that has not ended, in ns."""
        self._just_ready = False

    def ask(self, now: int) -> None:
        """The bot is asked now."""
        self.waited = 0
        self.due = now + FIRST
        self._began = now
        self._last = None
        self._ahead = {}
        self._delay = self._intervals = self._doubtful = 0

    def look(self, now: int) -> None:
        """Count what the bot has waited since the question."""
        began = time.thread_time_ns()
        before, used_before = self._last, self._child.last_cpu_ns
        look = self._last = self._see(now)
        if before is None:
            self._cores = cores_of(self._child.pid)
            # What an unwatched bot used before its first look is not known: perhaps it used all of that time.
            self._began = self._began if self._watched else now
            self._used_before = used_before if self._watched else look.used
            # The referee itself wanted to run, on the same processors, and could not.
            self._delay = max(0, now - self._began - FIRST)
        else:
            self._compare(before, look)
        self.due = now + max(EVERY, _COSTS * (time.thread_time_ns() - began))

    def _see(self, now: int) -> _Look:
        used = self._child.cpu_ns()
        pids = frozenset(self._child.processes())
        threads = {place: seen for pid in pids for place in threads_of(pid) if (seen := _thread(place))}
        return _Look(now, used, pids, threads)

    def _compare(self, before: _Look, now: _Look) -> None:
        both = [(place, before.threads[place], seen) for place, seen in now.threads.items() if place in before.threads]
        # Threads may wait side by side, so only the one that waited longest counts.
        passed = now.at - before.at
        self._delay += max((self._waited(place, old, seen, passed) for place, old, seen in both), default=0)
        self._intervals += 1
        # Where processes are born, others may have come and gone that used the processor uncounted.
        doubtful = not self._child.counts_all and not now.pids <= before.pids
        self._doubtful += doubtful
        own = (now.used - self._used_before) // self._cores
        proven = self._delay * (self._intervals - self._doubtful) // self._intervals
        self.waited = max(self.waited, min(proven, now.at - self._began - own))
        idle = not doubtful and 2 * (now.used - before.used) < passed
        self._just_ready = idle and any(seen.ready and not old.ready for _, old, seen in both)

    def _waited(self, place: str, old: _Thread, new: _Thread, passed: int) -> int:
        """How long a thread waited between two looks."""
        ended, ahead = new.delay - old.delay, self._ahead.pop(place, 0)
        if not (old.ready and new.ready and old.turns == new.turns):
            return max(0, ended - ahead)
        waited = max(0, passed - (new.used - old.used))
        self._ahead[place] = max(0, ahead + waited - ended)
        return waited

    def is_behind(self, now: int) -> bool:
        """True if the last look at this question's bot is so long ago that an answer deserves another one."""
        return self._last is not None and now - self._last.at > FIRST

    def cannot_tell(self) -> bool:
        """True if the bot has to be looked at again before it can be called late."""
        return self._last is None or (bool(self._last.threads) and (not self._intervals or self._just_ready))


def _thread(place: str) -> _Thread | None:
    """What the kernel has counted of a thread; None if it is gone, or the kernel does not count."""
    counts, state = read_proc(f"{place}/schedstat").split(), stat_of(place)
    if len(counts) != 3 or not state:
        return None
    used, delay, turns = map(int, counts)
    return _Thread(used, delay, turns, state[0] == b"R")
