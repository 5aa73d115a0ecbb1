"""One bot's process: a question in, an answer out by an absolute deadline, and a reason in words where none comes.

One poll loop a question watches stdout, stderr, the process itself and, while something is unwritten, stdin.
Nothing blocks, everything is bounded, and the deadline holds whatever the bot does meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import termios
from enum import Enum, auto
from typing import Protocol

from protocol.codec import MAX_LINE
from referee.bots.process.launcher import Child
from referee.bots.process.pondering import PonderingMonitor
from referee.bots.process.streams import HeadTail
from referee.bots.process.waiting import FIRST, Waiting
from referee.errors import VoidGame
from referee.play import Clock

_READ = 65536
_READ_ANSWER = 4096
"""An answer is short, and a large buffer costs more than the pipe."""
_MS = 1_000_000
_SECOND = 1000 * _MS
OVERSLEPT = 250 * _MS
"""How late the referee may look at a bot past its deadline and still call it the bot's fault, in ns."""
_MOST_WAITING, _LEAST_WAITING = 19, 5 * _SECOND
"""How many times its limit, and at least how many ns, a bot may wait for a processor before its game is void."""
_LAST_READS = 16
"""How often a dead bot's stderr is read: more than the pipe holds, and bounded where somebody else still writes."""
_NO_PIDFD_SLICE = 100
"""Where a process's end cannot be polled for: how often to look, in ms."""


class Tap(Protocol):
    """Hears every byte between the referee and a bot; `at` is the clock's time in ns."""

    def sent(self, data: bytes, at: int) -> None:
        """Bytes written to the bot's stdin."""

    def received(self, data: bytes, at: int) -> None:
        """Bytes read from its stdout."""

    def logged(self, data: bytes, at: int) -> None:
        """Bytes read from its stderr."""


class NoReply(Enum):
    """Why no line came, or none that counts."""

    DEADLINE = auto()
    LATE = auto()
    GONE = auto()
    TOO_LONG = auto()
    DEAF = auto()


class NoLine(Exception):
    """No line came, and why."""

    def __init__(self, why: NoReply) -> None:
        self.why = why
        super().__init__(why.name)


class RefereeLate(VoidGame):
    """The referee looked so late, at the clock's time `at`, that it cannot tell whether `answered` was in time."""

    def __init__(self, deadline: int, at: int, *, answered: bool) -> None:
        self.deadline, self.at, self.answered = deadline, at, answered
        late = (at - deadline) // _MS
        super().__init__(f"the referee looked {late} ms late: this machine is too busy, or was suspended")


class KeptWaiting(RefereeLate):
    """A bot got no processor, or too little of one, for far longer than its limit: for `passed` ns."""

    def __init__(self, deadline: int, at: int, passed: int) -> None:
        super().__init__(deadline, at, answered=False)
        self.passed = passed
        self.args = (
            f"the bot that was asked got too little of a processor in {passed // _MS} ms: other programs keep this "
            f"machine busy (load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)",
        )


class BotProcess:
    """A running bot. `exchange` is all that the game needs; the rest is for the beginning, the end and the blame.

    `monitor` watches the whole table while an answer is awaited.
    """

    def __init__(
        self, child: Child, clock: Clock, tap: Tap | None = None, monitor: PonderingMonitor | None = None
    ) -> None:
        self.child = child
        self._monitor = monitor
        self.stderr = HeadTail(child.stderr_kept)
        self.sent = b""
        """The last bytes that were to be sent."""
        self.answered = b""
        """The last valid answer, set by the code that judges lines."""
        self._clock = clock
        self.tap = tap
        """Hears every byte."""
        self.answered_at = 0
        """When the last exchange was over, in the clock's ns."""
        self.waited = 0
        """What of the last exchange the bot waited for a processor that others used, in ns."""
        self._waiting = Waiting(child, watched=monitor is not None)
        self._sent_at = 0
        self._overdue = False
        self.inbox = bytearray()
        """What the bot said after the last line that was taken, so far as it was read."""
        self._outbox = b""
        self._deaf = False
        self._dismissed = False
        self._stdout_open = True
        self._slice = None if child.pidfd is not None else _NO_PIDFD_SLICE
        self._only_an_answer = [(child.stdout, select.POLLIN)]
        self._poll = select.poll()
        self._poll.register(child.stdout, select.POLLIN)
        self._poll.register(child.stderr, select.POLLIN)
        self._poll.register(child.stdin, 0)  # reports at once when the bot closes its end
        if child.pidfd is not None:
            self._poll.register(child.pidfd, select.POLLIN)

    # -- the game

    def exchange(self, data: bytes, deadline: int | None) -> bytes:
        """Send `data` and return the next line from the bot, without its LF.

        `deadline` is the clock's time in ns, None for no limit; it moves by what the bot waits for a processor. Raises
        NoLine, and RefereeLate if the referee looked so late that it cannot tell, or the bot waited for too long. What
        follows the line stays in `inbox`.
        """
        silence: NoLine | None = None
        self.waited = 0
        self._overdue = False
        line = self._exchange_at_once(data, deadline)
        if line is None:
            try:
                line = self._await_line(deadline)
            except NoLine as no_line:
                silence = no_line
        now = self.answered_at = self._clock.now()
        if deadline is not None and now - deadline - self.waited > OVERSLEPT and not self._overdue:
            raise RefereeLate(deadline + self.waited, now, answered=line is not None)
        if silence is not None:
            raise silence
        assert line is not None
        return line

    def _exchange_at_once(self, data: bytes, deadline: int | None) -> bytes | None:
        """Send `data`, and return the answer in the usual case: the pipe takes it whole, one read brings one line.

        Without a call more than that needs, since every decision passes here. None: what was read is in `inbox`.
        """
        if self._outbox or self.inbox or self._deaf or self.tap is not None or deadline is None:
            self._sent_at = self._clock.now()
            self.send(data)
            return None
        self.sent = data
        child = self.child
        try:
            written = os.write(child.stdin, data)
        except OSError:
            written = 0
        if written < len(data):
            self._send_later(data[written:])
            return None
        now = self._sent_at = self._clock.now()
        left = min(deadline - now, FIRST)
        if left <= 0 or self._poll.poll(left / _MS) != self._only_an_answer:
            return None
        try:
            chunk = os.read(child.stdout, _READ_ANSWER)
        except BlockingIOError:  # a bot can take back what it wrote
            return None
        if chunk.find(b"\n") == len(chunk) - 1 >= 0:
            return chunk[:-1]
        self._take(chunk)
        return None

    def send(self, data: bytes) -> None:
        """Write `data`, as much of it as the pipe takes now; the rest goes out during the next exchange."""
        self.sent = data
        if self._outbox:
            self._outbox += data
            return
        written = self._write(data)
        if written < len(data):
            self._send_later(data[written:])

    def _send_later(self, rest: bytes) -> None:
        self._outbox = rest
        if not self._deaf:
            self._poll.modify(self.child.stdin, select.POLLOUT)

    @property
    def deaf(self) -> bool:
        """True if the bot has closed its stdin."""
        return self._deaf

    def unasked(self) -> bool:
        """True if the process has ended or said something since its last answer; for the time between games."""
        with contextlib.suppress(NoLine):
            self._turn(0)
            return bool(self.inbox) or not self._stdout_open
        return True

    def _write(self, data: bytes) -> int:
        if self._deaf:
            return 0
        try:
            written = os.write(self.child.stdin, data)
        except BlockingIOError:
            return 0
        except OSError:
            self._go_deaf()
            return 0
        if self.tap is not None:
            self.tap.sent(data[:written], self._clock.now())
        return written

    def _await_line(self, deadline: int | None) -> bytes:
        self._waiting.ask(self._sent_at)
        while True:
            line = self._line()
            if line is not None and self._is_in_time(line, deadline):
                return line
            if not self._stdout_open:
                raise NoLine(NoReply.GONE)
            if deadline is None and self._unheard():
                # It will never hear the question, and without a limit nothing else would end the wait.
                deadline = self._clock.now() + _SECOND
            now = self._clock.now()
            left = None if deadline is None else self._left(deadline, now)
            if left is not None and left <= 0:
                assert deadline is not None
                line = self._last_look(deadline, now)
                if line is not None:
                    return line
                left = self._waiting.due - now
            monitor = self._monitor
            if monitor is not None:
                if now >= monitor.due:
                    monitor.look(now)
                until_look = monitor.due - now
                left = until_look if left is None else min(left, until_look)
            self._turn(self._timeout(left))

    def _left(self, deadline: int, now: int) -> int:
        """The time until the deadline or the next look at the bot, in ns, not above 0 once the deadline has passed."""
        waiting = self._waiting
        if now >= waiting.due or (now >= deadline + self.waited and not self._overdue):
            waiting.look(now)
            self.waited = waiting.waited
        left = deadline + self.waited - now
        most = max(_MOST_WAITING * (deadline - self._sent_at), _LEAST_WAITING)
        if now - deadline > most and (left > 0 or self._overdue):
            raise KeptWaiting(deadline, now, now - self._sent_at)
        self._overdue = self._overdue and left <= 0
        return left if left <= 0 else min(left, waiting.due - now)

    def _is_in_time(self, line: bytes, deadline: int | None) -> bool:
        """True, unless the deadline had passed when the referee last looked. Raises NoLine if the line is too late."""
        if deadline is None:
            return True
        now = self._clock.now()
        if self._overdue or self._waiting.is_behind(now):
            self._waiting.look(now)
            self.waited = self._waiting.waited
        if not self._overdue or now <= deadline + self.waited:
            return True
        self.inbox[:0] = line + b"\n"
        raise NoLine(NoReply.LATE)

    def _unheard(self) -> bool:
        """True if the bot closed its stdin and left something of the question unread."""
        if not self._deaf or self._outbox:
            return self._deaf
        try:
            return fcntl.ioctl(self.child.stdin, termios.FIONREAD, b"\0\0\0\0") != b"\0\0\0\0"
        except OSError:
            return True

    def _timeout(self, left: int | None) -> float | None:
        ms = None if left is None else left / _MS
        if self._slice is None:
            return ms
        return self._slice if ms is None else min(ms, self._slice)

    def _last_look(self, deadline: int, now: int) -> bytes | None:
        """The line that is there at the deadline; None if the bot may still be waiting for a processor."""
        if not self._overdue:
            self._turn(0)
            line = self._line()
            if line is not None:
                return line
            if not self._stdout_open:
                raise NoLine(NoReply.GONE)
        overslept = now - deadline - self.waited > OVERSLEPT and not self._overdue
        if overslept or not self._waiting.cannot_tell():
            raise NoLine(NoReply.DEAF if self._outbox or self._unheard() else NoReply.DEADLINE)
        self._overdue = True
        return None

    def _line(self) -> bytes | None:
        end = self.inbox.find(b"\n", 0, MAX_LINE + 1)
        if end < 0:
            if len(self.inbox) > MAX_LINE:
                raise NoLine(NoReply.TOO_LONG)
            return None
        line = bytes(self.inbox[:end])
        del self.inbox[: end + 1]
        return line

    def _turn(self, timeout: float | None) -> None:
        """Wait for something to happen, for `timeout` ms at most (None: for ever), and take it in."""
        ended = False
        for descriptor, event in self._poll.poll(timeout):
            if descriptor == self.child.stdout:
                self._take(self._read(descriptor))
            elif descriptor == self.child.stderr:
                self._take_log(self._read(descriptor))
            elif descriptor == self.child.stdin:
                self._flush(event)
            else:
                ended = True
        if ended or (self._slice is not None and self.child.status() is not None):
            self._drain()

    def _flush(self, event: int) -> None:
        if event != select.POLLOUT:
            self._go_deaf()
            return
        self._outbox = self._outbox[self._write(self._outbox) :]
        if not self._outbox and not self._deaf:
            self._poll.modify(self.child.stdin, 0)

    def _go_deaf(self) -> None:
        if not self._deaf:
            self._deaf = True
            self._poll.unregister(self.child.stdin)

    def _read(self, descriptor: int) -> bytes | None:
        """What is there: None for nothing, b"" for the end."""
        try:
            return os.read(descriptor, _READ)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _take(self, chunk: bytes | None) -> None:
        if chunk == b"" and self._stdout_open:
            self._stdout_open = False
            self._poll.unregister(self.child.stdout)
        elif chunk:
            self.inbox += chunk
            if self.tap is not None:
                self.tap.received(chunk, self._clock.now())

    def _take_log(self, chunk: bytes | None) -> None:
        if chunk == b"":
            with contextlib.suppress(KeyError):
                self._poll.unregister(self.child.stderr)
        elif chunk:
            self.stderr.add(chunk)
            if self.tap is not None:
                self.tap.logged(chunk, self._clock.now())

    def _drain(self) -> None:
        """The process has ended: take what it had written in time. Another holder of its pipes is not the bot."""
        if self.child.pidfd is not None:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self.child.pidfd)
        while self._stdout_open and len(self.inbox) <= MAX_LINE:
            chunk = self._read(self.child.stdout)
            if chunk is None:
                self._take(b"")
            else:
                self._take(chunk)
        for _ in range(_LAST_READS):
            chunk = self._read(self.child.stderr)
            if not chunk:
                break
            self._take_log(chunk)
        if self._stdout_open:
            self._take(b"")

    # -- the end

    def say_goodbye(self, farewell: bytes) -> None:
        """Send a last message, so far as the pipe takes it, and close stdin; harmless a second time."""
        if self._dismissed:
            return
        self._dismissed = True
        self.send(farewell)
        self._go_deaf()
        self.child.close_stdin()

    def stop(self, grace: int) -> int:
        """Give the process `grace` ns to exit, then end its whole tree.

        Returns its exit status, which is its own (not our signal's) where it exited in time.
        """
        if self.settle(grace) is not None:
            self._drain()
        return self.child.end()

    def settle(self, grace: int) -> int | None:
        """Wait up to `grace` ns for the process to end, and return its exit status, None where it lives on."""
        until = self._clock.now() + grace
        while self.child.status() is None and (left := until - self._clock.now()) > 0:
            self._turn(self._timeout(left))
            del self.inbox[MAX_LINE:]
        return self.child.status()
