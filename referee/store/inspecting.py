"""What is read of a database to survey it, to check it, to copy it and to join it with another."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from referee import outputs
from referee.errors import InputError, RefereeError
from referee.record import Bot, LineUp
from referee.store import columns, copying
from referee.store.copying import Progress
from referee.store.database import check_place, connect, decoding, plain_errors
from referee.store.reading import Reader
from referee.store.schema import VERSIONS
from referee.store.stored import Stored

_FINDINGS = 100
"""Where SQLite stops looking."""


class RoundCount(NamedTuple):
    """What there is of a round: its games, and the faults in them; when it was opened and closed, ISO 8601 in UTC."""

    games: int
    faults: int
    opened: str | None
    closed: str | None


class Saved(NamedTuple):
    """A bot with what it says of itself; `saved` is greater for those saved later, 0 where it never was."""

    bot: Bot
    labels: Mapping[str, str]
    saved: int


class Inspector(Reader):
    """What `Reader` has no need of. Every method may raise DatabaseError."""

    def versions(self) -> dict[str, int]:
        """What the database was made for: an older one is not opened before it is brought up to date."""
        return dict(VERSIONS)

    def line_up_count(self) -> int:
        """How many line-ups have met."""
        with decoding(self.path):
            return int(self._db.execute("SELECT count(*) FROM line_ups").fetchone()[0])

    def sizes(self) -> tuple[int, int]:
        """Bytes of the file, and of the log beside it."""
        file = self.path.resolve()
        log = file.with_name(file.name + "-wal")
        found = [0, 0]
        for number, path in enumerate((file, log)):
            with suppress(OSError):
                found[number] = path.stat().st_size
        return found[0], found[1]

    def round_counts(self) -> dict[int, RoundCount]:
        """By number, what there is of each round, also of one that was never opened."""
        counts = "SELECT round, count(*), sum(faults) FROM games GROUP BY round"
        with decoding(self.path):
            games = {
                columns.number(number): (many, columns.number(faults))
                for number, many, faults in self._db.execute(counts)
            }
            times = {
                columns.number(number): (columns.time(opened), None if closed is None else columns.time(closed))
                for number, opened, closed in self._db.execute("SELECT round, opened, closed FROM rounds")
            }
            return {
                number: RoundCount(*games.get(number, (0, 0)), *times.get(number, (None, None)))
                for number in sorted(games.keys() | times.keys())
            }

    def saved_bots(self) -> list[Saved]:
        """All bots, by name and hash."""
        query = "SELECT name, hash, labels, saved FROM bots ORDER BY name, hash"
        with decoding(self.path):
            return [
                Saved(columns.bot(name, content), columns.labels(labels), columns.number(saved))
                for name, content, labels, saved in self._db.execute(query)
            ]

    def games(self, of_round: int) -> Iterator[Stored]:
        """The games of a round, a line-up after the other, unchecked: any column may hold anything.

        A line-up or a record that is missing is empty.
        """
        query = (
            "SELECT line_up, game_id, deal, rotation, seats, reason, places, forfeited, faults, decisions, held,"
            " coalesce(packed, x'') FROM games LEFT JOIN records USING (record) WHERE round = ?"
        )
        with decoding(self.path):
            names: dict[Any, LineUp] = {number: line_up for line_up, number in self._ids.line_ups.items()}
            for line_up, game_id, *columns in self._db.execute(query, (of_round,)):
                yield Stored(of_round, game_id, names.get(line_up, ()), *columns)

    def game(self, line_up: LineUp, deal: int, rotation: int) -> Stored | None:
        """The game that stands there; None where there is none."""
        query = (
            "SELECT round, game_id, deal, rotation, seats, reason, places, forfeited, faults, decisions, held,"
            " packed FROM games JOIN records USING (record) WHERE line_up = ? AND deal = ? AND rotation = ?"
        )
        with decoding(self.path):
            row = self._db.execute(query, (self._ids.line_ups.get(line_up), deal, rotation)).fetchone()
        return None if row is None else Stored(row[0], row[1], line_up, *row[2:])

    def unreadable(self) -> Iterator[str]:
        """Yield a sentence for each part that a command would refuse to read, except the games' records."""
        said = set()
        for read in (
            *(self.saved_bots, self.bots, self.current_bots, self.rounds, self.round_counts, self.counts),
            *(self.played, self.results, self.fault_counts, self.held),
        ):
            try:
                deque(read(), maxlen=0)
            except RefereeError as error:
                if str(error) not in said:
                    said.add(str(error))
                    yield str(error)

    def damage(self) -> Iterator[str]:
        """What SQLite itself finds wrong, one sentence each: in the file, and in what refers to what."""
        with plain_errors(self.path):
            for (text,) in self._db.execute(f"PRAGMA integrity_check({_FINDINGS})"):
                yield from (
                    f"the file: {line}" for line in str(text).splitlines() if line != "ok" and line[:3] != "***"
                )
            missing = Counter((row[0], row[2]) for row in self._db.execute("PRAGMA foreign_key_check"))
            for (table, other), many in sorted(missing.items()):
                yield f"the file: {many} of {table} name one of {other} that is missing"
            lost = "SELECT count(*) FROM records WHERE record NOT IN (SELECT record FROM games)"
            if many := self._db.execute(lost).fetchone()[0]:
                yield f"the file: {many} record{'' if many == 1 else 's'} without a game"

    def back_up(self, target: Path, *, force: bool = False, progress: Progress | None = None) -> None:
        """Copy the moment of this store's opening to `target`, whole or not at all, while others may write.

        Raises InputError: also where `target` exists and `force` is not given, and where it is a database with anything
        that is not in this one.
        """
        copying.back_up(self._db, target, check=lambda: self._check_copy(target, force=force), progress=progress)

    def _check_copy(self, target: Path, *, force: bool) -> None:
        outputs.check_never(target, reads=[self.path])
        if not target.exists():
            return
        if not target.is_file():
            raise InputError(f"{target} is not an ordinary file: name another")
        if not force:
            raise InputError(f"{target} already exists: name another file, or replace it with --force")
        if outputs.is_database(target) and not self._has_all_of(target):
            raise InputError(f"{target} is a database with rounds or games that {self.path} lacks: name another file")

    def _has_all_of(self, other: Path) -> bool:
        """True if all rounds and games of the database `other` are here, as those of an older copy are."""
        check_place(other, missing_ok=False)
        with closing(connect(other)) as db:
            copy = Reader(other, db)
            here = {one.commitment for one in self.rounds()}
            played = self.played()
            return all(one.commitment in here for one in copy.rounds()) and all(
                frozenset(deals) <= frozenset(played.get(line_up, {}).get(rotation, ()))
                for line_up, rotations in copy.played().items()
                for rotation, deals in rotations.items()
            )
