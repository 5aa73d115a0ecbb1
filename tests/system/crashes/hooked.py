"""`referee` that notes what it has committed and kills itself where it is told: `hooked.py LOG WHERE WORDS…`.

LOG gets one line for each commit: the ids of its games, on the disk before anything else happens. WHERE is `never`, or
`before:N` or `after:N` the Nth commit (which may be that of the tables, of the settings, of games), `games:N` after the Nth that has games, `closing:N` before
a database is closed for the Nth time, `renaming:N` before the Nth rename of any file.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from referee.cli.main import main
from referee.store import Store, Stored, database
from referee.tournament.engine import run

_passed: Counter[str] = Counter()
_in_hand: list[str] = []


def pass_by(moment: str) -> None:
    """Die here if this is the moment."""
    _passed[moment] += 1
    if f"{moment}:{_passed[moment]}" == _where:
        os.kill(os.getpid(), signal.SIGKILL)


class Connection(database.Connection):
    """A connection whose commits are counted."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """See `sqlite3.Connection`."""
        if not self.in_transaction or not sql.lstrip().upper().startswith(("COMMIT", "END")):
            return super().execute(sql, parameters)
        with self._counted():
            return super().execute(sql, parameters)

    def commit(self) -> None:
        """See `sqlite3.Connection`."""
        with self._counted() if self.in_transaction else nullcontext():
            super().commit()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        pass_by("before")
        yield
        note()
        pass_by("after")
        if _in_hand:
            pass_by("games")

    def close(self) -> None:
        """See `sqlite3.Connection`."""
        pass_by("closing")
        super().close()


def note() -> None:
    """The games in hand are on the disk."""
    os.write(_log, json.dumps(_in_hand).encode() + b"\n")
    os.fsync(_log)


def hook() -> None:
    """Have all of this called."""
    connect, add = sqlite3.connect, Store.add

    def noting_add(store: Store, games: Sequence[Stored]) -> int:
        _in_hand[:] = [game.game_id for game in games]
        try:
            return add(store, games)
        finally:
            _in_hand.clear()

    if _where != "never":  # so that there are several commits in few games
        assert run.COMMIT_EVERY > 0
        run.COMMIT_EVERY = 0
    sqlite3.connect = lambda *args, **how: connect(*args, **how | {"factory": Connection})  # type: ignore[assignment]
    Store.add = noting_add  # type: ignore[method-assign]
    sys.addaudithook(lambda event, _: pass_by("renaming") if event == "os.rename" else None)


if __name__ == "__main__":
    _log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_APPEND)
    _where = sys.argv.pop(1)
    hook()
    main()
