"""Duels: a round of one line-up, a bot among copies of another, that is looked at deal by deal from its beginning."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from referee.errors import DatabaseError
from referee.record import Bot, GameResult, LineUp
from referee.store import Store
from referee.tournament.planning.league import League
from referee.tournament.planning.planning import claimed, first_unclaimed
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.duel_terms import DuelTerms
from referee.tournament.rounds.keys import SECRET_SIZE, secret_from_seed
from referee.tournament.rounds.rounds import Entry, Round, RoundManifest, RoundPart
from referee.tournament.rounds.schedule import Block
from referee.tournament.rounds.season_settings import asked_by, differences, seed_asked

AT_ONCE = 50
"""How many games the deals of one block have in all rotations: that many are played before all of them are complete.

Fewer games leave fewer in progress when the answer is there; more games start the bots less often.
"""


class DuelPair(NamedTuple):
    """Who plays a duel. They may be the same."""

    new: Bot
    old: Bot

    def line_up(self, players: int) -> LineUp:
        """NEW among copies of OLD."""
        return tuple(sorted((self.new, *[self.old] * (players - 1))))


@dataclass(frozen=True, slots=True)
class DuelAsked:
    """What the user asks of a duel, apart from its bots."""

    conditions: Conditions
    players: int
    max_deals: int
    s0: float
    s1: float
    alpha: float
    beta: float

    def options(self) -> dict[str, str | None]:
        """The options by which it is asked for; see `asked_by`."""
        numbers = ("players", "max_deals", "s0", "s1", "alpha", "beta")
        own: dict[str, str | None] = {f"--{name.replace('_', '-')} ": str(getattr(self, name)) for name in numbers}
        return own | asked_by(self.conditions)


class Duel:
    """A round that is a duel."""

    def __init__(self, one: Round) -> None:
        """Raises DatabaseError where it is none."""
        manifest = one.manifest
        if isinstance(manifest.duel, msgspec.UnsetType):
            raise DatabaseError(f"round {one.number} is of a tournament")
        self.round = one
        self.terms: DuelTerms = manifest.duel
        (self._part,) = manifest.parts
        (members,) = self._part.line_ups
        new = self.terms.challenger
        self._member = members.index(new)
        others = members[: self._member] + members[self._member + 1 :]
        self.players = len(members)
        self.max_deals = self._part.deals
        self.pair = DuelPair(one.bots[new], one.bots[others[0]])
        self._line_up: LineUp = tuple([one.bots[member] for member in members])
        self._chunks: dict[int, dict[int, int]] = {}

    @property
    def asked(self) -> DuelAsked:
        """What it was opened with."""
        terms = self.terms
        return DuelAsked(
            self.round.manifest.conditions,
            self.players,
            self.max_deals,
            terms.s0,
            terms.s1,
            terms.alpha,
            terms.beta,
        )

    def seat(self, result: GameResult) -> int:
        """Where NEW sat in a game of the duel, by its schedule: by name it may be the same as the others."""
        return self.round.derivation.seats(self._line_up, result.deal, result.rotation).index(self._member)

    def number(self, result: GameResult) -> int:
        """Return the 0-based index of the game's deal among those of the duel.

        The test takes the deals of a block in the order in which the last rotation plays them, since that is the order
        in which they become complete.
        """
        chunk = (result.deal - self._part.first) // self.round.manifest.block_size
        if chunk not in self._chunks:
            self._chunks[chunk] = self._numbers(chunk)
        return self._chunks[chunk][result.deal]

    def _numbers(self, chunk: int) -> dict[int, int]:
        """Return by deal the index of each deal of a block."""
        size = self.round.manifest.block_size
        begin, end = chunk * size, min((chunk + 1) * size, self.max_deals)
        deals = range(self._part.first + begin, self._part.first + end)
        played = self.round.schedule.in_order(Block(self._line_up, self.players - 1, tuple(deals)))
        return {deal: number for number, deal in enumerate(played.deals, begin)}


class Prefix:
    """Games in any order, by deals in the order of the schedule: none is given out before all before it are complete.

    Short games end early, and whoever looked at them first would see another sample than is played.
    """

    def __init__(self, players: int) -> None:
        self._players = players
        self._waiting: dict[int, list[GameResult]] = {}
        self._next = 0

    def add(self, number: int, result: GameResult) -> Iterator[list[GameResult]]:
        """Take in a game of deal `number`; give out the deals that are complete now, if none before them is missing."""
        self._waiting.setdefault(number, []).append(result)
        while len(self._waiting.get(self._next, ())) == self._players:
            yield sorted(self._waiting.pop(self._next), key=lambda game: game.rotation)
            self._next += 1


class Duels:
    """The duels of a claimed store: each is a round and a season of its own. Every method may raise DatabaseError."""

    def __init__(self, store: Store) -> None:
        """Read them. Raises DatabaseError where the store has rounds of a tournament, or games without a round."""
        self._store = store
        self._league = League(store)
        if any(isinstance(one.manifest.duel, msgspec.UnsetType) for one in self._league.rounds):
            raise DatabaseError(
                f"{store.path} holds the games of a tournament: give the duel a database of its own with --db"
            )

    def last(self, pair: DuelPair) -> Duel | None:
        """The last duel of these two."""
        found = [Duel(one) for one in self._league.rounds]
        return next((duel for duel in reversed(found) if duel.pair == pair), None)

    def check(self, duel: Duel, asked: DuelAsked, seed: str | None) -> None:
        """Raise DatabaseError, naming the differences, where a duel is not what is asked for now."""
        lines = differences(duel.asked.options(), asked.options())
        if seed not in (None, duel.round.seed):
            lines += differences(seed_asked(duel.round.seed), seed_asked(seed))
        if lines:
            raise DatabaseError(
                f"{self._store.path} holds a duel of these bots with other settings: {'; '.join(lines)} "
                "(give them as before, or another database with --db)"
            )

    def supersede(self, pair: DuelPair) -> Duel | None:
        """Close an open duel of bots with the same names, which have changed since; None where none is open.

        Raises DatabaseError where it is one of others: a mistyped path is not to end it.
        """
        one = self._league.open
        if one is None:
            return None
        before = Duel(one)
        if [bot.name for bot in before.pair] != [bot.name for bot in pair]:
            raise DatabaseError(
                f"{self._store.path} holds a duel of {before.pair.new.name} against {before.pair.old.name} that has no "
                "verdict yet: give this one a database of its own with --db"
            )
        return Duel(self._league.close(one))

    def begin(self, new: Entry, old: Entry, asked: DuelAsked, seed: str | None) -> Duel:
        """Open a duel; deals that these two have played in an earlier one are not played again."""
        pair = DuelPair(new.bot, old.bot)
        line_up = pair.line_up(asked.players)
        rounds = self._league.rounds
        number = len(rounds) + 1
        bots = tuple(sorted({new.bot: new, old.bot: old}.values(), key=lambda entry: entry.bot))
        index = {entry.bot: place for place, entry in enumerate(bots)}
        first = first_unclaimed(line_up, claimed(rounds))
        manifest = RoundManifest(
            season=number,
            round=number,
            previous=rounds[-1].commitment if rounds else None,
            conditions=asked.conditions,
            max_faults=None,
            block_size=AT_ONCE // asked.players,
            bots=bots,
            parts=(RoundPart(first=first, deals=asked.max_deals, line_ups=(tuple(index[bot] for bot in line_up),)),),
            duel=DuelTerms(challenger=index[new.bot], s0=asked.s0, s1=asked.s1, alpha=asked.alpha, beta=asked.beta),
        )
        secret = secret_from_seed(seed, number) if seed else secrets.token_bytes(SECRET_SIZE)
        return Duel(self._league.add(Round(text=manifest.to_json(), secret=secret, seed=seed, sealed=seed is None)))

    def close(self, duel: Duel) -> Duel:
        """Close a duel's round, whose secret may be known from now on; games that are still owed are noted."""
        return Duel(self._league.close(duel.round))


def refuse_duels(store: Store) -> None:
    """Raise DatabaseError where a store holds duels: no tournament is played among them."""
    if any(not isinstance(Round.of(one).manifest.duel, msgspec.UnsetType) for one in store.rounds()):
        raise DatabaseError(f"{store.path} holds duels: give the tournament a database of its own with --db")
