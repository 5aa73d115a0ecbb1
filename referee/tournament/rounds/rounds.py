"""A round: what is played between bots as they were when it was opened, under a secret that was sealed before.

A round's manifest says all that is frozen. Its commitment, SHA-256(secret, manifest), is published before the first
game and the secret when the round closes: nobody, the organiser included, can have chosen the decks afterwards.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Literal

import msgspec

from referee.errors import DatabaseError, InputError
from referee.record import Bot, BotHash, BotName, LineUp
from referee.rules import MAX_PLAYERS, MIN_PLAYERS
from referee.store import StoredRound
from referee.tournament.rounds.conditions import Conditions
from referee.tournament.rounds.derivation import FORMAT, Derivation
from referee.tournament.rounds.duel_terms import DuelTerms
from referee.tournament.rounds.keys import SECRET_SIZE, is_practice
from referee.tournament.rounds.schedule import BLOCK_SIZE, Owing, Schedule
from referee.tournament.rounds.seating import spread
from referee.tournament.rounds.until import Until

_MOST = 2**53 - 1
"""The largest number that every JSON reader takes as it is."""

Number = Annotated[int, msgspec.Meta(ge=1, le=_MOST)]
"""A whole number from 1 on."""
Members = Annotated[tuple[int, ...], msgspec.Meta(min_length=MIN_PLAYERS, max_length=MAX_PLAYERS)]
"""The bots of a line-up, as ascending indices into the round's."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A bot of a round: the numbers of players it plays with, and whose it is, empty where nobody says."""

    name: BotName
    hash: BotHash
    players: tuple[int, ...]
    author: str = ""

    @property
    def bot(self) -> Bot:
        """The bot's identity."""
        return Bot(self.name, self.hash)


class RoundPart(msgspec.Struct, frozen=True, kw_only=True):
    """Line-ups, each as indices into the round's bots, that all play `deals` deals from number `first` on."""

    first: Annotated[int, msgspec.Meta(ge=0, le=_MOST)]
    deals: Number
    line_ups: tuple[Members, ...]


class RoundManifest(msgspec.Struct, frozen=True, kw_only=True):
    """All that is frozen of a round.

    `round` counts from 1 through the life of a database, `season` too; `previous` is the commitment of the round
    before, so that none can be taken out unseen. `max_faults` faults withdraw a bot, None: never. `block_size` is
    that of the schedule. Parts stand in the order of the schedule, bots and the members of line-ups ascending. A round
    with a `duel` has one line-up, in which a bot may have several seats; others have none, and no such member. A round
    with an `until` stops by itself: its parts say how much it plays at most. `format` says how games follow from the
    secret, see `referee.tournament.rounds.derivation`: a round is finished as it was opened.
    """

    format: Literal[1, 2] = FORMAT
    game: Literal["four-widows"] = "four-widows"
    season: Number
    round: Number
    previous: str | None
    conditions: Conditions
    max_faults: Number | None
    block_size: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = BLOCK_SIZE
    bots: tuple[Entry, ...]
    parts: tuple[RoundPart, ...]
    duel: DuelTerms | msgspec.UnsetType = msgspec.UNSET
    until: Until | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Raise ValueError where a line-up is not as games are kept under it: they would be played for ever."""
        if any(one.bot >= two.bot for one, two in pairwise(self.bots)):
            raise ValueError("its bots do not stand in order, each once")
        for part in self.parts:
            for line_up in part.line_ups:
                if line_up[0] < 0 or line_up[-1] >= len(self.bots) or any(a > b for a, b in pairwise(line_up)):
                    raise ValueError(f"{line_up} is no line-up of its bots")
        if isinstance(self.duel, msgspec.UnsetType):
            if any(a == b for part in self.parts for line_up in part.line_ups for a, b in pairwise(line_up)):
                raise ValueError("a bot has two seats of one table, and it is no duel")
        elif [len(part.line_ups) for part in self.parts] != [1]:
            raise ValueError("a duel has one line-up")
        elif self.duel.challenger not in self.parts[0].line_ups[0]:
            raise ValueError("the challenger of a duel has no seat in it")
        if not isinstance(self.until, msgspec.UnsetType):
            self._check_until(self.until)

    def _check_until(self, until: Until) -> None:
        """Raise ValueError where there would be no complete looks."""
        most: dict[int, int] = {}
        for part in self.parts:
            for line_up in part.line_ups:
                if most.setdefault(len(line_up), part.deals) != part.deals:
                    raise ValueError("line-ups of a round that stops by itself play unequal numbers of deals")
        if until.every % self.block_size:
            raise ValueError("a round that stops by itself is looked at between two blocks")

    def owings(self) -> Iterator[Owing]:
        """What each line-up plays, in the order of the schedule."""
        bots = [entry.bot for entry in self.bots]
        for part in self.parts:
            for line_up in part.line_ups:
                yield Owing(tuple([bots[index] for index in line_up]), part.first, part.deals)

    def count(self) -> int:
        """How many games the round has: every deal in as many rotations as the line-up has bots."""
        return sum(part.deals * sum(map(len, part.line_ups)) for part in self.parts)

    def to_json(self) -> bytes:
        """One JSON object without spaces, its keys in the order above: what the commitment is made of."""
        return msgspec.json.encode(self)


class Round(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A round that was opened.

    `text` is the manifest as it was committed to, to the byte. `seed` is the text that the secret comes from, None
    where it was drawn; `sealed` says that nobody could know the secret beforehand. `closed` says that no game of it
    will be played any more; `unplayed` were owed then.
    """

    text: bytes
    secret: bytes
    seed: str | None = None
    sealed: bool = True
    closed: bool = False
    unplayed: int = 0

    @cached_property
    def manifest(self) -> RoundManifest:
        """What is frozen. Raises DatabaseError where the text is no manifest."""
        try:
            return msgspec.json.decode(self.text, type=RoundManifest)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise DatabaseError(f"the manifest of a round is damaged: {error}") from None

    @cached_property
    def schedule(self) -> Schedule:
        """The games of the round."""
        manifest = self.manifest
        secret = None if manifest.format == 1 else self.secret
        return Schedule(manifest.owings(), block_size=manifest.block_size, secret=secret)

    @cached_property
    def derivation(self) -> Derivation:
        """How its games follow from its secret."""
        manifest = self.manifest
        seatings = {} if manifest.format == 1 else spread(self.secret, manifest.owings())
        return Derivation(manifest.format, seatings)

    @property
    def number(self) -> int:
        """From 1, through the life of a database."""
        return self.manifest.round

    @property
    def bots(self) -> tuple[Bot, ...]:
        """The bots that play in it."""
        return tuple(entry.bot for entry in self.manifest.bots)

    @cached_property
    def commitment(self) -> str:
        """SHA-256 of the secret's 16 bytes and then the manifest's, in hex."""
        return commitment(self.secret, self.text)

    def stored(self) -> StoredRound:
        """The round as the store keeps it."""
        return StoredRound(
            number=self.number,
            season=self.manifest.season,
            manifest=self.text.decode(),
            commitment=self.commitment,
            secret=self.secret.hex(),
            seed=self.seed,
            sealed=self.sealed,
            closed=self.closed,
            unplayed=self.unplayed,
        )

    @classmethod
    def of(cls, stored: StoredRound) -> Round:
        """The round that was stored. Raises DatabaseError where its commitment is not that of what stands there."""
        try:
            secret = bytes.fromhex(stored.secret)
        except ValueError:
            secret = b""
        found = cls(
            text=stored.manifest.encode(),
            secret=secret,
            seed=stored.seed,
            sealed=stored.sealed,
            closed=stored.closed,
            unplayed=stored.unplayed,
        )
        if len(secret) != SECRET_SIZE or found.commitment != stored.commitment:
            raise DatabaseError(f"round {stored.number} is damaged: its secret and manifest are not those committed to")
        return found


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A round on its way to another machine."""

    four_widows_round: Literal[1] = 1
    manifest: str
    secret: str
    commitment: str
    seed: str | None
    sealed: bool


def to_file(one: Round) -> bytes:
    """The round for another machine, secret included: whoever reads it knows every deck."""
    carried = _File(
        manifest=one.text.decode(),
        secret=one.secret.hex(),
        commitment=one.commitment,
        seed=one.seed,
        sealed=one.sealed,
    )
    return msgspec.json.format(msgspec.json.encode(carried), indent=2) + b"\n"


def from_file(data: bytes, name: str) -> Round:
    """The round that `to_file` wrote. Raises InputError, which names the file `name`, where it is none."""
    try:
        file = msgspec.json.decode(data, type=_File)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{name} is no round that `referee tournament --plan` wrote: {error}") from None
    stored = StoredRound(0, 0, file.manifest, file.commitment, file.secret, file.seed, file.sealed, closed=False)
    try:
        found = Round.of(stored)
        found.schedule.count()
    except (DatabaseError, ValueError, LookupError):
        raise InputError(f"{name} is damaged: write it anew with `referee tournament --plan`") from None
    if found.sealed and is_practice(found.secret):
        raise InputError(f"{name} is damaged: its secret comes from a seed, and it says that it is sealed")
    return found


def commitment(secret: bytes, manifest: bytes) -> str:
    """SHA-256 of a secret and a manifest, one after the other, in hex."""
    return hashlib.sha256(secret + manifest).hexdigest()


def parts_of(bots: tuple[Bot, ...], owings: list[Owing]) -> tuple[RoundPart, ...]:
    """`owings` as parts over `bots`: smaller tables first, then those that play alike together, else as they stand."""
    index = {bot: number for number, bot in enumerate(bots)}
    groups: dict[tuple[int, int, int], list[LineUp]] = {}
    for line_up, first, deals in sorted(owings, key=lambda owing: len(owing.line_up)):
        groups.setdefault((len(line_up), first, deals), []).append(line_up)
    return tuple(
        RoundPart(first=first, deals=deals, line_ups=tuple(tuple(index[bot] for bot in line_up) for line_up in group))
        for (_, first, deals), group in groups.items()
    )
