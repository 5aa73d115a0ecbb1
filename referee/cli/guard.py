"""A guard for commands that start bots in their own process: whichever process is killed, no bot stays.

The process that the user started becomes the guard, and its forked child does the work. Each ends what the other leaves
when that is killed. The guard passes on the signals that were sent to it alone.
"""

from __future__ import annotations

import fcntl
import os
import signal
import threading
from collections.abc import Sequence

from referee.bots.process import system

GUARDED = frozenset({"match", "check", "build", "replay-bot"})
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCONT)
_SI_KERNEL = 128
"""The `si_code` of a signal from a terminal, which the whole process group gets."""


def guard(words: Sequence[str]) -> None:
    """Return in a guarded process if the command in `words` needs a guard; return in this one otherwise.

    To be called before any other thread exists.
    """
    command = next((word for word in words if not word.startswith("-")), "")
    if command not in GUARDED or not system.become_subreaper():
        return
    spared = system.children()
    reading, writing = (_above_standard(end) for end in os.pipe())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    guard_pid = os.getpid()
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(writing)
        system.guard = guard_pid
        system.become_subreaper()
        threading.Thread(target=_end_with_guard, args=(reading,), daemon=True).start()
        return
    os.close(reading)
    status = _wait(child)
    system.end_descendants(spared)
    os._exit(status if status >= 0 else _killed(-status))


def _above_standard(descriptor: int) -> int:
    """Move a descriptor above the three standard ones, any of which may be closed and has to stay so."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


def _wait(child: int) -> int:
    """Return how the child ended, negative for a signal, and pass signals on to it until then."""
    passed_on = {number for number in _PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, passed_on)
    while True:
        found = signal.sigwaitinfo({signal.SIGCHLD, *passed_on})
        if found.si_signo == signal.SIGCHLD:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
        elif found.si_code != _SI_KERNEL:
            os.kill(child, found.si_signo)


def _end_with_guard(pipe: int) -> None:
    """End everything when the guard is gone, since the only other end of the pipe is its own."""
    os.read(pipe, 1)
    from referee.bots.sandbox.last import end_everything

    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):  # what is said of bots that are being ended is for nobody
        os.dup2(nowhere, descriptor)
    end_everything()


def _killed(number: int) -> int:
    """Tidy up after a child that was killed by a signal, say so, and return 128 + its number."""
    from referee.bots.sandbox import cgroup_leavings
    from referee.cli.exit_codes import say

    cgroup_leavings.sweep_everywhere()
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    memory = ", perhaps because memory ran out" if number == signal.SIGKILL else ""
    say(f"the process that did the work was killed by {name}{memory}: run it again")
    return 128 + number
