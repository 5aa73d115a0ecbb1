"""The right to play on a database, held by one process at a time and given back even by its death."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from referee.errors import DatabaseBusyError, DatabaseError

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
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.truncate(self._descriptor, 0)
            os.pwrite(self._descriptor, b"%d\n" % os.getpid(), 0)
        except OSError as error:
            holder = os.pread(self._descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            if not isinstance(error, BlockingIOError):
                raise DatabaseError(f"{database} cannot be played on: its lock {path}: {error.strerror}") from None
            who = f" (pid {holder})" if holder.isdigit() else ""
            raise DatabaseBusyError(
                f"another referee{who} is playing on {database}: wait for it, or play on another with --db"
            ) from None
        _held.add(self._descriptor)

    def release(self) -> None:
        """Give the lock back; a second call does nothing."""
        if self._descriptor in _held:
            _held.remove(self._descriptor)
            os.close(self._descriptor)
