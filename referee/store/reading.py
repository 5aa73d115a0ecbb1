"""Giving back what is saved."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from referee.errors import DatabaseError
from referee.record import Bot, Fault, GameRecord, GameResult, LineUp
from referee.store import columns
from referee.store.database import decoding
from referee.store.stored import Faulted, Held, StoredRound, faulted_of, held_of, results_of, round_of

Deals: TypeAlias = range | frozenset[int]
"""Some deals of a line-up: a range where they have no gap, which is nearly always."""


class Counts(NamedTuple):
    """How much there is in a database."""

    games: int
    line_ups: int
    bots: int
    faults: int
    decisions: int


class Ids(NamedTuple):
    """The rows of bots and of line-ups."""

    bots: dict[Bot, int]
    line_ups: dict[LineUp, int]


def schedule_key(line_up: LineUp) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """The order of line-ups: by players, then by the bots' names, then by their hashes."""
    return len(line_up), tuple(bot.name for bot in line_up), tuple(bot.hash for bot in line_up)


_LOOKS = 64
"""How many records are looked at for what nearly all of them share: a million take minutes to unpack."""
_WHOLE = " AND deal IN (SELECT deal FROM games WHERE line_up = ?1 GROUP BY deal HAVING count(*) = ?2)"


class Reader:
    """What can be read from an open database. Every method may raise DatabaseError.

    All games come in schedule order: by `schedule_key` of their line-up, then by deal, then by rotation.
    """

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db
        self._known: Ids | None = None

    @property
    def _ids(self) -> Ids:
        if self._known is None:
            with decoding(self.path):
                self._known = self._read_ids()
        return self._known

    def _read_ids(self) -> Ids:
        rows = self._db.execute("SELECT bot, name, hash FROM bots")
        by_id = {row: columns.bot(name, content) for row, name, content in rows}
        line_ups = {
            columns.line_up(members, by_id): line_up
            for line_up, members in self._db.execute("SELECT line_up, bots FROM line_ups")
        }
        return Ids({bot: number for number, bot in by_id.items()}, line_ups)

    def _in_order(self, players: int | None = None) -> list[tuple[LineUp, int]]:
        chosen = [pair for pair in self._ids.line_ups.items() if players in (None, len(pair[0]))]
        return sorted(chosen, key=lambda pair: schedule_key(pair[0]))

    def rounds(self) -> tuple[StoredRound, ...]:
        """The rounds that were opened, oldest first."""
        query = (
            "SELECT round, season, manifest, commitment, secret, seed, sealed, closed IS NOT NULL, unplayed"
            " FROM rounds ORDER BY round"
        )
        with decoding(self.path):
            return tuple(map(round_of, self._db.execute(query)))

    def counts(self) -> Counts:
        """How much there is."""
        query = "SELECT count(*), coalesce(sum(faults), 0), coalesce(sum(decisions), 0) FROM games"
        with decoding(self.path):
            games, faults, decisions = self._db.execute(query).fetchone()
            return Counts(games, len(self._ids.line_ups), len(self._ids.bots), faults, decisions)

    def bots(self) -> dict[Bot, dict[str, str]]:
        """All bots, by name and hash, with what they say of themselves: not to be believed, and to be escaped."""
        with decoding(self.path):
            rows = self._db.execute("SELECT name, hash, labels FROM bots ORDER BY name, hash")
            return {columns.bot(name, content): dict(columns.labels(labels)) for name, content, labels in rows}

    def current_bots(self) -> frozenset[Bot]:
        """The bots as they are now: of each name, whatever its capitals, the version that was saved last."""
        query = (
            "SELECT name, hash FROM bots AS old WHERE NOT EXISTS"
            " (SELECT 1 FROM bots WHERE name = old.name COLLATE NOCASE AND saved > old.saved)"
        )
        with decoding(self.path):
            return frozenset(columns.bot(*row) for row in self._db.execute(query))

    def played(self, of_round: int | None = None) -> dict[LineUp, dict[int, Deals]]:
        """The games (of one round) that are there: by line-up and rotation, the deals."""
        where, values = ("", ()) if of_round is None else (" WHERE round = ?", (of_round,))
        groups = (
            "SELECT line_up, rotation, min(deal), max(deal), count(*) FROM games"  # noqa: S608 - no text of others
            f"{where} GROUP BY line_up, rotation"
        )
        names = {number: line_up for line_up, number in self._ids.line_ups.items()}
        found: defaultdict[LineUp, dict[int, Deals]] = defaultdict(dict)
        with decoding(self.path):
            for number, rotation, first, last, count in self._db.execute(groups, values).fetchall():
                columns.number(rotation)
                whole = range(columns.number(first), columns.number(last) + 1)
                some = whole if count == len(whole) else self._deals(number, rotation, of_round)
                found[names[number]][rotation] = some
        return dict(found)

    def _deals(self, line_up: int, rotation: int, of_round: int | None) -> frozenset[int]:
        query = "SELECT deal FROM games WHERE line_up = ? AND rotation = ? AND coalesce(round = ?, 1)"
        return frozenset(columns.number(deal) for (deal,) in self._db.execute(query, (line_up, rotation, of_round)))

    def results(
        self, players: int | None = None, rounds: Collection[int] | None = None, *, whole_deals: bool = False
    ) -> Iterator[GameResult]:
        """What ratings need of every game (of that many players, of those rounds), without unpacking one.

        With `whole_deals` only of deals that were played in all rotations.
        """
        chosen = "" if rounds is None else f" AND round IN ({','.join(str(int(number)) for number in rounds)})"
        query = (
            "SELECT deal, rotation, seats, reason, places, forfeited FROM games"  # noqa: S608 - numbers only
            f" WHERE line_up = ?1{chosen}{_WHOLE if whole_deals else ''} ORDER BY deal, rotation"
        )
        with decoding(self.path):
            for line_up, number in self._in_order(players):
                values = (number, len(line_up)) if whole_deals else (number,)
                yield from map(results_of(line_up), self._db.execute(query, values))

    def faulted(self, of_round: int) -> Iterator[Faulted]:
        """The games of a round in which somebody was at fault."""
        for number, game in self._faulted():
            if number == of_round:
                yield game

    def fault_counts(self) -> dict[int, Counter[Bot]]:
        """By round, in how many of its games a bot was at fault."""
        found: defaultdict[int, Counter[Bot]] = defaultdict(Counter)
        for number, game in self._faulted():
            found[number].update(game.bots)
        return dict(found)

    def held(self, rounds: Collection[int] | None = None) -> dict[Bot, Held]:
        """Who was held in games (of those rounds): its processes were stopped while others were asked."""
        query = "SELECT line_up, round, seats, held FROM games WHERE held <> ''"
        names = {number: line_up for line_up, number in self._ids.line_ups.items()}
        found: defaultdict[Bot, Held] = defaultdict(lambda: Held(0, 0))
        with decoding(self.path):
            for line_up, number, seats, held in self._db.execute(query):
                if rounds is None or number in rounds:
                    for bot, ms in held_of(names[line_up], seats, held):
                        found[bot] = Held(found[bot].games + 1, found[bot].cpu_ms + ms)
        return dict(found)

    def _faulted(self) -> Iterator[tuple[int, Faulted]]:
        query = "SELECT line_up, deal, rotation, seats, forfeited, round FROM games WHERE faults > 0"
        names = {number: line_up for line_up, number in self._ids.line_ups.items()}
        with decoding(self.path):
            for line_up, deal, rotation, seats, forfeited, number in self._db.execute(query):
                yield columns.number(number), faulted_of(names[line_up], deal, rotation, seats, forfeited)

    def packed(self, players: int | None = None) -> Iterator[bytes]:
        """Every record (of games of that many players) as `GameRecord.pack` made it."""
        query = "SELECT packed FROM games JOIN records USING (record) WHERE line_up = ? ORDER BY deal, rotation"
        with decoding(self.path):
            for _, number in self._in_order(players):
                for (packed,) in self._db.execute(query, (number,)):
                    yield columns.data(packed)

    def records(self, players: int | None = None) -> Iterator[GameRecord]:
        """Every record (of games of that many players)."""
        bots = self._ids.bots.keys()
        for game in map(self._unpacked, self.packed(players)):
            with decoding(self.path):
                if not bots >= set(game.seats):
                    raise LookupError(f"a bot of game {game.game_id!r} is missing")
            yield game

    def _unpacked(self, packed: bytes) -> GameRecord:
        with decoding(self.path):
            return GameRecord.unpack(packed)

    def isolations(self, rounds: Collection[int] | None = None) -> set[str]:
        """How bots were kept apart in games (of these rounds), as records say it, by 64 games evenly among all.

        So a stretch of a 64th of all games is not missed; what is not written down is left out.
        """
        with decoding(self.path):
            last = self._db.execute("SELECT coalesce(max(record), 0) FROM records").fetchone()[0]
            places = sorted({1 + (last - 1) * place // (_LOOKS - 1) for place in range(_LOOKS)})
            query = "SELECT packed FROM records WHERE record >= ? ORDER BY record LIMIT 1"
            found = [row[0] for place in places if (row := self._db.execute(query, (place,)).fetchone())]
        games = map(self._unpacked, found)
        return {game.isolation for game in games if game.isolation and (rounds is None or game.round in rounds)}

    def faults(self) -> Iterator[tuple[GameRecord, Fault]]:
        """Every fault with its game; only games with a fault are unpacked."""
        query = (
            "SELECT packed FROM games JOIN records USING (record)"
            " WHERE line_up = ? AND faults > 0 ORDER BY deal, rotation"
        )
        with decoding(self.path):
            for _, number in self._in_order():
                for (packed,) in self._db.execute(query, (number,)):
                    record = self._unpacked(packed)
                    yield from ((record, fault) for fault in record.faults)

    def record(self, game: str) -> GameRecord:
        """The record of the game with this id, or with the only id that begins so."""
        if not game:
            raise DatabaseError("a game is named by its id or by the beginning of it")
        # No index: it would double the cost of saving a game, and a million ids are looked through in 0.1 s.
        query = "SELECT game_id, record FROM games WHERE substr(game_id, 1, ?) = ? ORDER BY game_id LIMIT 4"
        with decoding(self.path):
            found = self._db.execute(query, (len(game), game)).fetchall()
            exact = [row for row in found if row[0] == game] or found
            if len(exact) != 1:
                raise DatabaseError(self._not_one(game, [columns.game_id(game_id) for game_id, _ in found]))
            row = self._db.execute("SELECT packed FROM records WHERE record = ?", exact[0][1:]).fetchone()
            return self._unpacked(row[0])

    def _not_one(self, game: str, found: list[str]) -> str:
        if not found:
            return f"there is no game {game!r} in {self.path}: `referee export --format csv` lists them"
        more = ", …" if len(found) > 3 else ""
        return f"several games begin with {game!r}: {', '.join(found[:3])}{more}; give more of the id"
