"""The right to play on a database, held by one process at a time and given back even by its death."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from referee.errors import DatabaseBusyError, DatabaseError

_GRACE = 1.0
"""Seconds for which the lock of a dead holder is waited for."""
_held: set[int] = set()


def _let_go_in_child() -> None:
    """A forked child closes its copies, or it would keep the lock after its parent's death."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_let_go_in_child)


class Claim:
    """An exclusive lock (flock, closed on exec) on `<database>.lock`, which also names the holder's pid.

    The file stays when the lock goes: removing it would let two processes lock two files of one name.
    """

    def __init__(self, database: Path) -> None:
        """Take the lock. Raises DatabaseBusyError where another has it, DatabaseError where there can be none."""
        file = database.resolve()
        path = file.with_name(file.name + ".lock")
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._descriptor = os.open(path, flags, 0o644)
        except OSError as error:
            raise DatabaseError(f"{database} cannot be played on: its lock {path}: {error.strerror}") from None
        try:
            self._lock()
            os.truncate(self._descriptor, 0)
            os.pwrite(self._descriptor, b"%d\n" % os.getpid(), 0)
        except OSError as error:
            holder = self._holder()
            os.close(self._descriptor)
            if not isinstance(error, BlockingIOError):
                raise DatabaseError(f"{database} cannot be played on: its lock {path}: {error.strerror}") from None
            who = f" (pid {holder})" if holder else ""
            why = f"another referee{who} is playing on {database}: wait for it, or play on another with --db"
            raise DatabaseBusyError(why) from None
        _held.add(self._descriptor)

    def _lock(self) -> None:
        """Take the lock; wait for it a moment where its holder is dead.

        A program that the holder was just starting when it was killed has the lock until its exec is over.
        """
        until = time.monotonic() + _GRACE
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                holder = self._holder()
                if holder is None or _lives(holder) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _holder(self) -> int | None:
        written = os.pread(self._descriptor, 20, 0).decode("ascii", "replace").strip()
        return int(written) if written.isdecimal() else None

    def release(self) -> None:
        """Give the lock back; a second call does nothing."""
        if self._descriptor in _held:
            _held.remove(self._descriptor)
            os.close(self._descriptor)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
