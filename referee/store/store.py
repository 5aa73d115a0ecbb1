"""Opening a database, claiming it, and saving games."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from referee.errors import DatabaseError, DatabaseGone
from referee.outputs import check_place
from referee.record import Bot, LineUp
from referee.store import copying, database, schema
from referee.store.claim import Claim
from referee.store.database import plain_errors
from referee.store.inspecting import Inspector, Saved
from referee.store.stored import Stored, StoredRound

_SAVE_BOT = (
    "INSERT INTO bots (name, hash, labels, saved) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (name, hash) DO UPDATE SET labels = excluded.labels, saved = excluded.saved"
)


def open_store(path: str | Path, *, create: bool = False) -> Store:
    """Open a database for reading; with `create`, make it first where it is missing.

    Raises DatabaseError in one sentence: the file is missing, a folder, not a database, another program's, of another
    version, damaged, not readable, or the disk is full.
    """
    path = Path(path)
    database.check_place(path, missing_ok=create)
    if create:
        check_place(path)
        database.create(path)
    return Store(path, database.connect(path))


class Store(Inspector):
    """One open database, made by `open_store`.

    Until `claim` it is a picture of the moment of its opening, whatever others write meanwhile, so that all that
    is read from it fits together. After `claim` it also writes, and reads what it has written. A store belongs to
    the thread that opened it.
    """

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        super().__init__(path, db)
        self._claim: Claim | None = None
        self._file = path.resolve()
        self._opened = database.identity(self._file)
        self._is_known_gone = False
        with plain_errors(path):
            db.execute("PRAGMA query_only = ON")
            db.execute("BEGIN")
            db.execute("SELECT count(*) FROM meta").fetchone()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file and of the claim; a second call does nothing.

        Raises DatabaseGone where a claimed database is not in its place any more: after copying its games to a new
        file, which it names.
        """
        claim, self._claim = self._claim, None
        try:
            if claim is not None and not self._is_in_place():
                raise DatabaseGone(self._rescued())
        finally:
            self._db.close()
            if claim is not None:
                claim.release()

    def _is_in_place(self) -> bool:
        """True if the file that was opened is still found under its name."""
        return self._opened is not None and database.identity(self._file) == self._opened

    def _rescued(self) -> str:
        """Copy the games to a new file, and return a sentence that says so."""
        gone = f"{self.path} was removed, renamed or replaced while it was in use"
        try:
            kept = copying.rescue(self._db, self._file)
        except (DatabaseError, sqlite3.Error) as error:
            return f"{gone}, and its games could not be copied to another file: {error}"
        with suppress(sqlite3.Error):  # a log that stays under the old name would be taken for another database's
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return f"{gone}; all of its games are in {kept}: rename that file to go on"

    def claim(self) -> None:
        """Become the one process that plays on this database, until `close` or this process's end.

        Raises DatabaseBusyError where another process plays on it, InputError where it lies in a bot's folder,
        DatabaseError.
        """
        if self._claim:
            return
        if not database.may_write(self.path):
            raise DatabaseError(f"{self.path} may not be written by this user")
        check_place(self.path)
        database.check_one_name(self.path)
        claim = Claim(self.path)
        try:
            if not self._is_in_place():
                raise DatabaseError(f"{self.path} was replaced just now: run the same again")
            with plain_errors(self.path):
                self._db.execute("COMMIT")
                self._db.execute("PRAGMA query_only = OFF")
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA wal_autocheckpoint = 1000")
                # A writer appends: a larger cache would only grow with the tournament, and is no faster.
                self._db.execute("PRAGMA cache_size = -1000")
                self._db.execute("BEGIN IMMEDIATE")
                schema.renew_versions(self._db)
                self._db.execute("COMMIT")
        except BaseException:
            claim.release()
            raise
        self._claim = claim
        self._known = None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """What is written inside is on the disk after it, or not at all.

        Raises DatabaseGone, once and after the commit, where the file is not in its place any more: what comes in until
        `close` is written all the same, for the copy that `close` makes.
        """
        if not self._claim:
            raise RuntimeError("claim() comes before writing")
        with plain_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                self._known = None
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        if not self._is_known_gone and not self._is_in_place():
            self._is_known_gone = True
            raise DatabaseGone(f"{self.path} was removed, renamed or replaced while it was in use")

    def add(self, games: Sequence[Stored]) -> int:
        """Save games, all of them or none; what this has returned from is on the disk.

        A game that is there already (the same line-up, deal and rotation) is left as it is. Returns how many
        were new.
        """
        try:
            return self._add(games)
        except sqlite3.IntegrityError:
            return self._add(self._new_among(games))

    def _add(self, games: Sequence[Stored]) -> int:
        with self._transaction():
            self._save_line_ups({game.line_up for game in games})
            ids = self._ids.line_ups
            first = self._db.execute("SELECT coalesce(max(record), 0) + 1 FROM records").fetchone()[0]
            rows = [
                (ids[line_up], deal, rotation, of_round, game_id, *ending, record)
                for record, (of_round, game_id, line_up, deal, rotation, *ending, _) in enumerate(games, first)
            ]
            packed = enumerate([game.packed for game in games], first)
            self._db.executemany("INSERT INTO records VALUES (?, ?)", packed)
            self._db.executemany("INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        return len(games)

    def _new_among(self, games: Sequence[Stored]) -> list[Stored]:
        query = "SELECT 1 FROM games WHERE line_up = ? AND deal = ? AND rotation = ?"
        new: dict[tuple[LineUp, int, int], Stored] = {}
        with plain_errors(self.path):
            for game in games:
                at = (self._ids.line_ups.get(game.line_up), game.deal, game.rotation)
                if self._db.execute(query, at).fetchone() is None:
                    new.setdefault((game.line_up, game.deal, game.rotation), game)
        return list(new.values())

    def _save_line_ups(self, line_ups: set[LineUp]) -> None:
        ids = self._ids
        for line_up in line_ups - ids.line_ups.keys():
            for bot in line_up:
                if bot not in ids.bots:
                    ids.bots[bot] = self._insert("INSERT INTO bots (name, hash) VALUES (?, ?)", bot.name, bot.hash)
            members = ",".join(str(ids.bots[bot]) for bot in line_up)
            ids.line_ups[line_up] = self._insert("INSERT INTO line_ups (bots) VALUES (?)", members)

    def _insert(self, statement: str, *values: str) -> int:
        row = self._db.execute(statement, values).lastrowid
        assert row is not None
        return row

    def save_bots(self, labels: Mapping[Bot, Mapping[str, str]]) -> None:
        """Save bots with what they say of themselves (language, author, version), newer words replacing older.

        They are from now on the current ones of their names.
        """
        with self._transaction():
            self._known = None
            saving = self._db.execute("SELECT coalesce(max(saved), 0) + 1 FROM bots").fetchone()[0]
            rows = [(bot.name, bot.hash, json.dumps(dict(words)), saving) for bot, words in labels.items()]
            self._db.executemany(_SAVE_BOT, rows)

    def arrange_bots(self, savings: Sequence[Sequence[Saved]]) -> None:
        """Save bots as if each of these savings had been made in turn, whatever was saved before.

        The words of a bot are those of its last saving. Bots that no saving has stay as they are, older than those.
        """
        order: dict[Bot, tuple[int, Mapping[str, str]]] = {}
        for number, saving in enumerate(savings, 1):
            order |= {bot: (number, labels) for bot, labels, _ in saving}
        numbers = {old: new for new, old in enumerate(sorted({number for number, _ in order.values()}), 1)}
        rows = [(bot.name, bot.hash, json.dumps(dict(words)), numbers[old]) for bot, (old, words) in order.items()]
        with self._transaction():
            self._known = None
            self._db.execute("UPDATE bots SET saved = 0")
            self._db.executemany(_SAVE_BOT, rows)

    def open_round(self, new: StoredRound, when: datetime | None = None) -> None:
        """Save a round before its first game; `when` (aware) is now by default."""
        opened = _utc(when)
        row = (new.number, new.season, new.manifest, new.commitment, new.secret, new.seed, new.sealed, opened)
        ending = (opened if new.closed else None, new.unplayed)
        with self._transaction():
            self._db.execute("INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, *ending))

    def close_round(self, number: int, *, unplayed: int = 0, when: datetime | None = None) -> None:
        """Note that a round is over, though `unplayed` games of it are owed; a second time it changes nothing."""
        statement = "UPDATE rounds SET closed = ?, unplayed = ? WHERE round = ? AND closed IS NULL"
        with self._transaction():
            self._db.execute(statement, (_utc(when), unplayed, number))


def _utc(when: datetime | None) -> str:
    return f"{(when or datetime.now(UTC)).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
