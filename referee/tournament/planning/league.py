"""A database as a league: seasons of rounds, which round is open, what it still owes, and what the next one plays."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import msgspec

from referee.errors import DatabaseError, InputError
from referee.record import Bot
from referee.store import Store
from referee.tournament.planning import planning
from referee.tournament.planning.planning import Wanted
from referee.tournament.progress.owed import owed_of
from referee.tournament.progress.withdrawal import Withdrawals, withdrawals_of, withdrawn
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.keys import SECRET_SIZE, line_up_salt, secret_from_seed
from referee.tournament.rounds.rounds import Entry, Round, RoundManifest, parts_of
from referee.tournament.rounds.schedule import Block, Owing, count_games
from referee.tournament.rounds.season_settings import asked_by, differences
from referee.tournament.rounds.until import Stopping, Until


@dataclass(frozen=True, slots=True)
class Terms:
    """What the user asks of a tournament, apart from its bots; with `until` its deals are a limit."""

    conditions: Conditions
    wanted: Wanted
    max_faults: int | None
    seed: str | None
    until: Stopping | None = None


class League:
    """The rounds of a claimed store. Every method may raise DatabaseError."""

    def __init__(self, store: Store, *, new_season: bool = False) -> None:
        """Read the rounds; with `new_season` the one that is open is closed, and the next begins another season."""
        self._store = store
        self.rounds = [Round.of(stored) for stored in store.rounds()]
        last = self.rounds[-1].manifest.season if self.rounds else 0
        self.season = last + 1 if new_season or not last else last
        self.ended = self.close(self.open) if new_season and self.open is not None else None
        """The round that the new season has closed."""

    @property
    def open(self) -> Round | None:
        """The round that is being played."""
        return self.rounds[-1] if self.rounds and not self.rounds[-1].closed else None

    def of_season(self) -> list[Round]:
        """The rounds of this season, oldest first."""
        return [one for one in self.rounds if one.manifest.season == self.season]

    def check(self, terms: Terms, carried: Round | None = None) -> None:
        """Raise DatabaseError, naming the differences, where this season is played under other conditions.

        Also where the open round comes from another seed than the one that is given. `carried` is a round of another
        machine that is to be played instead.
        """
        season = [carried] if carried else self.of_season()
        if season and (lines := differences(asked_by(season[0].manifest.conditions), asked_by(terms.conditions))):
            raise DatabaseError(
                f"{self._store.path} was begun with other settings: {'; '.join(lines)} "
                "(give them as before; --new-season begins a separate table)"
            )
        if self.open is not None and terms.seed not in (None, self.open.seed):
            was = "without a seed" if self.open.seed is None else f"with the seed {self.open.seed!r}"
            raise DatabaseError(
                f"round {self.open.number} of {self._store.path} was opened {was}, and not with {terms.seed!r}: "
                "leave --seed out until it is over, or end it with --close-round"
            )

    def withdrawn(self) -> dict[Bot, int]:
        """The bots that were withdrawn in this season, each with the number of the round."""
        return withdrawn(self.of_season(), self._store)

    def open_next(self, entries: Collection[Entry], terms: Terms) -> Round | None:
        """Open the next round between these bots, without those withdrawn; None where it would have no games.

        Raises DatabaseError where earlier rounds are on another machine only.
        """
        assert self.open is None
        self._check_whole()
        out = self.withdrawn()
        number = self.rounds[-1].number + 1 if self.rounds else 1
        secret = secret_from_seed(terms.seed, number) if terms.seed else secrets.token_bytes(SECRET_SIZE)
        playing = tuple(sorted((entry for entry in entries if entry.bot not in out), key=lambda entry: entry.bot))
        owed = self._owings(terms, playing, line_up_salt(secret))
        if not owed:
            return None
        until: Until | msgspec.UnsetType = msgspec.UNSET
        size = planning.block_size(owed)
        if terms.until is not None:
            size, until = planning.looked_at(terms.until, owed)
        manifest = RoundManifest(
            season=self.season,
            round=number,
            previous=self.rounds[-1].commitment if self.rounds else None,
            conditions=terms.conditions,
            max_faults=terms.max_faults,
            block_size=size,
            bots=playing,
            parts=parts_of(tuple(entry.bot for entry in playing), owed),
            until=until,
        )
        return self.add(Round(text=manifest.to_json(), secret=secret, seed=terms.seed, sealed=terms.seed is None))

    def _owings(self, terms: Terms, playing: Sequence[Entry], salt: bytes) -> list[Owing]:
        wanted, rounds, season = terms.wanted, self.rounds, self.season
        if terms.until is not None:
            return planning.owings_until(wanted, terms.until, playing, rounds=rounds, season=season, salt=salt)
        played = self._store.played()
        return planning.owings(wanted, playing, rounds=rounds, season=season, played=played, salt=salt)

    def _check_whole(self) -> None:
        """Which deals are new is only known where all rounds are."""
        for number, one in enumerate(self.rounds, 1):
            if one.number != number:
                raise DatabaseError(
                    f"{self._store.path} has no round {number}, and a new round is opened where all of them are: "
                    "`referee db merge` brings games there"
                )

    def add(self, new: Round) -> Round:
        """Keep a round that was opened here or elsewhere; it becomes the open one."""
        self._store.open_round(new.stored())
        self.rounds.append(new)
        self.season = new.manifest.season
        return new

    def take(self, new: Round, bots: Collection[Bot] | None = None) -> Round:
        """Go on with a round that was opened on another machine; a new one is kept only if all its bots are in `bots`.

        Raises DatabaseError where another round is in its place, InputError where bots are missing: kept without them,
        the round would be dropped, and its secret told, by the next run with those that are here.
        """
        for one in self.rounds:
            if one.number == new.number and one.commitment == new.commitment:
                return one
        if self.open is not None or (self.rounds and self.rounds[-1].number >= new.number):
            raise DatabaseError(
                f"{self._store.path} has a round {self.rounds[-1].number} of its own: play a round of another machine "
                "on a database of its own, with --db"
            )
        if self.rounds and self.rounds[-1].number + 1 == new.number:
            self._check_follows(new, self.rounds[-1])
        if bots is not None:
            require_all(new, bots, Withdrawals(new.schedule, None))
        return self.add(new)

    def _check_follows(self, new: Round, last: Round) -> None:
        if new.manifest.previous != last.commitment:
            raise DatabaseError(
                f"round {new.number} was not opened after round {last.number} of {self._store.path}: they are of two "
                "leagues; play it on a database of its own, with --db"
            )

    def close(self, one: Round) -> Round:
        """Close a round, whatever is still owed, which is noted: from now on its secret may be known."""
        unplayed = self.count_owed(one)
        self._store.close_round(one.number, unplayed=unplayed)
        closed = msgspec.structs.replace(one, closed=True, unplayed=unplayed)
        self.rounds[self.rounds.index(one)] = closed
        return closed

    def is_complete(self, one: Round) -> bool:
        """Whether a round has all of its games, those apart that its withdrawals set aside."""
        return next(owed_of(one, self._store), None) is None

    def count_owed(self, one: Round) -> int:
        """How many games a round lacks, those apart."""
        return count_games(owed_of(one, self._store))

    def withdrawals(self, one: Round) -> Withdrawals:
        """Who is withdrawn from a round, as far as its games tell."""
        return withdrawals_of(one, self._store)


def missing(one: Round, bots: Collection[Bot], withdrawals: Withdrawals) -> list[Bot]:
    """The bots of a round that are not among `bots`, though they are not withdrawn."""
    return [bot for bot in one.bots if bot not in bots and bot not in withdrawals.points]


def require_all(one: Round, bots: Collection[Bot], withdrawals: Withdrawals) -> None:
    """Raise InputError where a share of a round would have to be played without some of its bots."""
    absent = missing(one, bots, withdrawals)
    if absent:
        names = ", ".join(f"{bot.name} ({bot.hash[:8]})" for bot in absent[:5])
        more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
        raise InputError(
            f"round {one.number} is played by bots as they were when it was opened, and these are not among those "
            f"given: {names}{more}"
        )


def unwanted(bots: Collection[Bot], withdrawals: Withdrawals) -> Callable[[Block], bool]:
    """Whether a block is not to be played: a bot of it is gone, or withdrawn before it."""
    return lambda block: not all(bot in bots for bot in block.line_up) or withdrawals.sets_aside(block)
